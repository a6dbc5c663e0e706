"""`report --html`: one page without network, seen by a real browser on wide, narrow, light and dark screens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import browser
import facts
import pytest
from click.testing import CliRunner
from test_formats import HOSTILE, hostile

from tfdoctor.cli import root
from tfdoctor.probes.nvml import MigInstance, NvLink
from tfdoctor.render import page, plots_svg, topology_svg
from tfdoctor.scrub import Scrubber

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
EIGHT = next(h for h in HOSTS if "8xh100" in h.name)
SIZES = (1024, 2**20, 2**26, 2**28)


def test_of(name: str, state: str = "passed", **measured: Any) -> dict[str, Any]:
    return {"test": name, "state": state, "detail": f"{name} <b>done</b>", "measured": measured}


test_of.__test__ = False  # type: ignore[attr-defined]
SMOKE = {
    "schema": 1,
    "rehearsal": False,
    "tests": [
        test_of("devices", listed=[{"name": "NVIDIA H100 80GB HBM3"}], gpus=1),
        test_of("matmul", tflops={"GPU:0 fp32": 48.1, "GPU:0 fp16": 640.0, "GPU:9 odd": 1.0}),
        test_of("copies", gb_per_second={"GPU:0 to_device": 22.4, "GPU:0 on_device": 1410.0}),
        test_of(
            "allreduce",
            replicas=8,
            allreduce=[
                {"way": w, "bytes": b, "seconds": b / s} for w, s in (("NCCL", 2e11), ("copy", 1e10)) for b in SIZES
            ],
        ),
        test_of("scaling", steps_per_second={"1": 10.0, "8": 71.0}),
        test_of("convolution", "crashed"),
    ],
    "samples": {"matmul": [{"gpu": g, "clock_sm": 1980 - 100 * n} for n in range(5) for g in (0, 1)]},
}


def written(folder: Path, host: Path, *arguments: str) -> Path:
    smoke = folder / "smoke.json"
    smoke.write_text(json.dumps(SMOKE))
    path = folder / "report.html"
    argv = ["report", "--host", str(host), "--html", str(path), "--smoke", str(smoke), *arguments]
    done = CliRunner().invoke(root, argv)
    assert done.exit_code == 0, done.output
    return path


class Checker(HTMLParser):
    """Every tag is closed in order, and nothing is loaded from anywhere."""

    VOID = frozenset(("meta", "br", "rect", "path", "polyline"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not {"src", "href", "action", "srcset", "data", "xlink:href"} & {name for name, _v in attrs}, (
            tag,
            attrs,
        )
        assert not [name for name, _v in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def well_formed(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_well_formed_and_alone(host: Path, tmp_path: Path) -> None:
    text = written(tmp_path, host, "--require", "gpus>=2").read_text()
    checker = well_formed(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(checker.tags)
    assert "@import" not in text and "url(" not in text


def test_hostile_texts_are_text() -> None:
    scrub = Scrubber()
    text = page.render(
        hostile(), scrub, {**SMOKE, "tests": [test_of("matmul", tflops={HOSTILE: 1.0}), test_of(HOSTILE)]}
    )
    checker = well_formed(text)
    assert set(checker.tags) <= set(well_formed(page.render(hostile("plain"), scrub, SMOKE)).tags) | {"rect"}


@pytest.mark.parametrize("machine", facts.MACHINES, ids=lambda m: m.name)
def test_drawings_of_machines(machine: facts.Machine) -> None:
    given = {type(f).__name__: f for f in machine.given}
    gpus = tuple(given.get("Gpus") or ())
    topology = given.get("Topology")
    drawing = topology_svg.draw(gpus, topology.levels if topology else {}, {}, str)
    assert bool(drawing) == bool(gpus)
    well_formed(drawing)
    assert drawing.count('class="gpu ') == len(gpus)


def test_what_the_drawing_shows() -> None:
    eight = topology_svg.draw(tuple(facts.H100_SERVER.facts().get(type(facts.gpus()))), {}, {}, str)
    assert eight.count("NUMA node") == 2 and "NVSwitch" in eight and eight.count("18/18 NVLink") == 8
    two = facts.TWO_3090.facts()
    levels = two.get(type(facts.topology())).levels
    assert "NV4 between GPU 0 and GPU 1" in topology_svg.draw(tuple(two.get(type(facts.gpus()))), levels, {}, str)
    cards = (facts.gpu(0), facts.gpu(1, lost=True), facts.gpu(2, pcie=facts.pcie(4, 8, 4), numa_node=None))
    drawing = topology_svg.draw(cards, {(0, 1): "PIX", (0, 2): "SYS", (1, 2): "SYS"}, {cards[0].bus: 3}, str)
    assert drawing.count("PCIe switch") == 1 and 'class="gpu lost"' in drawing and "x8 of x16" in drawing
    assert "NUMA node not told" in drawing and "behind a switch" in drawing
    divided = facts.gpu(0, mig=True, mig_instances=(MigInstance("3g.40gb", None), *[MigInstance("1g.10gb", None)] * 4))
    drawing = topology_svg.draw((divided, facts.gpu(1, mig=True)), {}, {}, str)
    assert "MIG: 5 instances" in drawing and "3g.40gb 4×1g.10gb" in drawing and "MIG: no instance" in drawing
    broken = facts.gpu(0, nvlinks=(NvLink(0, True, 4, "", "switch"), NvLink(1, False)))
    assert "nvlink down" in topology_svg.draw((broken,), {}, {}, str)


def test_plots_show_the_values() -> None:
    plots = dict(plots_svg.draw(SMOKE, page.shares(SMOKE), str))
    for drawing in plots.values():
        well_formed(drawing)
    assert len(plots) == 6
    matmul = plots["Matrix products, TFLOP/s"]
    assert re.search(r"640 \(\d\d%\)", matmul) and matmul.count('class="peak"') == 2
    busbw = next(d for t, d in plots.items() if t.startswith("AllReduce"))
    assert busbw.count("<polyline") == 2 and ">350<" in busbw and "256 MiB" in busbw  # 200 GB/s * 2 * 7 / 8


def test_a_lone_or_absent_value_breaks_no_plot() -> None:
    odd = {"tests": [test_of("allreduce", replicas=2, allreduce=[{"way": "x", "bytes": 8, "seconds": 1.0}]),
                     test_of("matmul", tflops={"GPU:0 fp16": 0.0}), {"test": "copies", "state": "failed", "detail": ""}],
           "samples": {"matmul": [{"gpu": 0, "clock_sm": None}]}}  # fmt: skip
    for _title, drawing in plots_svg.draw(odd, {}, str):
        well_formed(drawing)
        assert "nan" not in drawing and "inf" not in drawing


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    if browser.PROGRAM is None:
        pytest.skip("Chromium is not installed")
    with browser.Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# The lowest contrast (WCAG 2: 4.5 is wanted) between a text and the nearest opaque background above it.
CONTRAST = """(() => {
  const channels = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = c => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = channels(c).map((v, i) => i < 3 ? f(v) : v); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = channels(c);
    if (p.length < 4 || p[3] > 0) return c; } return "rgb(255,255,255)"; };
  let worst = 99;
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || ["title", "style"].includes(e.tagName.toLowerCase())) continue;
    const style = getComputedStyle(e), ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    worst = Math.min(worst, (a + 0.05) / (b + 0.05));
  }
  return worst; })()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_in_a_browser(chromium: browser.Browser, width: int, dark: bool, tmp_path: Path) -> None:
    path = written(tmp_path, EIGHT, "--require", "gpus>=9")
    chromium.open(path, width=width, dark=dark)
    assert chromium.requests == [path.as_uri()], "the page asks for nothing but itself"
    complaints = [e for e in chromium.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
    assert complaints == []
    assert chromium.evaluate(OVERFLOW) <= 0, "the page scrolls sideways"
    assert chromium.evaluate(CONTRAST) >= 4.5
    assert chromium.evaluate("document.querySelectorAll('svg').length") == 7
    assert chromium.evaluate("[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height > 20)")
    outside = "[...document.querySelectorAll('svg text')].filter(t => { const b = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect(); return b.right > s.right + 1 || b.left < s.left - 1 || b.bottom > s.bottom + 1; }).map(t => t.textContent)"
    assert chromium.evaluate(outside) == []
    shot = chromium.screenshot(tmp_path / "shot.png")
    assert len(shot) > 20_000
    ground = chromium.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is not dark


@pytest.mark.parametrize("name", ["2xrtx3090-tf2.16.1-library-path", "a100-mig", "cpu-only", "no-fabric-manager"])
def test_long_paths_scroll_in_their_own_box(name: str, chromium: browser.Browser, tmp_path: Path) -> None:
    path = written(tmp_path, next(h for h in HOSTS if name in h.name), "--require", "nvlink=full")
    for width in (320, 1000):
        chromium.open(path, width=width)
        assert chromium.evaluate(OVERFLOW) <= 0
        cut = "[...document.querySelectorAll('.card')].filter(e => e.getBoundingClientRect().right > innerWidth).length"
        assert chromium.evaluate(cut) == 0


def test_a_verdict_is_readable_by_a_screen_reader(chromium: browser.Browser, tmp_path: Path) -> None:
    chromium.open(written(tmp_path, EIGHT))
    assert chromium.evaluate("document.querySelector('h1').innerText").startswith("Will TensorFlow use the GPUs?")
    assert chromium.evaluate("[...document.querySelectorAll('svg')].every(s => s.getAttribute('aria-label'))")
