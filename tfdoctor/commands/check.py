"""`tfdoctor check`."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Optional

import click

from tfdoctor.checkup import examine
from tfdoctor.host import TIME_LIMIT, Host, LiveHost, RecordedHost
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Severity
from tfdoctor.preflight.judge import judge_all
from tfdoctor.preflight.sources import gather
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.progress import Progress
from tfdoctor.render import FORMATS, renderer
from tfdoctor.render.outgoing import outgoing
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber
from tfdoctor.terminal import colour, width
from tfdoctor.writing import write_for_a_person

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
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help=_("Exit with 1 when something this bad was found; an unmet requirement is an error."),
)
@click.option("--smoke", is_flag=True, help=_("Also run TensorFlow (the quick smoke tests) and prove the verdict."))
@click.option(
    "--timeout",
    type=click.FloatRange(0.5, 3600),
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
      tfdoctor check --require gpu --require 'gpus>=2' --require 'free-memory>=20GiB'
      tfdoctor check --format json --output junit=tfdoctor.xml
      tfdoctor check --host recording/

    \b
    Exit codes: 0 nothing at or above --fail-on, 1 something found or a requirement not met,
    2 wrong usage or tfdoctor itself failed.
    """
    wanted = gather(require, expect)
    files = [_output(text) for text in output]
    if smoke and host is not None:
        raise BadInput(_("--smoke runs TensorFlow, which a recorded machine (--host) cannot do."))
    machine = open_host(python, host, timeout)
    try:
        with Progress(machine.waiting_for):
            seen = examine(machine, only=only, skip=skip, smoke=_smoke(machine) if smoke else None)
    finally:
        machine.close()
    checked = Checked(seen.report, judge_all(wanted, seen.report, seen.facts))
    outside = outgoing(checked, Scrubber.of(machine))
    click.echo(rendered(checked if form == "text" else outside, form, verbose), nl=False)
    for other, path in files:
        write_for_a_person(path, renderer(other)(outside))
    sys.exit(exit_code(checked, fail_on))


def exit_code(checked: Checked, fail_on: str) -> int:
    """0 or 1. A requirement that does not hold, or could not be looked at, is as bad as an error."""
    if fail_on == "never":
        return 0
    return int(bool(checked.unmet) or any(o.severity >= FAIL_ON[fail_on] for o in checked.report.found))


def _output(text: str) -> tuple[str, str]:
    """ "junit=FILE" -> (format, file). Raises BadInput before anything is looked at."""
    form, found, path = text.partition("=")
    if not found or form not in FORMATS or not path:
        known = ", ".join(FORMATS)
        raise BadInput(_("--output {text} must be FORMAT=FILE; formats are {known}.").format(text=text, known=known))
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise BadInput(_("--output {text}: there is no folder {folder}.").format(text=text, folder=folder))
    return form, path


def _smoke(machine: Host) -> SmokeResults:
    from tfdoctor.commands.smoke import smoke_of

    return smoke_of(machine.target)


def open_host(python: Optional[str], recorded: Optional[str], timeout: float = TIME_LIMIT) -> Host:
    """The machine to examine. Raises BadInput for what is none."""
    if recorded is not None:
        if python is not None:
            raise BadInput(_("--python and --host do not go together: a recording tells its interpreter itself."))
        return RecordedHost(recorded)
    root = os.environ.get("TFDOCTOR_ROOT") or None
    if root is not None and not os.path.isdir(root):
        raise BadInput(_("TFDOCTOR_ROOT={root} is not a folder.").format(root=root))
    live = LiveHost(None if python is None else interpreter(python), root=root, timeout=timeout).start()
    if python is not None:
        live.require_interpreter()
    return live


def interpreter(name: str) -> str:
    """The path of an interpreter named on the command line. Raises BadInput when nothing there can be run."""
    if os.path.isdir(name):
        raise BadInput(
            _("{path} is a folder; --python wants an interpreter, such as {path}/bin/python.").format(
                path=name.rstrip("/")
            )
        )
    found = shutil.which(name)
    if found is None:
        why = _("is not executable") if os.path.exists(name) else _("does not exist")
        raise BadInput(_("{path} {why}; --python wants a Python interpreter.").format(path=name, why=why))
    return found


def rendered(checked: Checked, form: str, verbose: bool) -> str:
    """The report in one format, for standard output."""
    if form != "text":
        return renderer(form)(checked)
    from tfdoctor.render import text

    return text.render(checked, width=width(), colour=colour(), verbose=verbose)
