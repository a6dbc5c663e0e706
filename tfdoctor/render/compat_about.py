"""What the tables say of the GPU, driver and toolkit that `compat` was asked about, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

from tfdoctor.fitting.asked import Asked
from tfdoctor.i18n import _
from tfdoctor.tables import Tables, driver_branch_of
from tfdoctor.tables.cuda_rows import DriverBranch
from tfdoctor.tables.hardware_rows import ComputeCapability, Gpu, Instance, OtherGpu
from tfdoctor.tables.limit_rows import DeviceBaseline, NodeBaseline


def lines(tables: Tables, asked: Asked) -> list[str]:
    """One line per fact; empty when nothing was said that has a row of its own."""
    found: list[str] = []
    if asked.instance is not None:
        found += _instance(tables, asked.instance)
    if asked.card is not None:
        found += [*_card(tables, asked.card), *_healthy(tables.device_baselines(asked.card.name))]
    if asked.other is not None:
        found += _other(tables, asked.other)
    if asked.capability is not None:
        found += _capability(asked.capability)
    if asked.driver is not None and asked.system in ("linux", "macos"):
        found += _driver(tables, asked.driver)
    if asked.cuda is not None:
        found += _toolkit(tables, asked.cuda, asked.system)
    return found


def _instance(tables: Tables, row: Instance) -> Iterator[str]:
    counts = "/".join(map(str, row.gpu_counts)) or "?"
    text = _("{cloud} {name}: {counts} × {gpu}").format(cloud=row.cloud, name=row.name, counts=counts, gpu=row.gpu)
    if row.memory_gb is not None:
        text += _(", {size:g} GB each").format(size=row.memory_gb)
    link = None if row.nvlink_generation is None else tables.nvlink(row.nvlink_generation)
    if link is None:
        text += ", " + row.link
    else:
        text += _(", NVLink {generation}: up to {rate:g} GB/s per GPU in both directions together").format(
            generation=link.generation, rate=link.gbs_per_gpu_both_directions
        )
    yield f"{text} ({row.grade})"
    limits = tables.node_baseline(row.name)
    if limits is not None:
        yield _("An operator's lower limits for it with {count} GPUs: {limits} ({grade})").format(
            count=limits.gpus, limits=", ".join(_limits(limits)), grade=limits.grade
        )


def _limits(row: NodeBaseline) -> Iterator[str]:
    if row.host_device_gbs is not None:
        yield _("host to GPU {rate:g} GB/s").format(rate=row.host_device_gbs)
    if row.peer_gbs is not None:
        yield _("GPU to GPU {rate:g} GB/s").format(rate=row.peer_gbs)
    if row.allreduce_busbw_gbs is not None:
        yield _("AllReduce bus bandwidth {rate:g} GB/s at {size}").format(
            rate=row.allreduce_busbw_gbs, size=row.allreduce_message
        )


def _card(tables: Tables, card: Gpu) -> Iterator[str]:
    memory = "/".join(f"{size:g}" for size in card.memory_gb)
    parts = [card.architecture]
    if memory:
        parts.append(_("{size} GB {kind}").format(size=memory, kind=card.memory_type))
    if card.memory_bandwidth_gbs is not None:
        parts.append(_("memory {rate:g} GB/s").format(rate=card.memory_bandwidth_gbs))
    if card.pcie_generation is not None and card.pcie_lanes is not None:
        parts.append(_pcie(tables, card.pcie_generation, card.pcie_lanes))
    if card.nvlink_gbs is not None:
        parts.append(_nvlink(tables, card.nvlink_generation, card.nvlink_gbs))
    yield f"{card.name}: {', '.join(parts)}"
    rates = {
        "FP32": card.fp32_tflops,
        "TF32": card.tf32_tflops,
        "FP16": card.fp16_tflops,
        "BF16": card.bf16_tflops,
        "FP8": card.fp8_tflops,
        "INT8": card.int8_tops,
    }
    told = ", ".join(f"{name} {rate:g}" for name, rate in rates.items() if rate is not None)
    if told:
        yield _("Dense rates in TFLOPS (INT8: TOPS): {rates} ({grade})").format(
            rates=told, grade=card.performance_grade
        )
    if not card.tensor_cores:
        yield _("It has no tensor cores.")
    if card.note:
        yield card.note[:1].upper() + card.note[1:] + "."


def _nvlink(tables: Tables, generation: Optional[int], both: float) -> str:
    text = _("NVLink {generation}, {rate:g} GB/s in both directions together").format(generation=generation, rate=both)
    row = None if generation is None else tables.nvlink(generation)
    if row is None:
        return text
    text += _(" (at most {count} links of {rate:g} GB/s per direction").format(
        count=row.links, rate=row.gbs_per_link_per_direction
    )
    return text + (f"; {row.note})" if row.note else ")")


def _pcie(tables: Tables, generation: int, lanes: int) -> str:
    text = _("PCIe {generation} x{lanes}").format(generation=generation, lanes=lanes)
    row = tables.pcie(generation)
    if row is None:
        return text
    return text + _(" ({speed:g} GT/s, {rate:.3g} GB/s per direction)").format(speed=row.gt_per_s, rate=row.gbs(lanes))


def _healthy(rows: Iterable[DeviceBaseline]) -> Iterator[str]:
    """What an operator's diagnostic expects at least, per PCI device id: a measurement can be held against it."""
    for row in rows:
        limits = []
        if row.min_memory_bandwidth_gbs is not None:
            limits.append(_("memory {rate:g} GB/s").format(rate=row.min_memory_bandwidth_gbs))
        if row.min_pcie_generation is not None:
            limits.append(_("PCIe generation {generation}").format(generation=row.min_pcie_generation))
        if row.min_pcie_width is not None:
            limits.append(f"x{row.min_pcie_width}")
        yield _("NVIDIA DCGM's diagnostic expects at least (PCI device {device}): {limits} ({grade})").format(
            device=row.pci_device_id, limits=", ".join(limits), grade=row.grade
        )


