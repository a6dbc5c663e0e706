"""Carries a plan out: keep what is, run each step with consent, and leave a journal at every moment."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfdoctor.children import Children
from tfdoctor.fixes import activation, journal, lock, segments, snapshot
from tfdoctor.fixes.installer import Installer
from tfdoctor.fixes.journal import Entry, Journal
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.fixes.words import why_not
from tfdoctor.i18n import _
from tfdoctor.model import Unavailable
from tfdoctor.probes.interpreter import Interpreter

INSTALL_LIMIT = 3600.0  # seconds; two gigabytes over a slow line
ASK_LIMIT = 300.0  # seconds for a resolution without installing
# `global.target='/x'`, `install.prefix='/x'`, `:env:.root='/x'` of `pip config list`.
DIVERSION = re.compile(r"^(?:global|install|site|user|:env:)\.(?:target|prefix|root)=.*$", re.M)
PATIENCE = 600.0  # seconds for the installer of a run that was killed

Consent = Callable[[Step], bool]
Tell = Callable[[str], None]


class Failed(Exception):
    """A step could not be done. The argument is one sentence that also tells what state the environment is in."""


# Where the target's package tool puts things. "data" is the base of the scheme: the environment's prefix, or /usr/local
# where a distribution keeps what pip installs apart from its own. Runs on Python 3.6.
WHERE = """
import json, os, site, sys, sysconfig as s
user = bool(site.ENABLE_USER_SITE)
print(json.dumps({
    "data": s.get_path("data"),
    "places": [s.get_path(n) for n in ("purelib", "platlib", "scripts")],
    "writable": os.access(s.get_path("purelib"), os.W_OK),
    "user": [site.getusersitepackages(), os.path.join(site.getuserbase(), "bin")] if user else [],
    "base": site.getuserbase() if user else "",
}))
"""


@dataclass(frozen=True)
class Target:
    """The environment that is changed: its interpreter, how to install there, what kind it is, and where its packages
    lie. The journal is in `prefix`; `folders` are kept and put back, `without` are left out of them. `locked` is the
    folder of packages that cannot be written to, where pip installs for this user alone instead."""

    python: str
    prefix: str
    kind: str
    installer: Installer
    folders: tuple[Path, ...]
    without: tuple[Path, ...] = ()
    locked: str = ""


def placed(plan: Plan, target: Target) -> Plan:
    """`plan`, in which each package step says so where its packages go to another folder than one would think."""
    if not target.locked:
        return plan
    text = _("Goes into {own}, for this user alone: {locked} cannot be written to.")
    note = text.format(own=target.folders[0], locked=target.locked)
    steps = (replace(s, note=f"{s.note} {note}".strip()) if s.kind == "packages" else s for s in plan.steps)
    return replace(plan, steps=tuple(steps))


def _refuse_diversions(installer: Installer, children: Children) -> None:
    """A setting of pip (a file or a variable) that puts packages elsewhere would change what nobody recorded."""
    if installer.tool != "pip":
        return
    done = children.run((installer.python, "-m", "pip", "config", "list"), timeout=ASK_LIMIT)
    found = DIVERSION.search(done.stdout) if done is not None else None
    if found:
        text = _("pip is set to install elsewhere ({setting}); take that setting away, then run this again")
        raise Failed(text.format(setting=found.group().strip()))


def target_of(interpreter: Interpreter, installer: Installer, children: Children) -> Target:
    """Ask the interpreter where its packages lie. Raises Failed when it does not say, or pip is set to put them elsewhere."""
    _refuse_diversions(installer, children)
    # Not from the working directory: `-c` imports from there first, and a user's json.py is none of ours.
    done = children.run((interpreter.path, "-c", WHERE), timeout=ASK_LIMIT, cwd=os.sep)
    try:
        said = json.loads(done.stdout.strip().splitlines()[-1]) if done else {}
        data, places, user = os.path.realpath(said["data"]), said["places"], said["user"]
    except (ValueError, IndexError, KeyError, TypeError) as error:
        text = _("{path} does not say where its packages lie")
        raise Failed(text.format(path=interpreter.path)) from error
    if user and not said["writable"]:  # pip then installs for this user alone, and may make these folders
        home = os.path.realpath(said["base"])
        own = tuple(Path(os.path.realpath(p)) for p in user)
        return Target(interpreter.path, home, interpreter.kind, installer, own, locked=places[0])
    without: tuple[Path, ...] = ()
    if installer.tool == "conda":
        places = [data]
        without = tuple(Path(data, name) for name in ("pkgs", "envs", "conda-bld"))
    elif interpreter.kind in ("venv", "uv", "conda"):
        places += [os.path.join(data, name) for name in ("share", "etc")]
    folders = _outermost([*places, *user])
    return Target(interpreter.path, data, interpreter.kind, installer, folders, without)


def _outermost(places: Sequence[str]) -> tuple[Path, ...]:
    """The existing folders, none of which lies in another one."""
    real = sorted({os.path.realpath(p) for p in places if os.path.isdir(p)})
    inner = {r for r in real for o in real if r != o and r.startswith(o.rstrip(os.sep) + os.sep)}
    return tuple(Path(r) for r in real if r not in inner)


def freeze(target: Target, children: Children) -> tuple[str, ...]:
    """What is installed, as the package tool lists it. Raises Unavailable when that cannot be listed."""
    done = children.run(target.installer.freeze(), timeout=ASK_LIMIT)
    if done is None or done.code != 0:
        raise Unavailable(_("what is installed in {prefix} could not be listed").format(prefix=target.prefix))
    return tuple(sorted(line for line in done.stdout.splitlines() if line.strip()))


def can_be_met(plan: Plan, target: Target, children: Children) -> None:
    """Ask the package tool whether the plan's requirements resolve. Raises Failed with its reason when they do not."""
    if not plan.requirements or not target.installer.can_ask:
        return
    done = children.run(target.installer.resolve(plan.requirements), timeout=ASK_LIMIT)
    if done is None or done.code != 0:
        raise Failed(_("nothing was changed: {why}").format(why=why_not(done)))


