"""Carries a plan out: keep what is, run each step with consent, and leave a journal at every moment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from tfdoctor.children import Children, Completed
from tfdoctor.fixes import activation, journal, snapshot
from tfdoctor.fixes.installer import Installer
from tfdoctor.fixes.journal import Entry, Journal
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.i18n import _
from tfdoctor.model import Unavailable
from tfdoctor.probes.interpreter import Interpreter

INSTALL_LIMIT = 3600.0  # seconds; two gigabytes over a slow line
ASK_LIMIT = 300.0  # seconds for a resolution without installing

Consent = Callable[[Step], bool]
Tell = Callable[[str], None]


class Failed(Exception):
    """A step could not be done. The argument is one sentence; the environment is as before."""


# Where the target's package tool puts things. "data" is the base of the scheme: the environment's prefix, or /usr/local
# where a distribution keeps what pip installs apart from its own.
WHERE = (
    "import json, sysconfig as s; print(json.dumps([s.get_path(n) for n in ('data', 'purelib', 'platlib', 'scripts')]))"
)


@dataclass(frozen=True)
class Target:
    """The environment that is changed: its interpreter, how to install there, what kind it is, and where its packages
    lie. `prefix` holds all `folders`, and the journal."""

    python: str
    prefix: str
    kind: str
    installer: Installer
    folders: tuple[Path, ...]


def target_of(interpreter: Interpreter, installer: Installer, children: Children) -> Target:
    """Ask the interpreter where its packages lie. Raises Failed when it does not say."""
    done = children.run((interpreter.path, "-c", WHERE), timeout=ASK_LIMIT)
    try:
        prefix, *places = json.loads(done.stdout.strip().splitlines()[-1]) if done else []
    except (ValueError, IndexError) as error:
        text = _("{path} does not say where its packages lie").format(path=interpreter.path)
        raise Failed(text) from error
    places += [os.path.join(prefix, "conda-meta"), os.path.join(prefix, "etc", "conda")]
    real = sorted({os.path.realpath(p) for p in places if os.path.isdir(p)})
    return Target(interpreter.path, os.path.realpath(prefix), interpreter.kind, installer, tuple(map(Path, real)))


def freeze(target: Target, children: Children) -> tuple[str, ...]:
    """What is installed, as `pip freeze` writes it. Raises Unavailable when that cannot be listed."""
    installer = target.installer
    argv = (
        (installer.program, "pip", "freeze", "--python", target.python)
        if installer.tool == "uv"
        else (target.python, "-m", "pip", "freeze", "--all", "--disable-pip-version-check")
    )
    done = children.run(argv, timeout=ASK_LIMIT)
    if done is None or done.code != 0:
        raise Unavailable(_("what is installed in {prefix} could not be listed").format(prefix=target.prefix))
    return tuple(sorted(done.stdout.split("\n")))


def can_be_met(plan: Plan, target: Target, children: Children) -> None:
    """Ask the package tool whether the plan's requirements resolve. Raises Failed with its reason when they do not."""
    if not plan.requirements or target.installer.tool == "conda":
        return
    done = children.run(target.installer.resolve(plan.requirements), timeout=ASK_LIMIT)
    if done is None or done.code != 0:
        raise Failed(_("nothing was changed: {why}").format(why=_last_words(done)))


def apply(plan: Plan, target: Target, children: Children, consent: Consent, tell: Tell) -> Journal:
    """Do the steps that `consent` agrees to. Raises Failed, with everything put back, when one does not succeed."""
    doable = [step for step in plan.steps if step.kind != "manual"]
    agreed = [step for step in doable if consent(step)]
    if not agreed:
        raise Failed(_("nothing was changed: no step was agreed to"))
    if any(step.kind == "packages" for step in agreed):
        can_be_met(plan, target, children)
    try:
        record = _begin(agreed, target, children, tell)
    except OSError as error:
        text = _("nothing was changed: {prefix} cannot be written to ({error})")
        raise Failed(text.format(prefix=target.prefix, error=error)) from error
    return resume(record, target, children, tell)


def _begin(steps: Sequence[Step], target: Target, children: Children, tell: Tell) -> Journal:
    entries = [Entry(s.title, s.codes, s.commands, s.environment, s.kind) for s in steps]
    codes = sorted({code for s in steps for code in s.codes})
    record = journal.begin(target.prefix, target.python, freeze(target, children), entries, codes)
    tell(_("keeping the environment as it is now"))
    snapshot.take(target.folders, target.prefix, record.folder)
    journal.forget_old(target.prefix)
    return record.having(state="applying")


def resume(record: Journal, target: Target, children: Children, tell: Tell) -> Journal:
    """Do what is not done yet. Raises Failed, with everything put back, when a step does not succeed."""
    if record.state == "recording":
        raise Failed(_("run {run} never began to change anything; start again").format(run=record.run))
    for index, entry in enumerate(record.entries):
        if entry.state == "done":
            continue
        record = record.step(index, state="running")
        tell(entry.title)
        problem = _do(entry, target, children)
        if problem:
            record = record.step(index, state="failed", detail=problem)
            undo(record.having(state="failed"))
            raise Failed(_("{step}: {problem}. Everything was put back.").format(step=entry.title, problem=problem))
        record = record.step(index, state="done")
    return record.having(state="done")


def _do(entry: Entry, target: Target, children: Children) -> str:
    """Carry one step out; returns what went wrong, "" when nothing did."""
    try:
        if entry.environment:
            activation.write(target.prefix, target.kind, entry.environment)
        for command in entry.commands:
            done = children.run(command, timeout=INSTALL_LIMIT)
            if done is None or done.code != 0:
                return _last_words(done) or _("{command} failed").format(command=command[0])
    except OSError as error:
        return str(error)
    return ""


def _last_words(done: Optional[Completed]) -> str:
    """The sentence in which a package tool says why not."""
    if done is None:
        return _("the package tool could not be started")
    if done.timed_out:
        return _("the package tool did not come to an end")
    lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "×", "x ", "fatal"))]
    return (errors or lines or [_("exit code {code}").format(code=done.code)])[0][:400]


def undo(record: Journal) -> snapshot.Restored:
    """Put the environment back as it was before the run, and prove it by comparing. Raises Failed when it is not."""
    if not (record.folder / snapshot.MANIFEST).is_file():
        record.having(state="undone")
        return snapshot.Restored(0, 0, ())  # killed before anything was changed
    restored = snapshot.put_back(record.prefix, record.folder)
    left = snapshot.differences(record.prefix, record.folder)
    if left or restored.problems:
        named = ", ".join([*restored.problems, *left][:5])
        raise Failed(_("{n} files are not as they were: {named}").format(n=len(left), named=named))
    record.having(state="undone")
    return restored
