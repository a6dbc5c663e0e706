"""The same test again with one thing changed: what helps names the transport, the pair or the card at fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.smoke.plan import Planned
from tfdoctor.smoke.results import Experiment, SmokeResult
from tfdoctor.smoke.runner import Runner


@dataclass(frozen=True)
class Change:
    """One change of NCCL's transport, and the diagnosis that holds when AllReduce works with it and not without."""

    what: str
    environment: Mapping[str, str]
    confirms: str


# In the order in which NCCL prefers the transports, so that the first that helps is the one that was in use.
CHANGES = (
    Change("peer-to-peer off", {"NCCL_P2P_DISABLE": "1"}, "p2p-broken-by-iommu-acs"),
    Change("shared memory off", {"NCCL_SHM_DISABLE": "1"}, "shm-too-small"),
    Change("InfiniBand off", {"NCCL_IB_DISABLE": "1"}, "nccl-wrong-interface"),
    Change("sockets on the loopback interface only", {"NCCL_SOCKET_IFNAME": "lo"}, "nccl-wrong-interface"),
)
EXPERIMENT_TIME = 90.0  # seconds; a working AllReduce of these sizes takes a few beyond TensorFlow's import
SIZES = [1024, 4 * 1024 * 1024]


def experiments_on(
    result: SmokeResult, test: Planned, runner: Runner, options: Mapping[str, Any], timeout: float
) -> Iterator[Experiment]:
    """Run `test`, which ended as `result`, again with each change until one helps, then by pairs of devices."""
    small = {**options, "sizes": SIZES} if "sizes" in options else dict(options)
    limit = min(timeout, EXPERIMENT_TIME)
    for change in CHANGES:
        again = runner.run(test.program, small, timeout=limit, environment={**change.environment, "NCCL_DEBUG": "INFO"})
        yield Experiment(change.what, change.confirms, again.passed, again)
        if again.passed:
            return
    yield from _pairs(result, test, runner, small, limit)


def _pairs(
    result: SmokeResult, test: Planned, runner: Runner, options: Mapping[str, Any], limit: float
) -> Iterator[Experiment]:
    """With more than two devices: which pairs work? A card that no pair works with is the one."""
    indices = [int(name.rpartition(":")[2]) for name in result.devices] or list(options.get("devices", ()))
    if len(indices) < 3:
        return
    for pair in combinations(indices, 2):
        again = runner.run(test.program, {**options, "devices": list(pair)}, timeout=limit)
        what = _("GPUs {pair} alone").format(pair=" and ".join(map(str, pair)))
        yield Experiment(what, "nvlink-hardware-fault", again.passed, again)
