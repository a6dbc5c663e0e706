"""`tfdoctor fix`."""

from __future__ import annotations

import sys
from typing import Optional

import click

from tfdoctor.checkup import check
from tfdoctor.children import Children
from tfdoctor.fixes import apply as applying
from tfdoctor.fixes import journal
from tfdoctor.fixes.installer import Installer, installer_of
from tfdoctor.fixes.plan import Plan, Step, make
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Report, Safety, Unavailable
from tfdoctor.opening import open_host
from tfdoctor.progress import Progress
from tfdoctor.tables import Tables


@click.command("fix")
@click.option("--dry-run", is_flag=True, help=_("Show the plan and change nothing."))
@click.option("--yes", is_flag=True, help=_("Do the safe steps without asking."))
@click.option("--include", type=click.Choice(["ask"]), help=_("With --yes: also the steps that would be asked about."))
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
    Exit codes: 0 what it set out to fix is gone, 1 something is left, 2 usage or tfdoctor itself failed.
    """
    if host is not None and not dry_run:
        raise BadInput(_("--host is another machine; only --dry-run can be used with it."))
    machine = open_host(python, host)
    children = Children()
    try:
        if undo_run is not None:
            sys.exit(_undo(machine, undo_run))
        with Progress(machine.waiting_for):
            report = check(machine)
        if resume:
            sys.exit(_resume(machine, report, children, python))
        plan = make(report, _installer(report), Tables(), keep=keep, only=only)
        click.echo(rendered(plan, form), nl=False)
        if not dry_run:
            sys.exit(_apply(plan, report, children, python, yes=yes, include=include))
    except applying.Failed as why:
        click.echo(f"tfdoctor: {why}", err=True)
        sys.exit(1)
    finally:
        children.close()
        machine.close()


def rendered(plan: Plan, form: str) -> str:
    """The plan in one format."""
    from tfdoctor.render import plan_json, plan_sh, plan_text

    renders = {"text": plan_text.render, "json": plan_json.render, "sh": plan_sh.render}
    return renders[form](plan)


def _installer(report: Report) -> Optional[Installer]:
    interpreter = report.facts.get("interpreter")
    return installer_of(interpreter, report.facts.get("distributions")) if interpreter is not None else None


def _target(report: Report, children: Children) -> applying.Target:
    interpreter = report.facts.get("interpreter")
    if interpreter is None:
        raise applying.Failed(_("the target interpreter could not be looked at"))
    return applying.target_of(interpreter, installer_of(interpreter, report.facts.get("distributions")), children)


def _apply(
    plan: Plan, report: Report, children: Children, python: Optional[str], *, yes: bool, include: Optional[str]
) -> int:
    if not any(step.kind != "manual" for step in plan.steps):
        return 1 if plan.steps or plan.open else 0
    record = applying.apply(plan, _target(report, children), children, consent(yes, include), tell)
    return _check_again(record, report, python)


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


def _check_again(record: journal.Journal, before: Report, python: Optional[str]) -> int:
    """Report fixed, not fixed and new; 0 only when all that was set out to be fixed is gone."""
    machine = open_host(python, None)
    try:
        after = check(machine)
    finally:
        machine.close()
    had = {o.rule.code for o in before.found}
    has = {o.rule.code for o in after.found}
    aimed = set(record.before)
    for label, codes in (
        (_("fixed"), sorted((aimed & had) - has)),
        (_("not fixed"), sorted(aimed & has)),
        (_("new"), sorted(has - had)),
    ):
        if codes:
            click.echo(f"{label}: {', '.join(codes)}")
    click.echo(_("`tfdoctor fix --undo {run}` puts it back.").format(run=record.run))
    return 1 if aimed & has else 0


def _resume(machine: Host, report: Report, children: Children, python: Optional[str]) -> int:
    target = _target(report, children)
    record = journal.find(target.prefix, None)
    if record.state == "done":
        raise BadInput(_("Run {run} is finished; there is nothing to resume.").format(run=record.run))
    return _check_again(applying.resume(record, target, children, tell), report, python)


def _undo(machine: Host, run: str) -> int:
    """Undo needs only where the environment lies, so it works however broken the environment is."""
    from tfdoctor.checkup import facts_of
    from tfdoctor.engine import Facts
    from tfdoctor.probes.interpreter import Interpreter

    facts: Facts = facts_of(machine)
    try:
        interpreter = facts.get(Interpreter)
    except Unavailable as why:
        raise applying.Failed(str(why)) from why
    children = Children()
    target = applying.target_of(interpreter, Installer("pip", interpreter.path, interpreter.prefix), children)
    record = journal.find(target.prefix, run or None)
    restored = applying.undo(record)
    text = _("Run {run} is undone: {back} files back, {away} files away; compared, no difference is left.")
    click.echo(text.format(run=record.run, back=restored.back, away=restored.away))
    return 0
