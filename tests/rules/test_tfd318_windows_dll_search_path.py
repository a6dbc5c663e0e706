"""TFD318 windows-dll-search-path: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.probes.environment import Environment
from tfdoctor.probes.libraries import Libraries, Library
from tfdoctor.rules.libraries.tfd318_windows_dll_search_path import windows_dll_search_path as rule

GPU = facts.gpu_machine()
TF = facts.tensorflow_release("2.10.1")
PLACE = "C:\\cuda\\v11.2\\bin"


def _path(value: str) -> Environment:
    return Environment({"PATH": value}, "environment")


def _lost() -> Libraries:
    copy = facts.library_file(f"{PLACE}\\cudart64_110.dll", "11.2", soname="cudart64_110.dll", origin="toolkit")
    return Libraries(
        (Library("cudart64_110.dll", "cudart", True, None, "", (copy,), "_pywrap_tensorflow_internal.pyd"),), (), "PE"
    )


def test_on_path_and_not_loaded() -> None:
    found = facts.found(rule, GPU, TF, _lost(), _path(f"C:\\Windows;{PLACE}\\"))
    assert "cudart64_110.dll" in found.message and PLACE in found.message


def test_is_the_root_cause() -> None:
    assert broken.fired(TF, _lost(), _path(PLACE)) == {"TFD318": None, "TFD327": "TFD318"}


def test_not_on_path_is_another_fault() -> None:
    assert facts.silent(rule, GPU, TF, _lost(), _path("C:\\Windows"))
    assert broken.fired(TF, _lost(), _path("C:\\Windows")) == {"TFD310": None, "TFD327": "TFD310"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries(), _path(PLACE))
