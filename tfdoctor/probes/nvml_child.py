"""Asks NVML everything that a check needs and prints the answer as JSON lines; the last line is the answer.

Run by path in a process of its own (a wedged driver blocks in the kernel, a broken one crashes its caller), so it
imports nothing of tfdoctor. The keys of the answer:

    state, code, error, library_version, driver_version, cuda_driver_version (NVML's integer), count
    gpus   one object a GPU, with NVML's own numbers: parse/nvml_answer.py names them
    pairs  [i, j, topology level, P2P read status, P2P NVLink status]; a number that was not told is null

What is null was not told: NotSupported, or a driver without that function. Other errors are under "errors", by
function. GPUs are asked on threads of their own, for NVML's calls wait in the driver: eight take as long as one.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

STATES = {
    4: "no-permission", 9: "driver-not-loaded", 12: "library-missing", 15: "gpu-lost", 16: "reset-required",
    17: "blocked-by-os", 18: "version-mismatch",
}  # fmt: skip
# NVML's answers that say "there is no such thing here": invalid argument, not supported, not found, no such
# function in this driver, no data, deprecated.
NO_ANSWER = frozenset({2, 3, 6, 13, 21, 26})
LOST = 15
LIBRARY = "libnvidia-ml.so.1"
# Where the library lies on systems whose loader may not look there: WSL2 and NixOS.
ELSEWHERE = ("/usr/lib/wsl/lib", "/run/opengl-driver/lib")
MOST_LINKS = 36  # NVML_NVLINK_MAX_LINKS
SPEED_FIELDS = (*range(84, 90), *range(132, 138))  # NVML_FI_DEV_NVLINK_SPEED_MBPS_L0 to L11
SPEED_COMMON, LINK_COUNT, LINK_SPEED = 90, 91, 164  # NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, …LINK_COUNT, …GET_SPEED
CPU_WORDS = 32  # 64 bits each: more CPUs than any machine that NVIDIA's driver supports
NODE_WORDS = 4
INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h


class GpuLost(Exception):
    """NVML says that this GPU is lost; there is no use in asking it more."""


class Asker:
    """Calls functions of pynvml and keeps the errors that are not answers."""

    def __init__(self, nvml: Any) -> None:
        self.nvml = nvml
        self.errors: dict[str, str] = {}

    def ask(self, name: str, *arguments: Any) -> Any:
        """What the function returns; None when it has no answer. Raises GpuLost."""
        call = getattr(self.nvml, name, None)
        if call is None:
            return None
        try:
            return call(*arguments)
        except self.nvml.NVMLError as error:
            if error.value == LOST:
                raise GpuLost from error
            if error.value not in NO_ANSWER:
                self.errors[name] = describe(error)
        except Exception as error:  # noqa: BLE001  a fault of the binding must not cost the other answers
            self.errors[name] = f"{type(error).__name__}: {error}"
        return None

    def first(self, names: Sequence[str], *arguments: Any) -> Any:
        """The answer of the first function that has one: newer names first, for older drivers lack them."""
        for name in names:
            found = self.ask(name, *arguments)
            if found is not None:
                return found
        return None


def describe(error: Any) -> str:
    """NVML's text for an error, whatever state the library is in."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the library that explains the error may itself be the broken part
        return f"NVML error {getattr(error, 'value', '?')}"


def main() -> None:
    """Print the answer. Lines before the last one hold what is known so far, in case the next step kills us."""
    try:
        import pynvml as nvml
    except Exception as error:  # noqa: BLE001  whatever is wrong with the module, NVML could not be asked
        emit({"state": "unknown", "code": None, "error": f"pynvml cannot be imported: {error}"})
        return
    answer = start(nvml)
    if answer["state"] != "ok":
        emit(answer)
        return
    died = {
        **answer,
        "state": "crashed",
        "code": None,
        "error": "the process that asked NVML ended before it had all answers",
    }
    emit(died)
    gpus: dict[int, dict[str, Any]] = {}
    handles: dict[int, Any] = {}
    side_by_side(
        [partial(look_at, nvml, index, gpus, handles) for index in range(answer["count"] or 0)],
        lambda: emit({**died, "gpus": in_order(gpus)}),
    )
    answer["gpus"] = in_order(gpus)
    pairs: dict[int, list[list[Any]]] = {}
    side_by_side(
        [partial(look_at_pairs, nvml, index, handles, pairs) for index in sorted(handles)],
        lambda: emit({**died, "gpus": answer["gpus"]}),
    )
    answer["pairs"] = [pair for i in sorted(pairs) for pair in pairs[i]]
    emit(answer)


