"""The whole answer. What it looks at may be broken, so every part is guarded by itself; nothing of the target is imported.

The object (target.json of a recording is the same)::

    {"schema": 1, "executable": "/venv/bin/python", "cwd": "/home/…",
     "python": {"version": "3.11.7", "implementation": "CPython", "bits": 64, "platform": "linux", "machine": "x86_64",
                "prefix": "…", "base_prefix": "…", "kind": "venv" | "conda" | "uv" | "system", "externally_managed": false,
                "user_site": "…" ("" not read), "soabi": "cpython-311-x86_64-linux-gnu"},
     "path": [folders where the user's program would look, in order; the working directory first],
     "distributions": [{"name", "version", "location", "info", "requires": […], "installer", "problem",
                        "owns_tensorflow": true, "checked": 2043, "damaged": 0, "gone": 0 (of the damaged: missing or empty),
                        "damage": ["…"] (those that are gone first),   (the last five: of TensorFlow and of what it imports)
                        "foreign": "" or a compiled module of another Python}],
     "leftovers": ["…/~ensorflow-2.15.0.dist-info"],
     "tensorflow": {"found": "/…/tensorflow" | "", "kind": "package" | "module" | "namespace" | "", "real": true,
                    "behind": ["…"], "real_behind": "the first of these with TensorFlow's compiled core",
                    "site": true (beside metadata of distributions), "build_info": "text" | null, "headers": {"cuda_config.h": "its #define lines", "cudnn_version.h", "nccl.h", "version.h"},
                    "objects": {"libtensorflow_framework.so.2": "/…"}},
     "libraries": {"/…/site-packages/nvidia/cudnn/lib": ["libcudnn.so.9", …]},
     "dll_search": [folders, in order] (Windows),
     "shadows": ["/…/random.py" (hides a module of the standard library)],
     "imports": {"absl-py": "/…/absl", "six": "" (not found), "gast": "/…/gast/" (no package), …: what
                 TensorFlow imports of other distributions},
     "tools": ["/…/nvidia/cuda_nvcc/bin/ptxas", "/…/libdevice.10.bc"],
     "problems": ["what could not be looked at"]}
"""

import json
import sys

from .distributions import distributions
from .imports import IMPORTS, find_imports, find_shadows
from .interpreter import about_python, search_path
from .libraries import dll_search, library_folders, tools
from .package import about_build, find_tensorflow
from .reading import working_folder
from .record import check_imported, check_tensorflow, is_tensorflow


def main() -> "None":
    """Print the answer on one line."""
    try:
        found = answer()
        line = json.dumps(found)
        if (
            "\\ud" in line
        ):  # half a surrogate pair: a byte that could not be decoded (or a whole pair: then nothing changes)
            line = json.dumps(printable(found))
    except Exception as error:  # noqa: BLE001  told to whoever asked
        line = json.dumps({"error": f"{type(error).__name__}: {error}"})
    sys.stdout.write("\n" + line + "\n")


def answer() -> "dict[str, object]":
    """The whole answer."""
    problems = []  # type: list[str]
    leftovers = []  # type: list[str]
    path = search_path()
    found = guarded(problems, "distributions", lambda: distributions(path, leftovers), [])
    for entry in found:  # type: ignore[attr-defined]
        if is_tensorflow(str(entry["name"])):
            guarded(problems, "RECORD of " + str(entry["name"]), lambda e=entry: check_tensorflow(e), None)
        elif entry["name"] in IMPORTS:
            guarded(problems, "RECORD of " + str(entry["name"]), lambda e=entry: check_imported(e), None)
    tensorflow = guarded(problems, "tensorflow", lambda: find_tensorflow(path), {})
    package = str(tensorflow.get("found" if tensorflow.get("real") else "real_behind") or "")  # type: ignore[attr-defined]
    if package:
        tensorflow.update(guarded(problems, "build", lambda: about_build(package), {}))  # type: ignore[attr-defined]
    return {
        "schema": 1,
        "executable": sys.executable or "",
        "cwd": working_folder(),
        "python": guarded(
            problems, "python", about_python, {"version": ".".join(str(n) for n in sys.version_info[:3])}
        ),
        "path": path,
        "distributions": found,
        "leftovers": leftovers,
        "tensorflow": tensorflow,
        "libraries": guarded(problems, "libraries", lambda: library_folders(path), {}),
        "dll_search": guarded(problems, "DLL search", dll_search, []),
        "shadows": guarded(problems, "shadows", lambda: find_shadows(path), []),
        "imports": guarded(problems, "imports", lambda: find_imports(path), {}),
        "tools": guarded(problems, "tools", lambda: tools(path), []),
        "problems": problems,
    }


def guarded(problems: "list[str]", what: "str", look: "object", otherwise: "object") -> "object":
    """look(), or `otherwise` with a line in `problems`: one broken part does not silence the others."""
    try:
        return look()  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001  what is looked at may be broken in any way; it is told
        problems.append(f"{what}: {type(error).__name__}: {error}")
        return otherwise


def printable(value: "object") -> "object":
    """The value with file names that are no valid Unicode made printable."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {printable(k): printable(v) for k, v in value.items()}
    return [printable(v) for v in value] if isinstance(value, (list, tuple)) else value
