"""The same test again with one thing changed: what helps names the transport, the pair or the card at fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Optional

from tfdoctor.children import Promise
from tfdoctor.i18n import _
from tfdoctor.smoke.plan import KIB, MIB, Planned
from tfdoctor.smoke.results import Experiment, SmokeResult, bus_bandwidth
from tfdoctor.smoke.runner import Runner


@dataclass(frozen=True)
class Change:
    """One change of NCCL's transport, and the diagnoses of which one holds when AllReduce works with it and not without."""

    what: str
    environment: Mapping[str, str]
    confirms: tuple[str, ...]


# In the order in which NCCL prefers the transports, so that the first that helps is the one that was in use.
CHANGES = (
    Change(
        "NCCL_P2P_DISABLE=1",
        {"NCCL_P2P_DISABLE": "1"},
        ("p2p-broken-by-iommu-acs", "nvlink-bridge-not-seated", "nvlink-hardware-fault"),
    ),
    Change("NCCL_SHM_DISABLE=1", {"NCCL_SHM_DISABLE": "1"}, ("shm-too-small", "shm-full-of-stale-segments")),
    Change("NCCL_IB_DISABLE=1", {"NCCL_IB_DISABLE": "1"}, ("nccl-wrong-interface",)),
    Change("NCCL_SOCKET_IFNAME=lo", {"NCCL_SOCKET_IFNAME": "lo"}, ("nccl-wrong-interface",)),
)
EXPERIMENT_TIME = 90.0  # seconds; a working AllReduce of these sizes takes a few beyond TensorFlow's import
PAIR_TIME = 45.0  # seconds; a pair is quicker still, and there are many of them
SIZES = [KIB, 16 * MIB]
FASTER = 2.0  # this project's choice: a change that makes a slow AllReduce this much faster is no chance


@dataclass(frozen=True)
class Culprits:
    """What the runs by pairs came to, in TensorFlow's numbers: cards that no pair works with, else pairs that do not work."""

    cards: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def experiments_on(
    result: SmokeResult,
    test: Planned,
    runner: Runner,
    options: Mapping[str, Any],
    *,
    timeout: float,
    devices: Sequence[int] = (),
) -> Iterator[Experiment]:
    """Run `test`, which ended as `result`, again with each change until one helps, then by pairs of `devices`."""
    small = {**options, "sizes": SIZES} if "sizes" in options else dict(options)
    limit = min(timeout, EXPERIMENT_TIME)
    for change in CHANGES:
        environment = {**change.environment, "NCCL_DEBUG": "INFO"}
        again = runner.run(test.program, small, timeout=limit, environment=environment, name=test.name)
        helped = better(result, again)
        yield Experiment(test.name, change.what, change.confirms, helped, again)
        if helped:
            break
    if len(devices) > 2:
        yield from _pairs(result, test, runner, small, min(timeout, PAIR_TIME), devices)


def better(before: SmokeResult, after: SmokeResult) -> bool:
    """Did the change help? A test that did not pass passes now; one that passed slowly is FASTER times as fast."""
    if not before.passed:
        return after.passed
    old, new = fastest(before), fastest(after)
    return after.passed and old is not None and new is not None and new >= FASTER * old


def fastest(result: SmokeResult) -> Optional[float]:
    """The best busbw of an AllReduce in GB/s, None when it measured none."""
    ranks = int(result.measured.get("replicas", 0))
    rates = (
        [bus_bandwidth(m["bytes"], m["seconds"], ranks) for m in result.measured.get("allreduce", ())] if ranks else []
    )
    return max(rates, default=None)


def _pairs(
    result: SmokeResult, test: Planned, runner: Runner, options: Mapping[str, Any], limit: float, devices: Sequence[int]
) -> Iterator[Experiment]:
    """Which pairs work by themselves? It confirms nothing; `culprits` reads it.

    Pairs that share no GPU run at once where each may hang for `limit`; where the question is how fast they are, they run
    one by one, since they may share links.
    """

    def alone(pair: tuple[int, int]) -> Experiment:
        again = runner.run(test.program, {**options, "devices": list(pair)}, timeout=limit, name=test.name)
        what = _("GPU {one} and GPU {other} alone").format(one=pair[0], other=pair[1])
        return Experiment(test.name, what, (), better(result, again), again, devices=pair)

    for together in rounds(devices):
        if result.passed:
            yield from map(alone, together)
        else:
            promises = [Promise(f"pair {pair}", partial(alone, pair)) for pair in together]
            yield from (promise.result() for promise in promises)


def rounds(devices: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Every pair once, in rounds of pairs that share no device: a round-robin tournament by the circle method."""
    seats: list[Optional[int]] = [*devices, *([None] if len(devices) % 2 else [])]
    half = len(seats) // 2
    for _round in seats[1:]:
        across = zip(seats[:half], reversed(seats[half:]))
        yield [(min(a, b), max(a, b)) for a, b in across if a is not None and b is not None]
        seats = [seats[0], seats[-1], *seats[1:-1]]


def culprits(experiments: Iterable[Experiment]) -> Culprits:
    """Reads the runs by pairs: nothing when all or none of them work, since then the number of GPUs is what matters."""
    runs = {(e.devices[0], e.devices[1]): e.helped for e in experiments if len(e.devices) == 2}
    bad = tuple(pair for pair, works in runs.items() if not works)
    if not bad or len(bad) == len(runs):
        return Culprits()
    cards = sorted({card for pair in runs for card in pair})
    alone = [card for card in cards if all(pair in bad for pair in runs if card in pair)]
    rest = tuple(pair for pair in bad if not set(pair) & set(alone))
    return Culprits(tuple(alone), rest)