def emit(answer: dict[str, Any]) -> None:
    """One JSON object on one line, out of the process at once."""
    print(json.dumps(answer), flush=True)


def in_order(gpus: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """The GPUs that have answered so far, by index."""
    return [gpus[index] for index in sorted(gpus)]


def side_by_side(jobs: Sequence[Callable[[], None]], slow: Callable[[], None]) -> None:
    """Run the jobs on threads and wait for all. `slow` is called when one ends while others have not for a second."""
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    told = len(threads)
    for thread in threads:
        while thread.is_alive():
            thread.join(1.0)
            running = sum(t.is_alive() for t in threads)
            if 0 < running < told:
                told = running
                slow()


def start(nvml: Any) -> dict[str, Any]:
    """Initialise NVML and ask it about itself and the driver."""
    answer: dict[str, Any] = {"state": "ok", "code": 0, "error": ""}
    preload()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        answer.update(state=STATES.get(error.value, "unknown"), code=error.value, error=describe(error))
        if error.value == 12:
            answer["error"] = why_not_loaded() or answer["error"]
    except Exception as error:  # noqa: BLE001  a library that is not NVML
        answer.update(state="unknown", code=None, error=f"{type(error).__name__}: {error}")
    asker = Asker(nvml)
    if answer["code"] != 12:  # these two need no initialised library
        answer["library_version"] = asker.ask("nvmlSystemGetNVMLVersion")
        answer["cuda_driver_version"] = asker.first(
            ("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion")
        )
    if answer["state"] == "ok":
        answer["driver_version"] = asker.ask("nvmlSystemGetDriverVersion")
        answer["count"] = asker.ask("nvmlDeviceGetCount")
        answer["errors"] = asker.errors
    return answer


def preload() -> None:
    """Load NVML from where the loader does not look, so that pynvml's dlopen by name then finds it loaded."""
    if sys.platform == "win32" or why_not_loaded() == "":
        return
    for folder in ELSEWHERE:
        try:
            ctypes.CDLL(f"{folder}/{LIBRARY}", mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        return


def why_not_loaded() -> str:
    """Empty when the loader finds NVML, else what it says."""
    if sys.platform == "win32":
        return ""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return str(error)
    return ""


def look_at(nvml: Any, index: int, gpus: dict[int, dict[str, Any]], handles: dict[int, Any]) -> None:
    """Ask one GPU everything. What it answered before it was lost stays."""
    asker = Asker(nvml)
    gpu: dict[str, Any] = {"index": index, "lost": False}
    try:
        handle = asker.ask("nvmlDeviceGetHandleByIndex", index)
        if handle is not None:
            for question in QUESTIONS:
                gpu.update(question(asker, handle))
            handles[index] = handle
    except GpuLost:
        gpu["lost"] = True
    except Exception as error:  # noqa: BLE001  a fault of ours must not cost the other GPUs
        asker.errors["tfdoctor"] = f"{type(error).__name__}: {error}"
    gpu["errors"] = asker.errors
    gpus[index] = gpu


def identity(asker: Asker, handle: Any) -> dict[str, Any]:
    """Name, PCI address, UUID, compute capability, driver model."""
    pci = asker.ask("nvmlDeviceGetPciInfo", handle)
    model = asker.first(("nvmlDeviceGetDriverModel_v2", "nvmlDeviceGetDriverModel"), handle)
    return {
        "bus": text(pci.busId) if pci is not None else None,
        "name": text(asker.ask("nvmlDeviceGetName", handle)),
        "uuid": text(asker.ask("nvmlDeviceGetUUID", handle)),
        "compute_capability": asker.ask("nvmlDeviceGetCudaComputeCapability", handle),
        "driver_model": model[0] if model else None,
    }


def memory(asker: Asker, handle: Any) -> dict[str, Any]:
    """[total, used] in bytes. The older function counts what the driver reserves as used."""
    found = asker.ask("nvmlDeviceGetMemoryInfo", handle, getattr(asker.nvml, "nvmlMemory_v2", 0x02000028))
    found = found if found is not None else asker.ask("nvmlDeviceGetMemoryInfo", handle)
    return {"memory": [found.total, found.used] if found is not None else None}


def pcie(asker: Asker, handle: Any) -> dict[str, Any]:
    """Generations and widths of the PCIe link."""
    names = {
        "generation": "nvmlDeviceGetCurrPcieLinkGeneration",
        "width": "nvmlDeviceGetCurrPcieLinkWidth",
        "max_generation": "nvmlDeviceGetMaxPcieLinkGeneration",
        "max_width": "nvmlDeviceGetMaxPcieLinkWidth",
        "gpu_max_generation": "nvmlDeviceGetGpuMaxPcieLinkGeneration",
    }
    return {"pcie": {key: asker.ask(name, handle) for key, name in names.items()}}


def ecc(asker: Asker, handle: Any) -> dict[str, Any]:
    """ECC mode [current, pending] and counters, where the GPU has ECC."""
    mode = asker.ask("nvmlDeviceGetEccMode", handle)
    if mode is None:
        return {"ecc": None}
    found: dict[str, Any] = {"mode": list(mode)}
    for counter, when in enumerate(("volatile", "aggregate")):
        for error, kind in enumerate(("corrected", "uncorrected")):
            found[f"{when}_{kind}"] = asker.ask("nvmlDeviceGetTotalEccErrors", handle, error, counter)
    found["sram_aggregate_uncorrected"] = asker.ask("nvmlDeviceGetMemoryErrorCounter", handle, 1, 1, 7)
    return {"ecc": found}


def rows(asker: Asker, handle: Any) -> dict[str, Any]:
    """[corrected, uncorrected, pending, failed] remapped rows; on older GPUs [single, double, pending] retired pages."""
    remapped = asker.ask("nvmlDeviceGetRemappedRows", handle)
    if remapped is not None:
        return {"rows": list(remapped)}
    pending = asker.ask("nvmlDeviceGetRetiredPagesPendingStatus", handle)
    if pending is None:
        return {}
    pages = [asker.ask("nvmlDeviceGetRetiredPages", handle, cause) for cause in (0, 1)]
    return {"pages": [*(None if p is None else len(p) for p in pages), pending]}


def mig(asker: Asker, handle: Any) -> dict[str, Any]:
    """MIG mode [current, pending] and the MIG devices."""
    mode = asker.ask("nvmlDeviceGetMigMode", handle)
    found: dict[str, Any] = {"mig": list(mode) if mode is not None else None, "mig_devices": []}
    if not mode or not mode[0]:
        return found
    for number in range(asker.ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
        device = asker.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
        if device is None:
            continue
        attributes = asker.ask("nvmlDeviceGetAttributes", device)
        found["mig_devices"].append(
            {
                "name": text(asker.ask("nvmlDeviceGetName", device)),
                "uuid": text(asker.ask("nvmlDeviceGetUUID", device)),
                "memory": attributes.memorySizeMB * 2**20 if attributes is not None else None,
            }
        )
    return found


def state(asker: Asker, handle: Any) -> dict[str, Any]:
    """Modes, temperatures, power (mW), clocks (MHz) and load."""
    rates = asker.ask("nvmlDeviceGetUtilizationRates", handle)
    reasons = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
    limits = ("nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit")
    return {
        "compute_mode": asker.ask("nvmlDeviceGetComputeMode", handle),
        "persistence": asker.ask("nvmlDeviceGetPersistenceMode", handle),
        "display": asker.ask("nvmlDeviceGetDisplayActive", handle),
        "throttle": asker.first(reasons, handle),
        "temperature": asker.first(("nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"), handle, 0),
        "temperature_slowdown": asker.ask("nvmlDeviceGetTemperatureThreshold", handle, 1),
        "temperature_max_operating": asker.ask("nvmlDeviceGetTemperatureThreshold", handle, 3),
        "power": asker.ask("nvmlDeviceGetPowerUsage", handle),
        "power_limit": asker.first(limits, handle),
        "power_limit_default": asker.ask("nvmlDeviceGetPowerManagementDefaultLimit", handle),
        "clock_sm": asker.ask("nvmlDeviceGetClockInfo", handle, 1),
        "clock_sm_max": asker.ask("nvmlDeviceGetMaxClockInfo", handle, 1),
        "performance_state": asker.ask("nvmlDeviceGetPerformanceState", handle),
        "utilization": rates.gpu if rates is not None else None,
    }


def processes(asker: Asker, handle: Any) -> dict[str, Any]:
    """Who uses the GPU: number, memory in bytes, program name, whose it is, and for what."""
    lists = {
        kind: asker.first((f"nvmlDeviceGet{api}RunningProcesses_v3", f"nvmlDeviceGet{api}RunningProcesses_v2"), handle)
        for kind, api in (("compute", "Compute"), ("mps", "MPSCompute"), ("graphics", "Graphics"))
    }
    if lists["compute"] is None and lists["graphics"] is None:
        return {"processes": None}
    found: dict[int, dict[str, Any]] = {}
    for kind, entries in lists.items():
        for entry in entries or ():
            if entry.pid not in found:
                name, user = who(asker, entry.pid)
                used = entry.usedGpuMemory
                kind = "graphics" if kind == "graphics" else "compute"
                found[entry.pid] = {"pid": entry.pid, "memory": used, "name": name, "user": user, "kind": kind}
    return {"processes": list(found.values())}


def who(asker: Asker, pid: int) -> tuple[str, str]:
    """The program's name and "this user", "another user" or "" (cannot tell); never a person's name.

    NVML counts processes as the host does. In a container the same number may be another process, so there one is
    believed only if it has the driver's libraries mapped.
    """
    if os.path.exists(f"/proc/{pid}") and not same_numbers() and not uses_driver(pid):
        return "", ""
    name = program_name(text(asker.ask("nvmlSystemGetProcessName", pid)) or "")
    try:
        import psutil

        process = psutil.Process(pid)
        name = name or program_name(process.name())
        if hasattr(process, "uids"):
            mine = process.uids().real == os.getuid()
        else:
            mine = process.username() == psutil.Process().username()
    except Exception:  # noqa: BLE001  gone, or hidden from us: "" is the answer "cannot tell"
        return name, ""
    return name, "this user" if mine else "another user"


def same_numbers() -> bool:
    """Are we in the host's process namespace? True where there are no such namespaces."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == INITIAL_PID_NAMESPACE
    except OSError:
        return not os.path.exists("/proc/self/ns")


def uses_driver(pid: int) -> bool:
    """Has the process one of the driver's libraries or devices mapped?"""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            return any("libcuda.so" in line or "nvidia" in line for line in maps)
    except OSError:
        return False


def program_name(command: str) -> str:
    """The program of a command line, without its folder and its arguments, at most 64 characters."""
    windows = re.match(r'^"?(?:[A-Za-z]:|\\\\)(.*?)(?:\.exe\b|"|$)', command.strip(), re.I | re.S)
    first = windows.group(1) if windows else (command.split() or [""])[0]
    return re.split(r"[\\/]", first)[-1].rstrip(":")[:64]


def nvlinks(asker: Asker, handle: Any) -> dict[str, Any]:
    """Every NVLink that the driver tells of: none without NVLink, and none in MIG mode."""
    states: dict[int, Optional[int]] = {}
    counted = field_values(asker, handle, [LINK_COUNT]).get(LINK_COUNT)
    for link in range(MOST_LINKS if counted is None else min(counted, MOST_LINKS)):
        up = asker.ask("nvmlDeviceGetNvLinkState", handle, link)
        if up is None and counted is None:
            break
        states[link] = up
    if not states:
        return {"nvlinks": []}
    speeds = link_speeds(asker, handle, [link for link, up in states.items() if up])
    return {"nvlinks": [one_link(asker, handle, link, up, speeds) for link, up in states.items()]}


def one_link(asker: Asker, handle: Any, link: int, up: Optional[int], speeds: dict[int, int]) -> dict[str, Any]:
    """State of a link; for one that is up also what is at its other end, its speed in MB/s and its errors."""
    found: dict[str, Any] = {"index": link, "active": up}
    if not up:
        return found
    remote = asker.ask("nvmlDeviceGetNvLinkRemotePciInfo", handle, link)
    errors = [asker.ask("nvmlDeviceGetNvLinkErrorCounter", handle, link, counter) for counter in range(4)]
    known = [e for e in errors if e is not None]
    found.update(
        version=asker.ask("nvmlDeviceGetNvLinkVersion", handle, link),
        remote=text(remote.busId) if remote is not None else None,
        remote_type=asker.ask("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link),
        speed=speeds.get(link),
        errors=sum(known) if known else None,
    )
    return found


def link_speeds(asker: Asker, handle: Any, links: Sequence[int]) -> dict[int, int]:
    """MB/s of each link, one direction, in one call; drivers differ in which of three fields they fill."""
    if not links:
        return {}
    own = [SPEED_FIELDS[link] for link in links if link < len(SPEED_FIELDS)]
    values = field_values(asker, handle, [SPEED_COMMON, *own, *((LINK_SPEED, link) for link in links)])
    found = {}
    for link in links:
        candidates: list[Any] = [(LINK_SPEED, link), SPEED_COMMON]
        if link < len(SPEED_FIELDS):
            candidates.insert(0, SPEED_FIELDS[link])
        speed = next((values[c] for c in candidates if values.get(c)), None)
        if speed is not None:
            found[link] = speed
    return found


def field_values(asker: Asker, handle: Any, fields: Sequence[Any]) -> dict[Any, int]:
    """The fields that NVML has a value for. A field is a number, or (number, scope)."""
    entries = asker.ask("nvmlDeviceGetFieldValues", handle, list(fields))
    found = {}
    for field, entry in zip(fields, entries or ()):
        if entry.nvmlReturn == 0:
            # NVML_VALUE_TYPE: 0 double, 1 unsigned int, 2 unsigned long, 3 unsigned long long
            members = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal"}
            found[field] = int(getattr(entry.value, members.get(entry.valueType, "ullVal")))
    return found


def place(asker: Asker, handle: Any) -> dict[str, Any]:
    """The CPUs and NUMA nodes near the GPU."""
    cpus = asker.ask("nvmlDeviceGetCpuAffinity", handle, CPU_WORDS)
    nodes = asker.ask("nvmlDeviceGetMemoryAffinity", handle, NODE_WORDS, 0)
    return {
        "cpu_affinity": ranges(set_bits(cpus)) if cpus is not None else None,
        "memory_affinity": set_bits(nodes) if nodes is not None else None,
    }


def set_bits(words: Any) -> list[int]:
    """The numbers of the bits that are set in an array of 64-bit words."""
    return [64 * i + bit for i, word in enumerate(words) if word for bit in range(64) if word >> bit & 1]


def ranges(numbers: Sequence[int]) -> str:
    """[0, 1, 2, 8] -> "0-2,8"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{a}-{b}" if b > a else str(a) for a, b in parts)


def fabric(asker: Asker, handle: Any) -> dict[str, Any]:
    """[state, status] of the GPU's registration with the NVSwitch fabric."""
    for kind, call in (
        ("c_nvmlGpuFabricInfoV_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfo_t", "nvmlDeviceGetGpuFabricInfo"),
    ):
        make = getattr(asker.nvml, kind, None)
        info = make() if make else None
        if info is not None and asker.ask(call, handle, ctypes.byref(info)) is not None:
            return {"fabric": [info.state, info.status]}
    return {"fabric": None}


def virtual(asker: Asker, handle: Any) -> dict[str, Any]:
    """Virtualization mode, and in a vGPU guest whether a licence is held."""
    mode = asker.ask("nvmlDeviceGetVirtualizationMode", handle)
    found: dict[str, Any] = {"virtualization": mode}
    if mode == 2:  # NVML_GPU_VIRTUALIZATION_MODE_VGPU
        features = asker.ask("nvmlDeviceGetGridLicensableFeatures", handle)
        if features is not None and features.isGridLicenseSupported:
            listed = features.gridLicensableFeatures[: features.licensableFeaturesCount]
            found["licensed"] = any(feature.featureEnabled for feature in listed)
    return found


QUESTIONS: tuple[Callable[[Asker, Any], dict[str, Any]], ...] = (
    identity, memory, pcie, state, ecc, rows, mig, nvlinks, place, fabric, virtual, processes,
)  # fmt: skip


def look_at_pairs(nvml: Any, index: int, handles: dict[int, Any], pairs: dict[int, list[list[Any]]]) -> None:
    """Ask how this GPU is joined to each one after it."""
    pairs[index] = []
    for other in sorted(h for h in handles if h > index):
        asker = Asker(nvml)
        both = (handles[index], handles[other])
        try:
            level = asker.ask("nvmlDeviceGetTopologyCommonAncestor", *both)
            # 0 and 2 are NVML_P2P_CAPS_INDEX_READ and …NVLINK; nvidia-ml-py 13.615 has a tuple under the first name
            statuses = [asker.ask("nvmlDeviceGetP2PStatus", *both, which) for which in (0, 2)]
        except GpuLost:
            continue
        pairs[index].append([index, other, level, *statuses])


def text(value: Any) -> Optional[str]:
    """pynvml returns text or bytes, depending on the function and its version."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # nvmlShutdown and exit handlers of a sick driver can hang; everything is printed
