"""`nvidia-smi nvlink -s`: the links of each GPU and their speeds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.nvml import NvLink
from tfdoctor.probes.parse.values import MOST_TEXT, decimal

GPU = re.compile(r"GPU (\d{1,4}):\s*(.*?)\s*(?:\(UUID:.*)?$")
LINK = re.compile(r"\s*Link (\d{1,3}):\s*(.*?)\s*$")


@dataclass(frozen=True)
class SmiNvlink:
    """The links of one GPU; None where nvidia-smi says that it cannot tell (MIG mode, or all links down)."""

    index: int
    name: str
    links: Optional[tuple[NvLink, ...]]


def parse(text: str) -> tuple[SmiNvlink, ...]:
    """Every GPU that is named, in the order of the text. An old or a new driver leaves out links that are down, or
    writes <inactive>."""
    found: dict[int, SmiNvlink] = {}
    current: Optional[SmiNvlink] = None
    for line in text[:MOST_TEXT].splitlines():
        line = line[:300]
        gpu, link = GPU.match(line), LINK.match(line)
        if gpu:
            current = SmiNvlink(int(gpu.group(1)), gpu.group(2), ())
        elif current and link:
            state = link.group(2)
            speed = decimal(state)
            active = (
                True if speed or state.casefold() == "active" else False if "inactive" in state.casefold() else None
            )
            links = (*(current.links or ()), NvLink(int(link.group(1)), active, speed=speed))
            current = SmiNvlink(current.index, current.name, links)
        elif current and not current.links and re.search(r"not supported|unable|inactive", line, re.I):
            current = SmiNvlink(current.index, current.name, None)
        if current:
            found[current.index] = current
    return tuple(found.values())
