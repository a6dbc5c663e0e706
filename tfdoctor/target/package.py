"""TensorFlow's package: where it lies, what it hides, and what it says of its own build."""

import os

from .reading import listed, text_of

# Any of these makes a folder a real TensorFlow: the compiled core and what the build wrote, which no source tree has.
CORES = (
    "python/_pywrap_tensorflow_internal.so", "python/_pywrap_tensorflow_internal.pyd", "python/_pywrap_tensorflow_common.dll",
    "libtensorflow_cc.so.2", "libtensorflow_cc.2.dylib", "libtensorflow_framework.so.2", "libtensorflow_framework.so.1",
    "libtensorflow_framework.2.dylib", "python/platform/build_info.py",
)  # fmt: skip
OBJECTS = (
    "libtensorflow_framework.so.2", "libtensorflow_framework.so.1", "libtensorflow_cc.so.2",
    "python/_pywrap_tensorflow_internal.so", "python/lib_pywrap_tensorflow_common.so", "python/_pywrap_tensorflow.so",
    "compiler/tf2tensorrt/_pywrap_py_utils.so",
)  # fmt: skip
HEADERS = {
    "cuda_config.h": ("third_party/gpus/cuda/cuda_config.h", "external/local_config_cuda/cuda/cuda/cuda_config.h"),
    "cudnn_version.h": (
        "third_party/gpus/cudnn/include/cudnn_version.h",
        "external/cuda_cudnn/include/cudnn_version.h",
    ),
    "version.h": ("tensorflow/core/public/version.h",),
    "nccl.h": ("external/cuda_nccl/include/nccl.h", "third_party/nccl/nccl.h"),
}


def find_tensorflow(path: "list[str]") -> "dict[str, object]":
    """What `import tensorflow` would find: the first package or module on the path, else a namespace folder.

    `behind` are the further ones that it hides. `real`: it has TensorFlow's compiled core.
    """
    hits, spaces = [], []
    for folder in path:
        package = os.path.join(folder, "tensorflow")
        if has_init(package):
            hits.append((package, "package"))
        elif module_file(folder):
            hits.append((os.path.join(folder, module_file(folder)), "module"))
        elif os.path.isdir(package):
            spaces.append((package, "namespace"))
    order = hits + spaces
    found, kind = order[0] if order else ("", "")
    return {
        "found": found,
        "kind": kind,
        "real": bool(found) and is_real(found),
        "site": bool(found) and any(n.endswith(".dist-info") for n in listed(os.path.dirname(found))),
        "behind": [p for p, _kind in order[1:]],
        "real_behind": next((p for p, _kind in order[1:] if is_real(p)), ""),
    }


def has_init(package: "str") -> "bool":
    """Is this folder a regular package?"""
    return any(os.path.isfile(os.path.join(package, "__init__" + e)) for e in (".py", ".pyc"))


def module_file(folder: "str") -> "str":
    """The file in `folder` that `import tensorflow` would take as a module, or ""."""
    from importlib.machinery import all_suffixes

    return next(
        ("tensorflow" + s for s in all_suffixes() if os.path.isfile(os.path.join(folder, "tensorflow" + s))), ""
    )


def is_real(package: "str") -> "bool":
    """Has this folder TensorFlow's compiled core?"""
    return any(os.path.exists(os.path.join(package, c)) for c in CORES)


def about_build(package: "str") -> "dict[str, object]":
    """What the installed package says of its own build, as text: nothing of it is run."""
    include = os.path.join(package, "include")
    texts = {}
    for name, places in HEADERS.items():
        text = next((t for t in (text_of(os.path.join(include, p)) for p in places) if t is not None), None)
        if text is not None:
            texts[name] = "\n".join(
                line for line in text.splitlines() if line.startswith("#define") and len(line.split()) > 2
            )[:4000]
    objects = {o.rpartition("/")[2]: os.path.join(package, o) for o in OBJECTS}
    return {
        "build_info": text_of(os.path.join(package, "python", "platform", "build_info.py")),
        "headers": texts,
        "objects": {name: p for name, p in objects.items() if os.path.isfile(p)},
    }
