"""`smoke --format text`: a table of the tests, what was measured, and the experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.baseline import Change
from tfdoctor.smoke.results import SmokeResult, algorithm_bandwidth, bus_bandwidth


def render(smoke: SmokeResults, changes: Sequence[Change] = (), *, verbose: bool = False, style: str = "simple") -> str:
    """The whole round of tests. `verbose` adds every comparison and the end of what TensorFlow printed; `style` is one of
    tabulate's ("github" for Markdown)."""
    return "\n".join(_lines(smoke, changes, verbose, style)) + "\n"


def _lines(smoke: SmokeResults, changes: Sequence[Change], verbose: bool, style: str) -> Iterator[str]:
    rows = [[r.test, r.state, _on(r), f"{r.seconds:.0f}", r.detail] for r in smoke.results]
    yield from _table([_("test"), _("result"), _("on"), _("seconds"), _("detail")], rows, style, detail=80)
    for result in smoke.results:
        yield from _figures(result, style)
    for experiment in smoke.experiments:
        ended = _("works") if experiment.helped else _("does not work ({state})").format(state=experiment.result.state)
        yield _("{test} again with {what}: {ended}").format(test=experiment.test, what=experiment.what, ended=ended)
    yield from _compared(changes, style)
    if any(r.rehearsal for r in smoke.results):
        yield _("This was a rehearsal on the CPU: it shows that TensorFlow runs and proves nothing about a GPU.")
        yield ""
    if verbose:
        yield from _details(smoke.results)


def _on(result: SmokeResult) -> str:
    """ "CPU (2)" for two stand-in devices, "GPU (1)"; empty for a test that did not come so far."""
    kinds = sorted({name.partition(":")[0] for name in result.devices})
    return f"{', '.join(kinds)} ({len(result.devices)})" if kinds else ""


def _compared(changes: Sequence[Change], style: str) -> Iterator[str]:
    if not changes:
        return
    rows = [
        [c.what, f"{c.then:.3g}", f"{c.now:.3g}", f"{c.share:+.0%}", f"{c.noise:.0%}", _("slower") if c.slower else ""]
        for c in changes
    ]
    yield from _table([_("rate"), _("then"), _("now"), _("change"), _("noise"), ""], rows, style)


def _figures(result: SmokeResult, style: str) -> Iterator[str]:
    measured = result.measured
    if "tflops" in measured:
        yield from _table([_("matmul"), "TFLOP/s"], [[k, f"{v:.3g}"] for k, v in measured["tflops"].items()], style)
    if "gb_per_second" in measured and not result.rehearsal:
        yield from _table([_("copy"), "GB/s"], [[k, f"{v:.3g}"] for k, v in measured["gb_per_second"].items()], style)
    if "allreduce" in measured:
        yield from _allreduce(measured, style)
    if "steps_per_second" in measured:
        yield from _scaling(measured["steps_per_second"], style)


def _allreduce(measured: Any, style: str) -> Iterator[str]:
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
    yield from _table(
        [_("AllReduce, {n} replicas").format(n=ranks), _("size"), "µs", "algbw GB/s", "busbw GB/s"], rows, style
    )


def _scaling(rates: Any, style: str) -> Iterator[str]:
    one = rates.get("1")
    rows = [
        [count, f"{rate:.3g}", f"{rate / one:.0%}" if one else "?"]
        for count, rate in sorted(rates.items(), key=lambda item: int(item[0]))
    ]
    yield from _table([_("devices"), _("steps/s, same work on each"), _("efficiency")], rows, style)


def _size(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or unit == "MiB":
            return f"{size} {unit}"
        size //= 1024
    return str(size)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], style: str, detail: int = 0) -> Iterator[str]:
    """`detail`: the last column is broken to this many characters, where the style allows it."""
    from tabulate import tabulate

    widths = [*[None] * (len(head) - 1), detail] if detail and style == "simple" else None
    yield from tabulate(rows, head, tablefmt=style, disable_numparse=True, maxcolwidths=widths).splitlines()
    yield ""


def _details(results: Sequence[SmokeResult]) -> Iterator[str]:
    for result in results:
        for check in result.checks:
            word = _("right") if check.ok else _("WRONG")
            yield f"{word}: {check.what}: {check.error:.3g} <= {check.limit:.3g}"
        if not result.passed and result.log:
            yield _("the end of what {test} printed:").format(test=result.test)
            yield from ("  | " + line for line in result.log.splitlines()[-20:])
