"""One requirement: `gpus>=2`, `driver>=535,<600`, `gpu-model=A100`, `no-processes`. Parsed here, judged in judge.py."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from tfdoctor.i18n import _
from tfdoctor.model import BadInput

# Subject -> kind of its value. "flag": it holds or not. "count", "bytes", "number": compared as numbers.
# "version": PEP 440. "text": = (contains, case aside) or != .
SUBJECTS: Mapping[str, str] = {
    "gpu": "flag",
    "gpus": "count",
    "gpu-model": "text",
    "compute-capability": "version",
    "driver": "version",
    "cuda-driver": "version",
    "tensorflow": "version",
    "python": "version",
    "cuda": "version",
    "cudnn": "version",
    "nccl": "version",
    "pcie-width": "count",
    "pcie-generation": "count",
    "nvlink": "text",
    "free-memory": "bytes",
    "shm": "bytes",
    "ecc": "text",
    "no-processes": "flag",
    "instance": "text",
    "smoke.matmul": "number",
    "smoke.allreduce": "number",
}
VALUES: Mapping[str, tuple[str, ...]] = {"nvlink": ("full", "none"), "ecc": ("clean", "on", "off")}
UNITS: Mapping[str, int] = {  # none is no unit: "20" would mean 20 bytes, which every machine has
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}
_SHAPE = re.compile(r"([a-z][a-z.-]*)\s*(.*)", re.S)
_TERM = re.compile(r"(>=|<=|==|!=|=|>|<)\s*([^,<>=!]+)")


@dataclass(frozen=True)
class Requirement:
    """`subject` with every term (operator, value as written) that must hold; none for a flag."""

    text: str
    subject: str
    terms: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> str:
        """How values of this subject are compared."""
        return SUBJECTS[self.subject]

    def holds(self, value: Any) -> bool:
        """Does `value` (a string, or a number for counts and bytes) satisfy every term?"""
        if self.kind == "version":
            wanted = ",".join(f"{'==' if op == '=' else op}{v.strip()}" for op, v in self.terms)
            return SpecifierSet(wanted).contains(_version(str(value)), prereleases=True)
        if self.kind == "text":
            return all(_same(op, str(value), v.strip()) for op, v in self.terms)
        return all(COMPARE[op](value, number(v, self.kind)) for op, v in self.terms)


def parse(text: str) -> Requirement:
    """Read one requirement. Raises BadInput that names what is wrong and what would be right."""
    shape = _SHAPE.fullmatch(text.strip())
    subject = shape.group(1).rstrip(".-") if shape else text.strip()
    if shape is None or subject not in SUBJECTS:
        near = get_close_matches(subject, SUBJECTS, n=3, cutoff=0.5) or sorted(SUBJECTS)
        known = ", ".join(near)
        raise BadInput(_("{text} is not a requirement: known are {known}.").format(text=text, known=known))
    rest = shape.group(2).strip()
    terms = tuple(_TERM.findall(rest))
    if _TERM.sub("", rest).strip(", ") or (SUBJECTS[subject] == "flag") == bool(terms):
        example = subject if SUBJECTS[subject] == "flag" else f"{subject}{_EXAMPLES[SUBJECTS[subject]]}"
        raise BadInput(_("{text} is not a requirement; write it like {example}.").format(text=text, example=example))
    wanted = Requirement(text.strip(), subject, terms)
    _check_values(wanted)
    return wanted


_EXAMPLES = {"count": ">=2", "version": ">=2.16,<2.22", "bytes": ">=20GiB", "number": ">=0.4", "text": "=full"}


def _check_values(wanted: Requirement) -> None:
    try:
        for op, value in wanted.terms:
            if wanted.kind == "version":
                SpecifierSet(f"{'==' if op == '=' else op}{value.strip()}")
            elif wanted.kind == "text":
                allowed = VALUES.get(wanted.subject)
                if op not in ("=", "==", "!=") or (allowed and value.strip() not in allowed):
                    raise ValueError(value)
            else:
                number(value, wanted.kind)
    except (ValueError, InvalidSpecifier) as error:
        values = VALUES.get(wanted.subject)
        example = f"{wanted.subject}={values[0]}" if values else f"{wanted.subject}{_EXAMPLES[wanted.kind]}"
        message = _("{text}: the value is not usable; write it like {example}.")
        raise BadInput(message.format(text=wanted.text, example=example)) from error


def number(text: str, kind: str) -> float:
    """ "20GiB" -> bytes; "16", "x16", "0.4", "40%" -> the number. Raises ValueError."""
    words = re.fullmatch(r"x?([0-9]+(?:\.[0-9]+)?)\s*(%|[a-z]*)", text.strip(), re.I)
    if words is None:
        raise ValueError(text)
    amount, unit = float(words.group(1)), words.group(2).lower()
    if unit == "%" and kind == "number":
        return amount / 100
    if kind == "bytes" and unit in UNITS:
        return amount * UNITS[unit]
    if unit or kind == "bytes":
        raise ValueError(text)
    return amount


def _same(op: str, value: str, wanted: str) -> bool:
    return (wanted.lower() in value.lower()) == (op != "!=")


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        digits = re.match(r"\d+(?:\.\d+)*", text)
        return Version(digits.group() if digits else "0")
