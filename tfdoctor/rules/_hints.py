"""What rules about GPUs and their driver have in common: small questions to facts, each with an answer for "not known"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor.i18n import _, ngettext
from tfdoctor.model import Evidence
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.device_nodes import DeviceNode, DeviceNodes
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpu, Gpus, Nvml
from tfdoctor.probes.parse.dmesg import Xid
from tfdoctor.probes.pci import Pci, PciDevice
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Job
from tfdoctor.rules.configuration._visible import read
from tfdoctor.tables import Tables

GIB = 1024**3


def older(have: str, need: str) -> bool:
    """Whether version `have` is known to be older than `need`; False where one of them is not a version."""
    try:
        return Version(have) < Version(need)
    except InvalidVersion:
        return False


def same_driver(one: str, other: str) -> bool:
    """Whether two driver versions are the same. NVML tells two parts where the driver has three: 550.107 is 550.107.02."""
    short, long = sorted((one.split("."), other.split(".")), key=len)
    return long[: len(short)] == short


def contained(container: Optional[Container]) -> bool:
    """Whether this is known to be a container."""
    return container is not None and container.kind != ""


def on_wsl(platform: Optional[Platform]) -> bool:
    """Whether this is known to be WSL."""
    return platform is not None and platform.wsl > 0


def works(nvml: Optional[Nvml]) -> bool:
    """Whether the driver is known to answer."""
    return nvml is not None and nvml.state == "ok"


def starts(cuda: Optional[CudaDriver]) -> bool:
    """Whether CUDA was seen to start and to have a device: then nothing that only may stop it does."""
    return cuda is not None and cuda.works


def tried(cuda: Optional[CudaDriver]) -> bool:
    """Whether starting CUDA was tried: then it works or cuda-does-not-start says so."""
    return cuda is not None and cuda.state != "unknown"


def returned(cuda: Optional[CudaDriver], *codes: int) -> bool:
    """Whether starting CUDA failed with one of these CUresults."""
    return cuda is not None and cuda.state == "failed" and cuda.code in codes


def says_cuda(cuda: CudaDriver, tables: Tables) -> Evidence:
    """What starting CUDA came to, as evidence: `cuInit: CUDA_ERROR_UNKNOWN (999)`."""
    if cuda.state == "ok":
        counts = ngettext("CUDA counts {n} device", "CUDA counts {n} devices", cuda.count or 0)
        return Evidence(counts.format(n=cuda.count), cuda.source)
    return Evidence(_("{function}: {what}").format(function=cuda.function, what=cuda_error(cuda, tables)), cuda.source)


def cuda_error(cuda: CudaDriver, tables: Tables) -> str:
    """`CUDA_ERROR_UNKNOWN (999)`, or the state where there is no code."""
    if cuda.code is None:
        return cuda.error or cuda.state
    row = tables.error(str(cuda.code), api="cuda-driver")
    return f"{row.name} ({cuda.code})" if row else str(cuda.code)


def not_loaded(kernel: Optional[KernelDriver]) -> bool:
    """Whether the kernel is known not to have NVIDIA's driver loaded."""
    return kernel is not None and kernel.loaded_version == "" and "nvidia" not in kernel.modules and kernel.modules_seen


def kernel_side(
    platform: Optional[Platform], container: Optional[Container], nvml: Optional[Nvml], kernel: Optional[KernelDriver]
) -> bool:
    """Whether a fault of this machine's own kernel driver may be looked for: Linux, no WSL, no container, and the driver
    is seen neither loaded nor answering."""
    linux = platform is None or (platform.system == "linux" and not platform.wsl)
    return linux and not contained(container) and not works(nvml) and not_loaded(kernel)


def permission_denied(node: DeviceNode) -> bool:
    """The node's mode keeps this user out (EACCES)."""
    return bool(node.error) and "permission denied" in (node.error or "").lower()


def forbidden_by_cgroup(node: DeviceNode) -> bool:
    """The node's mode lets this user in and the kernel still refuses (EPERM): a device cgroup."""
    return bool(node.error) and "not permitted" in (node.error or "").lower()


def no_gpu_nodes(nodes: Optional[DeviceNodes]) -> bool:
    """Whether /dev was seen to have no node of a GPU: neither /dev/nvidia0… nor WSL's /dev/dxg."""
    return nodes is not None and not nodes.gpus and nodes.get("/dev/dxg") is None


def job_without_gpu(job: Optional[Job]) -> bool:
    """Whether a job scheduler says that this job was given no GPU."""
    return job is not None and job.scheduler != "" and job.gpus == ""


def powered_off(
    pci: Optional[Pci], kernel: Optional[KernelDriver], log: Optional[KernelLog] = None
) -> tuple[PciDevice, ...]:
    """NVIDIA GPUs of a hybrid laptop that are switched off: dead on the bus beside another vendor's GPU while no NVIDIA
    driver is loaded, or kept off by bbswitch. A kernel log that says "fallen off the bus" speaks against it."""
    if pci is None or not not_loaded(kernel) or (log is not None and (lost_lines(log) or xids(log, 79))):
        return ()
    hybrid = any(d.vendor not in ("10de",) and d.device_class.startswith("03") for d in pci.devices)
    switched = kernel is not None and "bbswitch" in kernel.modules
    return tuple(d for d in pci.nvidia_gpus if d.dead) if hybrid or switched else ()


