"""Python, TensorFlow and its libraries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from facts.base import SITE, make, tables
from tfdoctor.model import LogMatch
from tfdoctor.probes.imports import Imports
from tfdoctor.probes.interpreter import Distribution, Distributions, Interpreter
from tfdoctor.probes.libraries import DriverLibrary, Libraries, Library, LibraryFile
from tfdoctor.probes.tensorflow import TensorFlow, TensorFlowPackages
from tfdoctor.probes.toolkits import Toolkits, XlaTools
from tfdoctor.target.imports import IMPORTS


def interpreter(**changes: Any) -> Interpreter:
    defaults = {
        "path": "/home/me/venv/bin/python",
        "version": "3.11.9",
        "bits": 64,
        "kind": "venv",
        "implementation": "CPython",
        "externally_managed": False,
        "pip": "24.2",
        "user_site": False,
        "prefix": "/home/me/venv",
        "others": (),
        "source": "/home/me/venv/bin/python",
    }
    return make(Interpreter, defaults, changes)


def distribution(name: str, version: str, **changes: Any) -> Distribution:
    defaults = {"name": name, "version": version, "location": SITE, "installer": "pip"}
    return make(Distribution, defaults, changes)


#: What `pip install tensorflow[and-cuda]==2.20` brings, as far as rules look at it.
PACKAGES: Mapping[str, str] = {
    "tensorflow": "2.20.0",
    "keras": "3.11.3",
    "numpy": "2.3.2",
    "protobuf": "6.32.0",
    "ml-dtypes": "0.5.3",
    "h5py": "3.14.0",
    "tensorboard": "2.20.0",
    "typing-extensions": "4.14.1",
    "wrapt": "1.17.3",
    "gast": "0.6.0",
    "flatbuffers": "25.2.10",
    "grpcio": "1.74.0",
    "nvidia-cublas-cu12": "12.9.1.4",
    "nvidia-cuda-cupti-cu12": "12.9.79",
    "nvidia-cuda-nvcc-cu12": "12.9.86",
    "nvidia-cuda-nvrtc-cu12": "12.9.86",
    "nvidia-cuda-runtime-cu12": "12.9.79",
    "nvidia-cudnn-cu12": "9.12.0.46",
    "nvidia-cufft-cu12": "11.4.1.4",
    "nvidia-curand-cu12": "10.3.10.19",
    "nvidia-cusolver-cu12": "11.7.5.82",
    "nvidia-cusparse-cu12": "12.5.10.65",
    "nvidia-nccl-cu12": "2.27.7",
    "nvidia-nvjitlink-cu12": "12.9.86",
}


def distributions(versions: Mapping[str, Optional[str]] = {}, *more: Distribution, **changes: Any) -> Distributions:
    """TensorFlow 2.20 with its CUDA wheels; `versions` replaces or adds, None removes ({"keras": "2.15.0"})."""
    wanted = {name: v for name, v in {**PACKAGES, **versions}.items() if v is not None}
    by_name = {name: distribution(name, version) for name, version in wanted.items()}
    by_name.update((d.name, d) for d in more)
    return make(Distributions, {"by_name": by_name, "duplicates": {}, "source": "metadata"}, changes)


def imports(*missing: str) -> Imports:
    """All that TensorFlow imports is found but these distributions."""
    found = {name: f"{SITE}/{module.replace('.', '/')}" for name, module in IMPORTS.items()}
    return Imports({**found, **dict.fromkeys(missing, "")}, "/home/me/venv/bin/python")


def tensorflow_packages(**changes: Any) -> TensorFlowPackages:
    defaults = {"installed": (("tensorflow", "2.20.0"),), "folder": f"{SITE}/tensorflow", "shadow": "", "source": SITE}
    return make(TensorFlowPackages, defaults, changes)


def tensorflow(**changes: Any) -> TensorFlow:
    defaults = {
        "distribution": "tensorflow",
        "version": "2.20.0",
        "location": f"{SITE}/tensorflow",
        "cuda_build": True,
        "rocm_build": False,
        "cuda": "12.5.1",
        "cudnn": "9",
        "nccl": "2.25.1",
        "compute_capabilities": ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
        "ptx_isa": "8.5",
        "in_table": True,
        "source": "build_info.py",
    }
    return make(TensorFlow, defaults, changes)


def tensorflow_release(version: str, **changes: Any) -> TensorFlow:
    """The GPU build of a release that the tables know, as the Linux x86_64 wheel has it."""
    row = tables().release(version)
    assert row is not None and row.version == version, version
    known = {
        "distribution": row.gpu_distribution,
        "version": version,
        "cuda_build": row.has_gpu_build,
        "cuda": row.cuda or "",
        "cudnn": (row.cudnn or "").split(".")[0],
        "nccl": row.nccl or "",
        "compute_capabilities": row.compute_capabilities,
        "ptx_isa": row.ptx_isa or "",
    }
    return tensorflow(**{**known, **changes})


#: component -> (soname, folder of the wheel, version), as TensorFlow 2.20 opens them.
_OPENED = {
    "cudart": ("libcudart.so.12", "cuda_runtime", "12.9.79"),
    "cublas": ("libcublas.so.12", "cublas", "12.9.1.4"),
    "cublasLt": ("libcublasLt.so.12", "cublas", "12.9.1.4"),
    "cufft": ("libcufft.so.11", "cufft", "11.4.1.4"),
    "cusolver": ("libcusolver.so.11", "cusolver", "11.7.5.82"),
    "cusparse": ("libcusparse.so.12", "cusparse", "12.5.10.65"),
    "cudnn": ("libcudnn.so.9", "cudnn", "9.12.0.46"),
    "cupti": ("libcupti.so.12", "cuda_cupti", "12.9.79"),
}


def library_file(path: str, version: str, **changes: Any) -> LibraryFile:
    defaults = {"path": path, "soname": Path(path).name, "version": version, "origin": "pip", "missing": ()}
    return make(LibraryFile, defaults, changes)


def library(component: str, **changes: Any) -> Library:
    """One library of TensorFlow 2.20, found in its pip wheel."""
    soname, folder, version = _OPENED[component]
    defaults = {
        "soname": soname,
        "component": component,
        "needed": component != "cupti",
        "picked": library_file(f"{SITE}/nvidia/{folder}/lib/{soname}", version),
        "how": "RUNPATH of libtensorflow_framework.so.2",
        "copies": (),
        "caller": "libtensorflow_framework.so.2",
    }
    return make(Library, defaults, changes)


def libraries(*changed: Library, **changes: Any) -> Libraries:
    """Every library of TensorFlow 2.20, found; `changed` replaces the one of the same component."""
    have = {name: library(name) for name in _OPENED}
    have.update((entry.component, entry) for entry in changed)
    defaults = {"libraries": tuple(have.values()), "search_path": (f"{SITE}/nvidia/cublas/lib",), "source": "ELF"}
    return make(Libraries, defaults, changes)


def driver_library(**changes: Any) -> DriverLibrary:
    file = library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "550.107.02", origin="system")
    defaults = {"picked": file, "how": "ld.so.cache", "others": (), "source": "ld.so.cache"}
    return make(DriverLibrary, defaults, changes)


def toolkits(**changes: Any) -> Toolkits:
    """No toolkit on disk: TensorFlow does not need one."""
    return make(Toolkits, {"toolkits": (), "default": "", "source": "/usr/local"}, changes)


def xla_tools(**changes: Any) -> XlaTools:
    nvcc = f"{SITE}/nvidia/cuda_nvcc"
    defaults = {
        "ptxas": f"{nvcc}/bin/ptxas",
        "ptxas_version": "12.9",
        "libdevice": f"{nvcc}/nvvm/libdevice/libdevice.10.bc",
        "libdevice_elsewhere": (),
        "source": SITE,
    }
    return make(XlaTools, defaults, changes)


def log_match(cause: str, text: str = "", lines: tuple[int, ...] = (1,), **values: str) -> LogMatch:
    """A known error as a log printed it."""
    return LogMatch(cause, lines, text, values)
