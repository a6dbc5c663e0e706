"""`tfdoctor check`."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Optional

import click

from tfdoctor.checkup import check
from tfdoctor.host import Host, LiveHost, RecordedHost
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Report, Severity
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.progress import Progress

FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING}


@click.command("check")
@click.option("--python", metavar="PATH", help=_("Examine the TensorFlow of this interpreter (default: this one)."))
@click.option("--host", metavar="DIR", help=_("Examine a machine recorded by `tfdoctor record` instead."))
@click.option("--only", metavar="CODE", multiple=True, help=_("Report only this diagnosis (code or name; repeatable)."))
@click.option("--skip", metavar="CODE", multiple=True, help=_("Do not report this diagnosis (repeatable)."))
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help=_("Exit with 1 when something this bad was found."),
)
@click.option("--smoke", is_flag=True, help=_("Also run TensorFlow (the quick smoke tests) and prove the verdict."))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--verbose", "-v", is_flag=True, help=_("Show the evidence and what could not be looked at."))
def command(
    python: Optional[str],
    host: Optional[str],
    only: tuple[str, ...],
    skip: tuple[str, ...],
    fail_on: str,
    smoke: bool,
    form: str,
    verbose: bool,
) -> None:
    """Say whether TensorFlow will use the GPUs of this machine, why not, and what to do.

    \b
    Exit codes: 0 nothing at or above --fail-on, 1 something found, 2 usage or tfdoctor itself failed.
    """
    if smoke and host is not None:
        raise BadInput(_("--smoke runs TensorFlow, which a recorded machine (--host) cannot do."))
    machine = open_host(python, host)
    try:
        with Progress(machine.waiting_for):
            report = check(machine, only=only, skip=skip, smoke=_smoke(machine) if smoke else None)
    finally:
        machine.close()
    click.echo(rendered(report, form, verbose), nl=False)
    if fail_on != "never" and any(o.severity >= FAIL_ON[fail_on] for o in report.found):
        sys.exit(1)


def _smoke(machine: Host) -> SmokeResults:
    from tfdoctor.commands.smoke import smoke_of

    return smoke_of(machine.target)


def open_host(python: Optional[str], recorded: Optional[str]) -> Host:
    """The machine to examine. Raises BadInput for what is none."""
    if recorded is not None:
        if python is not None:
            raise BadInput(_("--python and --host do not go together: a recording tells its interpreter itself."))
        return RecordedHost(recorded)
    root = os.environ.get("TFDOCTOR_ROOT") or None
    if root is not None and not os.path.isdir(root):
        raise BadInput(_("TFDOCTOR_ROOT={root} is not a folder.").format(root=root))
    live = LiveHost(None if python is None else interpreter(python), root=root).start()
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


def rendered(report: Report, form: str, verbose: bool) -> str:
    """The report in one format."""
    if form == "json":
        from tfdoctor.render import json_report

        return json_report.render(report)
    from tfdoctor.render import text

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return text.render(report, width=shutil.get_terminal_size((100, 24)).columns, colour=colour, verbose=verbose)