def xids(log: Optional[KernelLog], *codes: int) -> tuple[Xid, ...]:
    """The Xids of these codes, or none where the log could not be read."""
    return tuple(x for x in log.xids if x.code in codes) if log else ()


def lost_lines(log: KernelLog) -> tuple[str, ...]:
    """The lines that say that a GPU has fallen off the bus."""
    return log.of("fallen-off-bus")


def on_bus(gpu: Gpu, bus: str) -> bool:
    """Whether `bus` ("0000:3b:00", with or without the function) is where this GPU sits."""
    return bus != "" and gpu.bus.lower().startswith(bus.lower().split(".")[0])


def at(gpus: Optional[Gpus], bus: str) -> Optional[Gpu]:
    """The GPU at a bus address, where it is listed."""
    return next((g for g in gpus or () if on_bus(g, bus)), None)


def name_at(gpus: Optional[Gpus], bus: str) -> str:
    """`GPU 3 (NVIDIA …)` for a bus address, or `GPU at 0000:3b:00`."""
    gpu = at(gpus, bus)
    return gpu.label if gpu else _("GPU at {bus}").format(bus=bus)


def index_at(gpus: Optional[Gpus], bus: str) -> tuple[int, ...]:
    """The index of the GPU at a bus address, as Diagnosis.gpus wants it."""
    gpu = at(gpus, bus)
    return (gpu.index,) if gpu else ()


def first_per_bus(events: Iterable[Xid]) -> tuple[Xid, ...]:
    """The first Xid of each GPU."""
    first: dict[str, Xid] = {}
    for event in events:
        first.setdefault(event.bus, event)
    return tuple(first.values())


def says_xid(event: Xid, log: KernelLog) -> Evidence:
    """An Xid as evidence, without the line itself, which may name processes."""
    return Evidence(_("Xid {code} at {bus}").format(code=event.code, bus=event.bus), log.source)


def consumer(tables: Tables, gpu: Gpu) -> bool:
    """Whether this is known to be a GeForce or TITAN."""
    row = tables.gpu(gpu.name)
    return row.kind == "consumer" if row else "geforce" in gpu.name.lower()


def visible(gpus: Gpus, environment: Optional[Environment]) -> tuple[Gpu, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves. Where its numbers may be others than the driver's, one is taken for the
    driver's all the same (it is one), and instead of several all GPUs are returned; likewise where it names MIG instances."""
    value = environment.variables.get("CUDA_VISIBLE_DEVICES") if environment else None
    if value is None or gpus.selected:
        return tuple(gpus)
    chosen = read(value, len(gpus), tuple(g.uuid for g in gpus if g.uuid)).chosen
    if chosen and any(g.mig for g in gpus):
        return tuple(gpus)
    if len(chosen) > 1 and not numbered_alike(gpus, environment):
        return tuple(gpus)
    return tuple(g for c in chosen for g in gpus if (g.index == int(c) if c.isdigit() else _begins(g.uuid, c)))


def numbered_alike(gpus: Gpus, environment: Optional[Environment]) -> bool:
    """Whether CUDA's numbers are the driver's, or it does not matter: CUDA counts the fastest first, the driver by bus."""
    variables = environment.variables if environment and not gpus.selected else {}
    by_number = not variables.get("CUDA_VISIBLE_DEVICES", "GPU-").startswith("GPU-")
    return not by_number or len({g.name for g in gpus}) == 1 or variables.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"


def _begins(uuid: str, text: str) -> bool:
    return uuid.lower().startswith(text.lower())


def listed(indices: Iterable[int]) -> str:
    """`0, 1 and 3`."""
    words = [str(i) for i in indices]
    if len(words) < 2:
        return "".join(words)
    return _("{first} and {last}").format(first=", ".join(words[:-1]), last=words[-1])


def lost_gpus(gpus: Optional[Gpus], log: Optional[KernelLog]) -> tuple[str, ...]:
    """Bus addresses of GPUs that the driver calls lost, or that the kernel log says have fallen off the bus."""
    buses = [g.bus for g in gpus or () if g.lost and g.bus]
    said = [x.bus for x in xids(log, 79)]
    for text in lost_lines(log) if log else ():
        said += re.findall(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}", text.lower())
    for bus in said:
        if not any(known.startswith(bus.split(".")[0]) for known in buses):
            buses.append(bus)
    return tuple(dict.fromkeys(buses))


def siblings(gpu: Gpu, gpus: Gpus) -> tuple[Gpu, ...]:
    """The other GPUs of the same model on the same NVSwitch baseboard: those whose NVLinks lead to switches.

    GPUs joined by bridges are not compared: which cards have one is their owner's choice. Neither are GPUs in MIG mode.
    """
    if gpu.mig:
        return ()
    return tuple(
        other
        for other in gpus
        if other.index != gpu.index
        and other.name == gpu.name
        and not other.mig
        and any(link.active and link.remote_type == "switch" for link in other.nvlinks or ())
    )