def apply(plan: Plan, target: Target, children: Children, consent: Consent, tell: Tell) -> Journal:
    """Do the steps that `consent` agrees to. Raises Failed, with everything put back, when one does not succeed."""
    doable = [step for step in plan.steps if step.kind != "manual"]
    agreed = [step for step in doable if consent(step)]
    if not agreed:
        raise Failed(_("nothing was changed: no step was agreed to"))
    if any(step.kind == "packages" for step in agreed):
        tell(_("asking whether all of it can be met together"))
        can_be_met(plan, target, children)
    try:
        with lock.held(target.prefix, patience=1.0) as inherit:
            record = _begin(agreed, target, children, tell)
            return _go_on(record, target, children, tell, inherit)
    except lock.Busy:
        raise Failed(
            _("nothing was changed: another run is at work in {prefix}").format(prefix=target.prefix)
        ) from None
    except Unavailable as why:
        raise Failed(_("nothing was changed: {why}").format(why=why)) from why
    except OSError as error:
        text = _("nothing was changed: {prefix} cannot be written to ({error})")
        raise Failed(text.format(prefix=target.prefix, error=error)) from error


def _begin(steps: Sequence[Step], target: Target, children: Children, tell: Tell) -> Journal:
    """The journal and the kept files. Raises OSError, with nothing left of either, when there is no room for them."""
    unwritable = [str(folder) for folder in target.folders if not _writable(folder)]
    if unwritable:
        raise PermissionError(_("no permission to write to {folders}").format(folders=", ".join(unwritable)))
    entries = [Entry(s.title, s.codes, s.commands, s.environment, s.deletes, s.kind) for s in steps]
    codes = sorted({code for s in steps for code in s.codes})
    record = journal.begin(target.prefix, target.python, freeze(target, children), entries, codes)
    try:
        tell(_("keeping the environment as it is now"))
        snapshot.take(target.folders, record.folder, target.without)
        journal.forget_old(target.prefix)
        return record.having(state="applying")
    except OSError:
        shutil.rmtree(record.folder, ignore_errors=True)
        raise


