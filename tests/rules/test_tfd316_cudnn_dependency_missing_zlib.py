"""TFD316 cudnn-dependency-missing-zlib: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.libraries import Libraries
from tfdoctor.rules.libraries.tfd316_cudnn_dependency_missing_zlib import cudnn_dependency_missing_zlib as rule

GPU = facts.gpu_machine()
PLACE = "C:\\cuda\\v11.2\\bin"


def _cudnn(*lacks: str) -> Libraries:
    picked = facts.library_file(f"{PLACE}\\cudnn64_8.dll", "8.6.0", origin="toolkit", missing=lacks)
    return facts.libraries(facts.library("cudnn", soname="cudnn64_8.dll", picked=picked))


def test_zlib_is_missing() -> None:
    found = facts.found(rule, GPU, facts.windows(), _cudnn("zlibwapi.dll"))
    assert "zlibwapi.dll" in found.message and "8.6.0" in found.message and PLACE in found.message


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.windows(), _cudnn())
    assert facts.silent(rule, GPU, facts.windows(), _cudnn("other.dll"))


def test_rests_elsewhere() -> None:
    assert facts.silent(rule, GPU, facts.platform(), facts.libraries())
