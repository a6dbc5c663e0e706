"""TFD803 p2p-broken-by-iommu-acs."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import KernelSettings
from tfdoctor.probes.nvml import Topology
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.probes.surroundings import Cloud
from tfdoctor.rules._hints import on_wsl

#: Joined over PCIe below one processor: these paths an IOMMU or ACS leads astray. NVLink (NV4…) is not concerned.
PCIE_LEVELS = ("PIX", "PXB", "PHB")
#: Words of the kernel command line with which device addresses are not translated.
UNTRANSLATED = ("iommu=pt", "iommu.passthrough=1", "iommu=off", "intel_iommu=off", "amd_iommu=off")


@rule("TFD803", Severity.WARNING)
def p2p_broken_by_iommu_acs(
    machine: GpuMachine,
    topology: Topology,
    settings: KernelSettings,
    platform: Optional[Platform],
    cloud: Optional[Cloud],
    environment: Optional[Environment],
    smoke: Optional[SmokeResults],
) -> Found:
    """The IOMMU (or ACS) redirects traffic between GPUs, which makes peer-to-peer copies hang, fail or crawl.

    ## What it is
    The driver lets these GPUs access each other over PCIe. With the IOMMU translating addresses, or with ACS sending every request up to
    the processor, such copies do not arrive where they should. NVIDIA does not support IOMMU translation for peer-to-peer on bare machines; in virtual
    machines it is needed and set up by the hypervisor.

    ## How it shows
    - training hangs right after `batch_all_reduce: … algorithm = nccl`, GPUs at 100 %
    - `DMAR: [DMA Write] Request device … fault addr` or `AMD-Vi: IO_PAGE_FAULT` in the kernel log
    - wrong values or a low rate between GPUs; pairs across processors (SYS) work, pairs under one switch do not

    ## How to be sure
    With `NCCL_P2P_DISABLE=1` it runs. `ls /sys/kernel/iommu_groups` is not empty, `cat /proc/cmdline` lacks `iommu=pt`,
    `lspci -vvv | grep 'ACSCtl: SrcValid+'` finds bridges.

    ## What to do
    - Linux: `iommu=pt` on the kernel command line (or switch VT-d / AMD-Vi off in the firmware), switch ACS off in the firmware, reboot.
    - At once: `NCCL_P2P_DISABLE=1` (slower: through shared memory, which must be large enough).
    - Docker, Kubernetes, Slurm: on the host. Virtual machines and cloud: nothing to do. WSL2, Windows: does not arise.

    ## References
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    - https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#iommu-on-linux
    - https://github.com/tensorflow/tensorflow/issues/44976
    - https://github.com/NVIDIA/nccl/issues/667
    """
    if on_wsl(platform) or (cloud is not None and cloud.virtual):
        return None
    if environment is not None and environment.get("NCCL_P2P_DISABLE") == "1":
        return None
    pairs = [p for p, level in topology.levels.items() if level in PCIE_LEVELS and topology.p2p.get(p) == "OK"]
    translated = bool(settings.iommu_groups) and not any(word in settings.command_line for word in UNTRANSLATED)
    proven = smoke is not None and smoke.confirmation("p2p-broken-by-iommu-acs") is not None
    if not pairs or not (translated or settings.acs_redirects or proven):
        return None
    first = pairs[0]
    if proven:
        text = _(
            "GPU {one} and GPU {other} use peer-to-peer access over PCIe, and AllReduce works only without it{what}."
        )
    else:
        text = _(
            "GPU {one} and GPU {other} use peer-to-peer access over PCIe{what}: such copies may hang or go astray."
        )
    message = text.format(one=first[0], other=first[1], what=_setting(settings, translated))
    evidence = (
        Evidence(
            _("{count} pairs over PCIe, the first {level}").format(count=len(pairs), level=topology.levels[first]),
            topology.source,
        ),
        Evidence(_("IOMMU groups: {groups}").format(groups=settings.iommu_groups), settings.source),
    )
    fixes = (
        remedies.variable("NCCL_P2P_DISABLE", "1", note=_("At once, slower.")),
        remedies.by_hand(
            _('Add "iommu=pt" to the kernel command line; switch ACS off in the firmware'), needs=("root", "reboot")
        ),
    )
    return Diagnosis(message, evidence, fixes, Severity.ERROR if proven else None)


def _setting(settings: KernelSettings, translated: bool) -> str:
    if translated:
        groups = settings.iommu_groups
        return _(", and the IOMMU translates addresses ({groups} groups, no iommu=pt)").format(groups=groups)
    if settings.acs_redirects:
        return _(", and {count} PCIe bridges redirect requests (ACS)").format(count=settings.acs_redirects)
    return ""