def _writable(folder: Path) -> bool:
    """Whether files can be made in `folder`, or it can be made itself."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return os.access(there, os.W_OK)


def resume(record: Journal, target: Target, children: Children, tell: Tell) -> Journal:
    """Do what is not done yet. Raises Failed, with everything put back, when a step does not succeed."""
    if record.state == "recording":
        raise Failed(_("run {run} never began to change anything; start again").format(run=record.run))
    if record.state == "undoing":
        text = _("run {run} was being undone; `tfdoctor fix --undo {run}` brings that to its end")
        raise Failed(text.format(run=record.run))
    with _once_quiet(record, tell) as inherit:
        return _go_on(journal.read(record.folder), target, children, tell, inherit)


@contextlib.contextmanager
def _once_quiet(record: Journal, tell: Tell):  # type: ignore[no-untyped-def]
    """The lock, once whatever a killed run has left running has ended."""
    waiting = _("an installer that run {run} started is still at work; waiting for its end").format(run=record.run)
    try:
        with lock.held(record.prefix, patience=PATIENCE, waiting=lambda: tell(waiting)) as inherit:
            yield inherit
    except lock.Busy:
        text = _("an installer that run {run} started does not come to an end; try again later")
        raise Failed(text.format(run=record.run)) from None


def _go_on(record: Journal, target: Target, children: Children, tell: Tell, inherit: Sequence[int]) -> Journal:
    for index, entry in enumerate(record.entries):
        if entry.state == "done":
            continue
        tell(entry.title)
        try:
            record = record.step(index, state="running")
            problem = _do(entry, target, children, inherit)
            if not problem:
                record = record.step(index, state="done")
        except OSError as error:
            problem = str(error)
        if problem:
            _give_up(record, index, problem)
    with contextlib.suppress(OSError):  # all of it is done, whether or not there is room to write so
        snapshot.note_what_is_left(record.folder)
        record = record.having(state="done")
    return record


def _give_up(record: Journal, index: int, problem: str) -> None:
    """Put everything back and say so. The disk may be full: no line in the journal must stand in the way of that."""
    with contextlib.suppress(OSError):
        record = record.step(index, state="failed", detail=problem).having(state="failed")
    step = record.entries[index].title
    try:
        _put_back(record)
    except Failed as left:
        raise Failed(_("{step}: {problem}. {left}").format(step=step, problem=problem, left=left)) from left
    raise Failed(_("{step}: {problem}. Everything was put back.").format(step=step, problem=problem))


def _do(entry: Entry, target: Target, children: Children, inherit: Sequence[int]) -> str:
    """Carry one step out; returns what went wrong, "" when nothing did."""
    if entry.deletes:
        segments.delete(entry.deletes)
        return ""
    if entry.environment:
        activation.write(target.prefix, target.kind, entry.environment)
    for command in entry.commands:
        done = children.run(command, timeout=INSTALL_LIMIT, inherit=inherit)
        if done is None or done.code != 0:
            return why_not(done)
    return ""


def undo(record: Journal, tell: Tell, consent: Callable[[str], bool]) -> snapshot.Restored:
    """Put the environment back as it was before the run, and prove it by comparing. Raises Failed when it is not, or
    when `consent` does not agree that what others changed since goes too."""
    with _once_quiet(record, tell):
        later = _later(record)
        if later and not consent(later):
            raise Failed(_("nothing was changed: {later}").format(later=later))
        return _put_back(record)


def _later(record: Journal) -> str:
    """What undoing the run would take away or back beyond what the run did, in one sentence; "" for nothing."""
    if record.state != "done":
        return ""  # it was stopped: whatever lies there may be its own
    changed = snapshot.since(record.folder)
    if changed is None:
        return _("what was installed after run {run} cannot be told, and would go too").format(run=record.run)
    if not changed:
        return ""
    text = _("after run {run} other things were installed or changed, which would go too: {names}")
    return text.format(run=record.run, names=_named(changed))


def _named(files: Sequence[Path]) -> str:
    """The packages (or the folders of other files) that `files` belong to, the first five."""
    listed = [part[: -len(".dist-info")] for file in files for part in file.parts if part.endswith(".dist-info")]
    names = sorted(set(listed)) or sorted({str(file) for file in files})
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")


def _put_back(record: Journal) -> snapshot.Restored:
    if not (record.folder / snapshot.MANIFEST).is_file():
        record.having(state="undone")
        return snapshot.Restored(0, 0, ())  # killed before anything was changed
    with contextlib.suppress(OSError):  # as above: on a full disk it is undone all the same
        record = record.having(state="undoing")
    try:
        restored = snapshot.put_back(record.folder)
        left = snapshot.differences(record.folder)
    except OSError as error:
        text = _("Not everything could be put back ({error}); `tfdoctor fix --undo {run}` tries again")
        raise Failed(text.format(error=error, run=record.run)) from error
    if left or restored.problems:
        named = ", ".join([*restored.problems, *left][:5])
        raise Failed(_("{n} files are not as they were: {named}").format(n=len(left), named=named))
    with contextlib.suppress(OSError):
        record.having(state="undone")
    return restored


def not_as_before(record: Journal, target: Target, children: Children) -> tuple[str, ...]:
    """In what the list of installed packages differs from the recorded one: "+ name==version" or "- name==version"."""
    now = set(freeze(target, children))
    before = set(record.freeze)
    return (*(f"- {line}" for line in sorted(before - now)), *(f"+ {line}" for line in sorted(now - before)))
