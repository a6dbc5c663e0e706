"""The situation that a log speaks of: what a person, the log itself or the machine say, and what the tables make of it.

A situation maps a fact's name to its value as text. Names: os ("linux", "windows", "wsl1", "wsl2", "macos"), family
("linux": Linux or WSL), system (the words used for it), machine, libc, laptop, jetson, python, tensorflow, distribution, driver, driver_cuda, cuda, rocm, cudnn,
nccl, gpu, vendor ("nvidia", "amd", "apple"), compute_capability, gpus (a number), has_gpu ("yes", "no"), container (its kind, or
"no"), scheduler, install (the words used for it), and what `derived` adds. What is not in it is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor.logs.given import understand
from tfdoctor.logs.matcher import Scan
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.log_rows import Clue, Condition
from tfdoctor.tables.tf_rows import TfRelease

Situation = Mapping[str, str]


#: A log "ends with" what is in so many of its last lines: where a program hangs is where its log stops.
_LAST_LINES = 3


#: Groups of patterns that take a person's words: `said_os` and so on.
_SAID = "said_"
#: A field of a bug report that nobody filled in.
_OPEN = re.compile(r"n/?a\b|none\b|no\b|unknown|not |-+$|_?no response", re.IGNORECASE)
#: What `git describe` says of a build, before its version.
_GIT_DESCRIBE = re.compile(r"v?\d[\w.-]*-g[0-9a-f]{6,40}\s+(?=\d)|\bunknown\s+(?=\d)")


def stated_by_log(scan: Scan, tables: Tables) -> dict[str, str]:
    """What the known messages state: the constants of their rows and the named groups of their patterns. `ends_with`: the
    ids of the messages in the log's last lines."""
    facts: dict[str, str] = {}
    last = [f.row.id for f in scan.found if f.row.role != "fact" and f.last > scan.lines - _LAST_LINES]
    if scan.lines > 1:
        facts["ends_with"] = "|".join(last)
    said: dict[str, str] = {}
    for item in scan.found:
        for name, value in (*item.row.states.items(), *item.values.items()):
            (said if name.startswith(_SAID) else facts).setdefault(name, value.strip())
    for name, fact in _reported(said, tables).items():
        facts.setdefault(name, fact)
    if "gpu" in facts and "compute_capability" not in facts:
        card = tables.gpu(facts["gpu"])
        if card is not None:
            facts["compute_capability"] = card.compute_capability
    if "sm" in facts and "compute_capability" not in facts:
        facts["compute_capability"] = re.sub(r"(\d)\D?$", r".\1", facts["sm"])  # "86", "120", "90a"
    if "tag" in facts and "python" not in facts:
        facts["python"] = f"{facts['tag'][0]}.{facts['tag'][1:]}"
    return facts


def _reported(said: Mapping[str, str], tables: Tables) -> dict[str, str]:
    """What somebody filled into the template of a bug report, understood as --given is; a field left open says nothing."""
    filled = {name[len(_SAID) :]: words for name, words in said.items() if not _OPEN.match(words)}
    if "tensorflow" in filled:
        filled["tensorflow"] = _GIT_DESCRIBE.sub("", filled["tensorflow"])
    if "cuda" in filled:
        filled["cuda"], _slash, filled["cudnn"] = re.sub(r"[,;&]| and ", "/", filled["cuda"], count=1).partition("/")
    return understand([f"{key}={words}" for key, words in filled.items() if words.strip()], tables)


def speaks(clue: Clue, situation: Situation, seen: Iterable[str]) -> int:
    """How much a clue changes its cause's score here; 0 when its fact is not known."""
    if clue.fact == "seen":
        return clue.then if set(clue.fits.split("|")) & set(seen) else clue.otherwise
    value = situation.get(clue.fact)
    if clue.fact == "os" and value is None and "wsl" not in clue.fits:
        value = situation.get("family")  # a message that only Linux prints may still be from WSL
    if value is None:
        return 0
    return clue.then if _agrees(value, clue.fits) else clue.otherwise


def holds(condition: Condition, situation: Situation, seen: Iterable[str]) -> bool:
    """Whether a condition is known to hold."""
    if condition.fact == "unseen":
        return not set(condition.fits.split("|")) & set(seen)
    value = situation.get(condition.fact)
    return value is not None and _agrees(value, condition.fits)


