"""What smoke tests of one RTX 3090 came to, for tests of the rules that read it."""

from __future__ import annotations

from typing import Any

from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.results import Experiment, Sample, SmokeResult

CARD = {"name": "NVIDIA GeForce RTX 3090", "compute_capability": "8.6"}


def listed(count: int = 1, state: str = "passed", **changes: Any) -> SmokeResult:
    """The device list with `count` such cards."""
    measured = {"gpus": count, "listed": [CARD] * count}
    devices = tuple(f"GPU:{i}" for i in range(count)) or ("CPU:0",)
    more = {"measured": measured, "devices": devices, "tensorflow": "2.20.0", "rehearsal": not count, **changes}
    return SmokeResult("devices", state, "what happened", **more)


def measured(test: str, count: int = 1, **figures: Any) -> SmokeResult:
    """A test that passed on `count` GPUs with these figures."""
    return SmokeResult(test, "passed", "", measured=figures, devices=tuple(f"GPU:{i}" for i in range(count)))


def smoke(
    *results: SmokeResult, experiments: tuple[Experiment, ...] = (), **samples: tuple[Sample, ...]
) -> SmokeResults:
    """The fact; `samples` by the test's name."""
    return SmokeResults(results, experiments, tuple(samples.items()), "tfdoctor smoke")


def helped(what: str, *confirms: str) -> SmokeResults:
    """AllReduce hung over two cards, and the change `what` helped."""
    hung = SmokeResult("allreduce", "hung", "no end within 300 s")
    return smoke(
        listed(2), hung, experiments=(Experiment("allreduce", what, confirms, True, measured("allreduce", 2)),)
    )
