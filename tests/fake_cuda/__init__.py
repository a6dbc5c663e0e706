"""A stand-in libcuda.so.1 for tests: real TensorFlow lists the GPUs of its profile.

    env = fake_cuda.environment(fake_cuda.profile(count=2, compute_capability="8.0"), tmp_path)
    subprocess.run([python, "-c", "import tensorflow as tf; …"], env={**os.environ, **env})

Keys of a profile: `init` (what cuInit returns, a CUresult), `driver_version` (12040), `count`, and for each GPU
`gpu.N.name`, `.compute_capability`, `.memory_mib`, `.uuid`, `.pci`, `.multiprocessors`, `.compute_mode`; `fail.FUNCTION CODE`,
`hang.FUNCTION any`, `crash.FUNCTION any`. It honours CUDA_VISIBLE_DEVICES as the driver does. It computes nothing:
making logical devices fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import fake_build
from fake_build import Profile, Value, merge, need_compiler

__all__ = ["Profile", "build", "calls", "environment", "merge", "need_compiler", "profile"]

VARIABLE = "TFDOCTOR_FAKE_CUDA"
LIBRARY = "libcuda.so.1"
SOURCE = Path(__file__).with_name("fake_cuda.c")


def profile(
    count: int = 1,
    name: str = "NVIDIA A100-SXM4-80GB",
    compute_capability: str = "8.0",
    memory_mib: int = 81920,
    driver_version: int = 12040,
    init: int = 0,
) -> Profile:
    """`count` equal GPUs. UUIDs and bus addresses are those of fake_nvml's cards with the same index."""
    gpus: list[Mapping[str, Value]] = [
        {
            "name": name,
            "compute_capability": compute_capability,
            "memory_mib": memory_mib,
            "uuid": f"GPU-00000000-0000-4000-8000-{index:012x}",
            "pci": f"00000000:{1 + 0x10 * index:02X}:00.0",
        }
        for index in range(count)
    ]
    head: dict[str, Value] = {"init": init, "driver_version": driver_version, "count": count}
    return Profile({**head, **fake_build.indexed("gpu", gpus)})


def build(directory: Path) -> Path:
    """Compile the library into `directory`; its path."""
    return fake_build.compile_library(SOURCE, directory / LIBRARY)


def environment(profile: Profile, directory: Path) -> dict[str, str]:
    """Variables for a child process whose CUDA driver is the stand-in."""
    return fake_build.environment(VARIABLE, fake_build.cached_library(SOURCE, LIBRARY, ()), profile, directory)


def calls(env: Mapping[str, str]) -> list[str]:
    """The driver API calls made so far."""
    return fake_build.calls(env, VARIABLE)
