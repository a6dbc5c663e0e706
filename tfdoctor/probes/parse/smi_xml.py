"""`nvidia-smi -q -x`: the XML of drivers 418 to 610. A text that was cut off still gives the GPUs before the cut."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Optional

from tfdoctor.probes.nvml import Gpu, GpuProcess, MigInstance
from tfdoctor.probes.parse.report import SmiReport, build_gpu, build_process
from tfdoctor.probes.parse.values import integer, mebibytes, mig_profile, says_lost, value_of, version_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ROOT = "nvidia_smi_log"
MOST_TEXT = 4 * 2**20  # characters; the report of 16 GPUs with all their supported clocks has one million
LINK = "pci/pci_gpu_link_info"
# "a/b//c": c at any depth below a/b. Driver 535 renamed power_readings, 610 put the limits one level deeper.
PLACES: Mapping[str, tuple[str, ...]] = {
    "name": ("product_name",),
    "bus": ("pci/pci_bus_id",),
    "uuid": ("uuid",),
    "memory.total": ("fb_memory_usage/total",),
    "memory.used": ("fb_memory_usage/used",),
    "pcie.generation": (f"{LINK}/pcie_gen/current_link_gen",),
    "pcie.max_generation": (f"{LINK}/pcie_gen/max_link_gen",),
    "pcie.gpu_max_generation": (f"{LINK}/pcie_gen/max_device_link_gen",),
    "pcie.host_max_generation": (f"{LINK}/pcie_gen/max_host_link_gen",),
    "pcie.width": (f"{LINK}/link_widths/current_link_width",),
    "pcie.max_width": (f"{LINK}/link_widths/max_link_width",),
    "ecc.current": ("ecc_mode/current_ecc",),
    "ecc.pending": ("ecc_mode/pending_ecc",),
    **{
        f"ecc.{when}.{name}": (f"ecc_errors/{when}/{place}",)
        for when in ("volatile", "aggregate")
        for name, place in {
            "sram_corrected": "sram_correctable",
            "sram_uncorrected": "sram_uncorrectable",
            "sram_parity": "sram_uncorrectable_parity",
            "sram_secded": "sram_uncorrectable_secded",
            "dram_corrected": "dram_correctable",
            "dram_uncorrected": "dram_uncorrectable",
            "single_bit": "single_bit/total",
            "double_bit": "double_bit/total",
        }.items()
    },
    "rows.corrected": ("remapped_rows/remapped_row_corr",),
    "rows.uncorrected": ("remapped_rows/remapped_row_unc",),
    "rows.pending": ("remapped_rows/remapped_row_pending",),
    "rows.failed": ("remapped_rows/remapped_row_failure",),
    "pages.single_bit": ("retired_pages/multiple_single_bit_retirement/retired_count",),
    "pages.double_bit": ("retired_pages/double_bit_retirement/retired_count",),
    "pages.pending": ("retired_pages/pending_retirement", "retired_pages/pending_blacklist"),
    "mig": ("mig_mode/current_mig",),
    "compute_mode": ("compute_mode",),
    "persistence": ("persistence_mode",),
    "display": ("display_active",),
    "temperature": ("temperature/gpu_temp",),
    "temperature.slowdown": ("temperature/gpu_temp_slow_threshold",),
    "temperature.max_operating": ("temperature/gpu_temp_max_gpu_threshold",),
    "power": (
        "gpu_power_readings//power_draw",
        "gpu_power_readings//instant_power_draw",
        "gpu_power_readings//average_power_draw",
        "power_readings/power_draw",
    ),
    "power.limit": (
        "gpu_power_readings//current_power_limit",
        "power_readings/enforced_power_limit",
        "power_readings/power_limit",
    ),
    "power.limit_default": ("gpu_power_readings//default_power_limit", "power_readings/default_power_limit"),
    "clock.sm": ("clocks/sm_clock",),
    "clock.sm_max": ("max_clocks/sm_clock",),
    "performance_state": ("performance_state",),
    "utilization": ("utilization/gpu_util",),
    "fabric.state": ("fabric/state",),
    "fabric.status": ("fabric/status",),
    "virtualization": ("gpu_virtualization_mode/virtualization_mode",),
    "license": ("vgpu_software_licensed_product/license_status", "grid_licensed_product/license_status"),
}


def parse(text: str) -> Optional[SmiReport]:
    """The report, or None when the text is none of nvidia-smi's XML."""
    root, complete = _tree(text)
    if root is None:
        return None
    gpus = tuple(_gpu(i, element) for i, element in enumerate(root.findall("gpu")))
    return SmiReport(
        driver=_version(root, "kmd_version", "driver_version"),
        cuda=_version(root, "cuda_umd_version", "cuda_version"),
        model=_driver_model(root),
        gpus=gpus,
        attached=integer(root.findtext("attached_gpus")),
        truncated=not complete,
    )


