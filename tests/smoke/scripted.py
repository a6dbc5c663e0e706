"""Children that do as a test says: a hook that runs in the place of TensorFlow, and a stand-in for TensorFlow itself."""

from __future__ import annotations

import os
import secrets
import sys
import textwrap
from pathlib import Path

import psutil

from tfdoctor.smoke.leftovers import MARK
from tfdoctor.smoke.runner import Runner

LIMIT = 60.0  # seconds; no test waits for it, it only ends a test that is broken

# Inherited by every child, so that other sessions on this machine are not mistaken for ours.
ROUND = f"TFDOCTOR_TEST_ROUND_{secrets.token_hex(8)}"
os.environ[ROUND] = "1"

HEAD = """
import json, os, signal, subprocess, sys, time

def passed(pipe, devices=("GPU:0", "GPU:1"), **measured):
    found = {"checks": [{"what": "sum", "error": 0.0, "limit": 0.0, "ok": True}], "measured": measured}
    found.update(devices=list(devices), tensorflow="2.99.0", import_seconds=0.5)
    pipe.write("TFDOCTOR " + json.dumps({"result": found}) + "\\n")
    pipe.flush()
    os._exit(0)

def before(options, pipe):
"""

TENSORFLOW = '''
"""As much of TensorFlow as the device list needs; STAND_IN_GPUS GPUs, the first of another model than the others."""
import contextlib, os, types

__version__ = "2.99.0"
_place = ["CPU:0"]

class _Values(list):
    def __add__(self, other):
        total = _Values(a + b for a, b in zip(self, other))
        total.device = "/job:localhost/replica:0/task:0/device:" + _place[-1]
        return total
    def numpy(self):
        return types.SimpleNamespace(tolist=lambda: list(self))

constant = _Values

@contextlib.contextmanager
def device(name):
    _place.append(name)
    yield
    _place.pop()

_gpus = (["NVIDIA GeForce RTX 3090"] + ["NVIDIA RTX A6000"] * 15)[:int(os.environ.get("STAND_IN_GPUS", "0"))]
config = types.SimpleNamespace(
    list_physical_devices=lambda kind: list(_gpus) if kind == "GPU" else ["cpu"],
    set_visible_devices=lambda *_: None,
    experimental=types.SimpleNamespace(
        set_memory_growth=lambda *_: None,
        get_device_details=lambda gpu: {"device_name": gpu, "compute_capability": (8, 6)},
    ),
)
test = types.SimpleNamespace(is_built_with_cuda=lambda: True)
'''


def hook(folder: Path, body: str) -> str:
    """A hook whose `before` is `body`."""
    path = folder / "hook.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    return str(path)


def runner(folder: Path, body: str) -> Runner:
    """Runs tests with a hook whose `before` is `body`."""
    return Runner(sys.executable, hook=hook(folder, body))


def stand_in(folder: Path) -> Path:
    """A folder for PYTHONPATH in which `tensorflow` is the stand-in."""
    where = folder / "stand-in"
    (where / "tensorflow").mkdir(parents=True)
    (where / "tensorflow" / "__init__.py").write_text(TENSORFLOW)
    return where


def left_over() -> list[psutil.Process]:
    """Processes of smoke tests of this test session that still run."""
    found = []
    for process in psutil.process_iter():
        try:
            if {MARK, ROUND} <= process.environ().keys() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found
