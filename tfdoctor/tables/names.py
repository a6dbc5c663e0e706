"""Finding a GPU by the name that a driver, a cloud console or a person gives it."""

from __future__ import annotations

import difflib
import re
from typing import Optional

from tfdoctor.tables.rows import Gpu

_NOISE = {
    "nvidia",
    "geforce",
    "tesla",
    "quadro",
    "gpu",
    "graphics",
    "card",
    "generation",
    "edition",
    "corporation",
}
_MEMORY = re.compile(r"([0-9]+)\s*(gb|gib|g)\b")
_WORD = re.compile(r"[a-z]+(?![a-z0-9])|[a-z]*[0-9]+[a-z]*|[a-z]+")


def words(name: str) -> frozenset[str]:
    """The telling words of a GPU's name: {"a100", "sxm4", "40gb"} of "NVIDIA A100-SXM4-40GB"."""
    text = _MEMORY.sub(r"\1gb", name.lower())
    text = re.sub(r"\b(rtx|gtx|gt)\s*-?\s*([0-9]+)", r"\1 \2", text)
    text = re.sub(r"([0-9]{3,4})\s*(ti|super)\b", r"\1 \2", text)
    return frozenset(_WORD.findall(text)) - _NOISE


def find_gpu(name: str, gpus: tuple[Gpu, ...]) -> Optional[Gpu]:
    """The row for ``name``: the same words, else the most specific row whose words are all in ``name``, else
    the plainest row that has every word of ``name`` ("A100"). None when no row fits.
    """
    wanted = words(name)
    if not wanted:
        return None
    spellings = [(words(spelling), gpu) for gpu in gpus for spelling in (gpu.name, *gpu.aliases)]
    exact = [gpu for spelling, gpu in spellings if spelling == wanted]
    if exact:
        return exact[0]
    within = [(len(s), gpu) for s, gpu in spellings if s < wanted and not _other_model(wanted - s)]
    if within:
        return max(within, key=lambda pair: pair[0])[1]
    around = [(len(s), gpu) for s, gpu in spellings if wanted < s and not _other_model(s - wanted)]
    return min(around, key=lambda pair: pair[0])[1] if around else None


_MODEL_WORDS = {
    "ti",
    "super",
    "ada",
    "blackwell",
    "max",
    "mobile",
    "laptop",
    "titan",
    "rtx",
    "gtx",
    "gt",
    "pro",
}


def _other_model(rest: frozenset[str]) -> bool:
    """Whether the words left over make it another model ("ti", another number) and not a form of the same."""
    return any(word in _MODEL_WORDS - {"rtx", "laptop", "mobile", "max"} for word in rest)


def near(name: str, known: list[str], count: int = 3) -> tuple[str, ...]:
    """The known names most like ``name``, best first."""
    lower = {spelling.lower(): spelling for spelling in known}
    found = difflib.get_close_matches(name.lower(), list(lower), n=count, cutoff=0.4)
    return tuple(lower[spelling] for spelling in found)
