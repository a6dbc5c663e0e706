"""`tfdoctor check`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Optional

import click

from tfdoctor.host import TIME_LIMIT, Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Severity
from tfdoctor.opening import open_host
from tfdoctor.options import Seconds
from tfdoctor.progress import Progress
from tfdoctor.render import FORMATS, renderer
from tfdoctor.terminal import colour, width
from tfdoctor.writing import write_for_a_person

if TYPE_CHECKING:
    from tfdoctor.probes.smoke import SmokeResults
    from tfdoctor.render.view import Checked

NOT_HERE = "tensorflow-not-installed"
FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING}


@click.command("check")
@click.option("--python", metavar="PATH", help=_("Examine the TensorFlow of this interpreter (default: this one)."))
@click.option("--host", metavar="DIR", help=_("Examine a machine recorded by `tfdoctor record` instead."))
@click.option("--require", metavar="WHAT", multiple=True, help=_("Must hold, such as gpus>=2 (repeatable)."))
@click.option("--expect", metavar="FILE", multiple=True, help=_("A file of requirements, one a line (repeatable)."))
@click.option("--only", metavar="CODE", multiple=True, help=_("Report only this diagnosis (code or name; repeatable)."))
@click.option("--skip", metavar="CODE", multiple=True, help=_("Do not report this diagnosis (repeatable)."))
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "requirement", "never"]),
    default="error",
    show_default=True,
    help=_("Exit with 1 when something this bad was found or a requirement does not hold; requirement: only then."),
)
@click.option("--smoke", is_flag=True, help=_("Also run TensorFlow (the quick smoke tests) and prove the verdict."))
@click.option(
    "--timeout",
    type=Seconds(0.5, 3600),
    default=TIME_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help=_("How long each outside program may take."),
)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option(
    "--output", metavar="FORMAT=FILE", multiple=True, help=_("Also write this format to a file (repeatable).")
)
@click.option("--verbose", "-v", is_flag=True, help=_("Show the evidence and what could not be looked at."))
def command(
    python: Optional[str],
    host: Optional[str],
    require: tuple[str, ...],
    expect: tuple[str, ...],
    only: tuple[str, ...],
    skip: tuple[str, ...],
    fail_on: str,
    smoke: bool,
    timeout: float,
    form: str,
    output: tuple[str, ...],
    verbose: bool,
) -> None:
    """Say whether TensorFlow will use the GPUs of this machine, why not, and what to do.

    \b
    Examples:
      tfdoctor check                                      the Python that tfdoctor is installed in
      tfdoctor check --python venv/bin/python --verbose   another one, with what was seen
      tfdoctor check --require gpu --require 'gpus>=2' --require 'free-memory>=20GiB'
      tfdoctor check --format json --output junit=tfdoctor.xml
      tfdoctor check --host recording/                    what `tfdoctor record` wrote elsewhere

    \b
    Exit codes: 0 nothing at or above --fail-on, 1 something found or a requirement not met,
    2 wrong usage or tfdoctor itself failed.
    """
    files = [_output(text) for text in output]
    for path in {path for _form, path in files}:
        if sum(path == other for _form, other in files) > 1:
            raise BadInput(_("--output names {path} twice; each format wants a file of its own.").format(path=path))
    if smoke and host is not None:
        raise BadInput(_("--smoke runs TensorFlow, which a recorded machine (--host) cannot do."))
    machine = open_host(python, host, timeout)
    try:
        checked = _looked_at(machine, require, expect, only=only, skip=skip, smoke=smoke)
        outside = _outgoing(checked, machine) if files or form != "text" else checked
    finally:
        machine.close()
    click.echo(rendered(checked if form == "text" else outside, form, verbose), nl=False)
    if python is None and host is None and any(o.rule.name == NOT_HERE for o in checked.report.found):
        click.echo(_("tfdoctor: this was its own Python; `tfdoctor check --python PATH` examines another."), err=True)
    for other, path in files:
        write_for_a_person(path, renderer(other)(outside))
    sys.exit(exit_code(checked, fail_on))


def _looked_at(
    machine: Host,
    require: Iterable[str],
    expect: Iterable[str],
    *,
    only: Iterable[str],
    skip: Iterable[str],
    smoke: bool,
) -> Checked:
    """Probes, rules and requirements are imported here: the machine's children are running by now."""
    from tfdoctor.checkup import examine
    from tfdoctor.preflight.judge import judge_all
    from tfdoctor.preflight.sources import gather
    from tfdoctor.render.view import Checked

    wanted = gather(require, expect)
    proof = _smoke(machine) if smoke else None
    with Progress(machine.waiting_for):
        seen = examine(machine, only=only, skip=skip, smoke=proof)
    return Checked(seen.report, judge_all(wanted, seen.report, seen.facts))


def _outgoing(checked: Checked, machine: Host) -> Checked:
    from tfdoctor.render.outgoing import outgoing
    from tfdoctor.scrub import Scrubber

    return outgoing(checked, Scrubber.of(machine))


def exit_code(checked: Checked, fail_on: str) -> int:
    """0 or 1. A requirement that does not hold, or could not be looked at, is as bad as an error."""
    if fail_on == "never":
        return 0
    least = FAIL_ON.get(fail_on)
    return int(bool(checked.unmet) or (least is not None and any(o.severity >= least for o in checked.report.found)))


def _output(text: str) -> tuple[str, str]:
    """ "junit=FILE" -> (format, file). Raises BadInput before anything is looked at."""
    form, found, path = text.partition("=")
    if not found or form not in FORMATS or not path:
        known = ", ".join(FORMATS)
        raise BadInput(_("--output {text} must be FORMAT=FILE; formats are {known}.").format(text=text, known=known))
    if os.path.isdir(path):
        raise BadInput(_("--output {text}: {path} is a folder; a file is wanted.").format(text=text, path=path))
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise BadInput(_("--output {text}: there is no folder {folder}.").format(text=text, folder=folder))
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise BadInput(_("--output {text}: {folder} cannot be written to.").format(text=text, folder=folder))
    return form, path


def _smoke(machine: Host) -> SmokeResults:
    from tfdoctor.commands.smoke import smoke_of

    return smoke_of(machine)


def rendered(checked: Checked, form: str, verbose: bool) -> str:
    """The report in one format, for standard output."""
    if form != "text":
        return renderer(form)(checked)
    from tfdoctor.render import text

    return text.render(checked, width=width(), colour=colour(), verbose=verbose)
