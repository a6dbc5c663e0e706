"""Run by path with the target interpreter (Python 3.6 to 3.14, standard library only): prints one JSON object.

What it looks at may be broken, so every part is guarded by itself, and nothing of the target is imported.
It must start fast: no typing, re, csv, email, pathlib, importlib.metadata (which alone takes longer than all
of this). Annotations are strings because Python 3.6 does not know `from __future__ import annotations`.

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
     "imports": {"absl-py": "/…/absl", "six": "" (not found), "gast": "/…/gast/" (no package), …: what
                 TensorFlow imports of other distributions},
     "shadows": ["/…/random.py" (hides a module of the standard library)],
     "tools": ["/…/nvidia/cuda_nvcc/bin/ptxas", "/…/libdevice.10.bc"],
     "problems": ["what could not be looked at"]}
"""

# pathlib is slow to import
# ruff: noqa: PTH109, PTH117, PTH204

import os
import sys

# Running a file by path puts its folder first on sys.path, and ours holds a platform.py: nothing else is imported before it is gone.
_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:] = [
    _p for _p in sys.path if isinstance(_p, str) and (not os.path.isabs(_p) or os.path.realpath(_p) != _HERE)
]

import hashlib  # noqa: E402
import json  # noqa: E402

PLAIN = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tf-nightly",
)  # they own tensorflow/, whatever is lost of their metadata
MOST_DAMAGE = 20  # file names told; the count is complete
HASHED_BELOW = 64 * 1024  # bytes; larger files are compared by size alone
MOST_HASHED = 60  # files
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
# The first two of these that exist make a folder a real TensorFlow: the compiled core, which no source tree has.
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
# What `import tensorflow` imports of other distributions, and cannot do without, in one release or another (2.15 to 2.21).
IMPORTS = {
    "absl-py": "absl", "astunparse": "astunparse", "certifi": "certifi", "flatbuffers": "flatbuffers", "gast": "gast",
    "idna": "idna", "ml-dtypes": "ml_dtypes", "numpy": "numpy", "opt-einsum": "opt_einsum", "packaging": "packaging",
    "protobuf": "google.protobuf", "requests": "requests", "six": "six", "termcolor": "termcolor",
    "typing-extensions": "typing_extensions", "urllib3": "urllib3", "wrapt": "wrapt",
}  # fmt: skip
# What it imports of the standard library that Python has not imported at its own start (2.16 and 2.21); of `code` nothing is used.
STANDARD = (
    "argparse array ast asyncio base64 bdb binascii bisect bz2 calendar cmd codeop collections colorsys concurrent "
    "configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib dis email enum fcntl "
    "fnmatch fractions functools getpass gettext glob grp gzip hashlib heapq hmac http importlib inspect ipaddress json "
    "keyword linecache locale logging lzma math mimetypes multiprocessing numbers opcode operator pathlib pdb pickle "
    "pkgutil platform pprint queue quopri random re reprlib secrets select selectors shlex shutil signal socket ssl string "
    "stringprep struct subprocess sysconfig tarfile tempfile termios textwrap threading timeit token tokenize traceback "
    "types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib"
)
CODE = (".py", ".so", ".pyd", ".dll", ".dylib")
# Of these, a change at equal size is looked for too: they decide what an import finds.
ALWAYS_HASHED = ("__init__.py", "build_info.py", "pywrap_tensorflow.py", "self_check.py", "versions.py")


def listed(folder: "str") -> "list[str]":
    """The names in a folder, sorted; empty when it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def text_of(path: "str", limit: "int" = 8 * 1024 * 1024) -> "str | None":
    """The text of a file, or None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


def search_path() -> "list[str]":
    """sys.path as the user's program would see it: `python program.py` and `python -m` begin with a folder of the user's."""
    here = working_folder()
    first = [] if getattr(sys.flags, "safe_path", False) or sys.flags.isolated or not here else [here]
    return unique(first + [os.path.join(here, p) if p else here for p in sys.path])


