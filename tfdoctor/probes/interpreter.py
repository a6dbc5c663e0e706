"""The target interpreter: what it is, and which distributions it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import items, mapping, number, text, texts
from tfdoctor.model import Unavailable

METADATA = "metadata of the installed distributions"
FREEZE = "pip freeze"


@dataclass(frozen=True)
class Interpreter:
    """`version` "3.11.7"; `bits` 32 or 64; `kind` "venv", "conda", "uv", "system", "" unknown; `implementation` "CPython"…

    `externally_managed`: PEP 668. `pip` version, "" none, None not told. `user_site`: it reads the user's site-packages.
    `others` are further interpreters on PATH that have a TensorFlow: (path, TensorFlow version).
    `path` is what `-m pip` is to be run with. `search_path`: the folders where a program's imports are looked for, in order."""

    path: str
    version: str
    bits: Optional[int]
    kind: str
    implementation: str
    externally_managed: bool
    pip: Optional[str]
    user_site: bool
    prefix: str
    others: tuple[tuple[str, str], ...]
    source: str
    search_path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Distribution:
    """One installed distribution. `name` normalized (PEP 503), `location` its site-packages, `requires` its Requires-Dist.

    `damage` are the files that RECORD names and that are missing, empty or changed (relative paths, the first few);
    `damaged` counts them, of `checked` files; `gone` counts those that are missing or empty (named first in `damage`), the
    others are changed; None: not told. `foreign`: a compiled module in it, where all are another Python's. `problem`: why its metadata could not be read ("" fine). `installer`: "pip", "uv", "conda", ""."""

    name: str
    version: str
    location: str
    requires: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()
    damaged: int = 0
    problem: str = ""
    installer: str = ""
    checked: int = 0
    gone: Optional[int] = None
    foreign: str = ""


@dataclass(frozen=True)
class Distributions:
    """Every distribution of the target, by normalized name. `duplicates`: name -> the versions where one is there twice
    on sys.path. `source` tells whether it is complete (metadata) or a `pip freeze`. `leftovers` are .dist-info folders that
    a removal which failed left behind ("~ensorflow-2.15.0.dist-info")."""

    by_name: Mapping[str, Distribution]
    duplicates: Mapping[str, tuple[str, ...]]
    source: str
    leftovers: tuple[str, ...] = ()

    def version(self, name: str) -> str:
        """The version of `name`, or "" when it is not installed."""
        found = self.by_name.get(name)
        return found.version if found else ""


def canonical(name: str) -> str:
    """The name of a distribution as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@probe
def interpreter(host: Host) -> Interpreter:
    """What the target interpreter says of itself."""
    answer = host.target_answer()
    python = mapping(answer.get("python"))
    if not python.get("version"):
        raise Unavailable(_("the target interpreter did not say what it is"))
    executable = text(answer.get("executable"))
    return Interpreter(
        path=executable or host.target,
        version=text(python["version"]),
        bits=python.get("bits") if isinstance(python.get("bits"), int) else None,
        kind=text(python.get("kind")),
        implementation=text(python.get("implementation")),
        externally_managed=python.get("externally_managed") is True,
        pip=_pip_version(answer),
        user_site=bool(python.get("user_site")),
        prefix=text(python.get("prefix")),
        others=tuple(_others(host, answer)),
        source=executable or host.target,
        search_path=texts(answer.get("path")),
    )


def _pip_version(answer: Mapping[str, Any]) -> Optional[str]:
    if "distributions" not in answer:
        return None
    entries = (mapping(d) for d in items(answer["distributions"]))
    return next((text(d.get("version")) for d in entries if d.get("name") == "pip"), "")


@probe
def distributions(host: Host) -> Distributions:
    """The target's distributions: from their metadata, else from a recorded `pip freeze`."""
    try:
        answer = host.target_answer()
    except Unavailable:
        frozen = host.pip_freeze()
        if frozen is None:
            raise
        listed = parse_freeze(frozen)
        if not listed:  # a failed pip leaves an empty file
            raise Unavailable(_("pip-freeze.txt names no distribution")) from None
        return _collect(listed, FREEZE, ())
    if "distributions" not in answer:
        raise Unavailable(_("the target interpreter did not list its distributions"))
    found = [_distribution(mapping(d)) for d in items(answer["distributions"])]
    return _collect(found, METADATA, texts(answer.get("leftovers")))