def _tree(text: str) -> tuple[Optional[Element], bool]:
    """The root element with as much below it as there is, and whether the text holds all of it."""
    from xml.etree.ElementTree import ParseError, TreeBuilder, XMLParser
    from xml.parsers.expat import errors

    start = text.find(f"<{ROOT}")
    if start < 0:
        return None, False
    # What stands before the root (the document type, messages of other programs) is of no use, and with it go
    # entity definitions. Control characters are no XML, but a name or a serial may hold one.
    body = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", " ", text[start : start + MOST_TEXT])
    builder = TreeBuilder()
    parser = XMLParser(target=builder)
    complete = True
    try:
        parser.feed(body)
        parser.close()
    except ParseError as error:  # cut off, or followed by something else: what was built before that stands
        complete = error.code == errors.codes[errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
    root: Optional[Element] = builder.close()
    return root, complete


def _version(root: Element, *tags: str) -> str:
    """The first of the versions that is one. Driver 610 adds "[Deprecated; …]" to the old names and prints new ones."""
    return next((version for tag in tags if (version := version_of(root.findtext(tag)))), "")


def _driver_model(root: Element) -> str:
    for place in ("gpu/driver_model/current_dm", "gpu/driver_model/current_driver_model"):
        model = value_of(root.findtext(place)).casefold()
        if model in ("wddm", "tcc", "mcdm"):
            return model
    return ""


def _gpu(index: int, gpu: Element) -> Gpu:
    def look(name: str) -> Optional[str]:
        """The first value at the name's places; where all are N/A or the like, that."""
        printed = [found for place in PLACES[name] if (found := _find(gpu, place)) is not None]
        return next((p for p in printed if value_of(p)), printed[0] if printed else None)

    lost = any(says_lost(element.text) for element in gpu.iter())
    return build_gpu(index, gpu.get("id") or "", look, _reasons(gpu), _mig(gpu), _processes(gpu), lost)


def _find(gpu: Element, place: str) -> Optional[str]:
    above, deep, leaf = place.rpartition("//")
    if not deep:
        return gpu.findtext(place)
    section = gpu.find(above)
    return None if section is None else next((e.text or "" for e in section.iter(leaf)), None)


def _reasons(gpu: Element) -> dict[str, Optional[str]]:
    """Driver 535 renamed throttle reasons to event reasons."""
    found = {}
    for old in ("clocks_event_reason", "clocks_throttle_reason"):
        for element in gpu.findall(f"{old}s/*"):
            found[element.tag[len(old) + 1 :] if element.tag.startswith(old) else element.tag] = element.text
    return found


def _mig(gpu: Element) -> tuple[MigInstance, ...]:
    devices = gpu.findall("mig_devices/mig_device")
    return tuple(
        MigInstance(mig_profile(d.findtext("name") or ""), mebibytes(d.findtext("fb_memory_usage/total")))
        for d in devices
    )


def _processes(gpu: Element) -> Optional[tuple[GpuProcess, ...]]:
    section = gpu.find("processes")
    if section is None or (section.text or "").strip() in ("N/A", "Insufficient Permissions"):
        return None
    found: dict[int, GpuProcess] = {}
    for info in section.findall("process_info"):
        name = info.findtext("process_name") or info.findtext("name")
        process = build_process(info.findtext("pid"), info.findtext("type"), name, info.findtext("used_memory"))
        if process:
            found.setdefault(process.pid, process)
    return tuple(found.values())
