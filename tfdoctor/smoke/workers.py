"""MultiWorkerMirroredStrategy with real processes on this host over gRPC, or as one worker of a run across hosts."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from tfdoctor.children import Promise
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.smoke.plan import KIB, MIB, MULTIWORKER
from tfdoctor.smoke.results import SmokeResult
from tfdoctor.smoke.runner import Runner

SIZES = [KIB, MIB, 16 * MIB]
ROUNDS = 5
GRACE = 10.0  # seconds for the other workers to say what they think of one that ended badly
# A worker that died makes the others fail for its sake: the crash is the one to tell of.
ORDER = ("crashed", "out-of-memory", "wrong", "hung", "failed", "not-run", "passed")
REACH = 3.0  # seconds to wait for a TCP connection


def run_workers(runner: Runner, count: int, *, gpus: Sequence[int], timeout: float) -> SmokeResult:
    """`count` workers on this host; the first result that is not a pass stands for all.

    Each takes its own part of `gpus` (TensorFlow's numbers): NCCL wants no GPU twice. With fewer GPUs than workers they
    run on the CPU.
    """
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    promises = [
        Promise(f"worker {rank}", _call(runner, _options(gpus, rank, count), timeout, config(addresses, rank)))
        for rank in range(count)
    ]
    results = _in_time(promises, runner)
    return min(results, key=lambda r: ORDER.index(r.state))


def _options(gpus: Sequence[int], rank: int, count: int) -> dict[str, Any]:
    options: dict[str, Any] = {"sizes": SIZES, "rounds": ROUNDS, "cpu": len(gpus) < count}
    return options if options["cpu"] else {**options, "devices": list(gpus[rank::count])}


def _in_time(promises: Sequence[Promise[SmokeResult]], runner: Runner) -> list[SmokeResult]:
    """The workers' results. Once one has ended badly the others, which wait for it in vain, get GRACE and are ended; what
    they came to after that says nothing."""
    until: Optional[float] = None
    while any(p.pending for p in promises) and (until is None or time.monotonic() < until):
        time.sleep(0.1)
        if until is None and any(not p.pending and not p.result().passed for p in promises):
            until = time.monotonic() + GRACE
    ended = [p for p in promises if not p.pending]
    if len(ended) < len(promises):
        runner.children.close()
    for promise in promises:
        promise.result()
    return [p.result() for p in ended]


def _call(runner: Runner, options: Mapping[str, Any], timeout: float, tf_config: str) -> Callable[[], SmokeResult]:
    environment = {"TF_CONFIG": tf_config}
    return lambda: runner.run(MULTIWORKER, options, timeout=timeout, environment=environment)


def config(addresses: Sequence[str], rank: int) -> str:
    """TF_CONFIG of worker `rank` among `addresses`."""
    return json.dumps({"cluster": {"worker": list(addresses)}, "task": {"type": "worker", "index": rank}})


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on now; all are held until all are chosen."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def take_part(runner: Runner, tf_config: str, *, timeout: float) -> tuple[SmokeResult, tuple[str, ...]]:
    """Be the worker that `tf_config` describes. Returns its result and the addresses that could not be reached.

    The other workers may start later than this one, so an address that refuses the connection (its host answers) is
    not yet a fault; one whose name does not resolve or that never answers is.
    """
    addresses, own = parse(tf_config)
    unreachable = tuple(why for i, a in enumerate(addresses) if i != own and (why := unreachable_because(a)))
    if unreachable:
        text = _("not started: {why}").format(why="; ".join(unreachable))
        return SmokeResult(MULTIWORKER, "not-run", text), unreachable
    options = {"sizes": SIZES, "rounds": ROUNDS}
    return runner.run(MULTIWORKER, options, timeout=timeout, environment={"TF_CONFIG": tf_config}), ()


def parse(tf_config: str) -> tuple[list[str], int]:
    """(worker addresses, this worker's index) of a TF_CONFIG. Raises BadInput that names what is wrong."""
    try:
        value = json.loads(tf_config)
        workers, index = value["cluster"]["worker"], value["task"]["index"]
    except (ValueError, KeyError, TypeError) as error:
        wanted = '{"cluster": {"worker": ["host:port", …]}, "task": {"type": "worker", "index": 0}}'
        raise BadInput(_("TF_CONFIG must look like {wanted} ({error}).").format(wanted=wanted, error=error)) from error
    if not isinstance(workers, list) or not isinstance(index, int) or not 0 <= index < len(workers):
        text = _("TF_CONFIG names worker {index}, and its cluster has {count} workers.")
        raise BadInput(text.format(index=index, count=len(workers) if isinstance(workers, list) else 0))
    return [str(w) for w in workers], index


def unreachable_because(address: str) -> Optional[str]:
    """Why the host of `address` ("host:port") cannot be reached; None when it answers, also with a refusal."""
    host, _colon, port = address.rpartition(":")
    if not host or not port.isdigit():
        return _("{address} is not host:port").format(address=address)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH).close()
    except ConnectionRefusedError:
        return None
    except OSError as error:
        return _("{address} does not answer ({error})").format(address=address, error=error)
    return None
