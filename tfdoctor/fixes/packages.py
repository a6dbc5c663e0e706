"""All package changes of a plan as one consistent set: one TensorFlow, and versions that go with it. Pure.

Each diagnosis asks for something of its own. Together they are settled around one TensorFlow release, the one that
stays or the one that is planned: every other version is held against that release's own ranges, companions follow it,
and the packages that must stay choose the release where the present one does not go with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from tfdoctor.i18n import _
from tfdoctor.model import Fix
from tfdoctor.probes.interpreter import Distributions, Interpreter, canonical
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.tf_rows import TfRelease

OWNERS = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm")
EXTRA = "and-cuda"
#: cuDNN 9.11 and newer for CUDA 12 hold nothing below compute capability 7.5 (compat/cudnn.json).
OLD_GPU = (7, 5)
OLD_GPU_CUDNN = ("nvidia-cudnn-cu12", "<9.11")
#: The first TensorFlow built for NumPy 2; releases before 2.14.1 do not forbid it in their metadata.
#: https://numpy.org/doc/stable/numpy_2_0_migration_guide.html
FIRST_NUMPY2 = "2.18.dev0"


@dataclass(frozen=True)
class World:
    """What the set is settled against. `lowest` is the lowest compute capability among the GPUs (None: none told).
    `releases` gives the TensorFlow releases that fit this machine, newest first (None: it could not be found out)."""

    installed: Optional[Distributions]
    interpreter: Optional[Interpreter]
    tables: Tables
    lowest: Optional[tuple[int, int]]
    releases: Callable[[], Optional[Sequence[TfRelease]]]

    def version(self, name: str) -> str:
        """The installed version of `name`, "" when it is not installed."""
        return self.installed.version(name) if self.installed else ""


@dataclass
class Wishes:
    """What the fixes ask for, merged. `afresh` are reinstalled although their version stays."""

    wanted: dict[str, Requirement] = field(default_factory=dict)
    removes: dict[str, None] = field(default_factory=dict)
    afresh: set[str] = field(default_factory=set)
    contradictions: list[str] = field(default_factory=list)

    def add(self, fix: Fix) -> None:
        """Merge one fix; two ranges for one package become their intersection."""
        self.removes.update(dict.fromkeys(canonical(name) for name in fix.removes))
        for text in fix.requirements:
            try:
                wanted = Requirement(text)
            except InvalidRequirement:
                self.contradictions.append(_("{text} is not a requirement").format(text=text))
                continue
            name = canonical(wanted.name)
            before = self.wanted.get(name)
            if before is not None:
                wanted.extras |= before.extras
                wanted.specifier &= before.specifier
            self.wanted[name] = wanted
            if any("--force-reinstall" in command for command in fix.commands):
                self.afresh.add(name)


@dataclass(frozen=True)
class Settled:
    """`wanted` are the packages that change, `pins` those that are named so that they stay. `problems`: why there is no
    such set. `moves`: TensorFlow goes to another minor release. `alone` are to be installed without what they ask for."""

    wanted: Mapping[str, Requirement]
    pins: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    moves: bool = False
    alone: frozenset[str] = frozenset()


def settle(wishes: Wishes, world: World, keep: Sequence[str] = ()) -> Settled:
    """One consistent set of versions for everything that was wished."""
    kept = {name: world.version(name) for name in map(canonical, keep)}
    wanted = dict(wishes.wanted)
    owner, now = _owner(wanted, wishes.removes, world)
    target, problem = _target(owner, now, wanted, kept, world)
    if problem:
        return Settled(wanted, problems=(*wishes.contradictions, problem))
    moved = bool(owner and target and not _same(target, now))
    if owner and target and (moved or owner in wanted):
        wanted[owner] = _pinned(owner, _extras(owner, wanted.get(owner), target, world), target)
    release = _release(target, world.tables)
    for name in kept if moved else ():
        if name != owner and _goes_with(target, name, kept[name], world):
            wanted.pop(name, None)  # what was wrong with it was TensorFlow
    for name in [n for n in wanted if n != owner]:
        wanted[name] = _fitted(wanted[name], release, target if moved else "", world)
    if moved:
        wanted.update(_followers(wanted, kept, target, world))
    wanted.update(_held_for_old_gpu(wanted, owner, release, world))
    problems = [*wishes.contradictions, *_against(wanted, wishes.removes, kept), *_empty(wanted.values())]
    pins = [f"{name}=={version}" for name, version in kept.items() if name not in wanted]
    if owner and now and not moved and owner not in wanted and owner not in kept and "+" not in now:
        pins.insert(0, str(_pinned(owner, _extras(owner, None, now, world), now)))
    moves = moved and bool(now) and not _same_minor(target, now)
    return Settled(wanted, tuple(pins), tuple(problems), moves, _alone(wanted, owner, world))


def _alone(wanted: Iterable[str], owner: str, world: World) -> frozenset[str]:
    """Companions that ask for `tensorflow` where another distribution is TensorFlow (tensorflow-cpu): with what they ask
    for, a second TensorFlow would be installed over it."""
    if owner in ("", "tensorflow"):
        return frozenset()
    rows = {name: world.tables.companions(name) for name in wanted}
    return frozenset(name for name, found in rows.items() if any(row.how == "requires" for row in found))


def _owner(wanted: Mapping[str, Requirement], removes: Iterable[str], world: World) -> tuple[str, str]:
    """(the distribution that is or will be TensorFlow, its installed version)."""
    planned = next((name for name in OWNERS if name in wanted), "")
    gone = set(removes) - set(wanted)
    there = next((name for name in OWNERS if world.version(name) and name not in gone), "")
    owner = planned or there
    return owner, world.version(owner) or (world.version(there) if there else "")


def _target(
    owner: str, now: str, wanted: Mapping[str, Requirement], kept: Mapping[str, str], world: World
) -> tuple[str, str]:
    """(the version of TensorFlow that everything is settled around, why there is none)."""
    wish = wanted[owner].specifier if owner in wanted else SpecifierSet(f"=={now}" if now else "")
    exact = _exact(wish)
    if exact and all(_goes_with(exact, name, v, world) for name, v in kept.items()):
        return exact, ""
    if not owner:
        return "", ""
    releases = world.releases()
    if releases is None:
        return "", "" if not kept else _no_release(kept)
    if not releases:
        python = world.interpreter.version if world.interpreter else "?"
        return "", _("no TensorFlow release fits this machine and Python {python}").format(python=python)
    several = len(wish) > 1 and not any(wish.contains(r.version) for r in releases)
    for release in releases:
        allowed = several or bool(exact) or wish.contains(release.version)
        if allowed and all(_goes_with(release.version, name, v, world) for name, v in kept.items()):
            return release.version, ""
    if kept:
        return "", _no_release(kept)
    return "", _("no TensorFlow in {range} fits this machine").format(range=wish)


def _no_release(kept: Mapping[str, str]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in kept.items())
    return _("{named} must stay, and no TensorFlow release that fits this machine goes with it").format(named=named)


def _goes_with(tensorflow: str, name: str, version: str, world: World) -> bool:
    """Whether a TensorFlow release goes with a package that must stay."""
    if name in OWNERS:
        return _same(tensorflow, version)
    if name == "numpy" and fits(version, ">=2") and fits(tensorflow, f"<{FIRST_NUMPY2}"):
        return False
    row = world.tables.companion(name, version)
    if row is not None and not fits(tensorflow, row.tensorflow):
        return False
    release = _release(tensorflow, world.tables)
    ranges = _ranges(name, release, world)
    return not ranges or any(fits(version, one) for one in ranges)


def _ranges(name: str, release: Optional[TfRelease], world: World) -> tuple[str, ...]:
    """What a release asks of another package, markers judged for the target; several where one cannot be judged."""
    if release is None:
        return ()
    return tuple(row.range for row in release.requirement(name) if _applies(row.marker, world.interpreter))


def _python(world: World) -> Optional[str]:
    return world.interpreter.version if world.interpreter is not None else None


def _applies(marker: str, interpreter: Optional[Interpreter]) -> bool:
    if not marker or interpreter is None:
        return True
    short = ".".join(interpreter.version.split(".")[:2])
    try:
        return Marker(marker).evaluate({"python_version": short, "python_full_version": interpreter.version})
    except (InvalidMarker, InvalidVersion):
        return True


def _fitted(wish: Requirement, release: Optional[TfRelease], moved_to: str, world: World) -> Requirement:
    """A wish within what the release asks for. Where TensorFlow moves, what was meant for the old one gives way."""
    name = canonical(wish.name)
    companion = world.tables.companion_for(name, moved_to, _python(world)) if moved_to else None
    if companion is not None:
        return _pinned(wish.name, set(), companion.version)
    ranges = _ranges(name, release, world)
    if not ranges and release is not None and release.and_cuda and name in release.and_cuda:
        ranges = (release.and_cuda[name],)
    if len(ranges) != 1:
        return wish
    own = SpecifierSet(ranges[0])
    both = Requirement(str(wish))
    both.specifier = _tidied(wish.specifier & own)
    if moved_to and any(_empty([both])):
        both.specifier = own
    return both


def _followers(
    wanted: Mapping[str, Requirement], kept: Mapping[str, str], target: str, world: World
) -> Iterator[tuple[str, Requirement]]:
    """Installed companions that do not go with the planned TensorFlow, in the release that does."""
    for name in sorted(world.installed.by_name) if world.installed else ():
        if name in wanted or name in kept or _ranges(name, _release(target, world.tables), world):
            continue  # what the release itself asks for comes with it
        row = world.tables.companion(name, world.version(name))
        fitting = world.tables.companion_for(name, target, _python(world))
        if row is not None and fitting is not None and not fits(target, row.tensorflow):
            yield name, _pinned(name, set(), fitting.version)


def _extras(owner: str, wish: Optional[Requirement], version: str, world: World) -> set[str]:
    """The extra stays where its packages are there (any of them when TensorFlow moves, all when it stays)."""
    release = _release(version, world.tables)
    asked = set(wish.extras) if wish is not None else set()
    if owner != "tensorflow" or release is None or release.and_cuda is None:
        return asked - ({EXTRA} if release is not None and release.and_cuda is None else set())
    if wish is None:
        return {EXTRA} if all(world.version(name) for name in release.and_cuda) else set()
    there = world.installed.by_name if world.installed else {}
    if any(name.startswith("nvidia-cudnn-cu") for name in there):
        asked.add(EXTRA)
    return asked


def _held_for_old_gpu(
    wanted: Mapping[str, Requirement], owner: str, release: Optional[TfRelease], world: World
) -> Iterator[tuple[str, Requirement]]:
    """The pin for GPUs below 7.5, wherever the extra is planned and would bring a newer cuDNN."""
    name, limit = OLD_GPU_CUDNN
    planned = wanted.get(owner)
    if planned is None or EXTRA not in planned.extras or release is None or name in wanted:
        return
    own = (release.and_cuda or {}).get(name, "")
    if own and "==" not in own and world.lowest is not None and world.lowest < OLD_GPU:
        held = Requirement(name)
        held.specifier = _tidied(SpecifierSet(limit) & SpecifierSet(own))
        yield name, held


def _against(wanted: Mapping[str, Requirement], removes: Iterable[str], kept: Mapping[str, str]) -> Iterator[str]:
    for name, version in kept.items():
        wish = wanted.get(name)
        if wish is None and name in removes:
            yield _("{name} {have} must stay and has to go").format(name=name, have=version)
        if wish is not None and not wish.specifier.contains(version, prereleases=True):
            yield _("{name} {have} must stay and {wanted} is needed").format(name=name, have=version, wanted=wish)


def _empty(requirements: Iterable[Requirement]) -> Iterator[str]:
    """Ranges that no version can be in, as far as their own bounds tell."""
    for wish in requirements:
        bounds = [s.version.rstrip(".*") for s in wish.specifier]
        above = [v for b in bounds for v in (b, f"{b}.1", f"{b}.post1") if _parsed(v)]
        below = [v for b in bounds if (v := _just_below(b))]
        if bounds and not any(wish.specifier.contains(v, prereleases=True) for v in [*above, *below, "0"]):
            yield _("no version of {name} is in {range}").format(name=wish.name, range=wish.specifier)


def _tidied(specifier: SpecifierSet) -> SpecifierSet:
    """The same versions in fewer words: "<3.20,<3.21,>=3.9.2" is "<3.20,>=3.9.2"."""
    parts = list(specifier)
    series = next((p for p in parts if p.operator == "==" and p.version.endswith(".*")), None)
    if series is not None:
        ends = (series.version[:-2], f"{series.version[:-2]}.9999")  # the bounds are monotone: both ends tell
        wider = [p for p in parts if p.operator in ("<", "<=", ">", ">=") and all(map(p.contains, ends))]
        parts = [p for p in parts if p not in wider]
    for operator, strictest in (("<", min), (">=", max)):
        same = [p for p in parts if p.operator == operator]
        if len(same) > 1:
            kept = strictest(same, key=lambda p: Version(p.version))
            parts = [p for p in parts if p.operator != operator or p is kept]
    return SpecifierSet(",".join(map(str, parts)))


def _just_below(bound: str) -> str:
    """A version a little below `bound`: "2.0" -> "1.999"."""
    parsed = _parsed(bound)
    parts = list(parsed.release) if parsed else []
    while parts and parts[-1] == 0:
        parts.pop()
    if not parts:
        return ""
    parts[-1] -= 1
    return ".".join(map(str, [*parts, 999]))


def _exact(specifier: SpecifierSet) -> str:
    """The version of a lone `==X`, "" for anything else."""
    only = list(specifier)
    return only[0].version if len(only) == 1 and only[0].operator == "==" and "*" not in only[0].version else ""


def _release(version: str, tables: Tables) -> Optional[TfRelease]:
    """The table's row for exactly this version."""
    found = tables.release(version) if version else None
    return found if found is not None and _same(found.version, version) else None


def _pinned(name: str, extras: set[str], version: str) -> Requirement:
    inner = f"[{','.join(sorted(extras))}]" if extras else ""
    return Requirement(f"{name}{inner}=={version}")


def _parsed(version: str) -> Optional[Version]:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _same(one: str, other: str) -> bool:
    a, b = _parsed(one), _parsed(other)
    return a is not None and b is not None and Version(a.public) == Version(b.public)


def _same_minor(one: str, other: str) -> bool:
    a, b = _parsed(one), _parsed(other)
    return a is not None and b is not None and a.release[:2] == b.release[:2]
