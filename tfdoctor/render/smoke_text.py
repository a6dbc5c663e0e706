"""`smoke --format text`: a table of the tests, what was measured, and the experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.results import SmokeResult, algorithm_bandwidth, bus_bandwidth


def render(smoke: SmokeResults, *, verbose: bool = False) -> str:
    """The whole round of tests. `verbose` adds every comparison and the end of what TensorFlow printed."""
    return "\n".join(_lines(smoke, verbose)) + "\n"


def _lines(smoke: SmokeResults, verbose: bool) -> Iterator[str]:
    from tabulate import tabulate

    rows = [[r.test, r.state, _("CPU") if r.rehearsal else "", f"{r.seconds:.0f}", r.detail] for r in smoke.results]
    head = [_("test"), _("result"), _("on"), _("seconds"), _("detail")]
    yield from tabulate(rows, head, tablefmt="simple", maxcolwidths=[None, None, None, None, 80]).splitlines()
    yield ""
    for result in smoke.results:
        yield from _figures(result)
    for experiment in smoke.experiments:
        ended = _("works") if experiment.helped else _("does not work ({state})").format(state=experiment.result.state)
        yield _("again with {what}: {ended}").format(what=experiment.what, ended=ended)
    if any(r.rehearsal for r in smoke.results):
        yield _("This was a rehearsal on the CPU: it shows that TensorFlow runs and proves nothing about a GPU.")
    if verbose:
        yield from _details(smoke.results)


def _figures(result: SmokeResult) -> Iterator[str]:
    measured = result.measured
    if "tflops" in measured:
        yield from _table([_("matmul"), "TFLOP/s"], [[k, f"{v:.3g}"] for k, v in measured["tflops"].items()])
    if "gb_per_second" in measured and not result.rehearsal:
        yield from _table([_("copy"), "GB/s"], [[k, f"{v:.3g}"] for k, v in measured["gb_per_second"].items()])
    if "allreduce" in measured:
        yield from _allreduce(measured)
    if "steps_per_second" in measured:
        yield from _scaling(measured["steps_per_second"])


def _allreduce(measured: Any) -> Iterator[str]:
    """Latency matters at small sizes and bus bandwidth at large ones, so both stand in each row."""
    ranks = int(measured["replicas"])
    rows = [
        [
            m["way"],
            _size(m["bytes"]),
            f"{m['seconds'] * 1e6:.0f}",
            f"{algorithm_bandwidth(m['bytes'], m['seconds']):.3g}",
            f"{bus_bandwidth(m['bytes'], m['seconds'], ranks):.3g}",
        ]
        for m in measured["allreduce"]
    ]
    yield from _table([_("AllReduce, {n} replicas").format(n=ranks), _("size"), "µs", "algbw GB/s", "busbw GB/s"], rows)


def _scaling(rates: Any) -> Iterator[str]:
    one = rates.get("1")
    rows = [
        [count, f"{rate:.3g}", f"{rate / one:.0%}" if one else "?"]
        for count, rate in sorted(rates.items(), key=lambda item: int(item[0]))
    ]
    yield from _table([_("devices"), _("steps/s, same work on each"), _("efficiency")], rows)


def _size(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or unit == "MiB":
            return f"{size} {unit}"
        size //= 1024
    return str(size)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    from tabulate import tabulate

    yield from tabulate(rows, head, tablefmt="simple", disable_numparse=True).splitlines()
    yield ""


def _details(results: Sequence[SmokeResult]) -> Iterator[str]:
    for result in results:
        for check in result.checks:
            word = _("right") if check.ok else _("WRONG")
            yield f"{word}: {check.what}: {check.error:.3g} <= {check.limit:.3g}"
        if not result.passed and result.log:
            yield _("the end of what {test} printed:").format(test=result.test)
            yield from ("  | " + line for line in result.log.splitlines()[-20:])