def _distribution(entry: Mapping[str, Any]) -> Distribution:
    return Distribution(
        name=canonical(text(entry.get("name"))),
        version=text(entry.get("version")),
        location=text(entry.get("location")),
        requires=texts(entry.get("requires")),
        damage=texts(entry.get("damage")),
        damaged=number(entry.get("damaged")),
        problem=text(entry.get("problem")),
        installer=text(entry.get("installer")),
        checked=number(entry.get("checked")),
        gone=number(entry["gone"]) if "gone" in entry else None,
        foreign=text(entry.get("foreign")),
    )


def _collect(found: Iterable[Distribution], source: str, leftovers: tuple[str, ...]) -> Distributions:
    """The first of each name is the one that imports see; one whose metadata cannot be read yields to one that can."""
    by_name: dict[str, Distribution] = {}
    versions: dict[str, list[str]] = {}
    for entry in found:
        if not entry.name:
            continue
        versions.setdefault(entry.name, []).append(entry.version)
        first = by_name.get(entry.name)
        if first is None or (first.problem and not entry.problem):
            by_name[entry.name] = entry
    twice = {name: tuple(v) for name, v in versions.items() if len(v) > 1}
    return Distributions(by_name, twice, source, leftovers)


def parse_freeze(frozen: str) -> list[Distribution]:
    """The lines of `pip freeze`, `pip list`, `conda list` or a lock file; what is none of these is left out."""
    found = (_frozen_line(line) for line in frozen.lstrip("\ufeff").splitlines())
    return [entry for entry in found if entry is not None]


_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*={2,3}\s*([\w.!+-]+)")
_DIRECT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*@\s*(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)\s+(\S+)")
_CONDA_EXPORT = re.compile(r"([A-Za-z0-9][\w.-]*)=([0-9][\w.!+]*)(?:=\S*)?$")
_COLUMNS = re.compile(r"([A-Za-z0-9][\w.-]*)\s+([0-9][\w.!+-]*)(?:\s+\S.*)?$")
_WHEEL = re.compile(r"([\w.]+)-([0-9][\w.!+]*?)(?:-[0-9]\w*)?-\w+(?:\.\w+)*-\w+(?:\.\w+)*-[\w.]+\.whl")


def _frozen_line(line: str) -> Optional[Distribution]:
    line = line.partition(" #")[0].strip()
    if not line or line.startswith("#"):
        return None
    if editable := _EDITABLE.match(line):
        name = editable.group(1).partition("#egg=")[2].partition("&")[0]
        return Distribution(canonical(name), "", editable.group(1)) if name else None
    if direct := _DIRECT.match(line):
        from_wheel = _WHEEL.search(direct.group(2).replace("%2B", "+").replace("%2b", "+"))
        return Distribution(canonical(direct.group(1)), from_wheel.group(2) if from_wheel else "", "")
    for form in (_PINNED, _CONDA_EXPORT, _COLUMNS):
        if found := form.match(line):
            conda = form is _CONDA_EXPORT or (
                form is _COLUMNS and len(line.split()) > 2 and not line.split()[2].startswith("/")
            )
            return Distribution(canonical(found.group(1)), found.group(2), "", installer="conda" if conda else "")
    return None


# Other interpreters -----------------------------------------------------------------------------------------------


def _others(host: Host, answer: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Interpreters on PATH, other than the target, whose site-packages hold a TensorFlow. None of them is run."""
    try:
        folders = [f for f in host.env().get("PATH", "").split(":") if f.startswith("/")]
    except Unavailable:
        return
    seen = {text(mapping(answer.get("python")).get("prefix"))}
    for folder in dict.fromkeys(folders):
        prefix = folder.rstrip("/").rpartition("/")[0]
        if not folder.rstrip("/").endswith("/bin") or prefix in seen:
            continue
        seen.add(prefix)
        try:
            found = _tensorflow_below(host, prefix)
        except Unavailable:
            continue  # not in the recording, or not readable: `others` names only what was seen
        if found:
            yield found


def _tensorflow_below(host: Host, prefix: str) -> Optional[tuple[str, str]]:
    for info in host.glob(f"{prefix}/lib/python3*/site-packages/t[ef]*.dist-info") if prefix else ():
        name, _dash, version = info.rpartition("/")[2][: -len(".dist-info")].partition("-")
        if canonical(name) in ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tensorflow-rocm"):
            python = info.split("/")[-3]  # "python3.11"
            return f"{prefix}/bin/{python}", version
    return None
