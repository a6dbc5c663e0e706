"""Libraries that the loader does not find, for the tests of layer 3."""

from __future__ import annotations

from typing import Any, Optional

import facts

from tfdoctor.model import Severity
from tfdoctor.probes.libraries import Libraries, Library, LibraryFile
from tfdoctor.tables import Tables

NEEDED = ("cudart", "cublas", "cublasLt", "cufft", "cusolver", "cusparse", "cudnn")
#: CUDA 12 as TensorFlow asks for it, and the names of the same libraries in other releases.
CUDA12 = {
    "cudart": "libcudart.so.12",
    "cublas": "libcublas.so.12",
    "cublasLt": "libcublasLt.so.12",
    "cufft": "libcufft.so.11",
    "cusolver": "libcusolver.so.11",
    "cusparse": "libcusparse.so.12",
    "cudnn": "libcudnn.so.9",
}
CUDA13 = {
    "cudart": "libcudart.so.13",
    "cublas": "libcublas.so.13",
    "cublasLt": "libcublasLt.so.13",
    "cufft": "libcufft.so.12",
    "cusolver": "libcusolver.so.12",
    "cusparse": "libcusparse.so.12",
    "cudnn": "libcudnn.so.9",
}
CUDA11 = {
    "cudart": "libcudart.so.11.0",
    "cublas": "libcublas.so.11",
    "cublasLt": "libcublasLt.so.11",
    "cufft": "libcufft.so.10",
    "cusolver": "libcusolver.so.11",
    "cusparse": "libcusparse.so.11",
    "cudnn": "libcudnn.so.8",
}


def lost(component: str, *copies: LibraryFile, **changes: Any) -> Library:
    """A needed library that is not found, with the copies that lie elsewhere."""
    soname = changes.pop("soname", CUDA12[component])
    return Library(soname, component, True, None, "", copies, changes.pop("caller", "libtensorflow_framework.so.2"))


def libraries(*entries: Library) -> Libraries:
    return Libraries(entries, (), "ELF")


def nothing(names: Optional[dict[str, str]] = None) -> Libraries:
    """No needed library is found, and no copy of any lies anywhere."""
    return libraries(*(lost(part, soname=(names or CUDA12)[part]) for part in NEEDED))


def all_elsewhere(
    folder: str, origin: str, wanted: dict[str, str] = CUDA12, have: Optional[dict[str, str]] = None
) -> Libraries:
    """No needed library is found; a copy of each lies in `folder`, under the names of `have`."""
    names = have or wanted
    return libraries(
        *(
            lost(part, facts.library_file(f"{folder}/{names[part]}", "", origin=origin), soname=wanted[part])
            for part in NEEDED
        )
    )


def in_wheels(*components: str) -> tuple[Library, ...]:
    """Libraries that lie in their pip wheels and are not found."""
    folders = {"cublasLt": "cublas", "cudart": "cuda_runtime"}
    return tuple(
        lost(part, facts.library_file(f"{facts.SITE}/nvidia/{folders.get(part, part)}/lib/{CUDA12[part]}", "12.9"))
        for part in components
    )


def fired(*given: Any) -> dict[str, Optional[str]]:
    """The codes of layer 3 that fire over these facts, with what each is folded under."""
    from tfdoctor import engine

    rules = [rule for rule in engine.all_rules() if rule.code[3] == "3" and not rule.log_only]
    outcomes = engine.run_rules(rules, facts.engine_facts((facts.gpu_machine(), *given)))
    assert not [o.reason for o in outcomes if o.status.value == "crashed"]
    return {o.rule.code: o.folded_under for o in outcomes if o.diagnoses}


__all__ = [
    "CUDA11",
    "CUDA12",
    "CUDA13",
    "Severity",
    "Tables",
    "all_elsewhere",
    "fired",
    "in_wheels",
    "libraries",
    "lost",
    "nothing",
]
