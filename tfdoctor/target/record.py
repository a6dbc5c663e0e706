"""What RECORD says of a distribution's files against what lies there.

Headers and byte code do not decide whether TensorFlow works, nor do the tests of what it imports: left out (of 20 500
files of TensorFlow 2.21, 18 500 are headers).
"""

import hashlib
import os

from .package import is_real
from .reading import text_of

# They own tensorflow/, whatever is lost of their metadata.
PLAIN = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly")
MOST_DAMAGE = 20  # file names told; the count is complete
HASHED_BELOW = 64 * 1024  # bytes; larger files are compared by size alone
MOST_HASHED = 60  # files
COMPILED = (".so", ".pyd", ".dll", ".dylib")
# Of these, a change at equal size is looked for too: they decide what an import finds.
ALWAYS_HASHED = ("__init__.py", "build_info.py", "pywrap_tensorflow.py", "self_check.py", "versions.py")


def is_tensorflow(name: "str") -> "bool":
    """May a distribution of this name hold the folder tensorflow/?"""
    return "tensorflow" in name or name.startswith(("tf-nightly", "tf-"))


def check_tensorflow(entry: "dict[str, object]") -> "None":
    """Add to `entry`, a distribution of TensorFlow, whether it owns tensorflow/ and which of its files are damaged in any way."""
    record = record_of(entry)
    if record is None:
        entry["owns_tensorflow"] = owns_without_record(entry)
        return
    rows = record_rows(record)
    hashed = []  # type: list[str]

    def changed(path: "str", digest: "str", wanted: "int", have: "int") -> "bool":
        if have != wanted:
            return True
        if not digest or have >= HASHED_BELOW or len(hashed) == MOST_HASHED or not path.endswith(ALWAYS_HASHED):
            return False
        hashed.append(path)
        return differs(os.path.join(str(entry["location"]), path), digest)

    gone, others = compared(entry, rows, changed)
    owns = any(path == "tensorflow/__init__.py" for path, _digest, _size in rows)
    entry.update(owns_tensorflow=owns, **damage(gone, others, checked=len(rows)))


def check_imported(entry: "dict[str, object]") -> "None":
    """Add to `entry`, a distribution that TensorFlow imports, which files of its code are gone, and whether its compiled modules
    are another Python's. One that is cut short counts as gone; other changes are not looked for: conda makes some."""
    rows = [row for row in record_rows(record_of(entry) or "") if is_code(row[0]) and "/tests/" not in row[0]]

    def cut_short(path: "str", _digest: "str", wanted: "int", have: "int") -> "bool":
        return have < wanted and is_compiled(path)

    gone, short = compared(entry, rows, cut_short)
    entry.update(**damage(sorted(gone + short), [], checked=len(rows)), foreign=foreign([row[0] for row in rows]))


def compared(
    entry: "dict[str, object]", rows: "list[tuple[str, str, str]]", changed: "object"
) -> "tuple[list[str], list[str]]":
    """The paths that are missing or empty, and those of which changed(path, digest, size wanted, size) is true."""
    gone, others = [], []
    for path, digest, size in rows:
        try:
            have = os.stat(os.path.join(str(entry["location"]), path)).st_size
        except (OSError, ValueError):
            gone.append(path)
            continue
        wanted = int(size) if size.isdecimal() else have
        if wanted and not have:
            gone.append(path)
        elif changed(path, digest, wanted, have):  # type: ignore[operator]
            others.append(path)
    return gone, others


def damage(gone: "list[str]", changed: "list[str]", checked: "int") -> "dict[str, object]":
    """What the answer says of a distribution's files."""
    paths = gone + changed
    return {"checked": checked, "damaged": len(paths), "gone": len(gone), "damage": paths[:MOST_DAMAGE]}


def foreign(paths: "list[str]") -> "str":
    """The first compiled module that names its Python, where none is of this one; else ""."""
    from importlib.machinery import EXTENSION_SUFFIXES

    own = tuple(suffix for suffix in EXTENSION_SUFFIXES if suffix.count(".") > 1)
    tagged = [path for path in paths if is_compiled(path) and (".cpython-" in path or ".cp3" in path)]
    return "" if any(path.endswith(own) for path in tagged) else "".join(tagged[:1])


def is_compiled(path: "str") -> "bool":
    """Is this a shared library, by its name?"""
    return path.endswith(COMPILED) or ".so." in path


def is_code(path: "str") -> "bool":
    """Is this Python's own code or a shared library, by its name?"""
    return path.endswith(".py") or is_compiled(path)


def owns_without_record(entry: "dict[str, object]") -> "bool":
    """Does a distribution that has lost its RECORD own tensorflow/? As top_level.txt says, else as its name and the folder do."""
    names = text_of(os.path.join(str(entry["info"]), "top_level.txt"), 4096)
    if names is not None:
        return "tensorflow" in names.split()
    return entry["name"] in PLAIN and is_real(os.path.join(str(entry["location"]), "tensorflow"))


def record_of(entry: "dict[str, object]") -> "str | None":
    """The text of a distribution's RECORD, or None when it cannot be read."""
    return text_of(os.path.join(str(entry["info"]), "RECORD"), 64 * 1024 * 1024)


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
