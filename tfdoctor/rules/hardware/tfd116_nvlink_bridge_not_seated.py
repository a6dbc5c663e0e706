"""TFD116 nvlink-bridge-not-seated."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.tables import Tables


@rule("TFD116", Severity.WARNING)
def nvlink_bridge_not_seated(machine: GpuMachine, gpus: Gpus, tables: Tables, smoke: Optional[SmokeResults]) -> Found:
    """Only some links of an NVLink bridge between two cards are up: the bridge is not seated well.

    ## What it is
    A bridge joins two cards with all their links at once (four on RTX 3090 and RTX A6000, two on RTX 2080 Ti and Quadro RTX). When
    some are down, the bridge sits askew, is dirty or of the wrong kind; traffic is slower or freezes. No bridge at all is
    a choice and no fault.

    ## How it shows
    - `nvidia-smi nvlink -s` shows `<inactive>` for some links of a card, and rates for the others
    - `nvidia-smi topo -m` says NV3 instead of NV4
    - NCCL freezes, and works with `NCCL_P2P_DISABLE=1` or without the bridge

    ## How to be sure
    Take the bridge off and put it on again with the machine powered off; the number of active links changes.

    ## What to do
    - Power off; seat the bridge firmly on both cards, which must stand at exactly its distance; clean the contacts; try another.
    - Until then: `NCCL_P2P_DISABLE=1`, or take the bridge off.
    - SXM machines with NVSwitch have no bridge (TFD118). WSL2: NVLink is not available there. Cloud: ask the provider.

    ## References
    - https://docs.nvidia.com/deploy/nvml-api/
    - https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
    """
    partly = [g for g in gpus if _one_bridge(g, tables) and 0 < g.active_nvlinks < len(g.nvlinks or ())]
    if not partly:
        return _seen_to_fail(gpus, tables, smoke)
    gpu = partly[0]
    message = _("{gpu} has {have} of its {all} NVLinks up: the bridge is not seated well.").format(
        gpu=gpu.label, have=gpu.active_nvlinks, all=len(gpu.nvlinks or ())
    )
    down = ", ".join(str(link.index) for link in gpu.nvlinks or () if link.active is False)
    evidence = (Evidence(_("links down: {links}").format(links=down), gpus.source),)
    return Diagnosis(message, evidence, (_seat(),), gpus=tuple(g.index for g in partly))


def _seen_to_fail(gpus: Gpus, tables: Tables, smoke: Optional[SmokeResults]) -> Found:
    """All links are up, and yet AllReduce works only without peer-to-peer access."""
    bridged = [g for g in gpus if _one_bridge(g, tables) and g.active_nvlinks]
    if len(bridged) < 2 or smoke is None or smoke.confirmation("nvlink-bridge-not-seated") is None:
        return None
    message = _(
        "{one} and {other} are joined by an NVLink bridge with all links up, and AllReduce works only without it: the bridge "
        "may not be seated well."
    ).format(one=bridged[0].label, other=bridged[1].label)
    evidence = (Evidence(_("{count} links up").format(count=bridged[0].active_nvlinks), gpus.source),)
    return Diagnosis(message, evidence, (_seat(),), gpus=tuple(g.index for g in bridged))


def _seat() -> Fix:
    return remedies.by_hand(_("Power off and seat the NVLink bridge again"), needs=("reboot",))


def _one_bridge(gpu: Gpu, tables: Tables) -> bool:
    """Consumer and workstation cards have one bridge for all their links; data-centre PCIe cards take up to three, SXM none."""
    row = tables.gpu(gpu.name)
    links: tuple[Optional[str], ...] = tuple(link.remote_type for link in gpu.nvlinks or () if link.active)
    return row is not None and row.kind in ("consumer", "workstation") and "switch" not in links