def working_folder() -> "str":
    """The working directory, or "" when it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def unique(items: "list[str]") -> "list[str]":
    """The items without repetitions, in order."""
    return list(dict.fromkeys(items))


def canonical(name: "str") -> "str":
    """The name of a distribution as PEP 503 writes it."""
    out = name.lower().replace("_", "-").replace(".", "-")
    while "--" in out:
        out = out.replace("--", "-")
    return out


def about_python() -> "dict[str, object]":
    """What this interpreter is."""
    base = getattr(sys, "base_prefix", sys.prefix)
    config = text_of(os.path.join(sys.prefix, "pyvenv.cfg")) or ""
    marks = [line.partition("=")[0].strip() for line in config.splitlines()]
    if sys.prefix != base or config:
        kind = "uv" if "uv" in marks else "venv"
    elif os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        kind = "conda"
    else:
        kind = "system"
    stdlib = os.path.dirname(os.__file__)
    site = sys.modules.get("site")
    user_site = getattr(site, "USER_SITE", None) if getattr(site, "ENABLE_USER_SITE", None) else None
    implementation = {"cpython": "CPython", "pypy": "PyPy"}.get(sys.implementation.name, sys.implementation.name)
    return {
        "version": ".".join(str(n) for n in sys.version_info[:3]) + release_suffix(),
        "implementation": implementation,
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "platform": sys.platform,
        "machine": os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", ""),
        "prefix": sys.prefix,
        "base_prefix": base,
        "kind": kind,
        "externally_managed": kind not in ("uv", "venv") and os.path.isfile(os.path.join(stdlib, "EXTERNALLY-MANAGED")),
        "user_site": user_site if user_site and os.path.isdir(user_site) else "",
        "soabi": sys.implementation.cache_tag or "",
    }


def release_suffix() -> "str":
    """ "" for a final release, "rc1", "a2", "b3" otherwise."""
    level = sys.version_info[3]
    return {"alpha": "a", "beta": "b", "candidate": "rc"}[level] + str(sys.version_info[4]) if level != "final" else ""


# Distributions ----------------------------------------------------------------------------------------------------


def distributions(path: "list[str]", leftovers: "list[str]") -> "list[dict[str, object]]":
    """Every distribution on the path, in the order in which it would be found. Leftovers of broken removals go into `leftovers`."""
    found = []
    seen = set()
    for location in path:
        real = os.path.realpath(location)
        if real in seen or not os.path.isdir(location):
            continue
        seen.add(real)
        names = listed(location)
        infos = [n for n in names if n.endswith((".dist-info", ".egg-info"))]
        leftovers.extend(os.path.join(location, n) for n in infos if n.startswith("~"))
        here = [distribution(location, n) for n in infos if not n.startswith("~")]
        if location.endswith(".egg") and "EGG-INFO" in names:
            here.append(distribution(location, "EGG-INFO"))
        found += newest_first(here)
    return found


def newest_first(here: "list[dict[str, object]]") -> "list[dict[str, object]]":
    """Distributions of one folder; where a name is there twice, the one installed last comes first: its files are on disk."""
    names = [d["name"] for d in here]
    if len(set(names)) == len(names):
        return here

    def installed(entry: "dict[str, object]") -> "float":
        try:
            return -os.path.getmtime(str(entry["info"]))
        except OSError:
            return 0.0

    return sorted(here, key=lambda d: (str(d["name"]), installed(d)))


def distribution(location: "str", folder: "str") -> "dict[str, object]":
    """One .dist-info or .egg-info (a folder, or a file of old distutils)."""
    info = os.path.join(location, folder)
    stem = folder.rpartition(".")[0]
    guess_name, _dash, guess_version = stem.partition("-")
    out = {
        "name": canonical(guess_name),
        "version": guess_version.partition("-py")[0],
        "location": location,
        "info": info,
    }  # type: dict[str, object]
    out.update(requires=[], installer="", problem="")
    metadata = os.path.join(info, "METADATA" if folder.endswith(".dist-info") else "PKG-INFO")
    text = text_of(info if os.path.isfile(info) else metadata)
    if text is None:
        out["problem"] = "no " + os.path.basename(metadata) if os.path.isdir(info) else "not readable"
        return out
    fields = headers(text)
    out["requires"] = fields.get("requires-dist", [])
    for key in ("name", "version"):
        value = fields.get(key, [""])[0]
        if value:
            out[key] = canonical(value) if key == "name" else value
        else:
            out["problem"] = f"no {key.capitalize()} in {os.path.basename(metadata)}"
    out["installer"] = (text_of(os.path.join(info, "INSTALLER"), 100) or "").strip()
    return out


def headers(text: "str") -> "dict[str, list[str]]":
    """The header of an RFC 822 text: lower-case name to its values. The body after the first empty line is not looked at."""
    out = {}  # type: dict[str, list[str]]
    last = ""
    for line in text.splitlines():
        if not line.strip():
            break
        if line[0] in " \t":
            if last:
                out[last][-1] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if not colon:
            continue
        last = name.strip().lower()
        out.setdefault(last, []).append(value.strip())
    return out


def is_tensorflow(name: "str") -> "bool":
    """May a distribution of this name hold the folder tensorflow/?"""
    return "tensorflow" in name or name.startswith(("tf-nightly", "tf-"))


def check_files(entry: "dict[str, object]") -> "None":
    """Compare what RECORD says of a distribution with what lies there, and add the result to `entry`.

    Missing, empty and size-changed files; small ones that decide an import by hash too. Headers, byte code and
    tests do not decide whether TensorFlow works: left out (of 20 500 files of TensorFlow 2.21, 18 500 are headers).
    """
    record = text_of(os.path.join(str(entry["info"]), "RECORD"), 64 * 1024 * 1024)
    if record is None:
        listed_names = text_of(os.path.join(str(entry["info"]), "top_level.txt"), 4096)
        beside = entry["name"] in PLAIN and is_real(os.path.join(str(entry["location"]), "tensorflow"))
        entry["owns_tensorflow"] = beside if listed_names is None else "tensorflow" in listed_names.split()
        return
    location = str(entry["location"])
    owns, checked, hashed = False, 0, 0
    gone = []  # type: list[str]
    changed = []  # type: list[str]
    for path, digest, size in record_rows(record):
        if path == "tensorflow/__init__.py":
            owns = True
        checked += 1
        try:
            have = os.stat(os.path.join(location, path)).st_size
        except (OSError, ValueError):
            gone.append(path)
            continue
        if size.isdigit() and have != int(size):
            (changed if have else gone).append(path)
        elif digest and have < HASHED_BELOW and hashed < MOST_HASHED and path.endswith(ALWAYS_HASHED):
            hashed += 1
            if differs(os.path.join(location, path), digest):
                changed.append(path)
    damage = gone + changed
    entry.update(
        owns_tensorflow=owns, checked=checked, damaged=len(damage), gone=len(gone), damage=damage[:MOST_DAMAGE]
    )


def check_code(entry: "dict[str, object]") -> "None":
    """Which files of code that RECORD names are not there, empty or (compiled ones) cut short, added to `entry`, and whether
    its compiled modules are another Python's. Other changes are not looked for: conda makes some."""
    record = text_of(os.path.join(str(entry["info"]), "RECORD"), 64 * 1024 * 1024) or ""
    checked = 0
    gone = []  # type: list[str]
    tagged = []  # type: list[str]
    for path, _digest, size in record_rows(record):
        compiled = path.endswith(CODE[1:]) or ".so." in path
        if not (compiled or path.endswith(CODE[0])) or "/tests/" in path:
            continue
        checked += 1
        try:
            have = os.stat(os.path.join(str(entry["location"]), path)).st_size
        except (OSError, ValueError):
            have = -1
        if have < 0 or (size.isdigit() and have < int(size) and (compiled or not have)):
            gone.append(path)
        if compiled and (".cpython-" in path or ".cp3" in path):
            tagged.append(path)
    from importlib.machinery import EXTENSION_SUFFIXES

    own = tuple(suffix for suffix in EXTENSION_SUFFIXES if suffix.count(".") > 1)
    foreign = [] if any(path.endswith(own) for path in tagged) else tagged
    gone.sort()
    entry.update(
        checked=checked, damaged=len(gone), gone=len(gone), damage=gone[:MOST_DAMAGE], foreign="".join(foreign[:1])
    )


