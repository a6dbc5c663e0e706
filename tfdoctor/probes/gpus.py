"""NVML, the driver, every GPU and how they are joined: from NVML, nvidia-smi or CUDA, and where the sources disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.cuda_driver import CudaDriver, of_answer
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.looking import if_told
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Driver, Gpu, Gpus, Nvml, Topology
from tfdoctor.tables import Tables

if TYPE_CHECKING:
    from tfdoctor.probes.parse.report import SmiReport

# With these NVML says that no driver runs here, which is not the same as "could not look".
NO_DRIVER = ("driver-not-loaded", "library-missing")


@probe
def nvml(host: Host) -> Nvml:
    """Ask NVML, in a child; a recording has its answer in nvml.json. An NVML that failed is a fact, not "could not look"."""
    from tfdoctor.probes.parse import nvml_answer

    return nvml_answer.nvml_of(host.nvml())


@probe
def driver(
    host: Host,
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    nodes: Optional[DeviceNodes],
    library: Optional[DriverLibrary],
) -> Driver:
    """NVML's word, else nvidia-smi's, else the loaded kernel module's (the CUDA driver API version is then CUDA's word)."""
    from tfdoctor.probes import smi_report
    from tfdoctor.probes.parse import nvml_answer

    told = nvml_answer.driver_of(host.nvml()) if nvml else None
    if told:
        return told
    found = smi_report.find(host, smi)
    if found and found[0].driver:
        report, source = found
        return Driver(report.driver, report.cuda, report.model, source)
    if kernel and kernel.loaded_version:
        cuda = _cuda_alone(host, nvml, nodes, library)
        return Driver(kernel.loaded_version, cuda.version if cuda is not None else "", "", kernel.source)
    if nvml and nvml.state in NO_DRIVER and kernel:
        # A container without the host's GPUs sees the host's modules all the same.
        shut_out = _("an NVIDIA driver is loaded, and nothing here can ask it")
        raise NotApplicable(shut_out if "nvidia" in kernel.modules else _("no NVIDIA driver is loaded"))
    raise Unavailable(_why(nvml, smi))


@probe
def gpus(
    host: Host,
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    kernel: Optional[KernelDriver],
    nodes: Optional[DeviceNodes],
    library: Optional[DriverLibrary],
    tables: Tables,
) -> Gpus:
    """Every GPU that the driver lists, or without NVML those that CUDA counts. Raises Unavailable where nobody could say."""
    from tfdoctor.probes import smi_report
    from tfdoctor.probes.parse import nvml_answer

    report = smi_report.find(host, smi)
    if nvml and nvml.state == "ok":
        answer = host.nvml()
        listed = tuple(_placed(host, gpu) for gpu in nvml_answer.gpus_of(answer))
        if not listed and not nvml_answer.says_none(answer):
            raise Unavailable(_("NVML did not tell how many GPUs there are"))
        told = nvml_answer.driver_of(answer)
        said = [*_nvml_and_kernel(told, kernel), *(_nvml_and_smi(told, listed, *report) if report else ())]
        return Gpus(listed, nvml_answer.SOURCE, tuple(said))
    if report:
        listed = tuple(_with_capability(gpu, tables) for gpu in smi_report.gpus_of(host, smi, report[0]))
        return Gpus(listed, report[1], tuple(_incomplete(*report)))
    if smi and smi.problem == "no-devices":
        return Gpus((), smi.source)
    cuda = _cuda_alone(host, nvml, nodes, library)
    if cuda is not None:
        listed = tuple(
            Gpu(i, d.name, "", compute_capability=d.compute_capability or None, compute_mode=d.compute_mode)
            for i, d in enumerate(cuda.devices)
        )
        return Gpus(listed, cuda.source, selected=True)
    raise Unavailable(_why(nvml, smi))


def _cuda_alone(
    host: Host, nvml: Optional[Nvml], nodes: Optional[DeviceNodes], library: Optional[DriverLibrary]
) -> Optional[CudaDriver]:
    """CUDA where it starts and NVML's library is not there, as in a container with NVIDIA_DRIVER_CAPABILITIES=compute."""
    seen = nodes is not None and (nodes.gpus or nodes.get("/dev/dxg") is not None)
    if nvml is None or nvml.state != "library-missing" or not seen or library is None or library.picked is None:
        return None  # nothing is started where there is no GPU, or no libcuda
    cuda = of_answer(if_told(host.cuda) or {})
    return cuda if cuda.works and len(cuda.devices) == cuda.count else None


