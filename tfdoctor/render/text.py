"""`check --format text`: the verdict, the machine at a glance, what was found, what could not be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Optional

from tfdoctor import __version__
from tfdoctor.i18n import _, ngettext
from tfdoctor.model import Diagnosis, Fix, Outcome, Report, Severity, Status
from tfdoctor.render.shell import shell_lines, shell_of
from tfdoctor.render.view import Checked
from tfdoctor.terminal import wrapped

Paint = Callable[[str, str], str]
GIB = 1024**3

VERDICTS = {"yes": ("YES", "green"), "no": ("NO", "red"), "unknown": ("UNKNOWN", "yellow")}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def render(checked: Checked, *, width: int = 100, colour: bool = False, verbose: bool = False) -> str:
    """The report for a terminal of `width` columns. `verbose` adds the evidence and every skipped check."""
    return "\n".join(_lines(checked, min(max(width, 40), 120), _painter(colour), verbose)) + "\n"


def render_found(report: Report, *, width: int = 100, colour: bool = False, verbose: bool = False) -> str:
    """Only what was found, for a command that shows the rest itself; empty when nothing was."""
    lines = _found(report, width, _painter(colour), verbose) if report.found else iter(())
    return "".join(line + "\n" for line in lines)


def _painter(colour: bool) -> Paint:
    if not colour:
        return lambda text, _colour: text
    import click

    return lambda text, name: click.style(text, fg=name, bold=True)


def _lines(checked: Checked, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    report = checked.report
    word, colour = VERDICTS[report.verdict.gpu]
    yield _("Will TensorFlow use the GPUs?  {word}").format(word=paint(word, colour))
    yield from wrapped(report.verdict.summary, width, "  ")
    if report.verdict.proven is not None:
        text = _("  predicted: {predicted}; proven by running it: {proven}")
        yield text.format(predicted=report.verdict.predicted, proven=report.verdict.proven)
    yield ""
    yield from _machine(report)
    yield from _gpus(report)
    yield from _requirements(checked, width, paint)
    yield from _found(report, width, paint, verbose)
    yield from _not_looked(report, width, verbose)


def _machine(report: Report) -> Iterator[str]:
    for name, value in machine_rows(report):
        yield f"  {name:<11} {value}"
    yield ""


def machine_rows(report: Report) -> list[tuple[str, str]]:
    """(what, value): the machine at a glance."""
    facts = report.facts
    return [
        (_("Target"), _target(facts.get("interpreter"), report.target)),
        (_("TensorFlow"), _tensorflow(facts.get("tensor_flow"), report.missing.get("tensor_flow"))),
        (_("Driver"), _driver(facts.get("driver"), report.missing.get("driver"))),
        (_("System"), _system(facts)),
    ]


def _target(interpreter: Any, path: str) -> str:
    if interpreter is None:
        return path or _("not known")
    kind = f", {interpreter.kind}" if interpreter.kind else ""
    return f"Python {interpreter.version}{kind}: {interpreter.path}"


def _tensorflow(tensorflow: Any, missing: Optional[str]) -> str:
    if tensorflow is None:
        return missing or _("not known")
    if tensorflow.cuda_build:
        built = _("built for CUDA {cuda}, cuDNN {cudnn}").format(
            cuda=tensorflow.cuda or "?", cudnn=tensorflow.cudnn or "?"
        )
    else:
        built = _("CPU-only build") if tensorflow.cuda_build is False else _("CUDA build not known")
    return f"{tensorflow.version} ({tensorflow.distribution}), {built}"


def _driver(driver: Any, missing: Optional[str]) -> str:
    if driver is None:
        return missing or _("not known")
    cuda = _(", CUDA driver API version {cuda}").format(cuda=driver.cuda) if driver.cuda else ""
    return f"{driver.version}{cuda}"


def _system(facts: Any) -> str:
    platform = facts.get("platform")
    if platform is None:
        return _("not known")
    parts = [f"{platform.distro} {platform.distro_version}".strip() or platform.system, platform.machine]
    if platform.libc:
        parts.append(f"{platform.libc} {platform.libc_version}".strip())
    if platform.wsl:
        parts.append(f"WSL{platform.wsl}")
    container = facts.get("container")
    if container is not None and container.kind:
        parts.append(_("in {kind}").format(kind=container.kind))
    return ", ".join(p for p in parts if p)


def _gpus(report: Report) -> Iterator[str]:
    """A table, since this is what people compare."""
    gpus = report.facts.get("gpus")
    if gpus is None or not len(gpus):
        return
    from tabulate import tabulate

    head = [_("GPU"), _("name"), _("cc"), _("memory used/total"), _("PCIe now/max"), _("NVLinks up"), _("processes")]
    rows = [
        [
            gpu.index,
            gpu.name + (_(" (lost)") if gpu.lost else ""),
            gpu.compute_capability or "?",
            _memory(gpu.memory_used, gpu.memory_total),
            _pcie(gpu.pcie),
            "-" if gpu.nvlinks is None else f"{gpu.active_nvlinks}/{len(gpu.nvlinks)}" if gpu.nvlinks else "none",
            "?" if gpu.processes is None else len(gpu.processes),
        ]
        for gpu in gpus
    ]
    yield from ("  " + line for line in tabulate(rows, head, tablefmt="simple", disable_numparse=True).splitlines())
    yield ""


def _requirements(checked: Checked, width: int, paint: Paint) -> Iterator[str]:
    colours = {"met": "green", "not-met": "red", "unknown": "red"}
    for judgement in checked.judgements:
        yield f"{paint(judgement.state, colours[judgement.state])}  {judgement.requirement.text}"
        if not judgement.met:
            yield from wrapped(judgement.why, width, "  ")
    if checked.judgements:
        yield ""


def _memory(used: Optional[int], total: Optional[int]) -> str:
    return "/".join("?" if b is None else f"{b / GIB:.1f}" for b in (used, total)) + " GiB"


def _pcie(link: Any) -> str:
    now = f"gen{link.generation or '?'} x{link.width or '?'}"
    return f"{now} / gen{link.max_generation or '?'} x{link.max_width or '?'}"


def _found(report: Report, width: int, paint: Paint, verbose: bool) -> Iterator[str]:
    found = report.found
    if not found:
        yield _("Nothing found.")
        yield ""
    for outcome in found:
        if outcome.folded_under is None:
            below = [o for o in found if o.folded_under == outcome.rule.code]
            yield from _outcome(outcome, below, width, paint, verbose, shell_of(report))


def _outcome(
    outcome: Outcome, consequences: list[Outcome], width: int, paint: Paint, verbose: bool, shell: str
) -> Iterator[str]:
    for diagnosis in outcome.diagnoses:
        severity = diagnosis.severity or outcome.rule.severity
        label = paint(str(severity), COLOURS[severity])
        yield f"{label}  {outcome.rule.code} {outcome.rule.name}"
        yield from wrapped(diagnosis.message, width, "  ")
        yield from _evidence(diagnosis, width, verbose)
        for fix in diagnosis.fixes:
            yield from _fix(fix, width, shell)
    if consequences:
        names = ", ".join(f"{o.rule.code} {o.rule.name}" for o in consequences)
        yield from wrapped(_("It also explains: {names}").format(names=names), width, "  ")
        if verbose:
            for consequence in consequences:
                yield from wrapped(f"{consequence.rule.code}: {consequence.diagnoses[0].message}", width, "    ")
    yield ""


def _evidence(diagnosis: Diagnosis, width: int, verbose: bool) -> Iterator[str]:
    if verbose:
        for item in diagnosis.evidence:
            yield from wrapped(f"{item.says}  [{item.source}]", width, "    ", "  ")


def _fix(fix: Fix, width: int, shell: str) -> Iterator[str]:
    needs = f" ({', '.join(sorted(fix.needs))})" if fix.needs else ""
    yield from wrapped(_("To do: {title}{needs}").format(title=fix.title, needs=needs), width, "  ", "  ")
    yield from (f"      {line}" for line in shell_lines(fix, shell))
    if fix.note:
        yield from wrapped(fix.note, width, "    ")


def _not_looked(report: Report, width: int, verbose: bool) -> Iterator[str]:
    for crash in report.crashes:
        yield from wrapped(_("tfdoctor failed in {what}: {error}").format(**vars(crash)), width, "")
    skipped = [o for o in report.outcomes if o.status is Status.SKIPPED]
    if skipped and not verbose:
        text = ngettext("{n} check could not look", "{n} checks could not look", len(skipped)).format(n=len(skipped))
        yield _("{text}; --verbose lists them.").format(text=text)
    for reason in dict.fromkeys(o.reason for o in skipped) if verbose else ():
        names = ", ".join(f"{o.rule.code} {o.rule.name}" for o in skipped if o.reason == reason)
        yield from wrapped(_("could not look ({reason}): {names}").format(reason=reason, names=names), width, "", "  ")
    yield _("tfdoctor {version}; `tfdoctor explain CODE` tells more about a diagnosis.").format(version=__version__)
