"""What the tables say of the GPU, driver and toolkit that `compat` was asked about, for people."""

from __future__ import annotations

from collections.abc import Iterator

from tfdoctor.fitting.asked import Asked
from tfdoctor.i18n import _
from tfdoctor.tables import Tables
from tfdoctor.tables.rows import ComputeCapability, Gpu


def lines(tables: Tables, asked: Asked) -> list[str]:
    """One line per fact; empty when nothing was said that has a row of its own."""
    found: list[str] = []
    if asked.card is not None:
        found += _card(asked.card)
    if asked.capability is not None:
        found += _capability(asked.capability)
    if asked.driver is not None and asked.system in ("linux", "macos"):
        found += _driver(tables, asked.driver)
    if asked.cuda is not None:
        found += _toolkit(tables, asked.cuda)
    return found


def _card(card: Gpu) -> Iterator[str]:
    memory = "/".join(f"{size:g}" for size in card.memory_gb)
    parts = [card.architecture]
    if memory:
        parts.append(_("{size} GB {kind}").format(size=memory, kind=card.memory_type))
    if card.memory_bandwidth_gbs is not None:
        parts.append(_("memory {rate:g} GB/s").format(rate=card.memory_bandwidth_gbs))
    if card.pcie_generation is not None:
        parts.append(_("PCIe {generation} x{lanes}").format(generation=card.pcie_generation, lanes=card.pcie_lanes))
    if card.nvlink_gbs is not None:
        text = _("NVLink {generation}, {rate:g} GB/s in both directions together")
        parts.append(text.format(generation=card.nvlink_generation, rate=card.nvlink_gbs))
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
    text = _("Driver {driver} is of branch {branch} and knows CUDA up to {cuda} (CUDA driver API version).")
    yield text.format(driver=driver, branch=row.branch, cuda=row.cuda) + (
        " " + _("{kind} branch, supported until {end}.").format(kind=row.kind, end=row.end_of_life)
        if row.end_of_life
        else ""
    )


def _toolkit(tables: Tables, cuda: str) -> Iterator[str]:
    floor = tables.driver_floor(cuda)
    if floor is not None:
        text = _("CUDA {cuda} runs on driver {minimum} and newer; it came with {own}.")
        yield text.format(cuda=cuda, minimum=floor.minimum, own=floor.own)