@probe
def topology(host: Host, nvml: Optional[Nvml], smi: Optional[NvidiaSmi], listed: Gpus) -> Topology:
    """How every pair is joined: NVML's word, else the matrices of `nvidia-smi topo`."""
    from tfdoctor.probes import smi_report
    from tfdoctor.probes.parse import nvml_answer, smi_topo

    if len(listed) < 2:
        return Topology({}, {}, listed.source)
    if nvml and nvml.state == "ok":
        found = nvml_answer.topology_of(host.nvml(), listed.gpus)
        if found.levels or sum(not gpu.lost for gpu in listed.gpus) < 2:
            return found
        if host.live:
            raise Unavailable(_("NVML does not tell how the GPUs are joined"))
    matrix = smi_topo.parse(smi_report.captured(host, "nvidia-smi-topo-m.txt", smi))
    peers = smi_topo.parse(smi_report.captured(host, "nvidia-smi-topo-p2p.txt", smi))
    if matrix is None and peers is None:
        raise Unavailable(_("there is no `nvidia-smi topo -m` to read"))
    return Topology(matrix.pairs if matrix else {}, peers.pairs if peers else {}, "nvidia-smi topo")


def _why(nvml: Optional[Nvml], smi: Optional[NvidiaSmi]) -> str:
    """Why the driver could not be asked, in the words of whoever failed."""
    if nvml and nvml.state != "ok":
        return _("NVML could not be asked: {error}").format(error=nvml.error or nvml.state)
    if smi and smi.problem:
        return _("nvidia-smi failed: {error}").format(error=" ".join((smi.text or smi.problem).split()))
    return _("neither NVML nor nvidia-smi could be asked")


def _placed(host: Host, gpu: Gpu) -> Gpu:
    """With the NUMA node from the PCI bus, where the driver does not tell it. -1 there is "none"."""
    if gpu.numa_node is not None or not gpu.bus:
        return gpu
    try:
        node = (host.read(f"/sys/bus/pci/devices/{gpu.bus}/numa_node") or "").strip()
    except Unavailable:
        return gpu
    return replace(gpu, numa_node=int(node)) if node.isascii() and node.isdigit() and len(node) < 5 else gpu


def _with_capability(gpu: Gpu, tables: Tables) -> Gpu:
    """nvidia-smi does not print compute capabilities; the table of GPUs has them by name."""
    row = tables.gpu(gpu.name.rstrip(". ")) if gpu.name and not gpu.compute_capability else None
    return replace(gpu, compute_capability=row.compute_capability) if row else gpu


def _nvml_and_kernel(told: Optional[Driver], kernel: Optional[KernelDriver]) -> Iterator[str]:
    if told and kernel and kernel.loaded_version and kernel.loaded_version != told.version:
        yield _("NVML says driver {nvml}, {source} says {kernel}.").format(
            nvml=told.version, kernel=kernel.loaded_version, source=kernel.source
        )


def _nvml_and_smi(told: Optional[Driver], listed: tuple[Gpu, ...], report: SmiReport, source: str) -> Iterator[str]:
    """What a recorded report says differently. Loads and temperatures change between two looks; these do not."""
    yield from _incomplete(report, source)
    if told and report.driver and report.driver != told.version:
        yield _("NVML says driver {nvml}, {source} says {smi}.").format(
            nvml=told.version, smi=report.driver, source=source
        )
    if not report.truncated and report.gpus and len(report.gpus) != len(listed):
        yield _("NVML lists {nvml} GPUs, {source} lists {smi}.").format(
            nvml=len(listed), smi=len(report.gpus), source=source
        )
    for one, other in zip(listed, report.gpus):
        name = other.name.rstrip(". ")
        if one.name and name and not one.name.startswith(name):
            yield _("NVML says that GPU {index} is a {nvml}, {source} says {smi}.").format(
                index=one.index, nvml=one.name, smi=other.name, source=source
            )


def _incomplete(report: SmiReport, source: str) -> Iterator[str]:
    """A report that announces more GPUs than it describes."""
    if report.attached is not None and report.attached != len(report.gpus):
        yield _("{source} counts {attached} attached GPUs and describes {described}.").format(
            source=source, attached=report.attached, described=len(report.gpus)
        )
