"""What this hardware should reach, from the tables, and what the samples say about why it did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.i18n import _
from tfdoctor.probes.nvml import Gpu, Gpus, Topology
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.nccl import transports
from tfdoctor.smoke.results import Sample, SmokeResult, bus_bandwidth
from tfdoctor.tables import Tables
from tfdoctor.tables.hardware_rows import Gpu as GpuRow

LARGE = 16 * 1024 * 1024  # bytes; from here on an AllReduce is bound by bandwidth and not by latency


@dataclass(frozen=True)
class Shortfall:
    """A measured rate that is below its limit. `share` is measured over expected; units as in `unit`."""

    what: str
    measured: float
    expected: float
    unit: str
    share: float
    limit: float
    source: str


def matmul(smoke: SmokeResults, tables: Tables) -> Iterator[Shortfall]:
    """Products that reach less than their share of the model's dense peak."""
    limit = tables.threshold("smoke.matmul.share")
    for place, rate in _measured(smoke.get("matmul"), "tflops").items():
        device, number_format = place.split(" ")
        row = model_of(smoke, device, tables)
        peak: Optional[float] = getattr(row, f"{number_format}_tflops", None) if row else None
        if peak and rate < limit.value * peak:
            what = _("matmul {format} on {device}").format(format=number_format, device=device)
            yield Shortfall(what, rate, peak, "TFLOP/s", rate / peak, limit.value, row.source if row else "")


def copies(smoke: SmokeResults, gpus: Optional[Gpus], tables: Tables) -> Iterator[Shortfall]:
    """Host copies that reach less than their share of the PCIe link as it was under load."""
    limit = tables.threshold("smoke.copy.share")
    for place, rate in _measured(smoke.get("copies"), "gb_per_second").items():
        device, direction = place.split(" ")
        link = link_rate(smoke.during("copies"), gpus, tables)
        if direction != "on_device" and link and device.startswith("GPU") and rate < limit.value * link:
            what = _("copies {direction} {device}").format(direction=direction.replace("_", " "), device=device)
            yield Shortfall(what, rate, link, "GB/s", rate / link, limit.value, "compat/pcie.json")


def allreduce(
    smoke: SmokeResults, gpus: Optional[Gpus], topology: Optional[Topology], tables: Tables
) -> Iterator[Shortfall]:
    """Large AllReduces that reach less busbw than their share of the link between the GPUs."""
    result = smoke.get("allreduce")
    if result is None or result.rehearsal or not result.measured:
        return
    ranks = int(result.measured["replicas"])
    rates = [
        bus_bandwidth(m["bytes"], m["seconds"], ranks) for m in result.measured["allreduce"] if m["bytes"] >= LARGE
    ]
    link, name, source = _between(smoke, gpus, topology, tables)
    if not rates or not link:
        return
    limit = tables.threshold(name)
    best = max(rates)
    if best < limit.value * link:
        yield Shortfall(_("AllReduce busbw"), best, link, "GB/s", best / link, limit.value, source)


def _between(
    smoke: SmokeResults, gpus: Optional[Gpus], topology: Optional[Topology], tables: Tables
) -> tuple[Optional[float], str, str]:
    """(GB/s in one direction between the GPUs, the threshold that goes with it, where the rate is from)."""
    joined = topology is not None and topology.levels and all(v.startswith("NV") for v in topology.levels.values())
    row = model_of(smoke, "GPU:0", tables)
    if joined and row and row.nvlink_gbs:
        return row.nvlink_gbs / 2, "smoke.allreduce.nvlink.share", row.source
    return link_rate(smoke.during("allreduce"), gpus, tables), "smoke.allreduce.pcie.share", "compat/pcie.json"


def model_of(smoke: SmokeResults, device: str, tables: Tables) -> Optional[GpuRow]:
    """The table row of TensorFlow's `device` ("GPU:0"), by the name that TensorFlow itself lists."""
    listed = _measured(smoke.get("devices"), "listed") or []
    index = int(device.rpartition(":")[2])
    if not device.startswith("GPU") or index >= len(listed):
        return None
    return tables.gpu(listed[index].get("name", ""))


def link_rate(samples: Iterable[Sample], gpus: Optional[Gpus], tables: Tables) -> Optional[float]:
    """GB/s in one direction of the slowest GPU's link, at the generation that it had under load; None: not told.

    The slowest one, since TensorFlow's numbering need not be NVML's: the expectation stays on the generous side.
    """
    under_load: dict[int, tuple[int, int]] = {}
    for sample in samples:
        if sample.pcie_generation and sample.pcie_width:
            now = (sample.pcie_generation, sample.pcie_width)
            under_load[sample.gpu] = max(under_load.get(sample.gpu, now), now)
    ends = list(under_load.values()) or [e for gpu in gpus or () if (e := _maximum(gpu))]
    rates = [row.gbs(width) for generation, width in ends if (row := tables.pcie(generation))]
    return min(rates, default=None)


def _maximum(gpu: Gpu) -> Optional[tuple[int, int]]:
    generation, width = gpu.pcie.max_generation, gpu.pcie.width
    return (generation, width) if generation and width else None


def scaling(smoke: SmokeResults, tables: Tables) -> Iterator[Shortfall]:
    """Several GPUs that are together less than a share of as many single ones; `expected` counts single GPUs."""
    result = smoke.get("scaling")
    rates = _measured(result, "steps_per_second")
    one = rates.get("1")
    if result is None or result.rehearsal or not one:
        return
    limit = tables.threshold("smoke.scaling.share")
    for count, rate in rates.items():
        share = rate / one  # each step does the same work on every GPU: at best as many steps as one GPU makes
        if int(count) > 1 and share < limit.value:
            what = _("{n} GPUs with the same work on each").format(n=count)
            yield Shortfall(what, share * int(count), float(count), _("GPUs"), share, limit.value, smoke.source)


