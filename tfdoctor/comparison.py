"""Two machines, or one machine twice: what differs, and what of it matters. Works on the JSON form of a check."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.i18n import _
from tfdoctor.reading import printed_by

# What is read of a report besides its facts.
READ = frozenset(
    [
        "schema",
        "facts",
        "verdict",
        "gpu",
        "summary",
        "diagnoses",
        "code",
        "name",
        "severity",
        "message",
        "evidence",
        "says",
    ]
)
ABSENT, PRESENT = "absent", "present"  # stand for a field that one side lacks, and for a whole entry
# By what the entries of a list are told apart, in this order.
KEYS = ("index", "component", "address", "soname", "path", "name", "profile", "what")
# Changes from one moment to the next on a machine that stays as it is, or says only where something was seen.
PASSING = frozenset(
    (
        "temperature", "power", "clock_sm", "utilization", "performance_state", "throttle", "memory_used", "free", "available",
        "pid", "source", "generation", "processes", "lines", "stale_bytes", "checked", "memory", "speed", "errors",
    )
)  # fmt: skip
# What matters also where no diagnosis speaks of it (paths of fields, as `flat` writes them).
WEIGHTY = re.compile(
    r"tensor_flow\.(?:version|distribution|cuda|cudnn|nccl|cuda_build)|driver\.(?:version|cuda|model)"
    r"|kernel_driver\.(?:loaded_version|flavour)|platform\.(?:system|machine|kernel|distro|distro_version|libc|libc_version|wsl)"
    r"|interpreter\.(?:version|kind)|container\.kind|cloud\.(?:provider|instance_type)|shm\.total|topology\.levels\..*"
    r"|gpus\.gpus\[\d+\](?:\.(?:name|lost|compute_capability|memory_total|pcie\.(?:max_)?width|ecc\.\w*uncorrected|ecc\.enabled"
    r"|mig|compute_mode|power_limit|fabric_state|nvlinks\[\d+\]\.active))?"
    r"|libraries\.libraries\[\w+\]\.picked\.version"
    r"|environment\.variables\.(?:CUDA_|NVIDIA_|TF_|XLA_|NCCL_|LD_)\w+"
    r"|distributions\.by_name\.(?:tensorflow[\w-]*|keras|tf-keras|numpy|protobuf|ml-dtypes|h5py)(?:\.version)?"
    r"|driver|gpus|tensor_flow|interpreter|libraries|libraries\.libraries\[\w+\]|libraries\.libraries\[\w+\]\.picked"
)


@dataclass(frozen=True)
class Difference:
    """A field that differs. `a` and `b` as JSON values (ABSENT: not there). `because`: the codes of the diagnoses that
    differ and speak of it; `matters` also without one where the field is weighty by itself."""

    path: str
    a: Any
    b: Any
    matters: bool
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """`only_a` and `only_b` are diagnoses (JSON) of one side. `verdicts` are those of both sides."""

    verdicts: tuple[Mapping[str, Any], Mapping[str, Any]]
    only_a: tuple[Mapping[str, Any], ...]
    only_b: tuple[Mapping[str, Any], ...]
    differences: tuple[Difference, ...]

    @property
    def mattering(self) -> tuple[Difference, ...]:
        """The differences that matter, those that a diagnosis speaks of first."""
        return tuple(sorted((d for d in self.differences if d.matters), key=lambda d: not d.because))

    @property
    def found(self) -> bool:
        """Is anything different that matters?"""
        same = self.verdicts[0]["gpu"] == self.verdicts[1]["gpu"]
        return bool(self.only_a or self.only_b or self.mattering or not same)


def load(path: str) -> dict[str, Any]:
    """The JSON form of a recording's folder or of a report that `check --format json` wrote. Raises BadInput."""
    if os.path.isdir(path):
        return _examined(path)
    return printed_by("check", path, READ, _("a recording (a folder) or a report of `check --format json` is wanted"))


