"""What the interpreter is, and where it would look for what the user's program imports."""

import os
import sys

from .reading import text_of, unique, working_folder


def search_path() -> "list[str]":
    """sys.path as the user's program would see it: `python program.py` and `python -m` begin with a folder of the user's."""
    here = working_folder()
    first = [] if getattr(sys.flags, "safe_path", False) or sys.flags.isolated or not here else [here]
    return unique(first + [os.path.join(here, p) if p else here for p in sys.path])


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
