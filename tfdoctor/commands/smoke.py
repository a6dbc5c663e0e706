"""`tfdoctor smoke`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

import click

from tfdoctor.children import Children
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, NotApplicable, Report, Unavailable
from tfdoctor.opening import interpreter, open_host
from tfdoctor.options import Seconds
from tfdoctor.probes.nvml import Gpus, Topology
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.progress import Progress
from tfdoctor.scrub import Scrubber
from tfdoctor.smoke import plan
from tfdoctor.smoke.baseline import Change, compare, earlier, rates_of
from tfdoctor.smoke.results import Experiment, Sample, SmokeResult
from tfdoctor.smoke.runner import Runner
from tfdoctor.smoke.session import Session
from tfdoctor.smoke.workers import take_part
from tfdoctor.tables import Tables

NAMES = [*(t.name for t in plan.TESTS), plan.MULTIWORKER]
# What the smoke tests themselves show, and what only experiments or logs of theirs can.
OWN_RULES = frozenset({"TFD003", "TFD125", "TFD524", "TFD705", "TFD706", "TFD819"})


@click.command("smoke")
@click.option("--python", metavar="PATH", help=_("Test the TensorFlow of this interpreter (default: this one)."))
@click.option("--test", "tests", type=click.Choice(NAMES), multiple=True, help=_("Run only this test (repeatable)."))
@click.option("--devices", metavar="N[,N…]", help=_("Use only these GPUs, by TensorFlow's numbers."))
@click.option("--cpu", is_flag=True, help=_("Rehearse on the CPU even where there is a GPU."))
@click.option("--quick/--full", default=False, help=_("Only the tests that take seconds, or all (default)."))
@click.option(
    "--seconds",
    type=Seconds(0.1, 600),
    metavar="SECONDS",
    default=None,
    help=_("Time per test (default: 4, with --quick 2)."),
)
@click.option(
    "--timeout",
    type=Seconds(1, 86400),
    metavar="SECONDS",
    default=300.0,
    show_default=True,
    help=_("How long a test may take."),
)
@click.option(
    "--workers",
    type=click.IntRange(2, 64),
    metavar="N",
    default=2,
    show_default=True,
    help=_("Worker processes of the test multiworker."),
)
@click.option("--tf-config", metavar="JSON", help=_("Take part in a run across hosts as this TF_CONFIG says."))
@click.option("--baseline", metavar="FILE", help=_("What an earlier run's --format json printed: what became slower."))
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--verbose", "-v", is_flag=True, help=_("Show every comparison and what TensorFlow printed."))
def command(
    python: Optional[str],
    tests: tuple[str, ...],
    devices: Optional[str],
    cpu: bool,
    quick: bool,
    seconds: Optional[float],
    timeout: float,
    workers: int,
    tf_config: Optional[str],
    baseline: Optional[str],
    form: str,
    verbose: bool,
) -> None:
    """Run real TensorFlow on the devices, compare the results with mathematics and the rates with the tables.

    Each test is a process of its own: a crash or a hang is a result. Without GPU it is a rehearsal on the CPU.

    \b
    Examples:
      tfdoctor smoke --quick                                does it work, in seconds
      tfdoctor smoke --python venv/bin/python               everything, with the TensorFlow of another environment
      tfdoctor smoke --test allreduce --devices 0,3 -v      one test on two of the GPUs
      tfdoctor smoke --format json > before.json            and after a change:
      tfdoctor smoke --baseline before.json                 what became slower

    \b
    Exit codes: 0 all right, 1 something wrong or slow, 2 usage or tfdoctor itself failed.
    """
    then = earlier(baseline) if baseline is not None else None
    chosen = numbers(devices)
    if cpu and chosen is not None:
        raise BadInput(_("--cpu and --devices do not go together: one wants no GPU, the other wants some."))
    children = Children()
    runner = Runner(interpreter(python) if python else sys.executable, children=children)
    host = open_host(python, None)
    try:
        if tf_config is not None:
            smoke = SmokeResults((take_part(runner, tf_config, timeout=timeout)[0],), (), (), "tfdoctor smoke")
        else:
            length = seconds or (plan.QUICK_SECONDS if quick else plan.SECONDS)
            seen = Driven.of(host)
            session = Session(
                runner,
                seconds=length,
                timeout=timeout,
                devices=chosen,
                cpu=cpu,
                workers=workers,
                gpus_seen=seen.count,
                too_slow=seen.too_slow,
            )
            smoke = run_session(session, tests, quick=quick)
        report = relevant(host, smoke)
    finally:
        children.close()
        host.close()
    changes = tuple(compare(then, rates_of(smoke.results))) if then is not None else ()
    if form == "text":
        click.echo(shown(smoke, report, changes, verbose), nl=False)
    else:
        click.echo(rendered(smoke, report, changes, form, Scrubber.of(host)), nl=False)
    sys.exit(exit_code(smoke, report, changes))


def exit_code(smoke: SmokeResults, report: Report, changes: tuple[Change, ...]) -> int:
    """0 or 1. A test that was asked for and could not start (`--tf-config` with an address that does not answer) is 1."""
    bad = any(r.state not in ("passed", "not-run") for r in smoke.results)
    nothing = all(r.state == "not-run" for r in smoke.results)
    return int(bad or nothing or bool(report.found) or any(c.slower for c in changes))


@dataclass(frozen=True)
class Driven:
    """What the driver says of the machine while the tests run: its GPUs and how they are joined; None: could not look."""

    gpus: Optional[Gpus]
    topology: Optional[Topology]
    tables: Tables

    @classmethod
    def of(cls, host: Host) -> Driven:
        """Ask NVML, through `host`."""
        from tfdoctor.checkup import facts_of

        facts = facts_of(host)

        def told(kind: Any) -> Any:
            try:
                return facts.get(kind)
            except (Unavailable, NotApplicable):
                return None

        return cls(told(Gpus), told(Topology), facts.get(Tables))

    @property
    def count(self) -> int:
        """GPUs that answer."""
        return sum(1 for gpu in self.gpus or () if not gpu.lost)

    def too_slow(self, results: tuple[SmokeResult, ...], samples: Mapping[str, tuple[Sample, ...]]) -> bool:
        """Is AllReduce far below what the links carry? Only then do experiments ask why."""
        from tfdoctor.smoke import expectation

        if results[-1].test != "allreduce":
            return False
        so_far = SmokeResults(results, (), tuple(samples.items()), "tfdoctor smoke")
        return any(expectation.allreduce(so_far, self.gpus, self.topology, self.tables))


def relevant(host: Host, smoke: SmokeResults) -> Report:
    """What the rules make of the results: the smoke tests' own diagnoses, their causes, and what experiments or messages
    point to."""
    from tfdoctor.checkup import check

    report = check(host, smoke=smoke)
    smoke = report.facts.get("smoke_results", smoke)
    named = {name for e in smoke.experiments if e.helped for name in e.confirms} | {k.name for k in smoke.known}
    shown = {o.rule.code for o in report.found if o.rule.code in OWN_RULES or o.rule.name in named or _of_figures(o)}
    shown |= {o.folded_under for o in report.found if o.rule.code in shown and o.folded_under}
    kept = [o for o in report.outcomes if o.rule.code in shown]
    return replace(
        report, outcomes=tuple(o if o.folded_under in shown else replace(o, folded_under=None) for o in kept)
    )


def _of_figures(outcome: Any) -> bool:
    """A diagnosis that only a log shows fired, so the tests themselves showed it."""
    return bool(outcome.rule.log_only)


def run_session(session: Session, tests: tuple[str, ...] = (), *, quick: bool = False) -> SmokeResults:
    """Run the tests and gather everything into the fact that the rules read."""
    with Progress(lambda: session.doing):
        results = tuple(session.run(tests, quick=quick))
    return SmokeResults(results, tuple(session.experiments), tuple(session.samples.items()), "tfdoctor smoke")


def smoke_of(host: Host) -> SmokeResults:
    """The quick tests, for `check --smoke`."""
    children = Children()
    seen = Driven.of(host)
    session = Session(
        Runner(host.target, children=children),
        seconds=plan.QUICK_SECONDS,
        gpus_seen=seen.count,
        too_slow=seen.too_slow,
    )
    try:
        return run_session(session, quick=True)
    finally:
        children.close()


def numbers(text: Optional[str]) -> Optional[list[int]]:
    """ "0,2" -> [0, 2]. Raises BadInput for anything else, and for a GPU that is named twice."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts) or len({*map(int, parts)}) < len(parts):
        raise BadInput(_("--devices {text} must be numbers such as 0,1, each once.").format(text=text))
    return [int(part) for part in parts]


