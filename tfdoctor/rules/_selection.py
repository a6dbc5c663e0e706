"""Which GPUs a program gets, where CUDA may count them in another order than the driver does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Callable, Optional

from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.rules._hints import numbered_alike, starts, visible
from tfdoctor.rules.configuration._visible import read


@dataclass(frozen=True)
class Selection:
    """`pools`: of each group of GPUs the program gets that many, and where they are fewer than the group nobody knows which.
    GPUs that the driver has lost are in none."""

    pools: tuple[tuple[tuple[Gpu, ...], int], ...]

    @property
    def certain(self) -> bool:
        """Is it known which they are?"""
        return all(count == len(pool) for pool, count in self.pools)

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """All that may be among them."""
        return tuple(gpu for pool, count in self.pools if count for gpu in pool)

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(count for _pool, count in self.pools)

    def surely(self, good: Callable[[Gpu], bool]) -> bool:
        """Is one of them good, whichever they are?"""
        return any(count > sum(not good(gpu) for gpu in pool) for pool, count in self.pools)

    def never(self, good: Callable[[Gpu], bool]) -> bool:
        """Is none of them good, whichever they are?"""
        return not any(good(gpu) for gpu in self.gpus)


def selection(gpus: Gpus, environment: Optional[Environment], cuda: Optional[CudaDriver]) -> Selection:
    """By number where both count alike, else by the names of what CUDA was seen to count, else only how many they are."""
    there = tuple(gpu for gpu in gpus if not gpu.lost)
    value = environment.get("CUDA_VISIBLE_DEVICES") if environment else ""
    shifted = len(there) < len(gpus) and value[:1].isdigit()  # CUDA does not count the lost ones
    if any(gpu.mig for gpu in gpus) or (numbered_alike(gpus, environment) and not shifted):
        return Selection(tuple(((gpu,), 1) for gpu in visible(gpus, environment) if not gpu.lost))
    if cuda is not None and starts(cuda):
        named = Counter(device.name for device in cuda.devices)
        pools = tuple((tuple(gpu for gpu in there if gpu.name == name), count) for name, count in named.items())
        if all(count <= len(pool) for pool, count in pools):
            return Selection(pools)
    chosen = read(value, len(gpus), tuple(gpu.uuid for gpu in gpus if gpu.uuid)).chosen
    return Selection(((there, min(len(chosen), len(there))),))