def _examined(folder: str) -> dict[str, Any]:
    from tfdoctor.checkup import check
    from tfdoctor.host import RecordedHost
    from tfdoctor.render.json_report import as_object
    from tfdoctor.render.outgoing import outgoing
    from tfdoctor.render.view import Checked
    from tfdoctor.scrub import Scrubber

    host = RecordedHost(folder)
    outside = outgoing(Checked(check(host)), Scrubber.of(host))
    report = as_object(outside.report, (), outside.scrub)
    value: dict[str, Any] = json.loads(json.dumps(report, default=str))
    return value


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> Comparison:
    """Everything in which two reports differ, but for what passes (PASSING)."""
    found_a, found_b = (_by_code(side) for side in (a, b))
    only_a = tuple(d for code, d in found_a.items() if code not in found_b)
    only_b = tuple(d for code, d in found_b.items() if code not in found_a)
    needs = _needs()
    spoken = [(d["code"], needs.get(d["code"], frozenset()), _sentences(d)) for d in only_a + only_b]
    left, right = (dict(flat(side["facts"])) for side in (a, b))
    differences = []
    for path in dict.fromkeys((*left, *right)):
        values = left.get(path, ABSENT), right.get(path, ABSENT)
        if _differ(*values) and not _below_a_gone_one(path, left, right):
            differences.append(_difference(path, *values, spoken))
    return Comparison((a["verdict"], b["verdict"]), only_a, only_b, tuple(differences))


def _by_code(report: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {d["code"]: d for d in report.get("diagnoses", ())}


def _sentences(diagnosis: Mapping[str, Any]) -> str:
    return "\n".join((diagnosis["message"], *(e["says"] for e in diagnosis.get("evidence", ()))))


def _needs() -> dict[str, frozenset[str]]:
    """Code -> names of the facts that its rule looks at."""
    from tfdoctor.engine import all_rules, fact_name

    return {r.code: frozenset(fact_name(kind) for kind, _o in r.needs.values()) for r in all_rules()}


def _difference(path: str, a: Any, b: Any, spoken: Sequence[tuple[str, frozenset[str], str]]) -> Difference:
    fact = re.split(r"[.\[]", path, maxsplit=1)[0]
    words = [str(v) for side in (a, b) for v in (side if isinstance(side, list) else [side]) if len(str(v)) > 1]
    words += re.findall(r"(?<=by_name\.)[\w-]+|(?<=variables\.)\w+", path)
    because = tuple(
        code
        for code, needs, text in spoken
        if fact in needs and any(re.search(rf"(?<![\w.]){re.escape(w)}(?![\w])", text) for w in words if w != ABSENT)
    )
    last = re.split(r"[.\]]", path)[-1] or path
    passing = last in PASSING
    return Difference(path, a, b, not passing and bool(because or WEIGHTY.fullmatch(path)), because)


def _differ(a: Any, b: Any) -> bool:
    """An empty list is no field of its own: what the other side's list holds is told entry by entry."""
    return bool(a != b and [a, b] not in ([ABSENT, []], [[], ABSENT]))


def _below_a_gone_one(path: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Of a fact or an entry that one side lacks as a whole only that is told, not each of its fields."""
    parents = [path[: m.start()] for m in re.finditer(r"(?<=\])\.|(?<=[\w-])[.\[]", path)]
    sides = [(left.get(p, ABSENT), right.get(p, ABSENT)) for p in parents]
    return any(a != b and not isinstance(a if a != ABSENT else b, list) for a, b in sides)


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every field: "gpus.gpus[0].pcie.width". A fact, and an entry that may lack, comes first as itself."""
    if isinstance(value, dict):
        if _states(value):
            yield path, value
            return
        for key, inner in value.items():
            inside = f"{path}.{key}" if path else str(key)
            if isinstance(inner, dict) and (not path or "version" in inner) and not _states(inner):
                yield inside, PRESENT
            yield from flat(inner, inside)
    elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        key = _key_of(value)
        for number, inner in enumerate(value):
            inside = f"{path}[{inner[key] if key else number}]"
            yield inside, PRESENT
            yield from flat(inner, inside)
    elif isinstance(value, list):
        yield path, sorted(value, key=str)
    else:
        yield path, value


def _states(value: Mapping[str, Any]) -> bool:
    """Is this in place of a fact that there is not?"""
    return len(value) == 1 and bool(set(value) & {"unavailable", "not_applicable"})


def _key_of(entries: Sequence[Mapping[str, Any]]) -> Optional[str]:
    """The first of KEYS that every entry has and that tells them apart."""
    for key in KEYS:
        values = [str(entry.get(key, "")) for entry in entries]
        if all(values) and len(set(values)) == len(values):
            return key
    return None