def shown(smoke: SmokeResults, report: Report, changes: tuple[Change, ...], verbose: bool) -> str:
    """The results and what the rules make of them, on this terminal."""
    from tfdoctor.render import smoke_text, text
    from tfdoctor.terminal import colour, width

    found_text = text.render_found(report, width=width(), colour=colour(), verbose=verbose)
    return smoke_text.render(smoke, changes, verbose=verbose) + found_text


def rendered(smoke: SmokeResults, report: Report, changes: tuple[Change, ...], form: str, scrub: Scrubber) -> str:
    """The same as "json" or "markdown", which leave the machine."""
    if form == "markdown":
        from tfdoctor.render import smoke_text

        return scrub.text(smoke_text.render(smoke, changes, style="github"))
    from tfdoctor.render.json_report import as_object as report_object
    from tfdoctor.render.outgoing import outgoing
    from tfdoctor.render.view import Checked

    diagnoses = report_object(outgoing(Checked(report), scrub).report)["diagnoses"]
    value = {**scrub.value(as_object(smoke, [])), "diagnoses": diagnoses, "compared": [_change(c) for c in changes]}
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def as_object(smoke: SmokeResults, diagnoses: list[Any]) -> dict[str, Any]:
    """The JSON form, schema 1. What TensorFlow printed stays out: it may hold paths and names."""
    from tfdoctor import __version__
    from tfdoctor.render.plain import plain

    return {
        "schema": 1,
        "tfdoctor": __version__,
        "rehearsal": any(r.rehearsal for r in smoke.results),
        "tests": [{k: v for k, v in plain(r).items() if k != "log"} for r in smoke.results],
        "experiments": [_experiment(e) for e in smoke.experiments],
        "samples": {name: plain(samples) for name, samples in smoke.samples if samples},
        "diagnoses": diagnoses,
    }


def _experiment(experiment: Experiment) -> dict[str, Any]:
    return {
        "test": experiment.test,
        "what": experiment.what,
        "confirms": list(experiment.confirms),
        "helped": experiment.helped,
        "state": experiment.result.state,
        "detail": experiment.result.detail,
        "devices": list(experiment.devices),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "then": change.then,
        "now": change.now,
        "noise": change.noise,
        "slower": change.slower,
    }
