"""The plan: for each root cause its cheapest fix, all package changes as one consistent set, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tfdoctor.fixes.installer import Installer
from tfdoctor.i18n import _
from tfdoctor.model import Fix, Outcome, Report, Safety
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.tables import Tables

OWNERS = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm")


@dataclass(frozen=True)
class Step:
    """One step. `kind` is "packages", "environment", "files" or "manual". `codes` are the diagnoses that it removes.

    `commands` are what is run (or, for a manual step, typed by a person). `environment` is set in the environment's
    own activation script. `changes` tells what becomes different, `undo` how it is taken back, `download_mib` what
    is fetched at most (None: not known). `needs`: "root", "reboot", "new shell"."""

    kind: str
    title: str
    codes: tuple[str, ...]
    why: str
    safety: Safety
    commands: tuple[tuple[str, ...], ...] = ()
    environment: tuple[tuple[str, Optional[str]], ...] = ()
    note: str = ""
    changes: str = ""
    undo: str = ""
    download_mib: Optional[int] = None
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Plan:
    """`steps` in order. `open` are diagnoses for which there is no step: (code, why not)."""

    target: str
    steps: tuple[Step, ...]
    open: tuple[tuple[str, str], ...] = ()
    requirements: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()

    @property
    def codes(self) -> frozenset[str]:
        """The diagnoses that the plan sets out to remove."""
        return frozenset(code for step in self.steps for code in step.codes)


@dataclass
class _Packages:
    """Collects the package changes of several fixes."""

    wanted: dict[str, Requirement] = field(default_factory=dict)
    removes: dict[str, None] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    safety: Safety = Safety.SAFE
    afresh: set[str] = field(default_factory=set)
    conflicts: list[str] = field(default_factory=list)


def make(
    report: Report,
    installer: Optional[Installer],
    tables: Tables,
    *,
    keep: Sequence[str] = (),
    only: Iterable[str] = (),
) -> Plan:
    """The plan for `report`. `keep` names distributions whose version must stay; `only` limits it to some codes."""
    roots = [o for o in report.found if o.folded_under is None and o.diagnoses]
    chosen = set(only)
    roots = [o for o in roots if not chosen or o.rule.code in chosen or o.rule.name in chosen]
    explained = _explained(report)
    packages, steps, unsolved = _Packages(), [], []
    for outcome in sorted(roots, key=lambda o: o.rule.code):
        fix = cheapest(outcome)
        if fix is None:
            unsolved.append((outcome.rule.code, _("nothing is to be done about it, or nothing that tfdoctor knows")))
        elif fix.requirements or fix.removes:
            _collect(packages, outcome, fix)
        else:
            steps.append(_step(outcome, fix, explained.get(outcome.rule.code, ())))
    installed = report.facts.get("distributions")
    package_steps, refused = _package_steps(packages, installer, installed, tables, keep, explained)
    manual = [s for s in steps if s.kind == "manual"]
    others = [s for s in steps if s.kind != "manual"]
    return Plan(
        report.target,
        # Drivers and settings of the machine come first: what is installed afterwards is checked against them.
        (*manual, *package_steps, *others),
        (*unsolved, *refused),
        tuple(str(r) for r in packages.wanted.values()),
        tuple(packages.removes),
    )


def _explained(report: Report) -> Mapping[str, tuple[str, ...]]:
    """Root code -> the codes folded under it: they go with it and are not fixed twice."""
    found: dict[str, tuple[str, ...]] = {}
    for outcome in report.found:
        if outcome.folded_under:
            found[outcome.folded_under] = (*found.get(outcome.folded_under, ()), outcome.rule.code)
    return found


def cheapest(outcome: Outcome) -> Optional[Fix]:
    """The fix to plan: the first that needs no person, else the first (rules list theirs cheapest first)."""
    fixes = [fix for diagnosis in outcome.diagnoses for fix in diagnosis.fixes]
    return next((f for f in fixes if f.safety is not Safety.MANUAL), fixes[0] if fixes else None)


def _step(outcome: Outcome, fix: Fix, explained: Sequence[str]) -> Step:
    manual = fix.safety is Safety.MANUAL
    kind = "manual" if manual else "environment" if fix.environment else "files"
    return Step(
        kind,
        fix.title,
        (outcome.rule.code, *explained),
        outcome.diagnoses[0].message,
        fix.safety,
        fix.commands,
        fix.environment,
        fix.note,
        changes=_("the environment's activation script") if kind == "environment" else "",
        undo=_("`tfdoctor fix --undo`") if kind == "environment" else "",
        needs=fix.needs | ({"new shell"} if kind == "environment" else frozenset()),
    )


def _collect(packages: _Packages, outcome: Outcome, fix: Fix) -> None:
    """Merge one fix into the set; two ranges for one package become their intersection."""
    packages.outcomes.append(outcome)
    if fix.safety is not Safety.SAFE:
        packages.safety = Safety.ASK
    packages.removes.update(dict.fromkeys(canonicalize_name(name) for name in fix.removes))
    for text in fix.requirements:
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            packages.conflicts.append(_("{text} is not a requirement").format(text=text))
            continue
        name = canonicalize_name(wanted.name)
        before = packages.wanted.get(name)
        if before is not None:
            wanted.extras |= before.extras
            wanted.specifier &= before.specifier
        packages.wanted[name] = wanted
        if any("--force-reinstall" in command for command in fix.commands):
            packages.afresh.add(name)


def _package_steps(
    packages: _Packages,
    installer: Optional[Installer],
    installed: Optional[Distributions],
    tables: Tables,
    keep: Sequence[str],
    explained: Mapping[str, Sequence[str]],
) -> tuple[list[Step], list[tuple[str, str]]]:
    """(the steps, the diagnoses that cannot be fixed with why)."""
    if not packages.outcomes:
        return [], []
    codes = tuple(o.rule.code for o in packages.outcomes)
    why_not = _refusal(packages, installer, installed, tables, keep)
    if why_not or installer is None:
        return [], [(code, why_not or _("the target interpreter is not known")) for code in codes]
    packages.safety = Safety.ASK if packages.removes else packages.safety
    requirements = [str(r) for r in packages.wanted.values()]
    commands = [installer.uninstall(list(packages.removes))] if packages.removes else []
    afresh = [str(packages.wanted[name]) for name in packages.afresh]
    commands += [installer.install(afresh, no_deps=True, force=True)] if afresh else []
    rest = [str(r) for name, r in packages.wanted.items() if name not in packages.afresh]
    commands += [installer.install(rest)] if rest else []
    step = Step(
        "packages",
        _title(requirements, tuple(packages.removes)),
        (*codes, *(c for code in codes for c in explained.get(code, ()))),
        " ".join(o.diagnoses[0].message for o in packages.outcomes),
        packages.safety,
        tuple(commands),
        changes=", ".join(_changes(packages, installed)),
        undo=_("`tfdoctor fix --undo` puts every file of the environment back as it was"),
        download_mib=_download(packages, tables),
    )
    return [step], []


def _title(requirements: Sequence[str], removes: Sequence[str]) -> str:
    if removes and requirements:
        return _("Remove {removes} and install {requirements}").format(
            removes=", ".join(removes), requirements=", ".join(requirements)
        )
    if removes:
        return _("Remove {removes}").format(removes=", ".join(removes))
    return _("Install {requirements}").format(requirements=", ".join(requirements))


def _changes(packages: _Packages, installed: Optional[Distributions]) -> Iterator[str]:
    for name in packages.removes:
        yield _("{name} {version} goes").format(name=name, version=installed.version(name) if installed else "")
    for name, wanted in packages.wanted.items():
        have = (installed.version(name) if installed else "") or _("absent")
        yield f"{name} {have} -> {str(wanted.specifier) or _('newest that fits')}"


def _download(packages: _Packages, tables: Tables) -> Optional[int]:
    """MiB at most, where the tables know the release; None for anything else."""
    wanted = packages.wanted.get("tensorflow")
    if wanted is None:
        return None
    exact = next((s.version for s in wanted.specifier if s.operator == "=="), None)
    release = tables.release(exact) if exact else None
    if release is None:
        return None
    extra = release.and_cuda_download_mib if "and-cuda" in wanted.extras else 0
    return None if release.download_mib is None or extra is None else round(release.download_mib + extra)


def _refusal(
    packages: _Packages,
    installer: Optional[Installer],
    installed: Optional[Distributions],
    tables: Tables,
    keep: Sequence[str],
) -> str:
    """Why the package changes cannot be made as one consistent set; "" when they can."""
    if installer is not None and installer.refusal:
        return installer.refusal
    if packages.conflicts:
        return "; ".join(packages.conflicts)
    for name in map(canonicalize_name, keep):
        have = installed.version(name) if installed else ""
        wanted = packages.wanted.get(name)
        if wanted is not None and have and not wanted.specifier.contains(have, prereleases=True):
            alternative = releases_with(name, have, tables)
            fits = _("; TensorFlow {versions} would fit").format(versions=", ".join(alternative)) if alternative else ""
            text = _("{name} {have} must stay and {wanted} is needed{fits}")
            return text.format(name=name, have=have, wanted=wanted, fits=fits)
    return "; ".join(_empty(packages))


def _empty(packages: _Packages) -> Iterator[str]:
    """Ranges that no version can be in, as far as their own bounds tell."""
    for name, wanted in packages.wanted.items():
        bounds = [s.version.rstrip(".*") for s in wanted.specifier]
        candidates = [v for b in bounds for v in (b, f"{b}.1", f"{b}.post1") if _parses(v)]
        below = [v for b in bounds if (v := _just_below(b))]
        if bounds and not any(wanted.specifier.contains(v, prereleases=True) for v in [*candidates, *below, "0"]):
            yield _("no version of {name} is in {range}").format(name=name, range=wanted.specifier)


def _parses(version: str) -> bool:
    try:
        Version(version)
    except InvalidVersion:
        return False
    return True


def _just_below(bound: str) -> str:
    """A version a little below `bound`: "2.0" -> "1.999"."""
    if not _parses(bound):
        return ""
    parts = list(Version(bound).release)
    while parts and parts[-1] == 0:
        parts.pop()
    if not parts:
        return ""
    parts[-1] -= 1
    return ".".join(map(str, [*parts, 999]))


def releases_with(name: str, version: str, tables: Tables, most: int = 3) -> list[str]:
    """The newest TensorFlow releases whose own range for `name` admits `version`."""
    found: list[str] = []
    for release in tables.releases():
        ranges = release.requirement(name)
        if ranges and all(SpecifierSet(r.range).contains(version, prereleases=True) for r in ranges[:1]):
            found.append(str(release.version))
        if len(found) == most:
            break
    return found