def record_rows(text: "str") -> "list[tuple[str, str, str]]":
    """(path, "sha256=…" or "", size or "") for the lines of a RECORD that count. A quoted path (it holds a comma) is unquoted."""
    out = []
    for line in text.splitlines():
        if "/include/" in line or ".pyc," in line or "../" in line or ".dist-info/" in line:
            continue
        parts = line.rsplit(",", 2)
        if len(parts) != 3 or not parts[0]:
            continue
        path, digest, size = parts
        if path.startswith('"') and path.endswith('"') and len(path) > 1:
            path = path[1:-1].replace('""', '"')
        if os.path.isabs(path) or "\0" in path:
            continue
        out.append((path, digest.strip(), size.strip()))
    return out


def differs(path: "str", digest: "str") -> "bool":
    """Does the file have another hash than RECORD says? False where that cannot be told."""
    name, _sep, wanted = digest.partition("=")
    try:
        with open(path, "rb") as file:
            have = hashlib.new(name, file.read()).digest()
    except (OSError, ValueError, TypeError):
        return False
    import base64

    return base64.urlsafe_b64encode(have).decode().rstrip("=") != wanted.rstrip("=")


# TensorFlow -------------------------------------------------------------------------------------------------------


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


def find_imports(path: "list[str]") -> "dict[str, str]":
    """Where Python would find each of IMPORTS: a package or a module, else a folder without __init__ ("/…/numpy/"), else ""."""
    names = {folder: set(listed(folder)) for folder in path}
    out = {}
    for name, module in IMPORTS.items():
        first = module.partition(".")[0]
        places = [os.path.join(f, *module.split(".")) for f in path if first in names[f] or first + ".py" in names[f]]
        whole = [p if has_init(p) else p + ".py" for p in places if has_init(p) or os.path.isfile(p + ".py")]
        out[name] = (whole + [p + os.sep for p in places if os.path.isdir(p)] + [""])[0]
    return out


