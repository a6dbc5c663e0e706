"""`report --html`: one page that needs no network: verdict, requirements, diagnoses, topology, smoke results."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

from tfdoctor import __version__
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Fix, Outcome, Severity, Status
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.render import plots_svg, topology_svg
from tfdoctor.render.shell import shell_lines, shell_of
from tfdoctor.render.text import machine_rows
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber
from tfdoctor.smoke import expectation
from tfdoctor.smoke.results import SmokeResult
from tfdoctor.tables import Tables

GIB = 2**30
QUESTION = _("Will TensorFlow use the GPUs?")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Page:
    """Writes one report. Every text passes through `t`, which scrubs and escapes it."""

    def __init__(self, checked: Checked, smoke: Optional[Mapping[str, Any]], scrub: Scrubber) -> None:
        self._checked, self._smoke, self._scrub = checked, smoke, scrub

    def t(self, text: Any) -> str:
        """`text` as HTML shows it, without private data and control characters."""
        clean = self._scrub.text(str(text))
        return html.escape("".join(c if c.isprintable() or c in "\n\t" else " " for c in clean))

    def whole(self) -> str:
        """The page."""
        style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
        body = "\n".join(self._body())
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>tfdoctor: {self.t(self._checked.report.verdict.gpu)}</title>\n"
            f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
        )

    def _body(self) -> Iterator[str]:
        verdict = self._checked.report.verdict
        yield f'<header class="verdict {verdict.gpu}"><h1>{self.t(QUESTION)} <span class="word">{self.t(verdict.gpu)}</span></h1>'
        yield f"<p>{self.t(verdict.summary)}</p></header>"
        yield from self._requirements()
        yield from self._diagnoses()
        yield from self._machine()
        yield from self._topology()
        yield from self._plots()
        yield from self._not_looked()
        yield f"<footer>tfdoctor {self.t(__version__)}</footer>"

    def _requirements(self) -> Iterator[str]:
        if not self._checked.judgements:
            return
        yield f"<h2>{self.t(_('Requirements'))}</h2><div class='scroll'><table>"
        yield f"<tr><th>{self.t(_('requirement'))}</th><th>{self.t(_('state'))}</th><th>{self.t(_('here'))}</th></tr>"
        for j in self._checked.judgements:
            yield f"<tr><td>{self.t(j.requirement.text)}</td><td class='{j.state}'>{j.state}</td><td class='long'>{self.t(j.have)}</td></tr>"
        yield "</table></div>"

    def _diagnoses(self) -> Iterator[str]:
        yield f"<h2>{self.t(_('What was found'))}</h2>"
        found = [o for o in self._checked.report.found if o.folded_under is None]
        if not found:
            yield f"<p>{self.t(_('Nothing.'))}</p>"
        yield '<div class="cards">'
        for outcome in found:
            for diagnosis in outcome.diagnoses:
                yield from self._card(outcome, diagnosis)
        yield "</div>"

    def _card(self, outcome: Outcome, diagnosis: Diagnosis) -> Iterator[str]:
        severity: Severity = diagnosis.severity or outcome.rule.severity
        yield f'<section class="card"><h3><span class="{severity}">{severity}</span> {outcome.rule.code} {self.t(outcome.rule.name)}</h3>'
        yield f"<p>{self.t(diagnosis.message)}</p>"
        below = [o for o in self._checked.report.found if o.folded_under == outcome.rule.code]
        if below:
            names = ", ".join(f"{o.rule.code} {o.rule.name}" for o in below)
            yield f"<p class='soft'>{self.t(_('It also explains: {names}').format(names=names))}</p>"
        if diagnosis.evidence:
            yield "<ul class='soft'>"
            for item in diagnosis.evidence:
                yield f"<li>{self.t(item.says)} ({self.t(item.source)})</li>"
            yield "</ul>"
        for fix in diagnosis.fixes:
            yield from self._fix(fix)
        yield "</section>"

    def _fix(self, fix: Fix) -> Iterator[str]:
        yield f"<p>{self.t(_('To do: {title}').format(title=fix.title))}</p>"
        lines = "\n".join(shell_lines(fix, shell_of(self._checked.report)))
        if lines:
            yield f"<pre>{self.t(lines)}</pre>"
        if fix.note:
            yield f"<p class='soft'>{self.t(fix.note)}</p>"

    def _machine(self) -> Iterator[str]:
        yield f"<h2>{self.t(_('The machine'))}</h2><dl>"
        for name, value in machine_rows(self._checked.report):
            yield f"<dt>{self.t(name)}</dt><dd>{self.t(value)}</dd>"
        yield "</dl>"

    def _topology(self) -> Iterator[str]:
        facts = self._checked.report.facts
        gpus = tuple(facts.get("gpus") or ())
        topology, pci = facts.get("topology"), facts.get("pci")
        behind = {d.address: len(d.upstream) for d in pci.devices} if pci is not None else {}
        drawing = topology_svg.draw(gpus, topology.levels if topology is not None else {}, behind, self.t)
        if not drawing:
            return
        yield f"<h2>{self.t(_('The GPUs and how they are joined'))}</h2>{drawing}"
        head = (
            _("GPU"),
            _("name"),
            _("compute capability"),
            _("memory used/total"),
            _("PCIe now/max"),
            _("NVLinks up"),
        )
        yield "<div class='scroll'><table><tr>" + "".join(f"<th>{self.t(h)}</th>" for h in head) + "</tr>"
        for gpu in gpus:
            cells = (gpu.index, gpu.name, gpu.compute_capability or "?", _memory(gpu), _pcie(gpu.pcie), _links(gpu))
            yield "<tr>" + "".join(f"<td>{self.t(cell)}</td>" for cell in cells) + "</tr>"
        yield "</table></div>"

    def _plots(self) -> Iterator[str]:
        if self._smoke is None:
            return
        yield f"<h2>{self.t(_('Smoke tests'))}</h2>"
        if self._smoke.get("rehearsal"):
            yield f"<p>{self.t(_('A rehearsal on the CPU: it shows that TensorFlow runs and proves nothing about a GPU.'))}</p>"
        yield "<div class='scroll'><table>"
        for test in self._smoke.get("tests", ()):
            word = "met" if test["state"] == "passed" else "soft" if test["state"] == "not-run" else "not-met"
            yield f"<tr><td>{self.t(test['test'])}</td><td class='{word}'>{self.t(test['state'])}</td><td class='long'>{self.t(test['detail'])}</td></tr>"
        yield "</table></div><div class='plots'>"
        for title, drawing in plots_svg.draw(self._smoke, shares(self._smoke), self.t):
            yield f"<figure><figcaption>{self.t(title)}</figcaption>{drawing}</figure>"
        yield "</div>"

    def _not_looked(self) -> Iterator[str]:
        skipped = [o for o in self._checked.report.outcomes if o.status is Status.SKIPPED]
        if skipped or self._checked.report.crashes:
            yield f"<details><summary>{self.t(_('What could not be looked at'))}</summary><ul class='soft'>"
            for crash in self._checked.report.crashes:
                yield f"<li>{self.t(crash.what)}: {self.t(crash.error)}</li>"
            for outcome in skipped:
                yield f"<li>{self.t(outcome.rule.code)} {self.t(outcome.rule.name)}: {self.t(outcome.reason)}</li>"
            yield "</ul></details>"


def render(checked: Checked, scrub: Scrubber, smoke: Optional[Mapping[str, Any]] = None) -> str:
    """The page as text. `smoke` is what `smoke --format json` printed."""
    return Page(checked, smoke, scrub).whole()


def shares(smoke: Mapping[str, Any]) -> Mapping[str, float]:
    """Place -> share of the model's dense peak, for the models that the tables know."""
    results = tuple(SmokeResult(t["test"], t["state"], t["detail"], measured=_known(t)) for t in smoke.get("tests", ()))
    return expectation.shares(SmokeResults(results, (), (), ""), Tables())


def _known(test: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was measured, without places that are not "DEVICE FORMAT": a file may come from anywhere."""
    measured = dict(test.get("measured") or {})
    rates = measured.get("tflops")
    if isinstance(rates, Mapping):
        measured["tflops"] = {place: rate for place, rate in rates.items() if re.fullmatch(r"\w+:\d+ \w+", place)}
    return measured


def _memory(gpu: Any) -> str:
    return "/".join("?" if b is None else f"{b / GIB:.1f}" for b in (gpu.memory_used, gpu.memory_total)) + " GiB"


def _pcie(link: Any) -> str:
    return (
        f"gen{link.generation or '?'} x{link.width or '?'} / gen{link.max_generation or '?'} x{link.max_width or '?'}"
    )


def _links(gpu: Any) -> str:
    return "?" if gpu.nvlinks is None else f"{gpu.active_nvlinks}/{len(gpu.nvlinks)}" if gpu.nvlinks else _("none")
