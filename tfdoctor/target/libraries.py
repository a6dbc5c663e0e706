"""Copies of CUDA's libraries and of XLA's tools that packages bring."""

import os
import sys

from .reading import listed, unique, working_folder

# Beginnings of the names of the libraries that a CUDA build of TensorFlow may open, or that those open.
LIBRARY_NAMES = (
    "libcudart", "libcublas", "libcufft", "libcurand", "libcusolver", "libcusparse", "libcudnn", "libcupti", "libnccl",
    "libnvJitLink", "libnvrtc", "libnvinfer", "libnvshmem", "libnvvm", "libcuda.so",
    "cudart64", "cublas", "cufft64", "curand64", "cusolver64", "cusparse64", "cudnn", "cupti64", "nvinfer",
    "nvcuda.dll",
)  # fmt: skip
# Folders below an entry of sys.path in which packages keep copies of CUDA libraries, or tools that XLA looks for.
LIBRARY_FOLDERS = (
    "torch/lib",
    "tensorrt_libs",
    "tensorrt",
    "tensorrt_cu12_libs",
    "tensorrt_cu13_libs",
    "tensorflow",
    "cusparselt/lib",
)
TOOLS = (
    "nvidia/cuda_nvcc/bin/ptxas", "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc", "nvidia/cu13/bin/ptxas",
    "nvidia/cu13/nvvm/libdevice/libdevice.10.bc", "triton/backends/nvidia/bin/ptxas", "triton/backends/nvidia/lib/libdevice.10.bc",
)  # fmt: skip


def library_folders(path: "list[str]") -> "dict[str, list[str]]":
    """The folders in which packages and the prefix keep CUDA libraries, with the names of those."""
    out = {}  # type: dict[str, list[str]]
    for folder in path:
        nvidia = os.path.join(folder, "nvidia")
        places = [os.path.join(nvidia, n, sub) for n in listed(nvidia) for sub in ("lib", "bin")]
        places += [os.path.join(folder, *f.split("/")) for f in LIBRARY_FOLDERS]
        for place in places:
            add_libraries(out, place)
    for place in ("lib", os.path.join("Library", "bin"), os.path.join("targets", "x86_64-linux", "lib")):
        add_libraries(out, os.path.join(sys.prefix, place))
    for place in dll_search():
        add_libraries(out, place)
    return out


def dll_search() -> "list[str]":
    """Where Windows looks for a DLL that is asked for by its bare name, in order; [] on other systems."""
    if os.name != "nt":
        return []
    root = os.environ.get("SYSTEMROOT", r"C:\Windows")
    path = os.environ.get("PATH", "").split(os.pathsep)
    program = (
        getattr(sys, "_base_executable", "") or sys.executable or ""
    )  # a virtual environment's only starts that one
    own = [os.path.dirname(program), os.path.join(root, "System32"), root, working_folder()]
    return unique([p for p in own + path if p])


def add_libraries(out: "dict[str, list[str]]", folder: "str") -> "None":
    """Note the CUDA libraries in a folder, where there are any."""
    names = [n for n in listed(folder) if n.startswith(LIBRARY_NAMES) and (".so" in n or n.endswith(".dll"))]
    if names:
        out[folder] = names


def tools(path: "list[str]") -> "list[str]":
    """Copies of ptxas and libdevice that packages bring."""
    places = [os.path.join(p, *t.split("/")) for p in path for t in TOOLS]
    return [p for p in unique(places) if os.path.isfile(p)]