def _agrees(value: str, wanted: str) -> bool:
    """Whether a fact's value is in a version range, or matches an expression where `wanted` is none."""
    if wanted[:1] in "<>=!~":
        version = re.search(r"\d+(?:\.\d+)*", value)
        return version is not None and fits(version.group(), wanted)
    return re.search(wanted, value, re.IGNORECASE) is not None


def derived(situation: Situation, tables: Tables) -> dict[str, str]:
    """The situation with what follows from it and the tables: how each part stands to what this TensorFlow was built for."""
    release = tables.release(situation.get("tensorflow", ""))
    facts = dict(situation)
    for name, value in (
        ("python_vs_release", _python(facts, release)),
        ("offer", _offer(facts)),
        ("soname_vs_cuda", _soname(facts)),
        ("cuda_vs_build", _versions(facts.get("cuda"), release.cuda if release else _cudart(facts))),
        ("cudnn_vs_build", _versions(_cudnn(facts.get("cudnn")), _cudnn_wanted(facts, release))),
        ("driver_vs_build", _driver(facts, release, tables)),
        ("gpu_vs_build", _gpu(facts.get("compute_capability"), release, facts.get("cudart_file"), tables)),
        ("gfx_in_list", _gfx(facts.get("gfx"), facts.get("gfx_glued"))),
        ("driver_pair", _pair(facts.get("kernel_driver"), facts.get("dso"))),
        ("memory_used_percent", _percent(facts.get("memory_used"), facts.get("memory_total"))),
        ("room", _room(facts)),
    ):
        if value is not None:
            facts.setdefault(name, value)
    return facts


def _python(facts: Situation, release: Optional[TfRelease]) -> Optional[str]:
    """ "fits", "too new" or "too old": the interpreter against the wheels of the release on this system."""
    found = re.match(r"3\.(\d+)", facts.get("python", ""))
    if release is None or found is None:
        return None
    system = {"wsl1": "linux", "wsl2": "linux"}.get(facts.get("os", "linux"), facts.get("os", "linux"))
    platform = release.platform(system, facts.get("machine", "x86_64"))
    pythons = [int(p[3:]) for p in (platform.pythons if platform else release.pythons) if re.fullmatch(r"cp3\d+", p)]
    if not pythons:
        return None
    have = int(found.group(1))
    return "fits" if have in pythons else "too new" if have > max(pythons) else "too old"


def _offer(facts: Situation) -> Optional[str]:
    """ "newer" or "older": the release that pip was asked for against all that it was offered for this Python."""
    asked, oldest = _parsed(facts.get("asked_release")), _parsed(facts.get("oldest_offered"))
    newest = _parsed(facts.get("newest_offered")) or oldest
    if asked is None or oldest is None or newest is None:
        return None
    return "newer" if asked > newest else "older" if asked < oldest else None


def _versions(have: Optional[str], wanted: Optional[str]) -> Optional[str]:
    """ "same", "older minor", "newer minor", "older major" or "newer major"."""
    left, right = _parsed(have), _parsed(wanted)
    if left is None or right is None:
        return None
    ours, theirs = (left.major, left.minor), (right.major, right.minor)
    if ours == theirs:
        return "same"
    part = "major" if left.major != right.major else "minor"
    return f"{'older' if ours < theirs else 'newer'} {part}"


def _cudart(facts: Situation) -> Optional[str]:
    """The CUDA that a build asks for, by the file name of its CUDA runtime: for a release that no table knows."""
    return facts.get("soname") if facts.get("library", "").startswith("libcudart") else None


def _cudnn_wanted(facts: Situation, release: Optional[TfRelease]) -> Optional[str]:
    """The cuDNN of the build: as its own message has it, else by the release."""
    return _cudnn(facts.get("cudnn_build")) or (release.cudnn if release else None)


def _cudnn(text: Optional[str]) -> Optional[str]:
    """A version of cuDNN in either of its ways of writing: "8.1.0", 8100 or (from 9 on) 90100, as CUDNN_VERSION in cudnn.h."""
    found = re.fullmatch(r"(\d)(\d)\d\d|(\d\d?)(\d\d)\d\d", text or "")
    return ".".join(str(int(part)) for part in found.groups() if part) if found else text


