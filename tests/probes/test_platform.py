"""The operating system, the processor, memory, limits and shared memory."""

from __future__ import annotations

import json
import sys

import pytest
import trees
from observed import live, recorded

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.platform import Cpu, Limits, Memory, Platform, Shm
from tfdoctor.probes.tensorflow import TensorFlow

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


def test_platform_of_a_tree(tmp_path):
    found = live(tmp_path).get(Platform)
    assert (found.system, found.machine, found.kernel, found.distro, found.distro_version) == (
        "linux",
        "x86_64",
        trees.KERNEL,
        "ubuntu",
        "22.04",
    )
    assert found.distro_like == ("debian",)
    assert found.libc in ("glibc", "musl")
    assert found.wsl == 0


def test_platform_of_recordings(tmp_path):
    told = {"executable": "python", "python": {"version": "3.11.7", "platform": "win32", "machine": "AMD64"}}
    found = recorded(tmp_path, {"target.json": json.dumps(told)}).get(Platform)
    assert (found.system, found.machine, found.libc) == ("windows", "x86_64", "")


def test_a_lone_report_does_not_tell_the_system(tmp_path):
    with pytest.raises(Unavailable):
        recorded(tmp_path, {"nvidia-smi-q.xml": "<nvidia_smi_log/>"}).get(Platform)


def test_processor_memory_limits_shm(tmp_path):
    facts = live(tmp_path)
    assert {"avx", "avx2", "fma"} <= facts.get(Cpu).flags
    assert facts.get(Cpu).cores == 2
    assert facts.get(Memory).total == 65536000 * 1024
    assert facts.get(Limits).memlock == 8388608
    with pytest.raises(NotApplicable):
        facts.get(Shm)  # this tree has no /dev/shm


def test_segments_that_nobody_has_mapped_are_stale(tmp_path):
    facts = live(
        tmp_path,
        {
            "/dev/shm/nccl-Aa1": "12345678",
            "/dev/shm/nccl-Bb2": "1234",
            "/dev/shm/other": "x",
            "/proc/77/maps": "7f00-7f01 rw-s 00000000 00:1a 5 /dev/shm/nccl-Bb2\n",
        },
    )
    found = facts.get(Shm)
    assert (found.stale, found.stale_bytes) == (("/dev/shm/nccl-Aa1",), 8)


def test_missing_files_are_not_zeros(tmp_path):
    facts = live(tmp_path, {"/proc/cpuinfo": None, "/proc/meminfo": None, "/proc/self/limits": None})
    for kind in (Cpu, Memory, Limits):
        with pytest.raises(Unavailable):
            facts.get(kind)


LOADED = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n"


def test_the_loaded_driver_tells_the_architecture(tmp_path):
    found = recorded(tmp_path, {"root/proc/driver/nvidia/version": LOADED}).get(Platform)
    assert (found.system, found.machine) == ("linux", "aarch64")


def test_a_driver_file_and_a_pip_freeze_tell_the_build(tmp_path):
    loaded = LOADED.replace("Open Kernel Module for aarch64", "x86_64 Kernel Module")
    files = {"root/proc/driver/nvidia/version": loaded, "pip-freeze.txt": "tensorflow==2.20.0\n"}
    assert recorded(tmp_path, files).get(TensorFlow).cuda_build is True
