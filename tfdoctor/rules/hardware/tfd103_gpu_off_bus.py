"""TFD103 gpu-off-bus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Severity
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Gpus, Nvml
from tfdoctor.probes.pci import Pci
from tfdoctor.rules._hints import at, index_at, lost_gpus, name_at, powered_off


@rule("TFD103", Severity.ERROR, caused_by=("TFD102",))
def gpu_off_bus(
    gpus: Optional[Gpus],
    nvml: Optional[Nvml],
    smi: Optional[NvidiaSmi],
    pci: Optional[Pci],
    log: Optional[KernelLog],
    kernel: Optional[KernelDriver],
) -> Iterator[Diagnosis]:
    """A GPU has fallen off the PCIe bus: it no longer answers, and only a restart brings it back.

    ## What it is
    The card stopped answering on the bus: every read returns all ones. Reasons are power (supply, cables, load peaks), heat, the
    seat in the slot, firmware of the board, or a dying card. Programs that use it die; new ones cannot start on it.

    ## How it shows
    - `NVRM: Xid (PCI:0000:…): 79, GPU has fallen off the bus.`, or the same words without an Xid when the driver starts
    - `Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost. Reboot the system to recover this GPU`
    - nvidia-smi exit code 15; `ERR!` in its table; programs end with `CUDA_ERROR_UNKNOWN` or hang

    ## How to be sure
    `lspci -nn -d 10de:` shows the card as `(rev ff)` or not at all. On a hybrid laptop a card that is switched off looks the same
    (TFD104), and there the kernel log says nothing of a bus.

    ## What to do
    - Linux: power the machine off and on (a warm reboot is often not enough). Look for AER lines and temperatures before the
      event: `journalctl -k -b -1`.
    - It returns: power cables one per socket, another supply, the seat, another slot, firmware update, a lower power limit as
      a test; then service.
    - Docker, Kubernetes, Slurm: drain the node. Cloud: stop and start the instance, so that it moves to another host.
    - WSL2 and Windows: the device manager shows code 43; restart.

    ## References
    - https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    - https://github.com/NVIDIA/NVSentinel/issues/155
    """
    off = {device.address for device in powered_off(pci, kernel, log)}
    named = set()
    for lost in gpus or ():
        if lost.lost and not lost.bus:  # a lost GPU may not even tell where it sits
            message = _("{gpu} has fallen off the PCIe bus and does not answer.").format(gpu=lost.label)
            named.add(lost.label)
            evidence = Evidence(_("the driver says that it is lost"), gpus.source if gpus else "")
            yield Diagnosis(message, (evidence,), _fixes(), gpus=(lost.index,))
    nameless = bool(named)
    for bus in lost_gpus(gpus, log):
        gpu = at(gpus, bus)
        if gpu is None and nameless:
            continue  # the same card: the log knows its address, the driver its number
        named.add(bus.split(".")[0])
        back = gpu is not None and not gpu.lost
        yield _diagnosis(gpus, bus, _how(gpus, bus, log), Severity.WARNING if back else None)
    for device in pci.nvidia_gpus if pci else ():
        gpu = at(gpus, device.address)
        alive = gpu is not None and not gpu.lost
        if device.dead and device.address not in off and not alive and device.address.split(".")[0] not in named:
            named.add(device.address.split(".")[0])
            evidence = Evidence(_("{bus} reads as all ones").format(bus=device.address), pci.source if pci else "")
            yield _diagnosis(gpus, device.address, evidence, None)
    if not named and (
        (nvml is not None and nvml.state == "gpu-lost") or (smi is not None and smi.problem == "gpu-lost")
    ):
        source = nvml.source if nvml is not None and nvml.state == "gpu-lost" else "nvidia-smi"
        message = _("The driver says that a GPU is lost: it has fallen off the PCIe bus.")
        yield Diagnosis(message, (Evidence(_("GPU is lost"), source),), _fixes())


def _diagnosis(gpus: Optional[Gpus], bus: str, evidence: Evidence, severity: Optional[Severity]) -> Diagnosis:
    if severity is None:
        message = _("{gpu} has fallen off the PCIe bus and does not answer.").format(gpu=name_at(gpus, bus))
    else:
        message = _("{gpu} fell off the PCIe bus since the machine started; it answers again.").format(
            gpu=name_at(gpus, bus)
        )
    return Diagnosis(message, (evidence,), _fixes(), severity, index_at(gpus, bus))


def _how(gpus: Optional[Gpus], bus: str, log: Optional[KernelLog]) -> Evidence:
    gpu = at(gpus, bus)
    if gpu is not None and gpu.lost and gpus is not None:
        return Evidence(_("the driver says that it is lost"), gpus.source)
    return Evidence(_("fallen off the bus: {bus}").format(bus=bus), log.source if log else "")


def _fixes() -> tuple[Fix, ...]:
    note = _(
        "A cold start: switch the power off, wait, switch it on. If it returns: power cables, heat, seat, firmware, then service."
    )
    return (
        remedies.by_hand(
            _("Power the machine off and on"), ("systemctl", "poweroff"), note=note, needs=("root", "reboot")
        ),
    )