def reasons(
    smoke: SmokeResults, test: str, gpus: Optional[Gpus], topology: Optional[Topology], tables: Tables
) -> tuple[str, ...]:
    """What was seen during a test that explains a low rate, one phrase each."""
    samples = smoke.during(test)
    found = [*_clocks(samples), *_links(samples, gpus), *_others(gpus), *_busy(samples)]
    if test == "matmul":
        found += _tf32_off(smoke, tables)
    result = smoke.get(test)
    if result is not None and len(result.devices) > 1:
        found += _route(result.log, topology)
    return tuple(dict.fromkeys(found))


# Why NVML says that clocks are held back, in the words of `Gpu.throttle`.
HEAT = frozenset({"sw-thermal", "hw-thermal"})
POWER = frozenset({"sw-power-cap", "hw-power-brake"})
STARVED = 50  # per cent; below it the GPU waits for something at least half of the time
CPU_FULL = 90.0  # per cent of all processors together


def _clocks(samples: Iterable[Sample]) -> Iterator[str]:
    seen = tuple(samples)
    held = frozenset().union(*(s.throttle for s in seen)) if seen else frozenset()
    hottest = max((s.temperature for s in seen if s.temperature is not None), default=None)
    if held & HEAT:
        yield _("clocks held back by heat ({degrees} °C)").format(degrees="?" if hottest is None else hottest)
    if held & POWER:
        most = max((s.power for s in seen if s.power is not None), default=None)
        yield _("clocks held back by the power limit ({watts} W)").format(watts="?" if most is None else f"{most:.0f}")
    other = held & {"hw-slowdown", "sync-boost"}
    if other:
        yield _("clocks held back: {reasons}").format(reasons=", ".join(sorted(other)))


def _links(samples: Iterable[Sample], gpus: Optional[Gpus]) -> Iterator[str]:
    """Narrow links, as they were under load where that was sampled."""
    widths: dict[int, int] = {}
    for sample in samples:
        if sample.pcie_width:
            widths[sample.gpu] = max(widths.get(sample.gpu, 0), sample.pcie_width)
    for gpu in gpus or ():
        width, most = widths.get(gpu.index) or gpu.pcie.width, gpu.pcie.max_width
        if width and most and width < most:
            yield _("{gpu} has a PCIe link of x{width} of x{most}").format(gpu=gpu.label, width=width, most=most)


def _others(gpus: Optional[Gpus]) -> Iterator[str]:
    for gpu in gpus or ():
        others = [p for p in gpu.processes or () if p.kind == "compute"]
        if others:
            yield _("{n} other processes compute on {gpu}").format(n=len(others), gpu=gpu.label)


def _busy(samples: Iterable[Sample]) -> Iterator[str]:
    seen = tuple(samples)
    busiest = max((s.utilization for s in seen if s.utilization is not None), default=None)
    if busiest is None or busiest >= STARVED:
        return
    processors = sorted(s.cpu for s in seen if s.cpu is not None)
    middle = processors[len(processors) // 2] if processors else 0.0
    if middle >= CPU_FULL:
        text = _("starved by the CPU: the GPU was busy at most {percent} % of the time, the processors {cpu:.0f} %")
        yield text.format(percent=busiest, cpu=middle)
    else:
        yield _("the GPU was busy at most {percent} % of the time").format(percent=busiest)


def _tf32_off(smoke: SmokeResults, tables: Tables) -> Iterator[str]:
    """TF32 was allowed and makes no difference on a model where it makes products at least twice as fast."""
    rates = _measured(smoke.get("matmul"), "tflops")
    for device in sorted({place.split(" ")[0] for place in rates}):
        row = model_of(smoke, device, tables)
        plain, fast = rates.get(f"{device} fp32"), rates.get(f"{device} tf32")
        if not (row and row.fp32_tflops and row.tf32_tflops and plain and fast):
            continue
        if row.tf32_tflops >= 2 * row.fp32_tflops and fast < 1.3 * plain:
            yield _("TF32 is off on {device} (is NVIDIA_TF32_OVERRIDE=0 set?)").format(device=device)


def _route(log: str, topology: Optional[Topology]) -> Iterator[str]:
    """What the way between the GPUs was, by NCCL's own log, and what it could have been."""
    used = transports(log)
    joined = [pair for pair, level in (topology.levels if topology else {}).items() if level.startswith("NV")]
    if used and "P2P" not in used:
        way = ", ".join(sorted(used))
        if joined:
            yield _("NVLink was not used: NCCL went through {way}").format(way=way)
        else:
            yield _("peer-to-peer was off: NCCL went through {way}").format(way=way)
    elif topology is not None and any(status not in ("OK", "") for status in topology.p2p.values()):
        pairs = [pair for pair, status in topology.p2p.items() if status not in ("OK", "")]
        yield _("{n} pairs of GPUs have no peer-to-peer access").format(n=len(pairs))


def _measured(result: Optional[SmokeResult], key: str) -> Any:
    found: Any = (result.measured if result is not None else {}).get(key)
    return found if found is not None else ({} if key != "listed" else [])


def shares(smoke: SmokeResults, tables: Tables) -> Mapping[str, float]:
    """Place ("GPU:0 fp16") -> share of the model's dense peak, for those that the table knows."""
    found = {}
    for place, rate in _measured(smoke.get("matmul"), "tflops").items():
        device, number_format = place.split(" ")
        row = model_of(smoke, device, tables)
        peak = getattr(row, f"{number_format}_tflops", None) if row else None
        if peak:
            found[place] = rate / peak
    return found
