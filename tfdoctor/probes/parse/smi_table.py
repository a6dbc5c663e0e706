"""The table that plain `nvidia-smi` prints, from driver 418 to 610. Names in it are cut off with "..."."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Optional

from tfdoctor.probes.nvml import Ecc, Gpu, GpuProcess, MigInstance
from tfdoctor.probes.parse.report import SmiReport, build_process
from tfdoctor.probes.parse.values import (
    MIB,
    MOST_TEXT,
    bus_address,
    compute_mode,
    decimal,
    integer,
    says_lost,
    value_of,
    version_of,
    yes_no,
)

MOST_WIDTH = 300  # the table is 91 wide
HEADER = re.compile(
    r"NVIDIA-SMI\s+(?P<smi>[\d.]+)\s+(?:Driver|KMD) Version:\s*(?P<driver>\S+)(?:\s+CUDA(?: UMD)? Version:\s*(?P<cuda>\S+))?"
)
FIRST = re.compile(
    r"\|\s*(?P<index>\d{1,4})\s+(?P<name>\S.*?)\s+(?P<mode>On|Off|N/A|ERR!|WDDM|TCC|MCDM)\s*"
    r"\|\s*(?P<bus>[0-9A-Fa-f:]+\.[0-7])\s+(?P<display>On|Off|N/A|ERR!)\s*\|\s*(?P<ecc>[^|]*?)\s*\|"
)
PROCESS = re.compile(
    r"\|\s*(?P<gpu>\d{1,4})\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d{1,10})\s+(?P<type>[CGM+]{1,5})\s+"
    r"(?P<name>.*?)\s+(?P<memory>\d+MiB|N/A)\s*\|"
)
MIG = re.compile(r"\|\s*(?P<gpu>\d{1,4})\s+\d+\s+\d+\s+\d+\s*\|\s*\d+\s*MiB\s*/\s*(?P<total>\d+)\s*MiB")
POWER = re.compile(r"(?P<draw>[\d.]+)W\s*/\s*(?P<cap>[\d.]+)W")
MEMORY = re.compile(r"(?P<used>\d+)\s*MiB\s*/\s*(?P<total>\d+)\s*MiB")


def parse(text: str) -> Optional[SmiReport]:
    """The report, or None when the text holds neither the table's head nor a GPU's row."""
    heads = list(islice(HEADER.finditer(text[:MOST_TEXT]), 2))
    head = heads[0] if heads else None
    lines = text[: heads[1].start() if len(heads) > 1 else MOST_TEXT].splitlines()  # `nvidia-smi -l` repeats itself
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line[:MOST_WIDTH]) for line in lines]
    gpus: dict[int, Gpu] = {}
    models = set()
    for number, line in enumerate(lines):
        first = FIRST.match(line.strip())
        if first:
            second, third, *_rest = [*lines[number + 1 : number + 3], "", ""]
            gpu = _gpu(first, second, third)
            gpus.setdefault(gpu.index, gpu)
            models.add(first["mode"].casefold())
    if head is None and not gpus:
        return None
    _add_mig(gpus, lines)
    _add_processes(gpus, lines)
    return SmiReport(
        driver=version_of(head["driver"]) if head else "",
        cuda=version_of(head["cuda"]) if head else "",
        model=next((m for m in ("wddm", "tcc", "mcdm") if m in models), ""),
        gpus=tuple(gpu for _index, gpu in sorted(gpus.items())),
        smi=version_of(head["smi"]) if head else "",
        truncated=not any("Processes:" in line for line in lines),
    )


def _gpu(first: re.Match[str], second: str, third: str) -> Gpu:
    """One GPU from its two or three lines; drivers before 450 have no third one."""
    cells = [cell.strip() for cell in second.strip().strip("|").split("|")] + ["", "", ""]
    left, middle, right = cells[:3]
    memory, power = MEMORY.search(middle), POWER.search(left)
    state = re.search(r"\bP(\d{1,2})\b", left)
    temperature = re.search(r"\b(\d{1,3})C\b", left)
    load = re.match(r"(\d{1,3})%\s+|\S+\s+", right)
    last = [cell.strip() for cell in third.strip().strip("|").split("|")]
    return Gpu(
        index=int(first["index"]),
        name=value_of(first["name"]),
        bus=bus_address(first["bus"]),
        lost=any(says_lost(cell) for cell in cells),
        memory_total=int(memory["total"]) * MIB if memory else None,
        memory_used=int(memory["used"]) * MIB if memory else None,
        ecc=_ecc(first["ecc"]),
        mig=yes_no(last[2]) if len(last) == 3 and last[0] == last[1] == "" else None,
        compute_mode=compute_mode(right[load.end() :]) if load else None,
        persistence=yes_no(first["mode"]),
        display=yes_no(first["display"]),
        temperature=int(temperature.group(1)) if temperature else None,
        power=decimal(power["draw"]) if power else None,
        power_limit=decimal(power["cap"]) if power else None,
        performance_state=int(state.group(1)) if state else None,
        utilization=integer(load.group(1)) if load else None,
    )


def _ecc(cell: str) -> Ecc:
    """The column counts uncorrected errors since boot: a number where ECC is on, Off, N/A; On stands for MIG mode."""
    count = re.fullmatch(r"(\d{1,18})\*?", cell)
    if count:
        return Ecc(enabled=True, volatile_uncorrected=int(count.group(1)))
    return Ecc(enabled=False) if cell == "Off" else Ecc()


def _add_mig(gpus: dict[int, Gpu], lines: list[str]) -> None:
    for line in lines:
        row = MIG.match(line.strip())
        if row and (gpu := gpus.get(int(row["gpu"]))):
            instance = MigInstance("", int(row["total"]) * MIB)
            gpus[gpu.index] = replace(gpu, mig_instances=(*gpu.mig_instances, instance))


def _add_processes(gpus: dict[int, Gpu], lines: list[str]) -> None:
    """The box with the processes. Where it is cut off, or nvidia-smi failed in it, they are not told."""
    start = next((i for i, line in enumerate(lines) if "Processes:" in line), None)
    if start is None or not any(line.startswith("+--") for line in lines[start:]):
        return
    found: dict[int, dict[int, GpuProcess]] = {}
    for line in lines[start:]:
        row = PROCESS.match(line.strip())
        process = build_process(row["pid"], row["type"], row["name"], row["memory"]) if row else None
        if row and process:
            found.setdefault(int(row["gpu"]), {}).setdefault(process.pid, process)
    for index, gpu in gpus.items():
        gpus[index] = replace(gpu, processes=tuple(found.get(index, {}).values()))
