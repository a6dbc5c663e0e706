"""A stand-in libnvidia-ml.so.1 for tests: the builder and ready profiles.

    env = fake_nvml.environment(fake_nvml.rtx3090_pair(), tmp_path)
    subprocess.run([...], env={**os.environ, **env})
    fake_nvml.calls(env)      # every NVML call that was made

The profile language (`key value` lines; `!N` answers with NVML error N; a missing key is "not supported";
`gpu.*.KEY` is every GPU's default) is described in PROFILE.md beside this file. Only a child process sees the
library: LD_LIBRARY_PATH is read when a process starts.

Machines are in machines.py, the cards that they are made of in cards.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import fake_build
from fake_build import Profile, merge, need_compiler

from .cards import card_1080, card_3090, card_a100, card_h100, card_t4, card_v100
from .machines import (
    a100_mig,
    busy_gpu,
    crashing,
    ecc_errors,
    gtx1080,
    h100x8,
    hanging,
    init_fails,
    lost_gpu,
    mixed_pair,
    no_gpu,
    old_driver,
    row_remap_failure,
    row_remap_pending,
    rtx3090,
    rtx3090_pair,
    system,
    t4,
    v100,
)

__all__ = [
    "NEWER_SYMBOLS",
    "Profile",
    "a100_mig",
    "build",
    "busy_gpu",
    "calls",
    "card_1080",
    "card_3090",
    "card_a100",
    "card_h100",
    "card_t4",
    "card_v100",
    "crashing",
    "ecc_errors",
    "environment",
    "gtx1080",
    "h100x8",
    "hanging",
    "init_fails",
    "lost_gpu",
    "merge",
    "mixed_pair",
    "need_compiler",
    "no_gpu",
    "old_driver",
    "row_remap_failure",
    "row_remap_pending",
    "rtx3090",
    "rtx3090_pair",
    "system",
    "t4",
    "v100",
]

VARIABLE = "TFDOCTOR_FAKE_NVML"
LIBRARY = "libnvidia-ml.so.1"
SOURCE = Path(__file__).with_name("fake_nvml.c")

# Exported by current drivers, not by those of 2021 (branch 470).
NEWER_SYMBOLS = (
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetSupportedClocksEventReasons",
    "nvmlDeviceGetGpuFabricInfo",
    "nvmlDeviceGetGpuFabricInfoV",
    "nvmlDeviceGetNumaNodeId",
    "nvmlDeviceGetGspFirmwareVersion",
    "nvmlDeviceGetGspFirmwareMode",
    "nvmlDeviceGetAddressingMode",
    "nvmlDeviceGetPciInfoExt",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetPcieLinkMaxSpeed",
    "nvmlDeviceGetPcieSpeed",
    "nvmlDeviceGetGpuMaxPcieLinkGeneration",
    "nvmlSystemGetDriverBranch",
    "nvmlSystemGetConfComputeState",
    "nvmlDeviceGetDriverModel_v2",
)


def build(directory: Path, without: Sequence[str] = ()) -> Path:
    """Compile the library into `directory`, leaving out the symbols of `without`; its path."""
    return fake_build.compile_library(SOURCE, directory / LIBRARY, without)


def environment(profile: Profile, directory: Path, without: Sequence[str] = ()) -> dict[str, str]:
    """Variables for a child process that is to see the machine of `profile`."""
    library = fake_build.cached_library(SOURCE, LIBRARY, tuple(without))
    return fake_build.environment(VARIABLE, library, profile, directory)


def calls(env: Mapping[str, str]) -> list[str]:
    """The NVML calls made so far: `nvmlDeviceGetName gpu=0`."""
    return fake_build.calls(env, VARIABLE)
