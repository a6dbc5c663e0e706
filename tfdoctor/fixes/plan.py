"""The plan: for each root cause its cheapest fix, all package changes as one consistent set, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

from packaging.requirements import InvalidRequirement, Requirement

from tfdoctor.fixes import packages
from tfdoctor.fixes.installer import Installer
from tfdoctor.fixes.packages import Settled, Wishes, World
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Fix, Outcome, Report, Safety, Severity
from tfdoctor.probes.interpreter import canonical
from tfdoctor.tables import Tables

#: The former value of LD_LIBRARY_PATH, behind a colon where there was one.
KEPT_PATH = "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
#: Variables that are lists: two fixes put their parts together.
JOINED = {"LD_LIBRARY_PATH": ":", "PATH": ":", "XLA_FLAGS": " "}


@dataclass(frozen=True)
class Step:
    """One step. `kind` is "packages", "environment", "files" or "manual". `codes` are the diagnoses that it removes.

    `commands` are what is run (or, for a manual step, typed by a person). `environment` is set in the environment's
    own activation script. `deletes` are files that are deleted. `changes` tells what becomes different, `undo` how it is
    taken back, `download_mib` what is fetched at most (None: not known). `needs`: "root", "reboot", "new shell"."""

    kind: str
    title: str
    codes: tuple[str, ...]
    why: str
    safety: Safety
    commands: tuple[tuple[str, ...], ...] = ()
    environment: tuple[tuple[str, Optional[str]], ...] = ()
    deletes: tuple[str, ...] = ()
    note: str = ""
    changes: str = ""
    undo: str = ""
    download_mib: Optional[int] = None
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Plan:
    """`steps` in order. `open` are diagnoses for which there is no step: (code, why not). `requirements` are all that
    the package tool must be able to meet together. `shell`: the syntax in which variables are shown."""

    target: str
    steps: tuple[Step, ...]
    open: tuple[tuple[str, str], ...] = ()
    requirements: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    shell: str = "posix"

    @property
    def codes(self) -> frozenset[str]:
        """The diagnoses that the plan sets out to remove."""
        return frozenset(code for step in self.steps for code in step.codes)


@dataclass
class _Collected:
    """The package fixes of several diagnoses, with what they are for."""

    wishes: Wishes = field(default_factory=Wishes)
    codes: dict[str, None] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)
    safe: bool = True
    notes: dict[str, None] = field(default_factory=dict)


def make(
    report: Report,
    installer: Installer,
    world: World,
    *,
    keep: Sequence[str] = (),
    only: Iterable[str] = (),
    shell: str = "posix",
) -> Plan:
    """The plan for `report`. `keep` names distributions whose version must stay; `only` limits it to some codes."""
    kept = {name: world.version(name) for name in map(canonical, keep)}
    explained = _explained(report)
    collected, steps, unsolved = _Collected(), [], []
    for outcome, diagnosis in _to_be_fixed(report, frozenset(only)):
        fix = cheapest(diagnosis, kept)
        codes = (outcome.rule.code, *explained.get(outcome.rule.code, ()))
        if fix is None:
            unsolved.append((outcome.rule.code, _("tfdoctor knows no fix for it")))
        elif (fix.requirements or fix.removes) and fix.safety is not Safety.MANUAL:
            _collect(collected, codes, diagnosis, fix)
        else:
            steps.append(_step(codes, diagnosis, _open_ended(fix, report), activated=_has_activation(report)))
    package_steps, refused, settled = _package_steps(collected, installer, world, keep)
    merged, conflicts = _merged(steps)
    manual = [s for s in merged if s.kind == "manual"]
    others = [s for s in merged if s.kind != "manual"]
    return Plan(
        report.target,
        # Drivers and settings of the machine come first: what is installed afterwards is checked against them.
        (*manual, *package_steps, *others),
        tuple(dict.fromkeys((*unsolved, *refused, *conflicts))),
        (*(str(r) for name, r in settled.wanted.items() if name not in settled.alone), *settled.pins),
        tuple(collected.wishes.removes),
        shell,
    )


def _to_be_fixed(report: Report, chosen: frozenset[str]) -> Iterator[tuple[Outcome, Diagnosis]]:
    """The root causes, from the bottom up. What is only information needs no step unless it was asked for by name."""
    for outcome in sorted(report.found, key=lambda o: o.rule.code):
        named = {outcome.rule.code, outcome.rule.name} & chosen
        if outcome.folded_under is not None or (chosen and not named):
            continue
        for diagnosis in outcome.diagnoses:
            severity = diagnosis.severity or outcome.rule.severity
            needed = severity > Severity.INFO or bool(named)
            if (
                needed
                and not (diagnosis.fixes and all(f.optional for f in diagnosis.fixes))
                and not _no_fault(outcome, diagnosis)
            ):
                yield outcome, diagnosis


def _no_fault(outcome: Outcome, diagnosis: Diagnosis) -> bool:
    """A state and not a fault: a machine without a GPU has nothing that could be fixed."""
    return outcome.rule.name == "no-gpu-machine" and not diagnosis.fixes


def _explained(report: Report) -> Mapping[str, tuple[str, ...]]:
    """Root code -> the codes folded under it: they go with it and are not fixed twice."""
    found: dict[str, tuple[str, ...]] = {}
    for outcome in report.found:
        if outcome.folded_under:
            found[outcome.folded_under] = (*found.get(outcome.folded_under, ()), outcome.rule.code)
    return found


def cheapest(diagnosis: Diagnosis, kept: Mapping[str, str]) -> Optional[Fix]:
    """The fix to plan: the first that needs no person and leaves alone what must stay, else the first that needs no
    person, else the first (rules list theirs cheapest first)."""
    fixes = [fix for fix in diagnosis.fixes if not fix.optional]
    runnable = [fix for fix in fixes if fix.safety is not Safety.MANUAL]
    gentle = [fix for fix in runnable if not _touches(fix, kept)]
    return next(iter([*gentle, *runnable, *fixes]), None)


def _touches(fix: Fix, kept: Mapping[str, str]) -> bool:
    for text in fix.requirements:
        try:
            wish = Requirement(text)
        except InvalidRequirement:
            continue
        have = kept.get(canonical(wish.name))
        if have and not wish.specifier.contains(have, prereleases=True):
            return True
    return any(canonical(name) in kept for name in fix.removes)


def _has_activation(report: Report) -> bool:
    """Whether the target has an activation script of its own that variables can be written to."""
    interpreter, platform = report.facts.get("interpreter"), report.facts.get("platform")
    windows = platform is not None and platform.system == "windows"
    return interpreter is not None and interpreter.kind in ("venv", "uv", "conda") and not windows


def _open_ended(fix: Fix, report: Report) -> Fix:
    """A path list that ends with what the variable holds now: with what it will hold then."""
    now = report.facts.get("environment")
    name, value = next(iter(fix.environment), ("", None))
    before = (now.get(name) if now else "") or ""
    if name != "LD_LIBRARY_PATH" or value is None or not value.startswith("/"):
        return fix
    own = value.removesuffix(f":{before}") if before else value
    return replace(fix, environment=((name, own + KEPT_PATH),))


def _step(codes: tuple[str, ...], diagnosis: Diagnosis, fix: Fix, *, activated: bool) -> Step:
    manual = fix.safety is Safety.MANUAL or (bool(fix.environment) and not activated)
    kind = "manual" if manual else "environment" if fix.environment else "files"
    if kind == "environment":
        changes, undo = _("the environment's activation script"), _("`tfdoctor fix --undo`")
    elif kind == "files":
        changes = _("{count} files are deleted").format(count=len(fix.deletes))
        undo = _("none: they belong to processes that are gone")
    else:
        changes = undo = ""
    if fix.undo:
        undo = "; ".join(" ".join(command) for command in fix.undo)
    return Step(
        kind,
        fix.title,
        codes,
        diagnosis.message,
        Safety.MANUAL if manual else fix.safety,
        fix.commands,
        fix.environment,
        fix.deletes,
        fix.note,
        changes=changes,
        undo=undo,
        needs=fix.needs | ({"new shell"} if kind == "environment" else frozenset()),
    )


def _merged(steps: Sequence[Step]) -> tuple[list[Step], list[tuple[str, str]]]:
    """The same thing for two diagnoses is done once, and a variable is set once; with what cannot be had beside it."""
    done: dict[object, Step] = {}
    conflicts = []
    for step in steps:
        name = step.environment[0][0] if len(step.environment) == 1 else None
        key: object = name or (step.title, step.commands, step.environment)
        before = done.get(key)
        both = step if before is None else _together(before, step)
        if both is not None:
            done[key] = both
        elif before is not None:
            text = _("{name}={wanted} would be needed, and {codes} needs {name}={value}")
            wanted, value = step.environment[0][1] or "", before.environment[0][1] or ""
            why = text.format(name=name, wanted=wanted, value=value, codes=", ".join(before.codes))
            conflicts += [(code, why) for code in step.codes]
    return list(done.values()), conflicts


def _together(one: Step, other: Step) -> Optional[Step]:
    """One step for both; None where they want different values of a variable."""
    codes = tuple(dict.fromkeys((*one.codes, *other.codes)))
    why = one.why if other.why in one.why else f"{one.why} {other.why}"
    both = replace(one, codes=codes, why=why, needs=one.needs | other.needs)
    if one.environment == other.environment or not one.environment:
        return both
    (name, first), (_name, second) = one.environment[0], other.environment[0]
    separator = JOINED.get(name)
    if separator is None or first is None or second is None:
        return None
    tail = KEPT_PATH if first.endswith(KEPT_PATH) or second.endswith(KEPT_PATH) else ""
    parts = [part for text in (first, second) for part in text.removesuffix(KEPT_PATH).split(separator)]
    value = separator.join(dict.fromkeys(parts)) + tail
    return replace(both, title=_("Set {name}={value}").format(name=name, value=value), environment=((name, value),))


# Packages ---------------------------------------------------------------------------------------------------------


def _collect(collected: _Collected, codes: tuple[str, ...], diagnosis: Diagnosis, fix: Fix) -> None:
    collected.wishes.add(fix)
    collected.codes.update(dict.fromkeys(codes))
    collected.why.append(diagnosis.message)
    collected.safe = collected.safe and fix.safety is Safety.SAFE
    if fix.note:
        collected.notes[fix.note] = None


def _package_steps(
    collected: _Collected, installer: Installer, world: World, keep: Sequence[str]
) -> tuple[list[Step], list[tuple[str, str]], Settled]:
    """(the steps, the diagnoses that cannot be fixed with why, the set of versions)."""
    if not collected.codes:
        return [], [], Settled({})
    settled = packages.settle(collected.wishes, world, keep)
    why_not = installer.refusal or "; ".join(settled.problems)
    if why_not:
        return [], [(code, why_not) for code in collected.codes], Settled({})
    removes = tuple(collected.wishes.removes)
    safe = collected.safe and not removes and not settled.moves
    step = Step(
        "packages",
        _title([str(r) for r in settled.wanted.values()], removes),
        tuple(collected.codes),
        " ".join(dict.fromkeys(collected.why)),
        Safety.SAFE if safe else Safety.ASK,
        tuple(_commands(collected.wishes, settled, installer)),
        note=" ".join(collected.notes),
        changes=", ".join(_changes(removes, settled, world)),
        undo=_("`tfdoctor fix --undo` puts every file of the environment back as it was"),
        download_mib=_download(settled, world),
    )
    return [step], [], settled


def _commands(wishes: Wishes, settled: Settled, installer: Installer) -> Iterator[tuple[str, ...]]:
    if wishes.removes:
        yield installer.uninstall(list(wishes.removes))
    afresh = [str(r) for name, r in settled.wanted.items() if name in wishes.afresh]
    if afresh:
        yield installer.install(afresh, no_deps=True, force=True)
    others = {name: r for name, r in settled.wanted.items() if name not in wishes.afresh}
    alone = [str(r) for name, r in others.items() if name in settled.alone]
    if alone:
        yield installer.install(alone, no_deps=True)
    rest = [str(r) for name, r in others.items() if name not in settled.alone]
    if rest:
        yield installer.install([*rest, *settled.pins, *(afresh if settled.pins else [])])


def _title(requirements: Sequence[str], removes: Sequence[str]) -> str:
    if removes and requirements:
        return _("Remove {removes} and install {requirements}").format(
            removes=", ".join(removes), requirements=", ".join(requirements)
        )
    if removes:
        return _("Remove {removes}").format(removes=", ".join(removes))
    return _("Install {requirements}").format(requirements=", ".join(requirements))


def _changes(removes: Iterable[str], settled: Settled, world: World) -> Iterator[str]:
    for name in removes:
        if name not in settled.wanted:
            yield _("{name} {version} goes").format(name=name, version=world.version(name))
    for name, wanted in settled.wanted.items():
        have = world.version(name) or _("absent")
        yield f"{name} {have} -> {str(wanted.specifier).removeprefix('==') or _('newest that fits')}"
    for pin in settled.pins:
        yield _("{name} stays").format(name=pin.replace("==", " "))


def _download(settled: Settled, world: World) -> Optional[int]:
    """MiB at most: what the tables have for a TensorFlow release, with the packages of its extra; None for anything else."""
    tables: Tables = world.tables
    name = next((name for name in settled.wanted if name in packages.OWNERS), None)
    if name is None:
        return None
    wanted = settled.wanted[name]
    exact = next((s.version for s in wanted.specifier if s.operator == "=="), None)
    release = tables.release(exact) if exact else None
    if release is None:
        return None
    extra = release.and_cuda_download_mib if packages.EXTRA in wanted.extras else 0
    return None if release.download_mib is None or extra is None else round(release.download_mib + extra)
