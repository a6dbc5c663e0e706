"""What TensorFlow does in a scene, by its own answer and glibc's trace, and what tfdoctor says of the same one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from reality.cases import Case
from reality.environments import prepared, site_packages
from reality.machine import fake_cuda, machine_root, surroundings, working_directory

LIST_GPUS = """
import json, os
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
print("REALITY " + json.dumps({"pid": os.getpid(), "gpus": len(gpus), "details": [str(d) for d in details]}))
"""

LOADED_BY = re.compile(r"file=(\S+) \[\d+\];  dynamically loaded by (\S+) \[")
NEEDED_BY = re.compile(r"file=(\S+) \[\d+\];  needed by (\S+) \[\d+\]$")
SEARCH = re.compile(r" search (?:path=.*\((.*)\)|cache=(.*))$")
GOT = re.compile(r"file=(\S+) \[\d+\];  generating link map")


def read_loader_trace(text: str) -> list[dict[str, Any]]:
    """glibc's LD_DEBUG=libs,files -> every library that was looked for by name, in order, and where it was found."""
    seen: list[dict[str, Any]] = []
    tried = how = None
    for raw in text.splitlines():
        line = raw.partition("\t")[2]
        asked = LOADED_BY.match(line) or NEEDED_BY.match(line)
        if asked and "/" not in asked[1]:
            kind = "caller" if "dynamically" in line else "needed_by"
            seen.append({"library": asked[1], kind: asked[2], "found": None, "through": None})
            tried = how = None
        elif search := SEARCH.match(line):
            how = search[1] or search[2]
        elif line.startswith("  trying file="):
            tried = line.partition("=")[2]
        elif (got := GOT.match(line)) and seen and seen[-1]["library"] == got[1]:
            seen[-1].update(found=tried, through=how)
    return seen


def tensorflow_only(trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What TensorFlow dlopened, and what those libraries needed: interpreter and extension modules left out."""
    ours = [e for e in trace if "/tensorflow/" in e.get("caller", "") and "libpython" not in e["caller"]]
    vendor = re.compile(r"/nvidia/|libcu|libnv|tensorrt")
    return [e for e in trace if e in ours or ("needed_by" in e and vendor.search(e["needed_by"]))]


def run_tensorflow(python: Path, env: Mapping[str, str], case: Case, scratch: Path) -> dict[str, Any]:
    """Start this TensorFlow and see what it lists, loads and prints."""
    traced = {**env, "LD_DEBUG": "libs,files", "LD_DEBUG_OUTPUT": str(scratch / "ld")}
    done = subprocess.run(
        [str(python), "-c", LIST_GPUS],
        env=traced,
        cwd=working_directory(case, scratch),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("REALITY ")]
    result: dict[str, Any] = {"exit": done.returncode, "gpus": None, "log": done.stderr.splitlines()[-60:]}
    if answers:
        result.update(json.loads(answers[0][len("REALITY ") :]))
        trace = (scratch / f"ld.{result.pop('pid')}").read_text(errors="replace")
        result["dlopen"] = tensorflow_only(read_loader_trace(trace))
        result["missing"] = [e["library"] for e in result["dlopen"] if not e["found"]]
        if env.get("TFDOCTOR_FAKE_CUDA_LOG"):
            result["driver_calls"] = sorted(set(fake_cuda.calls(env)))
    return result


def run_tfdoctor(python: Path, env: Mapping[str, str], case: Case, scratch: Path) -> dict[str, Any]:
    """What `check` says of the same environment."""
    command = [sys.executable, "-m", "tfdoctor", "check", "--python", str(python), "--format", "json"]
    root = machine_root(scratch / "root", case)
    done = subprocess.run(
        command,
        env={**env, "TFDOCTOR_ROOT": str(root)},
        cwd=working_directory(case, scratch),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return {"exit": done.returncode, "error": (done.stderr or done.stdout)[-2000:]}
    keep = ("code", "name", "severity", "message", "evidence", "folded_under")
    diagnoses = [{key: d.get(key) for key in keep} for d in said["diagnoses"]]
    return {
        "exit": done.returncode,
        "verdict": said["verdict"],
        "diagnoses": diagnoses,
        "skipped": said.get("skipped"),
        "crashed": said.get("crashed"),
    }


def one_case(case: Case, release: str, python: Path, real: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """Set the scene, run both, put it back. With `real` kept from before, only tfdoctor runs."""
    with prepared(case, python), tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        env = surroundings(case, python, scratch)
        real = real or run_tensorflow(python, env, case, scratch)
        said = run_tfdoctor(python, env, case, scratch)
    short = {
        str(site_packages(python)): "<site-packages>",
        str(python.parent.parent): "<environment>",
        name: "<scratch>",
        str(Path(fake_cuda.fake_build.__file__).parent): "<tests>",
    }
    for folder in env.get("LD_LIBRARY_PATH", "").split(":"):
        if "tfdoctor-fake-" in folder:
            short[folder] = "<driver>"
    row = {"release": release, "case": case.name, "says": case.says, "real": real, "said": said}
    return dict(shorten(row, short))


def shorten(value: Any, replace: Mapping[str, str]) -> Any:
    """Paths of this machine out of a result."""
    text = json.dumps(value)
    for path, short in replace.items():
        text = text.replace(json.dumps(path)[1:-1], short)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ", "", text)
    return json.loads(text)
