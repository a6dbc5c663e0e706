"""Which report of nvidia-smi there is to fall back on, and what its matrix and link list add to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from tfdoctor.host import Host
from tfdoctor.model import Unavailable
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Gpu
from tfdoctor.probes.parse import smi_nvlink, smi_text, smi_topo
from tfdoctor.probes.parse.report import SmiReport

# What a recording may hold, best first, and how a fact names it as its source.
REPORTS = (("nvidia-smi-q.xml", "nvidia-smi -q -x"), ("nvidia-smi.txt", "nvidia-smi"))


def find(host: Host, smi: Optional[NvidiaSmi]) -> Optional[tuple[SmiReport, str]]:
    """The best report that the host has, with its source; None when it has none.

    A live machine is asked only where nvidia-smi was seen to work.
    """
    for name, source in REPORTS:
        text = captured(host, name, smi)
        report = smi_text.parse(text) if text else None
        if report:
            return report, source
    return None


def captured(host: Host, name: str, smi: Optional[NvidiaSmi]) -> str:
    """What the command behind a capture printed; "" when it could not be had."""
    if host.live and (smi is None or smi.problem not in ("", "gpu-lost")):
        return ""
    try:
        done = host.capture(name)
    except Unavailable:
        return ""
    return done.stdout if done and not done.timed_out else ""


def gpus_of(host: Host, smi: Optional[NvidiaSmi], report: SmiReport) -> tuple[Gpu, ...]:
    """The report's GPUs with their NVLinks and place, where nvidia-smi's other outputs tell them."""
    matrix = smi_topo.parse(captured(host, "nvidia-smi-topo-m.txt", smi))
    links = {entry.index: entry.links for entry in smi_nvlink.parse(captured(host, "nvidia-smi-nvlink.txt", smi))}
    gpus = report.gpus
    if links:
        gpus = tuple(replace(g, nvlinks=links.get(g.index)) for g in gpus)
    if matrix:
        gpus = tuple(
            replace(g, cpu_affinity=matrix.cpus.get(g.index, ""), numa_node=matrix.numa.get(g.index)) for g in gpus
        )
    return gpus