def find_shadows(path: "list[str]") -> "list[str]":
    """What hides a module of the standard library that TensorFlow's import takes: it lies in a folder that is searched before."""
    own = os.path.dirname(os.__file__)
    before = path[: path.index(own)] if own in path else []
    names = STANDARD.split()
    places = [os.path.join(f, n) for f in before for n in listed(f) if n.partition(".")[0] in names]
    return [p for p in places if (p.endswith(".py") and os.path.isfile(p)) or has_init(p)]


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


# Libraries --------------------------------------------------------------------------------------------------------


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


def guarded(problems: "list[str]", what: "str", look: "object", otherwise: "object") -> "object":
    """look(), or `otherwise` with a line in `problems`: one broken part does not silence the others."""
    try:
        return look()  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001  what is looked at may be broken in any way; it is told
        problems.append(f"{what}: {type(error).__name__}: {error}")
        return otherwise


def answer() -> "dict[str, object]":
    """The whole answer."""
    problems = []  # type: list[str]
    leftovers = []  # type: list[str]
    path = search_path()
    found = guarded(problems, "distributions", lambda: distributions(path, leftovers), [])
    for entry in found:  # type: ignore[attr-defined]
        if is_tensorflow(str(entry["name"])):
            guarded(problems, "RECORD of " + str(entry["name"]), lambda e=entry: check_files(e), None)
        elif entry["name"] in IMPORTS:
            guarded(problems, "RECORD of " + str(entry["name"]), lambda e=entry: check_code(e), None)
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


def printable(value: "object") -> "object":
    """The value with file names that are no valid Unicode made printable."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {printable(k): printable(v) for k, v in value.items()}
    return [printable(v) for v in value] if isinstance(value, (list, tuple)) else value


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


if __name__ == "__main__":
    main()
