"""The GPUs of a machine as a drawing: NUMA nodes, PCIe switches, the GPUs and their links, NVLinks. Inline SVG.

One GPU a row, so that it stays readable on a telephone; NVLinks are arcs at the right, or lines to the NVSwitch. A GPU
that is divided (MIG) names its instances there; it has no NVLinks then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfdoctor.i18n import _

ROW, GAP = 44, 8  # of a GPU's box and between two
LEFT, BOX, WIDTH = 14, 210, 400  # pixels of the view box, which scales to the screen
SHARED = ("PIX", "PXB")  # nvidia-smi's words for a path over one PCIe switch, over several
MOST_ARCS = 28  # every pair of 8

Escape = Callable[[str], str]


@dataclass(frozen=True)
class Row:
    """A GPU with the y of its box's top."""

    gpu: Any
    y: int

    @property
    def middle(self) -> float:
        return self.y + ROW / 2


def draw(gpus: Sequence[Any], levels: Mapping[tuple[int, int], str], behind: Mapping[str, int], text: Escape) -> str:
    """The SVG element; empty without a GPU. `levels` as in the fact Topology, `behind`: bus address -> how many bridges
    are above it, `text` scrubs and escapes."""
    if not gpus:
        return ""
    parts: list[str] = []
    rows: list[Row] = []
    y = 8
    for node, members in _by_node(gpus):
        top = y
        y += 24
        for group in _switches(members, levels):
            if len(group) > 1:
                y += 20
            start = y
            for gpu in group:
                rows.append(Row(gpu, y))
                y += ROW + GAP
            if len(group) > 1:
                parts.append(_frame("switch", 20, start - 20, BOX + 12, y - start + 18, _("PCIe switch"), text))
                y += 6
        label = _("NUMA node not told") if node is None else _("NUMA node {n}").format(n=node)
        parts.insert(0, _frame("node", 4, top, BOX + 40, y - top, label, text))
        y += 12
    parts += [_box(row, behind.get(row.gpu.bus, 0), text) for row in rows]
    parts += [part for row in rows if row.gpu.mig for part in _instances(row, text)]
    parts += _nvlinks(rows, levels, text)
    title = text(_("How the GPUs are joined"))
    head = f'<svg class="topology" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{title}"><title>{title}</title>'
    return head + "".join(parts) + "</svg>"


def _by_node(gpus: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    nodes = sorted({g.numa_node for g in gpus}, key=lambda n: (n is None, n))
    for node in nodes:
        yield node, [g for g in gpus if g.numa_node == node]


def _switches(gpus: Sequence[Any], levels: Mapping[tuple[int, int], str]) -> list[list[Any]]:
    """The GPUs of a node, those together that share a PCIe switch."""
    groups: list[list[Any]] = []
    for gpu in gpus:
        for group in groups:
            if any(levels.get((min(o.index, gpu.index), max(o.index, gpu.index))) in SHARED for o in group):
                group.append(gpu)
                break
        else:
            groups.append([gpu])
    return groups


def _frame(kind: str, x: int, y: int, width: int, height: int, label: str, text: Escape) -> str:
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="label" x="{x + 8}" y="{y + 15}">{text(label)}</text>'
    )


def _box(row: Row, bridges: int, text: Escape) -> str:
    gpu, x = row.gpu, LEFT + 12
    link = gpu.pcie
    narrow = link.width is not None and link.max_width is not None and link.width < link.max_width
    state = "lost" if gpu.lost else "narrow" if narrow else "fine"
    name = text(_shortened(f"{gpu.index}  {gpu.name or '?'}"))
    below = _("lost") if gpu.lost else f"PCIe gen{link.max_generation or '?'} x{link.width or '?'}"
    if narrow:
        below += _(" of x{most}").format(most=link.max_width)
    if bridges > 2:  # a port of the switch to the GPU, its port to the processor, and the processor's own
        below += _(", behind a switch")
    return (
        f'<rect class="gpu {state}" x="{x}" y="{row.y}" width="{BOX - 4}" height="{ROW}" rx="5"/>'
        f'<text class="name" x="{x + 8}" y="{row.y + 18}">{name}</text>'
        f'<text class="small" x="{x + 8}" y="{row.y + 35}">{text(below)}</text>'
    )


def _instances(row: Row, text: Escape) -> Iterator[str]:
    """ "MIG: 3 instances" and their profiles at the right of the GPU."""
    x, profiles = LEFT + BOX + 36, Counter(instance.profile for instance in row.gpu.mig_instances)
    title = _("MIG: {n} instances").format(n=len(row.gpu.mig_instances)) if profiles else _("MIG: no instance")
    named = " ".join(profile if n == 1 else f"{n}×{profile}" for profile, n in profiles.items())
    yield f'<text class="small mig" x="{x}" y="{row.y + 18}">{text(title)}</text>'
    yield f'<text class="small" x="{x}" y="{row.y + 35}">{text(_shortened(named))}</text>'


def _shortened(name: str) -> str:
    return name if len(name) <= 29 else name[:28] + "…"


def _nvlinks(rows: Sequence[Row], levels: Mapping[tuple[int, int], str], text: Escape) -> list[str]:
    by_index = {row.gpu.index: row for row in rows}
    if any(link.active and link.remote_type == "switch" for row in rows for link in row.gpu.nvlinks or ()):
        return _to_switch(rows, text)
    pairs = [
        (by_index[i], by_index[j], level)
        for (i, j), level in sorted(levels.items())
        if level.startswith("NV") and i in by_index and j in by_index
    ]
    return [part for a, b, level in pairs[:MOST_ARCS] for part in _arc(a, b, level, len(pairs), text)]


def _arc(a: Row, b: Row, level: str, among: int, text: Escape) -> Iterator[str]:
    """Bonded links between two GPUs; thicker with more of them. The label stands where few arcs would hide it."""
    x, (top, bottom) = LEFT + BOX + 8, sorted((a.middle, b.middle))
    count = int(level[2:]) if level[2:].isdigit() else 1
    reach = min(30 + (bottom - top) * 0.22, 120)
    title = _("{level} between GPU {a} and GPU {b}").format(level=level, a=a.gpu.index, b=b.gpu.index)
    yield (
        f'<path class="nvlink" stroke-width="{1 + count / 3:.1f}" d="M{x} {top} C{x + reach:.0f} {top} {x + reach:.0f} '
        f'{bottom} {x} {bottom}"><title>{text(title)}</title></path>'
    )
    if among <= 6:
        yield f'<text class="small" x="{x + reach * 0.75 + 6:.0f}" y="{(top + bottom) / 2 + 4:.0f}">{text(level)}</text>'


def _to_switch(rows: Sequence[Row], text: Escape) -> list[str]:
    x, bar = LEFT + BOX + 8, 344
    top, bottom = min(r.y for r in rows), max(r.y for r in rows) + ROW
    parts = [f'<rect class="nvswitch" x="{bar}" y="{top}" width="44" height="{bottom - top}" rx="5"/>']
    parts.append(
        f'<text class="turned" transform="translate({bar + 18} {(top + bottom) / 2:.0f}) rotate(90)" '
        f'text-anchor="middle">NVSwitch</text>'
    )
    for row in rows:
        up, there = row.gpu.active_nvlinks, len(row.gpu.nvlinks or ())
        kind = "nvlink" if up and up == there else "nvlink down"
        parts.append(f'<path class="{kind}" stroke-width="2" d="M{x} {row.middle} H{bar}"/>')
        parts.append(f'<text class="small" x="{x + 26}" y="{row.middle - 5:.0f}">{text(f"{up}/{there} NVLink")}</text>')
    return parts
