"""Does CUDA start? What TensorFlow does first of all, tried in a process of its own (cuda_child.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import items, mapping, text
from tfdoctor.model import NotApplicable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.platform import Platform

STATES = ("ok", "failed", "not-loaded", "timed-out", "crashed")
SOURCE = "cuInit"
MODES = {0: "default", 1: "exclusive-thread", 2: "prohibited", 3: "exclusive-process"}  # CUcomputemode


@dataclass(frozen=True)
class CudaDevice:
    """One GPU, or MIG instance, as CUDA counts it. Name and compute capability may be "" where they were not told, the
    compute mode ("default", "exclusive-thread", "prohibited", "exclusive-process") None."""

    name: str
    compute_capability: str
    compute_mode: Optional[str] = None


@dataclass(frozen=True)
class CudaDriver:
    """What came of starting CUDA in this environment. `state`: "ok"; "failed" (`function` returned the CUresult `code`);
    "not-loaded" (the loader refused libcuda, `error` says why); "timed-out" or "crashed" in `function`; "unknown": it could
    not be tried (`error`).

    `version` is the CUDA driver API version ("12.4", "" not told), `count` how many devices CUDA counts, `path` the
    libcuda that was loaded. `unhidden`: how many it counts without CUDA_VISIBLE_DEVICES, tried where it found none with it;
    None: not tried or not told."""

    state: str
    code: Optional[int]
    function: str
    error: str
    version: str
    count: Optional[int]
    devices: tuple[CudaDevice, ...]
    unhidden: Optional[int]
    path: str
    source: str

    @property
    def works(self) -> bool:
        """CUDA starts and has a device."""
        return self.state == "ok" and bool(self.count)

    @property
    def finds_none(self) -> bool:
        """CUDA says that there is no device: CUDA_ERROR_NO_DEVICE, or it counts none."""
        return (self.state == "failed" and self.code == 100) or (self.state == "ok" and self.count == 0)


@probe
def cuda_driver(
    host: Host, machine: GpuMachine, library: Optional[DriverLibrary], platform: Optional[Platform]
) -> CudaDriver:
    """Only where there is a GPU and a libcuda that the loader would find: nothing is started elsewhere."""
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("CUDA is only tried on Linux"))
    if library is not None and library.picked is None:
        raise NotApplicable(_("there is no libcuda.so.1 to try"))
    return of_answer(host.cuda())


def of_answer(answer: Mapping[str, Any]) -> CudaDriver:
    """The fact from the child's answer (cuda.json of a recording), whatever it holds."""
    state = text(answer.get("state"))
    listed = (mapping(entry) for entry in items(answer.get("devices")))
    return CudaDriver(
        state=state if state in STATES else "unknown",
        code=_number(answer, "code"),
        function=text(answer.get("function")),
        error=text(answer.get("error")),
        version=_version(_number(answer, "version")),
        count=_number(answer, "count"),
        devices=tuple(_device(entry) for entry in listed),
        unhidden=_number(mapping(answer.get("unhidden")), "count"),
        path=text(answer.get("path")),
        source=SOURCE,
    )


def _device(entry: Mapping[str, Any]) -> CudaDevice:
    mode = _number(entry, "compute_mode")
    return CudaDevice(
        text(entry.get("name")), text(entry.get("compute_capability")), MODES.get(mode) if mode is not None else None
    )


def _number(answer: Mapping[str, Any], key: str) -> Optional[int]:
    value = answer.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _version(number: Optional[int]) -> str:
    """12040 -> "12.4"."""
    return f"{number // 1000}.{number % 1000 // 10}" if number is not None and number >= 1000 else ""