def _other(tables: Tables, way: OtherGpu) -> Iterator[str]:
    """A GPU that is not NVIDIA's: why it needs another distribution, and what that is."""
    yield f"{way.vendor}: {way.what}."
    row = tables.distribution(way.plugin)
    if row is not None:
        yield f"{row.name}: {row.what}."


def _capability(row: ComputeCapability) -> Iterator[str]:
    formats = [name for name, how in (("FP16", row.fp16), ("BF16", row.bf16)) if how == "tensor"]
    formats += [name for name, has in (("TF32", row.tf32), ("FP8", row.fp8), ("FP4", row.fp4)) if has]
    cores = _("none")
    if row.tensor_core_generation:
        cores = _("generation {generation}: {formats}").format(
            generation=row.tensor_core_generation, formats=", ".join(formats)
        )
    yield _("Compute capability {value} ({architecture}); tensor cores: {cores}").format(
        value=row.compute_capability, architecture=row.architecture, cores=cores
    )
    last = row.last_cuda or _("today")
    text = _("CUDA toolkits from {first} to {last} compile for it.").format(first=row.first_cuda, last=last)
    if row.last_driver_branch is not None:
        text += " " + _("Driver branch {branch} is its last ({grade}).").format(
            branch=row.last_driver_branch, grade=row.driver_grade
        )
    yield text


def _driver(tables: Tables, driver: str) -> Iterator[str]:
    row = tables.driver_branch(driver)
    if row is None:
        return
    newest = max(known.branch for known in tables.rows(DriverBranch))
    if (driver_branch_of(driver) or 0) > newest:
        text = _("Driver {driver} is of a branch newer than the tables, which end with {newest} (CUDA {cuda}).")
        yield text.format(driver=driver, newest=newest, cuda=row.cuda)
        return
    text = _("Driver {driver} is of branch {branch} and knows CUDA up to {cuda} (CUDA driver API version).")
    yield text.format(driver=driver, branch=row.branch, cuda=row.cuda) + (
        " " + _("{kind} branch, supported until {end}.").format(kind=row.kind, end=row.end_of_life)
        if row.end_of_life
        else ""
    )


def _toolkit(tables: Tables, cuda: str, system: str) -> Iterator[str]:
    floor = tables.driver_floor(cuda, system)
    if floor is None:
        return
    text = _("CUDA {cuda} runs on driver {minimum} and newer")
    if floor.minor_version_compatibility:
        text = _("CUDA {cuda} runs on driver {minimum} and newer by minor-version compatibility")
    text = text.format(cuda=cuda, minimum=floor.minimum)
    yield text + (f" ({floor.note})." if floor.note else ".")
    own = ((row.label, row.linux if system == "linux" else row.windows) for row in tables.toolkits(cuda))
    came = ", ".join(_("{label} with {driver}").format(label=label, driver=driver) for label, driver in own if driver)
    if came:
        yield _("Its releases came with these drivers: {releases}.").format(releases=came)
