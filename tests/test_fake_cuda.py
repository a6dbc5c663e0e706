"""The stand-in libcuda.so.1, seen through ctypes in a child process. Real TensorFlow: scripts/reality_check.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import fake_cuda
import fake_nvml
import pytest

SCRIPT = """
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
n, version, devices = ctypes.c_int(-1), ctypes.c_int(), []
result = cuda.cuInit(0)
cuda.cuDriverGetVersion(ctypes.byref(version))
if result == 0:
    cuda.cuDeviceGetCount(ctypes.byref(n))
for ordinal in range(n.value):
    name, bus, memory = ctypes.create_string_buffer(64), ctypes.create_string_buffer(32), ctypes.c_size_t()
    major, minor, device = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    uuid = (ctypes.c_ubyte * 16)()
    codes = [cuda.cuDeviceGet(ctypes.byref(device), ordinal), cuda.cuDeviceGetName(name, 64, device),
             cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device), cuda.cuDeviceGetPCIBusId(bus, 32, device),
             cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device),
             cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device), cuda.cuDeviceGetUuid_v2(uuid, device)]
    assert not any(codes), codes
    devices.append([name.value.decode(), memory.value >> 20, bus.value.decode(), f"{major.value}.{minor.value}", uuid[15]])
print(json.dumps({"init": result, "version": version.value, "count": n.value, "devices": devices}))
"""


@pytest.fixture(autouse=True)
def _compiler() -> None:
    fake_cuda.need_compiler()


def ask(profile: fake_cuda.Profile, folder: Path, visible: Optional[str] = None, script: str = SCRIPT) -> Any:
    env = {**os.environ, **fake_cuda.environment(profile, folder)}
    env.pop("CUDA_VISIBLE_DEVICES", None)
    if visible is not None:
        env["CUDA_VISIBLE_DEVICES"] = visible
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.returncode


def test_devices(tmp_path: Path) -> None:
    profile = fake_cuda.profile(2, "NVIDIA GeForce RTX 3090", "8.6", 24576, 12080)
    assert ask(profile, tmp_path) == {
        "init": 0,
        "version": 12080,
        "count": 2,
        "devices": [
            ["NVIDIA GeForce RTX 3090", 24576, "0000:01:00.0", "8.6", 0],
            ["NVIDIA GeForce RTX 3090", 24576, "0000:11:00.0", "8.6", 1],
        ],
    }


@pytest.mark.parametrize("code", [34, 100, 802, 803, 804, 999])
def test_cuinit_fails(tmp_path: Path, code: int) -> None:
    got = ask(fake_cuda.profile(init=code), tmp_path)
    assert (got["init"], got["count"]) == (code, -1)


UUID = "GPU-00000000-0000-4000-8000-00000000000"


@pytest.mark.parametrize(
    ("visible", "seen"),
    [
        (None, [0, 1, 2]),
        ("0,1,2", [0, 1, 2]),
        ("2", [2]),
        ("2,0", [2, 0]),
        (" 1 , 0", [1, 0]),
        ("", []),
        ("-1", []),
        ("7", []),
        ("none", []),
        ("NoDevFiles", []),
        ("0,-1,1", [0]),
        ("0,7,1", [0]),
        ("0,,1", [0]),
        ("1,x", [1]),
        ("1gpu", [1]),
        ("0,0", []),
        (UUID + "1", [1]),
        (UUID + "2," + UUID + "0", [2, 0]),
        ("GPU-", []),
        ("GPU-ffff", []),
    ],
)
def test_visible_devices_as_the_driver_reads_it(tmp_path: Path, visible: Optional[str], seen: list[int]) -> None:
    got = ask(fake_cuda.profile(3), tmp_path, visible)
    assert [device[4] for device in got["devices"]] == seen
    assert got["init"] == (0 if seen else 100)


def test_a_function_can_fail_hang_or_crash(tmp_path: Path) -> None:
    assert ask(fake_cuda.profile().but({"fail.cuInit": 3}), tmp_path)["init"] == 3
    assert ask(fake_cuda.profile().but({"crash.cuDeviceGetName": "any"}), tmp_path) == -signal.SIGSEGV
    env = {**os.environ, **fake_cuda.environment(fake_cuda.profile().but({"hang.cuInit": "any"}), tmp_path)}
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", SCRIPT], env=env, check=False, timeout=1)


def test_symbols_are_found_as_the_cuda_runtime_finds_them(tmp_path: Path) -> None:
    got = ask(
        fake_cuda.profile(),
        tmp_path,
        script="""
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
found, status = ctypes.c_void_p(), ctypes.c_int(-1)
ask = lambda name: [cuda.cuGetProcAddress_v2(name, ctypes.byref(found), 12000, ctypes.c_uint64(0), ctypes.byref(status)), bool(found.value)]
print(json.dumps([ask(b"cuDeviceTotalMem"), ask(b"cuNoSuchThing")]))
""",
    )
    assert got == [[0, True], [500, False]]


def test_both_stand_ins_on_one_path_are_the_same_machine(tmp_path: Path) -> None:
    both = fake_nvml.merge(
        fake_cuda.environment(fake_cuda.profile(), tmp_path), fake_nvml.environment(fake_nvml.rtx3090(), tmp_path)
    )
    script = """
import ctypes, pynvml
pynvml.nvmlInit()
assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
print(pynvml.nvmlDeviceGetCount())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **both}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n", done.stderr
    assert "cuInit" in fake_cuda.calls(both) and "nvmlInitWithFlags" in fake_nvml.calls(both)
