"""`tfdoctor smoke`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Optional

import click

from tfdoctor.checkup import check
from tfdoctor.children import Children
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Report
from tfdoctor.opening import interpreter, open_host
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke import plan
from tfdoctor.smoke.results import SmokeResult
from tfdoctor.smoke.runner import Runner
from tfdoctor.smoke.session import Session
from tfdoctor.smoke.workers import take_part

NAMES = [*(t.name for t in plan.TESTS), plan.MULTIWORKER]
OWN_RULES = ("TFD003", "TFD125", "TFD524", "TFD705", "TFD706", "TFD819")


@click.command("smoke")
@click.option("--python", metavar="PATH", help=_("Test the TensorFlow of this interpreter (default: this one)."))
@click.option("--test", "tests", type=click.Choice(NAMES), multiple=True, help=_("Run only this test (repeatable)."))
@click.option("--devices", metavar="N[,N…]", help=_("Use only these GPUs, by TensorFlow's numbers."))
@click.option("--cpu", is_flag=True, help=_("Rehearse on the CPU even where there is a GPU."))
@click.option("--quick/--full", default=False, help=_("Only the tests that take seconds, or all (default)."))
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=4.0, show_default=True, help=_("Time per test."))
@click.option("--timeout", type=click.FloatRange(1, 86400), default=300.0, show_default=True, help=_("End of a test."))
@click.option("--workers", type=click.IntRange(2, 64), default=2, show_default=True, help=_("Worker processes."))
@click.option("--tf-config", metavar="JSON", help=_("Take part in a run across hosts as this TF_CONFIG says."))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--verbose", "-v", is_flag=True, help=_("Show every comparison and what TensorFlow printed."))
def command(
    python: Optional[str],
    tests: tuple[str, ...],
    devices: Optional[str],
    cpu: bool,
    quick: bool,
    seconds: float,
    timeout: float,
    workers: int,
    tf_config: Optional[str],
    form: str,
    verbose: bool,
) -> None:
    """Run real TensorFlow on the devices, compare the results with mathematics and the rates with the tables.

    Each test is a process of its own: a crash or a hang is a result. Without GPU it is a rehearsal on the CPU.

    \b
    Exit codes: 0 all right, 1 something wrong or slow, 2 usage or tfdoctor itself failed.
    """
    children = Children()
    runner = Runner(interpreter(python) if python else sys.executable, children=children)
    host = open_host(python, None)
    try:
        if tf_config is not None:
            smoke = SmokeResults((take_part(runner, tf_config, timeout=timeout)[0],), (), (), "tfdoctor smoke")
        else:
            session = Session(
                runner,
                seconds=seconds,
                timeout=timeout,
                devices=numbers(devices),
                cpu=cpu,
                workers=workers,
                tell=tell,
            )
            smoke = run_session(session, tests, quick=quick)
        report = check(host, only=OWN_RULES, smoke=smoke)
    finally:
        children.close()
        host.close()
    click.echo(rendered(smoke, report, form, verbose), nl=False)
    sys.exit(0 if all(r.state in ("passed", "not-run") for r in smoke.results) and not report.found else 1)


def run_session(session: Session, tests: tuple[str, ...] = (), *, quick: bool = False) -> SmokeResults:
    """Run the tests and gather everything into the fact that the rules read."""
    results = tuple(session.run(tests, quick=quick))
    return SmokeResults(results, tuple(session.experiments), tuple(session.samples.items()), "tfdoctor smoke")


def smoke_of(target: str) -> SmokeResults:
    """The quick tests, for `check --smoke`."""
    children = Children()
    try:
        return run_session(Session(Runner(target, children=children), seconds=2.0, tell=tell), quick=True)
    finally:
        children.close()


def tell(test: str) -> None:
    """Name the test that runs now, on a terminal."""
    if sys.stderr.isatty():
        click.echo(_("running {test} …").format(test=test), err=True)


def numbers(text: Optional[str]) -> Optional[list[int]]:
    """ "0,2" -> [0, 2]. Raises BadInput for anything else."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        raise BadInput(_("--devices {text} must be numbers such as 0,1.").format(text=text))
    return [int(part) for part in parts]


def rendered(smoke: SmokeResults, report: Report, form: str, verbose: bool) -> str:
    """The results and what the rules make of them."""
    if form == "json":
        from tfdoctor.render import json_report

        found = json_report.as_object(report)
        return json.dumps(as_object(smoke, found["diagnoses"]), indent=2, ensure_ascii=False) + "\n"
    from tfdoctor.render import smoke_text, text

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return smoke_text.render(smoke, verbose=verbose) + text.render_found(report, colour=colour, verbose=verbose)


def as_object(smoke: SmokeResults, diagnoses: list[Any]) -> dict[str, Any]:
    """The JSON form, schema 1."""
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


def _experiment(experiment: Any) -> dict[str, Any]:
    result: SmokeResult = experiment.result
    return {
        "what": experiment.what,
        "confirms": experiment.confirms,
        "helped": experiment.helped,
        "state": result.state,
        "detail": result.detail,
    }
