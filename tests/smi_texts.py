"""nvidia-smi's formats, written from what is known of them with made-up machines: XML, text, table, matrices, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

Tree = Mapping[str, Union[str, "Tree", Sequence["Tree"]]]


def xml(gpus: Sequence[Tree], head: Mapping[str, str], dtd: str = "nvsmi_device_v12.dtd") -> str:
    """`nvidia-smi -q -x` with these elements; a GPU's "id" is its attribute."""
    parts = ['<?xml version="1.0" ?>', f'<!DOCTYPE nvidia_smi_log SYSTEM "{dtd}">', "<nvidia_smi_log>"]
    parts += [f"\t<{tag}>{text}</{tag}>" for tag, text in head.items()]
    for gpu in gpus:
        parts.append(f'\t<gpu id="{gpu["id"]}">')
        parts += _elements({tag: what for tag, what in gpu.items() if tag != "id"}, 2)
        parts.append("\t</gpu>")
    return "\n".join([*parts, "</nvidia_smi_log>", ""])


def _elements(tree: Tree, depth: int) -> list[str]:
    lines = []
    for tag, what in tree.items():
        for one in what if isinstance(what, (list, tuple)) else [what]:
            if isinstance(one, str):
                lines.append("\t" * depth + f"<{tag}>{one}</{tag}>")
            else:
                lines += ["\t" * depth + f"<{tag}>", *_elements(one, depth + 1), "\t" * depth + f"</{tag}>"]
    return lines


def q_text(gpus: Sequence[Tree], head: Mapping[str, str]) -> str:
    """`nvidia-smi -q` with these sections."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [f"{name:<42}: {value}" for name, value in head.items()]
    for gpu in gpus:
        lines += ["", f"GPU {gpu['id']}", *_sections({k: v for k, v in gpu.items() if k != "id"}, 1)]
    return "\n".join([*lines, ""])


def _sections(tree: Tree, depth: int) -> list[str]:
    lines = []
    for name, what in tree.items():
        for one in what if isinstance(what, (list, tuple)) else [what]:
            margin = "    " * depth + name
            lines += [f"{margin:<42}: {one}"] if isinstance(one, str) else [margin, *_sections(one, depth + 1)]
    return lines


WIDTH_LEFT, WIDTH_MIDDLE, WIDTH_RIGHT = 41, 24, 22
RULE = "+" + "-" * WIDTH_LEFT + "+" + "-" * WIDTH_MIDDLE + "+" + "-" * WIDTH_RIGHT + "+"


def row(left: str, middle: str, right: str) -> str:
    return f"|{left:<{WIDTH_LEFT}}|{middle:>{WIDTH_MIDDLE - 1}} |{right:>{WIDTH_RIGHT - 1}} |"


def table(
    rows: Sequence[Sequence[tuple[str, str, str]]],
    versions: str = "NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2",
    processes: Sequence[str] = ("  No running processes found",),
    boxes: Sequence[str] = (),
) -> str:
    """The table of plain `nvidia-smi`."""
    lines = ["Tue Mar  5 10:00:00 2024", RULE.replace("+-", "--", 1), f"| {versions:<88}|", RULE]
    lines += [row(" GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC")]
    lines += [RULE.replace("-", "=")]
    for gpu in rows:
        lines += [*(row(*cells) for cells in gpu), RULE]
    lines += ["", *boxes]
    box = "+" + "-" * 89 + "+"
    lines += [box, f"|{' Processes:':<89}|", "|" + "=" * 89 + "|", *(f"|{p:<89}|" for p in processes), box]
    return "\n".join([*lines, ""])


GPU_ROW = (
    ("   0  Quadro RTX 6000                On ", "00000000:1A:00.0 Off", "3"),
    (" 34%   41C    P2              61W / 260W", "1200MiB / 24576MiB", "17%   E. Process"),
    ("", "", "N/A"),
)


def matrix(
    names: Sequence[str], cells: Sequence[Sequence[str]], tails: Sequence[str], titles: str, bold: bool = True
) -> str:
    """`nvidia-smi topo -m`, with tabs, and on a terminal with its escape codes."""
    start, end = ("\x1b[4m", "\x1b[0m") if bold else ("", "")
    lines = ["\t" + start + "\t".join([*names, titles]) + end]
    for name, line, tail in zip(names, cells, [*tails, *[""] * len(names)]):
        lines.append("\t".join([name, *(" X " if cell == "X" else cell for cell in line), *([tail] if tail else [])]))
    return "\n".join([*lines, "", "Legend:", "", "  X    = Self", "  GPU9 = not a row of the matrix", ""])
