"""Which smoke tests there are, in which order, and with what sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

KIB, MIB = 1024, 1024 * 1024
# Every power of four from 1 KiB to 256 MiB: latency at one end, bandwidth at the other.
SIZES = tuple(4**i * KIB for i in range(10))

# Sizes that keep a test on each kind of device within its time; a GPU needs large products to reach its rate.
ON_GPU: Mapping[str, Any] = {"size": 1024, "speed_size": 8192, "batch": 256, "mib": 256, "elements": 1_000_000}
ON_CPU: Mapping[str, Any] = {"size": 256, "speed_size": 512, "batch": 8, "mib": 16, "elements": 10_000}


@dataclass(frozen=True)
class Planned:
    """One test: the file `program` in smoke/inside run with `options`. `several`: it needs two devices or more.

    `gpu_only` tests say nothing on a CPU. `quick` ones make up `--quick`. `share` is the part of the time given to
    each test that its inner loops get, since one program runs several.
    """

    name: str
    program: str
    options: Mapping[str, Any] = field(default_factory=dict)
    several: bool = False
    gpu_only: bool = False
    quick: bool = True
    share: float = 0.25


TESTS = (
    Planned("devices", "devices"),
    Planned("matmul", "matmul"),
    Planned("convolution", "convolution"),
    Planned("xla", "xla"),
    Planned("mixed-precision", "training", {"mixed": "float16"}),
    Planned("training", "training", quick=False),
    Planned("copies", "copies"),
    Planned("feeding", "feeding", quick=False),
    Planned("memory-growth", "growth", gpu_only=True, quick=False),
    Planned("allreduce", "allreduce", {"ways": ["default"], "sizes": list(SIZES)}, several=True, share=0.1),
    Planned(
        "allreduce-copies",
        "allreduce",
        {"ways": ["hierarchical", "one-device"], "sizes": [KIB, 4 * MIB, 256 * MIB]},
        several=True,
        quick=False,
        share=0.1,
    ),
    Planned("scaling", "scaling", several=True, quick=False),
)
MULTIWORKER = "multiworker"
# Seconds of measuring for each test. The quick tests measure for twice that together on one GPU.
SECONDS, QUICK_SECONDS = 4.0, 2.0
# After so many seconds beyond TensorFlow's imports `--quick` starts no further test on GPUs: the last one then ends within 20 s.
QUICK_BUDGET = 15.0


def chosen(names: Sequence[str], *, quick: bool) -> tuple[Planned, ...]:
    """The tests called `names`, or all (of the quick ones) when none is named."""
    if names:
        return tuple(t for t in TESTS if t.name in names)
    return tuple(t for t in TESTS if t.quick or not quick)


def options_for(test: Planned, *, gpus: int, seconds: float, devices: Optional[Sequence[int]] = None) -> dict[str, Any]:
    """The options of one run. Without GPU two logical CPU devices stand in where a test needs several."""
    sizes = dict(ON_GPU if gpus else ON_CPU)
    options = {**sizes, **test.options, "seconds": seconds * test.share}
    if not gpus:
        options["logical_cpus"] = 2 if test.several else 1
        if "sizes" in options:  # a rehearsal: the arithmetic is the same at 4 MiB
            options["sizes"] = [s for s in options["sizes"] if s <= 4 * MIB]
    if devices is not None:
        options["devices"] = list(devices)
    return options
