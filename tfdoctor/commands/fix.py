"""`tfdoctor fix`."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Optional

import click

from tfdoctor.checkup import Examination, examine, named
from tfdoctor.children import Children
from tfdoctor.fixes import activation, journal
from tfdoctor.fixes import apply as applying
from tfdoctor.fixes.download import measured
from tfdoctor.fixes.installer import Installer, elsewhere, installer_of
from tfdoctor.fixes.packages import World
from tfdoctor.fixes.plan import Plan, Step, make
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Report, Safety, Severity, Unavailable
from tfdoctor.opening import open_host
from tfdoctor.progress import Progress
from tfdoctor.render.outgoing import knowing
from tfdoctor.render.shell import shell_of
from tfdoctor.scrub import Scrubber
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfRelease

STOPPED = 130  # the exit code of a program that Ctrl-C ended


@click.command("fix")
@click.option("--dry-run", is_flag=True, help=_("Show the plan and change nothing."))
@click.option("--yes", is_flag=True, help=_("Do the safe steps without asking."))
@click.option("--include", type=click.Choice(["ask"]), help=_("With --yes: also what would be asked about."))
@click.option("--only", metavar="CODE", multiple=True, help=_("Fix only this diagnosis (repeatable)."))
@click.option("--keep", metavar="NAME", multiple=True, help=_("This distribution's version must stay (repeatable)."))
@click.option(
    "--undo", "undo_run", metavar="[RUN]", is_flag=False, flag_value="", help=_("Put a run back (default: the last).")
)
@click.option("--resume", is_flag=True, help=_("Go on with the last run where it stopped."))
@click.option("--python", metavar="PATH", help=_("The interpreter whose environment is fixed (default: this one)."))
@click.option("--host", metavar="DIR", help=_("Plan for a recorded machine; goes with --dry-run."))
@click.option("--format", "form", type=click.Choice(["text", "json", "sh"]), default="text", show_default=True)
def command(
    dry_run: bool,
    yes: bool,
    include: Optional[str],
    only: tuple[str, ...],
    keep: tuple[str, ...],
    undo_run: Optional[str],
    resume: bool,
    python: Optional[str],
    host: Optional[str],
    form: str,
) -> None:
    """Show what to do about each diagnosis, do it with consent, check again, undo on request.

    \b
    Examples:
      tfdoctor fix --dry-run                         what would be done, and why
      tfdoctor fix --python venv/bin/python          step by step, asking before each
      tfdoctor fix --yes --only TFD302               one diagnosis, its safe steps unasked
      tfdoctor fix --dry-run --format sh > fix.sh    a script to read and run yourself
      tfdoctor fix --undo                            everything back as it was

    \b
    Exit codes: 0 what it set out to fix is gone (or there was nothing to do), 1 something is left or could not be
    done, 2 usage or tfdoctor itself failed, 130 stopped with Ctrl-C.
    """
    if host is not None and not dry_run:
        raise BadInput(_("--host is another machine; only --dry-run can be used with it."))
    if include is not None and not yes:
        raise BadInput(_("--include says which steps --yes also does; without --yes every step is asked about."))
    if form != "text" and not dry_run:
        raise BadInput(_("--format {form} shows a plan; only --dry-run can be used with it.").format(form=form))
    machine = open_host(python, host)
    children = Children()
    try:
        if undo_run is not None:
            sys.exit(_undo(machine, undo_run, children, yes=yes, include=include))
        if resume:
            sys.exit(_resume(machine, children, python))
        with Progress(machine.waiting_for):
            seen = examine(machine)
        plan = plan_of(seen, keep=keep, only=_known(only), live=machine.live)
        if machine.live and any(step.kind == "packages" for step in plan.steps):
            plan = _looked_into(plan, seen.report, children)
        click.echo(rendered(plan, form, knowing(seen.report, Scrubber.of(machine))), nl=False)
        if not dry_run:
            sys.exit(_apply(plan, seen.report, children, python, yes=yes, include=include))
    except applying.Failed as why:
        click.echo(f"tfdoctor: {why}", err=True)
        sys.exit(1)
    except click.Abort:
        click.echo(
            _("tfdoctor: nothing was changed: there was no answer (--yes does the safe steps unasked)"), err=True
        )
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo(_("tfdoctor: stopped; `tfdoctor fix --undo` puts back what was begun, --resume goes on"), err=True)
        sys.exit(STOPPED)
    finally:
        children.close()
        machine.close()


def plan_of(seen: Examination, *, keep: Sequence[str] = (), only: Sequence[str] = (), live: bool = True) -> Plan:
    """The plan for what a check has seen; `live` is False for a recorded machine."""
    facts = seen.report.facts
    interpreter, installed = facts.get("interpreter"), facts.get("distributions")
    for name in keep:
        if installed is None or not installed.version(name.lower().replace("_", "-")):
            raise BadInput(_("--keep {name}: no such distribution is installed here.").format(name=name))
    tables = Tables()
    world = World(installed, interpreter, tables, _lowest(seen.report), lambda: _releases(seen, tables))
    return make(seen.report, _installer(seen.report, live), world, keep=keep, only=only, shell=shell_of(seen.report))


def _looked_into(plan: Plan, report: Report, children: Children) -> Plan:
    """The plan with what only the machine itself can tell: where packages go, and how large their download is."""
    with Progress(lambda: (_("the package index"),)):
        target = _target(report, children)
        return measured(applying.placed(plan, target), target.installer, children)


def _target(report: Report, children: Children) -> applying.Target:
    """The environment that was looked at. Raises Failed when its interpreter does not answer."""
    interpreter = report.facts.get("interpreter")
    if interpreter is None:
        raise applying.Failed(_("nothing was changed: the target interpreter could not be looked at"))
    return applying.target_of(interpreter, _installer(report), children)


def _installer(report: Report, live: bool = True) -> Installer:
    """How packages are put into the environment that was looked at."""
    found = report.facts.get("interpreter"), report.facts.get("distributions")
    return installer_of(*found, shutil.which if live else elsewhere)


def _known(only: Sequence[str]) -> tuple[str, ...]:
    """The codes that were asked for, by code or name. Raises BadInput for one that is none."""
    from tfdoctor.engine import all_rules

    return tuple(rule.code for rule in named(only, all_rules()))


def _lowest(report: Report) -> Optional[tuple[int, int]]:
    """The lowest compute capability among the GPUs."""
    gpus = report.facts.get("gpus")
    told = [str(gpu.compute_capability) for gpu in (gpus.gpus if gpus else ()) if gpu.compute_capability]
    pairs = [(int(a), int(b)) for a, _dot, b in (text.partition(".") for text in told)]
    return min(pairs, default=None)


def _releases(seen: Examination, tables: Tables) -> Optional[list[TfRelease]]:
    """The TensorFlow releases that fit this machine, newest first; None where that cannot be told."""
    from tfdoctor.fitting.answer import answer
    from tfdoctor.fitting.asked import understand
    from tfdoctor.fitting.here import look

    try:
        asked = understand(tables, **look(seen.facts, tables).said)
    except BadInput:
        return None
    return [fit.release for fit in answer(tables, asked) if fit.fits == "yes"]


def rendered(plan: Plan, form: str, scrub: Optional[Scrubber] = None) -> str:
    """The plan in one format; JSON leaves the machine."""
    from tfdoctor.render import plan_json, plan_sh, plan_text

    if form == "json":
        return plan_json.render(plan, scrub)
    return plan_sh.render(plan) if form == "sh" else plan_text.render(plan)


def _apply(
    plan: Plan, report: Report, children: Children, python: Optional[str], *, yes: bool, include: Optional[str]
) -> int:
    if not any(step.kind != "manual" for step in plan.steps):
        return 1 if plan.steps or plan.open else 0
    record = applying.apply(plan, _target(report, children), children, consent(yes, include), tell)
    left = _check_again(record, report, python)
    for code in sorted(plan.codes - set(record.before)):
        click.echo(_("left: {code} (not agreed to, or by hand)").format(code=code))
    for code, why in plan.open:
        click.echo(_("left: {code} ({why})").format(code=code, why=why))
    return 1 if left or plan.open or plan.codes - set(record.before) else 0


def consent(yes: bool, include: Optional[str]) -> applying.Consent:
    """Who agrees to a step: --yes to the safe ones (and with --include ask to the others), else the person asked."""

    def agree(step: Step) -> bool:
        if yes:
            return step.safety is Safety.SAFE or include == "ask"
        return click.confirm(_("{title}: do it?").format(title=step.title), default=False, err=True)

    return agree


def tell(text: str) -> None:
    """Say what is being done now."""
    click.echo(f"… {text}", err=True)


def _check_again(record: journal.Journal, before: Optional[Report], python: Optional[str]) -> bool:
    """Report fixed, not fixed and new, as a newly activated shell has it; whether something is left."""
    variables = [pair for entry in record.entries for pair in entry.environment]
    with _environment(activation.as_activated(variables, dict(os.environ))):
        machine = open_host(python, None)
        try:
            after = examine(machine).report
        finally:
            machine.close()
    aimed = set(record.before)
    had = aimed if before is None else {o.rule.code for o in before.found}
    has = {o.rule.code for o in after.found}
    serious = {o.rule.code for o in after.found if o.severity > Severity.INFO}
    results = [
        (_("fixed"), sorted((aimed & had) - has)),
        (_("not fixed"), sorted(aimed & has)),
        *([(_("new"), sorted(serious - had))] if before is not None else []),
    ]
    for label, codes in results:
        if codes:
            click.echo(f"{label}: {', '.join(codes)}")
    if variables:
        click.echo(_("Activate the environment again: the shell that is open now does not have the new values."))
    here = f" --python {shlex.quote(python)}" if python else ""
    click.echo(_("`tfdoctor fix{here} --undo {run}` puts it back.").format(here=here, run=record.run))
    return bool(aimed & has)


@contextlib.contextmanager
def _environment(variables: dict[str, str]):  # type: ignore[no-untyped-def]
    """os.environ as given, for the time being."""
    saved = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


def _looked_up(machine: Host, children: Children, run: Optional[str]) -> tuple[applying.Target, journal.Journal]:
    """The target and one of its runs. Needs only where the environment lies, however broken it is."""
    from tfdoctor.checkup import facts_of
    from tfdoctor.probes.interpreter import Distributions, Interpreter

    facts = facts_of(machine)
    try:
        interpreter = facts.get(Interpreter)
    except Unavailable as why:
        raise applying.Failed(str(why)) from why
    try:
        installed: Optional[Distributions] = facts.get(Distributions)
    except Unavailable:
        installed = None
    target = applying.target_of(interpreter, installer_of(interpreter, installed), children)
    return target, journal.find(target.prefix, run)


def _resume(machine: Host, children: Children, python: Optional[str]) -> int:
    target, record = _looked_up(machine, children, None)
    if record.state == "done":
        raise BadInput(_("Run {run} is finished; there is nothing to resume.").format(run=record.run))
    return 1 if _check_again(applying.resume(record, target, children, tell), None, python) else 0


def _undo(machine: Host, run: str, children: Children, *, yes: bool, include: Optional[str]) -> int:
    target, record = _looked_up(machine, children, run or None)

    def agree(later: str) -> bool:
        return include == "ask" if yes else click.confirm(_("{later}: go on?").format(later=later), err=True)

    restored = applying.undo(record, tell, agree)
    try:
        differs = applying.not_as_before(record, target, children)
    except Unavailable as why:
        differs = ()
        click.echo(f"tfdoctor: {why}", err=True)
    if differs:
        named = ", ".join(differs[:5])
        raise applying.Failed(
            _("all files are back, but the list of packages is not as it was: {named}").format(named=named)
        )
    text = _("Run {run} is undone: {back} files back, {away} files away; compared, no difference is left.")
    click.echo(text.format(run=record.run, back=restored.back, away=restored.away))
    return 0
