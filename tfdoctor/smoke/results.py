"""What a smoke test came to, and the arithmetic of collectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass(frozen=True)
class Check:
    """One comparison with mathematics: `error` is the deviation found, `limit` what the number format allows."""

    what: str
    error: float
    limit: float
    ok: bool


@dataclass(frozen=True)
class SmokeResult:
    """One test after its run.

    `state` is "passed", "wrong" (a check failed: the device computes something else), "failed" (TensorFlow raised),
    "out-of-memory", "crashed" (a signal or a sudden exit), "hung" (killed at its limit), "not-run".
    `stage` is the step that it reached last, `detail` one sentence for people, `log` the end of what TensorFlow printed.
    `rehearsal`: it ran on the CPU and proves nothing about a GPU. `environment` is what was set differently for this run.
    `importing` are the seconds that TensorFlow's import took, a part of `seconds`. `measured["repeats"]` maps what was
    measured ("matmul GPU:0 fp16") to the rates of several repeats, the higher the better.
    """

    test: str
    state: str
    detail: str
    stage: str = ""
    checks: tuple[Check, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    tensorflow: str = ""
    seconds: float = 0.0
    importing: float = 0.0
    rehearsal: bool = False
    log: str = field(default="", repr=False)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Ran to its end and everything was right."""
        return self.state == "passed"


@dataclass(frozen=True)
class Experiment:
    """The test `test`, which went wrong, run again with one thing changed.

    `confirms` names the diagnoses of which one holds when `helped`. `devices` are TensorFlow's numbers of the GPUs when
    only these took part.
    """

    test: str
    what: str
    confirms: tuple[str, ...]
    helped: bool
    result: SmokeResult
    devices: tuple[int, ...] = ()


@dataclass(frozen=True)
class KnownMessage:
    """A known error in what a test printed: the diagnosis that it points to, and the line. `values` as in `LogMatch`."""

    test: str
    name: str
    code: str
    text: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """The state of one GPU at one moment of a test: MHz, watts, °C, per cent; None where not told.

    `throttle` are active reasons by the names of `Gpu.throttle`. `cpu` is how busy the host's processors were, all
    together, in per cent."""

    gpu: int
    clock_sm: Optional[int] = None
    power: Optional[float] = None
    temperature: Optional[int] = None
    utilization: Optional[int] = None
    pcie_generation: Optional[int] = None
    pcie_width: Optional[int] = None
    throttle: frozenset[str] = frozenset()
    cpu: Optional[float] = None


def algorithm_bandwidth(size: int, seconds: float) -> float:
    """algbw in GB/s as nccl-tests define it: bytes of the message over the time of one operation."""
    return size / seconds / 1e9


def bus_bandwidth(size: int, seconds: float, ranks: int) -> float:
    """busbw of an AllReduce in GB/s as nccl-tests define it: algbw * 2 (n - 1) / n.

    Each rank must send and receive 2 (n - 1) / n of the message whatever the algorithm, so this compares with the
    rate of the slowest link independently of the number of ranks.
    """
    return algorithm_bandwidth(size, seconds) * 2 * (ranks - 1) / ranks
