"""Finding a GPU by the name that a driver, a cloud console or a person gives it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Optional

from tfdoctor.tables.hardware_rows import Gpu

_NOISE = {
    "nvidia",
    "geforce",
    "tesla",
    "gpu",
    "graphics",
    "card",
    "generation",
    "edition",
    "corporation",
    "nvgpu",
}
_MEMORY = re.compile(r"([0-9]+)\s*(gb|gib|g)\b")
_SIZE = re.compile(r"[0-9]+gb")
_WORD = re.compile(r"[a-z]+(?![a-z0-9])|[a-z]*[0-9]+[a-z]*|[a-z]+")


def words(name: str) -> frozenset[str]:
    """The telling words of a GPU's name: {"a100", "sxm4", "40gb"} of "NVIDIA A100-SXM4-40GB"."""
    text = _MEMORY.sub(r"\1gb", name.lower())
    text = re.sub(r"\b(rtx|gtx|gt)\s*-?\s*([0-9]+)", r"\1 \2", text)
    text = re.sub(r"([0-9]{3,4})\s*(ti|super)\b", r"\1 \2", text)
    return frozenset(_WORD.findall(text)) - _NOISE


def find_gpu(name: str, gpus: tuple[Gpu, ...]) -> Optional[Gpu]:
    """The row for ``name``, or None when no row fits or several different ones do.

    First a row with the same words, or the only plainest one that has every word of ``name`` ("3090"). Else what
    only tells the chip: the row with the most words that are all in ``name`` ("RTX 5090 Laptop", "A100 80GB PCIe LC",
    a MIG instance), or equally plain ones ("RTX PRO 6000") of one compute capability. Such an answer has the name that
    was asked for and none of the figures of a model: a laptop's chip is not as fast as its namesake.
    """
    wanted = words(name)
    if not wanted:
        return None
    spellings = [(words(spelling), gpu) for gpu in gpus for spelling in (gpu.name, *gpu.aliases)]
    for spelling, gpu in spellings:
        if spelling == wanted:
            return gpu
    within = [(-len(s), gpu) for s, gpu in spellings if s < wanted and not (wanted - s) & _OTHER_MODEL]
    around = [(len(s), gpu) for s, gpu in spellings if wanted < s and not (s - wanted) & {"ti", "ada", "pro"}]
    chips = _first(within)
    plainest = _first(around)
    if not chips and len(plainest) == 1:
        return plainest[0]
    chip = _same(chips) or _same(plainest)
    if chip is not None:
        return _chip_alone(chip, name)
    plain = {word for word in wanted - _VARIANT if not _SIZE.fullmatch(word)}
    found = find_gpu(" ".join(plain), gpus) if plain < wanted and not within and not around else None
    return None if found is None else _chip_alone(found, name)


#: Words that name a variant of the model before them.
_VARIANT = frozenset({"super", "laptop", "mobile", "max", "q"})

#: Words that make it another model when the table's spelling lacks them. A "SUPER" is always the same chip
#: family as the model it is named after, so it may be found under that.
_OTHER_MODEL = frozenset({"ti", "ada", "blackwell", "titan", "pro", "x", "jetson"})


def _first(candidates: list[tuple[int, Gpu]]) -> list[Gpu]:
    best = min((rank for rank, _ in candidates), default=0)
    return list({gpu.name: gpu for rank, gpu in candidates if rank == best}.values())


def _same(rows: list[Gpu]) -> Optional[Gpu]:
    return rows[0] if len({gpu.compute_capability for gpu in rows}) == 1 else None


def _chip_alone(gpu: Gpu, name: str) -> Gpu:
    """A row that says of ``name`` what its chip decides."""
    return replace(
        gpu,
        name=" ".join(name.split()),
        aliases=(),
        memory_gb=(),
        memory_type=None,
        memory_bandwidth_gbs=None,
        fp32_tflops=None,
        tf32_tflops=None,
        fp16_tflops=None,
        bf16_tflops=None,
        fp8_tflops=None,
        int8_tops=None,
        nvlink_generation=None,
        nvlink_gbs=None,
        pcie_generation=None,
        pcie_lanes=None,
        performance_grade=None,
        note="",
    )


def near(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names most like ``name``, best first: those that share most of its words, then those most alike."""
    wanted = words(name)

    def rank(spelling: str) -> tuple[int, float]:
        other = words(spelling)
        alike = difflib.SequenceMatcher(None, " ".join(sorted(wanted)), " ".join(sorted(other))).ratio()
        return len(wanted & other), alike

    ranked = sorted(((rank(spelling), spelling) for spelling in known), key=lambda pair: pair[0], reverse=True)
    return tuple(spelling for (shared, alike), spelling in ranked[:count] if shared or alike > 0.4)
