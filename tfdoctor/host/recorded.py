"""A machine recorded in a folder by `tfdoctor record`, or put together by hand from a colleague's outputs."""

from __future__ import annotations

import fnmatch
import glob as globbing
import io
import json
import os
import stat as stat_module
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Optional

from tfdoctor.children import Completed
from tfdoctor.elf import Elf, from_json, read_elf
from tfdoctor.host.base import CAPTURES, MOST_TEXT, RECORDING_SCHEMA, Host, Space, Stat, kind_of
from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Unavailable

# What a recording may hold, each part optional.
PARTS = (
    *(
        "root",
        "dev.txt",
        "env.txt",
        "nvml.json",
        "cuda.json",
        "target.json",
        "pip-freeze.txt",
        "absent.txt",
        "space.json",
        "elf.json",
    ),
    *("recording.json", *CAPTURES),
)


class RecordedHost(Host):
    """A machine recorded in a folder (DESIGN: "A recorded machine"). What is not there could not be looked at,
    unless `absent.txt` lists its path as seen to be absent."""

    live = False

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        if not folder or not self._folder.is_dir():
            raise BadInput(
                _("{folder} is not a folder; --host wants one that `tfdoctor record` wrote.").format(
                    folder=folder or "''"
                )
            )
        self._check_version()
        self._absent = set((self._text("absent.txt") or "").splitlines())
        self._dev = self._text("dev.txt")
        self._elves: Optional[Mapping[str, Any]] = None
        self.target = str(self._json("target.json").get("executable", "python")) if self._has("target.json") else ""

    def _check_version(self) -> None:
        if not any((self._folder / name).exists() for name in PARTS):
            text = _("{folder} is no recording: it holds nothing like nvidia-smi-q.xml or root/proc.")
            raise BadInput(text.format(folder=self._folder))
        if not self._has("recording.json"):
            return
        schema = self._json("recording.json").get("schema")
        if schema != RECORDING_SCHEMA:
            raise BadInput(
                _("{folder} is a recording of schema {found}; this tfdoctor reads schema {known}.").format(
                    folder=self._folder, found=schema, known=RECORDING_SCHEMA
                )
            )

    def _has(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def _text(self, name: str) -> Optional[str]:
        """The text of a part, whatever encoding Windows' `>` gave it; None when the part is not there."""
        path = self._folder / name
        if not path.is_file():
            return None
        data = path.read_bytes()
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return data.decode(encoding, "replace")

    def _json(self, name: str) -> Mapping[str, Any]:
        text = self._text(name)
        if text is None:
            raise Unavailable(_("the recording has no {name}").format(name=name))
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(
                _("{path} is not JSON ({error}); delete it or record again.").format(
                    path=self._folder / name, error=error
                )
            ) from error
        if not isinstance(value, dict):
            raise BadInput(_("{path} must hold one JSON object.").format(path=self._folder / name))
        return value

    def _inside(self, path: str) -> Path:
        return self._folder / "root" / path.lstrip("/")

    def _known_absent(self, path: str) -> bool:
        if path in self._absent or any(str(folder) in self._absent for folder in PurePosixPath(path).parents):
            return True  # nothing lies in a folder that is not there
        # dev.txt names everything in /dev, so a name that is not in it was not there.
        return self._dev is not None and path.startswith("/dev/") and path.count("/") == 2 and not self._dev_name(path)

    def _dev_name(self, path: str) -> Optional[str]:
        """The line of dev.txt for /dev/NAME: a bare name, or a line of `ls -l`."""
        name = path[len("/dev/") :]
        for line in (self._dev or "").splitlines():
            words = line.split()
            if words and words[-1].rpartition("/dev/")[2].rstrip("/") == name:
                return line
        return None

    def _unavailable(self, path: str) -> Unavailable:
        return Unavailable(_("{path} is not in the recording").format(path=path))

    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        inside = self._inside(path)
        if inside.is_file():
            with inside.open("rb") as file:
                return file.read(limit)
        if self._known_absent(path):
            return None
        raise self._unavailable(path)

    def read(self, path: str) -> Optional[str]:
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def glob(self, pattern: str) -> tuple[str, ...]:
        root = self._folder / "root"
        found = [
            "/" + os.path.relpath(p, root).replace(os.sep, "/")
            for p in globbing.glob(str(self._inside(pattern).as_posix()))
        ]
        if self._dev is not None and pattern.startswith("/dev/"):
            names = {w[-1].rpartition("/dev/")[2] for w in map(str.split, self._dev.splitlines()) if w}
            found += [f"/dev/{n}" for n in names if fnmatch.fnmatch(f"/dev/{n}", pattern)]
            return tuple(sorted(set(found)))
        fixed = pattern.split("*", 1)[0].split("[", 1)[0].rpartition("/")[0]
        if not found and not self._inside(fixed).is_dir() and pattern not in self._absent and fixed not in self._absent:
            raise self._unavailable(fixed)
        return tuple(sorted(found))

    def stat(self, path: str) -> Optional[Stat]:
        inside = self._inside(path)
        if inside.exists():
            found = inside.stat()
            return Stat(stat_module.S_IMODE(found.st_mode), 0, 0, found.st_size, kind_of(found.st_mode))
        line = self._dev_name(path) if path.startswith("/dev/") else None
        if line is not None:
            return _stat_of_listing(line)
        if self._known_absent(path):
            return None
        raise self._unavailable(path)

    def realpath(self, path: str) -> str:
        links = self.stated("links")
        if isinstance(links, dict) and path in links:
            return str(links[path])
        root = os.path.realpath(self._folder / "root")
        inside = os.path.realpath(self._inside(path))
        return inside[len(root) :].replace(os.sep, "/") if inside.startswith(root + os.sep) else path

    def elf(self, path: str) -> Optional[Elf]:
        """From elf.json (path -> Elf.as_json(), null for none). A file under root/ counts too; one that a recording
        keeps without its content is a library of its own name."""
        if self._elves is None:
            self._elves = self._json("elf.json") if self._has("elf.json") else {}
        if path in self._elves:
            found = self._elves[path]
            return from_json(found) if isinstance(found, dict) else None
        data = self.read_bytes(path)
        if data is None:
            return None
        real = self.realpath(path)
        whole = read_elf(io.BytesIO(data), real)
        return whole if not whole.problem else Elf(real, soname=os.path.basename(path))

    def can_open(self, path: str) -> str:
        tried = self.stated("can_open")
        if not isinstance(tried, dict) or path not in tried:
            raise Unavailable(_("the recording does not tell who could open {path}").format(path=path))
        return str(tried[path])

    def stated(self, what: str) -> Any:
        if not self._has("recording.json"):
            return None
        stated = self._json("recording.json").get("stated")
        return stated.get(what) if isinstance(stated, dict) else None

    def space(self, path: str) -> Optional[Space]:
        sizes = self._json("space.json")
        if path not in sizes:
            raise self._unavailable(path)
        found = sizes[path]
        return None if found is None else Space(int(found["total"]), int(found["free"]))

    def env(self) -> Mapping[str, str]:
        text = self._text("env.txt")
        if text is None:
            raise Unavailable(_("the recording has no env.txt"))
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
        return {name.strip(): value for name, _sep, value in pairs}

    def capture(self, name: str) -> Optional[Completed]:
        text = self._text(name)
        if text is not None:
            codes = self.stated("exit_codes")
            code = codes.get(name) if isinstance(codes, dict) else None
            return Completed(text, code=code if isinstance(code, int) else None)
        if name in self._absent:
            return None
        raise Unavailable(_("the recording has no {name}").format(name=name))

    def nvml(self) -> Mapping[str, Any]:
        return self._json("nvml.json")

    def cuda(self) -> Mapping[str, Any]:
        return self._json("cuda.json")

    def target_answer(self) -> Mapping[str, Any]:
        return self._json("target.json")

    def pip_freeze(self) -> Optional[str]:
        return self._text("pip-freeze.txt")


def _stat_of_listing(line: str) -> Stat:
    """A line of dev.txt. `crw-rw---- 1 root video 195, 0 … nvidia0` tells mode and owner, a bare name only that it is.

    Owner and group come as numbers or as names; root is 0 and every other name -1.
    """
    words = line.split()
    if len(words) < 4 or len(words[0]) < 10:
        return Stat(0o666, 0, 0, 0, "char")
    bits = words[0][1:10]
    mode = sum(1 << (8 - i) for i, c in enumerate(bits) if c not in "-STst")
    kind = {"c": "char", "d": "dir", "-": "file"}.get(words[0][0], "other")
    owner, group = (int(w) if w.isdecimal() else 0 if w == "root" else -1 for w in words[2:4])
    return Stat(mode, owner, group, 0, kind, "" if words[3].isdecimal() else words[3])
