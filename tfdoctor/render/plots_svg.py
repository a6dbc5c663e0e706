"""Results of the smoke tests as plots: bars for rates, lines for AllReduce over sizes and for clocks over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfdoctor.i18n import _

Escape = Callable[[str], str]
WIDTH, LABELS, BAR = 400, 130, 22  # pixels of the view box
HEIGHT, MARGIN = 190, 44  # of a line plot
SERIES = 6  # colours that there are


def draw(smoke: Mapping[str, Any], shares: Mapping[str, float], text: Escape) -> Iterator[tuple[str, str]]:
    """(title, SVG) for everything that `smoke --format json` measured. `shares`: place -> share of the dense peak."""
    measured = {test["test"]: test.get("measured") or {} for test in smoke.get("tests", ())}
    for test, key, title in (
        ("matmul", "tflops", _("Matrix products, TFLOP/s")),
        ("copies", "gb_per_second", _("Copies, GB/s")),
        ("convolution", "images_per_second", _("Convolutions, images/s")),
        ("feeding", "mb_per_second", _("Feeding, MB/s")),
        ("scaling", "steps_per_second", _("Steps/s by number of devices")),
    ):
        rates = _numbers(measured.get(test, {}).get(key))
        inside = {place: rate for place, rate in rates.items() if place.endswith(" on_device")}  # memory, not a link
        for group, what in ((rates.keys() - inside.keys(), title), (inside.keys(), _("Copies inside the GPU, GB/s"))):
            if group:
                chosen = {place: rate for place, rate in rates.items() if place in group}
                yield what, bars(chosen, shares if key == "tflops" else {}, what, text)
    collective = measured.get("allreduce", {})
    lines = _busbw(collective)
    if lines:
        title = _("AllReduce over {n} replicas: busbw in GB/s by message size").format(n=collective.get("replicas"))
        yield title, plot(lines, title, text, logarithmic=True)
    for name, samples in (smoke.get("samples") or {}).items():
        clocks = _clocks(samples)
        if clocks:
            title = _("SM clock in MHz while {test} ran").format(test=name)
            yield title, plot(clocks, title, text)


def _numbers(rates: Any) -> dict[str, float]:
    pairs = rates.items() if isinstance(rates, Mapping) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, (int, float)) and math.isfinite(v) and v >= 0}


def _busbw(collective: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
    from tfdoctor.smoke.results import bus_bandwidth

    lines: dict[str, list[tuple[float, float]]] = {}
    for m in collective.get("allreduce") or ():
        if m["bytes"] > 0 and m["seconds"] > 0:
            rate = bus_bandwidth(m["bytes"], m["seconds"], int(collective["replicas"]))
            lines.setdefault(str(m["way"]), []).append((float(m["bytes"]), rate))
    return {way: sorted(points) for way, points in lines.items()}


def _clocks(samples: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """One line for each GPU; the samples are evenly spaced."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for sample in samples:
        if sample.get("clock_sm") is not None:
            line = lines.setdefault(f"GPU {sample['gpu']}", [])
            line.append((float(len(line)), float(sample["clock_sm"])))
    return {name: line for name, line in lines.items() if len(line) > 1}


def bars(rates: Mapping[str, float], shares: Mapping[str, float], title: str, text: Escape) -> str:
    """Horizontal bars with their values; with a share also where the whole would be."""
    whole = {place: rate / shares[place] for place, rate in rates.items() if shares.get(place)}
    most = max([*rates.values(), *whole.values()]) or 1.0
    room = WIDTH - LABELS - 92
    parts = []
    for number, (place, rate) in enumerate(rates.items()):
        y = number * (BAR + 8) + 4
        parts.append(f'<text class="small" x="{LABELS - 6}" y="{y + 15}" text-anchor="end">{text(place)}</text>')
        if place in whole:
            parts.append(
                f'<rect class="peak" x="{LABELS}" y="{y}" width="{room * whole[place] / most:.1f}" height="{BAR}"/>'
            )
        length = room * rate / most
        parts.append(f'<rect class="bar" x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>')
        share = f" ({shares[place]:.0%})" if place in whole else ""
        at = LABELS + (room * whole[place] / most if place in whole else length) + 5
        parts.append(f'<text class="small" x="{at:.1f}" y="{y + 15}">{figure(rate)}{share}</text>')
    return _svg(title, len(rates) * (BAR + 8) + 8, parts, text)


def plot(
    lines: Mapping[str, Sequence[tuple[float, float]]], title: str, text: Escape, *, logarithmic: bool = False
) -> str:
    """Lines over a common x (logarithmic: bytes)."""
    scale = (lambda x: math.log2(x)) if logarithmic else (lambda x: x)
    points = [point for line in lines.values() for point in line]
    left, right = min(scale(x) for x, _y in points), max(scale(x) for x, _y in points)
    most = max(y for _x, y in points) or 1.0

    def place(x: float, y: float) -> str:
        across = (scale(x) - left) / (right - left) if right > left else 0.5
        return f"{MARGIN + across * (WIDTH - MARGIN - 14):.1f},{HEIGHT - 26 - y / most * (HEIGHT - 50):.1f}"

    parts = [f'<path class="axis" d="M{MARGIN} 14 V{HEIGHT - 26} H{WIDTH - 10}"/>']
    parts.append(f'<text class="small" x="{MARGIN - 6}" y="28" text-anchor="end">{figure(most)}</text>')
    parts.append(f'<text class="small" x="{MARGIN - 6}" y="{HEIGHT - 24}" text-anchor="end">0</text>')
    if logarithmic:
        for x, anchor, at in ((min(points)[0], "start", MARGIN), (max(points)[0], "end", WIDTH - 10)):
            parts.append(f'<text class="small" x="{at}" y="{HEIGHT - 8}" text-anchor="{anchor}">{size(x)}</text>')
    for number, (name, line) in enumerate(lines.items()):
        kind = f"line s{number % SERIES}"
        parts.append(f'<polyline class="{kind}" points="{" ".join(place(x, y) for x, y in line)}"/>')
        parts.append(
            f'<text class="small t{number % SERIES}" x="{MARGIN + 12}" y="{HEIGHT + 10 + number * 16}">― {text(name)}</text>'
        )
    return _svg(title, HEIGHT + 6 + len(lines) * 16, parts, text)


def figure(value: float) -> str:
    """Three digits or all before the point: "22.4", "1410"."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def size(count: float) -> str:
    """1048576 -> "1 MiB"."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def _svg(title: str, height: float, parts: Sequence[str], text: Escape) -> str:
    head = f'<svg class="plot" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{text(title)}">'
    return head + f"<title>{text(title)}</title>" + "".join(parts) + "</svg>"
