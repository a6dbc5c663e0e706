"""`nvidia-smi topo -m` and `topo -p2p r`: a matrix of devices, with the CPUs and NUMA node of each GPU.

A real terminal adds escape codes, network cards add columns and rows, people re-align the cells with spaces, and
some drivers leave the NUMA cell blank and put the value one cell later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.parse.values import MOST_TEXT

CELL = re.compile(r"X|NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|PSB|SOC|OK|CNS|GNS|TNS|DR|NS|U|C2C|N/A|-")
DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_\d+|\d)[A-Za-z0-9_]*")
TITLES = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")


@dataclass(frozen=True)
class SmiTopo:
    """`pairs`: (i, j) with i < j -> the cell ("NV4", "PHB", "OK", "" for N/A). `cpus` and `numa` by GPU index, where told."""

    gpus: tuple[int, ...]
    pairs: Mapping[tuple[int, int], str]
    cpus: Mapping[int, str]
    numa: Mapping[int, int]


def parse(text: str) -> Optional[SmiTopo]:
    """The matrix, or None when there is none."""
    lines = [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line[:20_000]) for line in text[:MOST_TEXT].splitlines()]
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*GPU\d", line)), None)
    if start is None:
        return None
    columns = _columns(lines[start])
    pairs: dict[tuple[int, int], str] = {}
    cpus: dict[int, str] = {}
    numa: dict[int, int] = {}
    gpus = []
    for line in lines[start + 1 :]:
        row = re.match(r"\s*GPU(\d{1,4})(?=\s)", line)
        if row is None:
            if line.strip().startswith("Legend"):
                break
            continue
        index = int(row.group(1))
        gpus.append(index)
        cells, rest = _cells(line[row.end() :], len(columns))
        _add_pairs(pairs, index, columns, cells)
        _add_place(cpus, numa, index, rest)
    return SmiTopo(tuple(gpus), pairs, cpus, numa) if gpus else None


def _columns(header: str) -> list[str]:
    """The names of the devices in the heading, without the titles behind them."""
    for title in TITLES:
        header = header.partition(title)[0] if title in header else header
    return [word for word in header.split() if DEVICE.fullmatch(word)]


def _cells(line: str, count: int) -> tuple[list[str], list[str]]:
    """The matrix cells of a row, and the cells behind them: blank ones count where tabs separate them."""
    tabbed = "\t" in line
    cells = [cell.strip() for cell in line.lstrip(" ")[1:].split("\t")] if tabbed else line.split()
    return cells[:count], cells[count:]


def _add_pairs(pairs: dict[tuple[int, int], str], index: int, columns: list[str], cells: list[str]) -> None:
    for column, cell in zip(columns, cells):
        other = re.fullmatch(r"GPU(\d{1,4})", column)
        if other is None or not CELL.fullmatch(cell) or cell == "X":
            continue
        pair = (min(index, int(other.group(1))), max(index, int(other.group(1))))
        if pair[0] != pair[1]:
            pairs.setdefault(pair, "" if cell in ("N/A", "-") else cell)


def _add_place(cpus: dict[int, str], numa: dict[int, int], index: int, rest: list[str]) -> None:
    """CPU list and NUMA node. "0-1" as a node is several nodes: none in particular."""
    if rest and re.fullmatch(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", rest[0]):
        cpus[index] = rest[0]
    if len(rest) > 1 and re.fullmatch(r"\d{1,4}", rest[1], re.ASCII):
        numa[index] = int(rest[1])
