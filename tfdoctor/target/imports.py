"""What TensorFlow's import takes from others: other distributions, and the standard library."""

import os

from .package import has_init
from .reading import listed

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