def _soname(facts: Situation) -> Optional[str]:
    """ "same", "other minor" or "other major": the CUDA that is there against the one that a library's file name asks for. Until CUDA
    10.2 every library had the minor version in its name, from 11 on the runtime and cuBLAS alone follow CUDA's major version."""
    asked, cuda = _parsed(facts.get("soname")), _parsed(facts.get("cuda"))
    follows = facts.get("library", "").startswith(("libcudart", "libcublas"))
    if (
        asked is None
        or cuda is None
        or (asked.major > 10 and not follows)
        or (asked.major < 11 and len(asked.release) < 2)
    ):
        return None
    if cuda.major != asked.major:
        return "other major"
    return "same" if asked.major > 10 or cuda.minor == asked.minor else "other minor"


def _driver(facts: Situation, release: Optional[TfRelease], tables: Tables) -> Optional[str]:
    """ "enough" or "too old": the driver against the CUDA that the release was built with."""
    if release is None or release.cuda is None:
        return None
    floor = tables.driver_floor(release.cuda, "windows" if facts.get("os") in ("windows", "wsl2") else "linux")
    have, least = _parsed(facts.get("driver")), _parsed(floor.minimum if floor else None)
    if have is None or least is None:
        return None
    return "enough" if have >= least else "too old"


def _gpu(
    capability: Optional[str], release: Optional[TfRelease], cudart: Optional[str], tables: Tables
) -> Optional[str]:
    """ "machine code", "ptx", "newer" (than any code in the build) or "older" (than all of it, or in a gap without PTX). Of a
    build whose code is not known only "beyond toolkit": its CUDA is from before such GPUs, so that it can have PTX at most."""
    have = _parsed(capability)
    if have is None:
        return None
    if release is None or not release.compute_capabilities:
        row = tables.compute_capability(str(have))
        cuda = _parsed(release.cuda if release else _exact_cuda(cudart))
        return "beyond toolkit" if row and cuda and Version(row.first_cuda).release > cuda.release[:2] else None
    code = [Version(c) for c in release.machine_code]
    if any(c.major == have.major and c <= have for c in code):
        return "machine code"
    if any(Version(c) <= have for c in release.ptx):
        return "ptx"
    return "newer" if code and have > max(code) else "older"


def _exact_cuda(cudart: Optional[str]) -> Optional[str]:
    """The CUDA of a runtime library by its file name ("10.1", on Windows "101"); from 11 on the name tells the major only."""
    found = re.fullmatch(r"(\d+)\.?(\d)", cudart or "")
    return ".".join(found.groups()) if found and int(found.group(1)) < 11 else None


def _gfx(have: Optional[str], glued: Optional[str]) -> Optional[str]:
    """ "glued" when the AMD GPU's kind is one of two that a list of supported kinds runs together, else "other"."""
    if have is None or glued is None:
        return None
    kind = have.replace(" ", "")
    return "glued" if kind in re.findall(r"gfx[0-9a-f]+?(?=gfx|$)", glued) else "other"


def _pair(kernel: Optional[str], library: Optional[str]) -> Optional[str]:
    """The kernel module's version against libcuda's: "same branch" or "other branch"."""
    if not kernel or not library:
        return None
    return "same branch" if kernel.split(".")[0] == library.split(".")[0] else "other branch"


def _percent(used: Optional[str], total: Optional[str]) -> Optional[str]:
    if used is None or total is None or not float(total):
        return None
    return str(int(100 * float(used) / float(total)))


def _room(facts: Situation) -> Optional[str]:
    """ "enough" when the allocator had more free than was asked for (it was in pieces), else "short"."""
    asked = _bytes(facts.get("asked"))
    limit, used = _bytes(facts.get("limit")), _bytes(facts.get("in_use"))
    if asked is None or limit is None or used is None:
        return None
    return "enough" if limit - used > asked else "short"


def _bytes(text: Optional[str]) -> Optional[float]:
    found = re.fullmatch(r"([\d.]{1,20}?)\.? ?(?:([KMGT])i?)?B?", text or "")
    try:
        return float(found.group(1)) * 1024 ** " KMGT".index(found.group(2) or " ") if found else None
    except ValueError:
        return None


def _parsed(text: Optional[str]) -> Optional[Version]:
    found = re.match(r"\d+(?:\.\d+)*", text or "")
    try:
        return Version(found.group()) if found else None
    except InvalidVersion:
        return None
