"""The ways to set the scene around an installed release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class Case:
    """One way to set the scene around an installed release."""

    name: str
    says: str
    environment: Mapping[str, str] = field(default_factory=dict)
    wheels_on_path: bool = False  # every site-packages/nvidia/*/lib on LD_LIBRARY_PATH
    without: str = ""  # a folder or file of site-packages that is moved aside
    cut: str = ""  # a file of site-packages that ends after half
    nvml: bool = True  # is there a libnvidia-ml.so.1
    install: str = ""  # a requirement put in place of what is there, and taken back afterwards
    driver: bool = True  # is there a libcuda.so.1
    cuda: Mapping[str, object] = field(default_factory=dict)  # changes to the driver's profile
    unusable: bool = False  # listed, but nothing could be computed on such a machine: the right verdict is "no"
    if_plain: Optional[bool] = None  # only for releases whose plain case lists GPUs (True) or lists none (False)
    planted: tuple[str, str] = ("", "")  # a file and what it is (see plant): its folder comes first on LD_LIBRARY_PATH
    here: bool = False  # LD_LIBRARY_PATH names the planted folder as an empty entry: the working directory
    stub: bool = False  # a folder lib64/stubs with the toolkit's stub of the driver comes first
    links: bool = False  # every nvidia/*/lib/*.so* is linked into tensorflow/, as TensorFlow's guide says


WHEELS = (
    "cublas",
    "cuda_cupti",
    "cuda_nvcc",
    "cuda_nvrtc",
    "cuda_runtime",
    "cudnn",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "nccl",
    "nvjitlink",
    "nvshmem",
)

CASES = (
    Case("plain", "as installed, no LD_LIBRARY_PATH"),
    Case("ld-path", "every nvidia/*/lib on LD_LIBRARY_PATH", wheels_on_path=True),
    Case("no-driver", "no libcuda.so.1", wheels_on_path=True, driver=False),
    Case("cuinit-999", "cuInit returns 999", wheels_on_path=True, cuda={"init": 999}),
    Case("cuinit-803", "cuInit returns 803, driver mismatch", wheels_on_path=True, cuda={"init": 803}),
    Case("no-device", "cuInit returns 100", wheels_on_path=True, cuda={"init": 100}),
    *(
        Case(f"visible={value}", f"CUDA_VISIBLE_DEVICES={value!r}", {"CUDA_VISIBLE_DEVICES": value}, True)
        for value in ("", "-1", "1", "1,0", "0,7", "7,0", "0,0", "GPU-00000000-0000-4000-8000-000000000001", "none")
    ),
    *(
        Case(
            f"without-{w}",
            f"nvidia/{w} taken away, LD_LIBRARY_PATH set",
            wheels_on_path=True,
            without=f"nvidia/{w}",
            if_plain=False,
        )
        for w in WHEELS
    ),
    *(Case(f"plain-without-{w}", f"nvidia/{w} taken away", without=f"nvidia/{w}", if_plain=True) for w in WHEELS),
    Case("cudnn-8.9", "cuDNN 8.9.7.29", install="nvidia-cudnn-cu12==8.9.7.29", wheels_on_path=True),
    Case("cudnn-9.1", "cuDNN 9.1.0.70", install="nvidia-cudnn-cu12==9.1.0.70", wheels_on_path=True),
    Case("no-wheels", "no NVIDIA wheels at all", without="nvidia"),
    Case("links", "the libraries linked into tensorflow/", links=True),
    Case(
        "ld-path-cusolver",
        "only nvidia/cusolver/lib on LD_LIBRARY_PATH",
        if_plain=False,
        environment={"LD_LIBRARY_PATH": "<site-packages>/nvidia/cusolver/lib"},
    ),
    *(
        Case(
            f"{kind}-cublas",
            f"{says} named libcublas.so.12 first on LD_LIBRARY_PATH",
            wheels_on_path=True,
            planted=("libcublas.so.12", kind),
        )
        for kind, says in (
            ("rubbish", "a text file"),
            ("empty", "an empty file"),
            ("elf32", "a 32-bit library"),
            ("dangling", "a dangling link"),
            ("directory", "a folder"),
        )
    ),
    Case(
        "rubbish-here",
        "an empty entry first in LD_LIBRARY_PATH, a text file libcublas.so.12 in the working directory",
        wheels_on_path=True,
        planted=("libcublas.so.12", "rubbish"),
        here=True,
    ),
    Case(
        "rubbish-hwcaps",
        "a text file glibc-hwcaps/x86-64-v2/libcublas.so.12 below the first folder of LD_LIBRARY_PATH",
        wheels_on_path=True,
        planted=("glibc-hwcaps/x86-64-v2/libcublas.so.12", "rubbish"),
    ),
    Case(
        "preload-cusolver",
        "libcusolver.so.11 in LD_PRELOAD",
        if_plain=False,
        environment={"LD_PRELOAD": "<site-packages>/nvidia/cusolver/lib/libcusolver.so.11"},
    ),
    Case(
        "without-cudnn-graph",
        "libcudnn_graph.so.9 taken away",
        wheels_on_path=True,
        without="nvidia/cudnn/lib/libcudnn_graph.so.9",
    ),
    *(
        Case(
            f"without-cudnn-{part}",
            f"libcudnn_{part}.so.9 taken away",
            wheels_on_path=True,
            without=f"nvidia/cudnn/lib/libcudnn_{part}.so.9",
        )
        for part in ("ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled")
    ),
    *(
        Case(f"half-{file.rpartition('/')[2]}", f"half of {file}", wheels_on_path=True, cut=f"nvidia/{file}")
        for file in (
            "cublas/lib/libcublasLt.so.12",
            "cudnn/lib/libcudnn.so.9",
            "cudnn/lib/libcudnn_graph.so.9",
            "cudnn/lib/libcudnn_ops.so.9",
        )
    ),
    *(
        Case(f"without-{what}", f"{what} taken away, its metadata left", wheels_on_path=True, without=what)
        for what in (
            "absl",
            "astunparse",
            "certifi",
            "flatbuffers",
            "gast",
            "google/protobuf",
            "h5py",
            "idna",
            "keras",
            "ml_dtypes",
            "numpy",
            "opt_einsum",
            "packaging",
            "requests",
            "six.py",
            "termcolor",
            "typing_extensions.py",
            "urllib3",
            "wrapt",
            "tensorflow/python/_pywrap_tensorflow_internal.so",
            "tensorflow/python/_pywrap_tfe.so",
            "tensorflow/python/_pywrap_tfcompile.so",
            "tensorflow/python/framework/ops.py",
            "tensorflow/python/tools/freeze_graph.py",
        )
    ),
    Case("without-nvml", "no libnvidia-ml.so.1", wheels_on_path=True, nvml=False),
    Case(
        "stub-first",
        "the toolkit's stub of libcuda.so.1 first on LD_LIBRARY_PATH",
        wheels_on_path=True,
        stub=True,
        cuda={"init": 34},
    ),
    Case(
        "old-gpu",
        "GPUs of compute capability 3.0",
        wheels_on_path=True,
        cuda={"gpu.0.compute_capability": "3.0", "gpu.1.compute_capability": "3.0"},
    ),
    Case(
        "old-driver",
        "driver 418.87.01, CUDA driver API 10.1",
        wheels_on_path=True,
        unusable=True,
        cuda={"driver_version": 10010},
    ),
)
