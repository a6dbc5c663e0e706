"""Finding a GPU by the name that a driver, a cloud console or a person gives it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
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
    """The row for ``name``, or None when no row fits or several different ones do.

    First a row with the same words; else the row with the most words that are all in ``name`` ("NVIDIA A100
    80GB PCIe LC"); else the plainest row that has every word of ``name`` ("3090", "A100"), as long as the
    equally plain ones have the same compute capability.
    """
    wanted = words(name)
    if not wanted:
        return None
    spellings = [(words(spelling), gpu) for gpu in gpus for spelling in (gpu.name, *gpu.aliases)]
    for spelling, gpu in spellings:
        if spelling == wanted:
            return gpu
    within = [(-len(s), gpu) for s, gpu in spellings if s < wanted and not (wanted - s) & _OTHER_MODEL]
    around = [(len(s), gpu) for s, gpu in spellings if wanted < s and not (s - wanted) & {"ti", "ada"}]
    return _best(within) or _best(around)


#: Words that make it another model when the table's spelling lacks them. A "SUPER" is always the same chip
#: family as the model it is named after, so it may be found under that.
_OTHER_MODEL = frozenset({"ti", "ada", "blackwell", "titan", "pro", "x", "jetson"})


def _best(candidates: list[tuple[int, Gpu]]) -> Optional[Gpu]:
    best = min((rank for rank, _ in candidates), default=0)
    rows = [gpu for rank, gpu in candidates if rank == best]
    same = len({gpu.compute_capability for gpu in rows}) == 1
    return rows[0] if same else None


def near(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names most like ``name``, best first."""
    lower = {spelling.lower(): spelling for spelling in known}
    found = difflib.get_close_matches(name.lower(), list(lower), n=count, cutoff=0.4)
    return tuple(lower[spelling] for spelling in found)
