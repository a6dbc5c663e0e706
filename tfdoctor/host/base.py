"""What can be asked of a machine, whichever it is.

Every method tells three states apart: a value (seen), None or empty (seen to be absent), and `Unavailable`
(could not look, with the reason).
"""

from __future__ import annotations

import stat as stat_module
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tfdoctor.children import Completed
from tfdoctor.elf import Elf

# The packages that matter, and those of which every system has one that RPM manages.
RPMS = (
    "*nvidia*", "cuda-drivers*", "cuda-compat*", "datacenter-gpu-manager*", "glibc", "musl", "filesystem"
)  # fmt: skip
# What a recording calls the output of a command. `record` writes these, `--host` reads them.
CAPTURES: Mapping[str, tuple[str, ...]] = {
    "nvidia-smi.txt": ("nvidia-smi",),
    "nvidia-smi-q.xml": ("nvidia-smi", "-q", "-x"),
    "nvidia-smi-topo-m.txt": ("nvidia-smi", "topo", "-m"),
    "nvidia-smi-topo-p2p.txt": ("nvidia-smi", "topo", "-p2p", "r"),
    "nvidia-smi-nvlink.txt": ("nvidia-smi", "nvlink", "-s"),
    "lspci-vvv.txt": ("lspci", "-vvv", "-nn"),
    "dmesg.txt": ("dmesg",),
    "rocm-smi.json": ("rocm-smi", "--showallinfo", "--json"),
    "modinfo.txt": ("modinfo", "nvidia"),
    "journal.txt": ("journalctl", "-k", "-b", "-q", "--no-pager", "-o", "cat"),
    "rpm-qa.txt": ("rpm", "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n", *RPMS),
}

RECORDING_SCHEMA = 1
MOST_TEXT = 4 * 1024 * 1024  # the longest file a probe reads here is /var/lib/dpkg/status


@dataclass(frozen=True)
class Stat:
    """What `stat` says of a path: permission bits, owner, group, size in bytes, "char" | "dir" | "file" | "other".

    `group` is the group's name where a listing gave the name and no number (gid is -1 then)."""

    mode: int
    uid: int
    gid: int
    size: int
    kind: str
    group: str = ""


@dataclass(frozen=True)
class Space:
    """What statvfs says of a file system, in bytes."""

    total: int
    free: int


class Host(ABC):
    """A machine that can be looked at."""

    target: str  # the interpreter that is asked about, as a path or a name

    @abstractmethod
    def read(self, path: str) -> Optional[str]:
        """The text of a file (at most MOST_TEXT bytes of it), or None when there is none."""

    @abstractmethod
    def read_bytes(self, path: str, limit: int = MOST_TEXT) -> Optional[bytes]:
        """The first `limit` bytes of a file, or None when there is none."""

    @abstractmethod
    def glob(self, pattern: str) -> tuple[str, ...]:
        """The paths that match, sorted."""

    @abstractmethod
    def stat(self, path: str) -> Optional[Stat]:
        """What a path is, links followed; None when there is nothing."""

    @abstractmethod
    def realpath(self, path: str) -> str:
        """`path` with every link resolved, as the machine would see it."""

    @abstractmethod
    def elf(self, path: str) -> Optional[Elf]:
        """What the dynamic loader reads in the shared library at `path`, or None when there is no such file."""

    @abstractmethod
    def can_open(self, path: str) -> str:
        """Empty when this user can open `path` for reading and writing, else the error's text."""

    @abstractmethod
    def space(self, path: str) -> Optional[Space]:
        """The file system that holds `path`, or None when there is no such path."""

    @abstractmethod
    def env(self) -> Mapping[str, str]:
        """The environment variables a program would be started with."""

    @abstractmethod
    def capture(self, name: str) -> Optional[Completed]:
        """What the command that CAPTURES calls `name` prints; None when there is no such program."""

    @abstractmethod
    def nvml(self) -> Mapping[str, Any]:
        """What NVML answered, in the shape that probes/nvml_child.py describes."""

    @abstractmethod
    def cuda(self) -> Mapping[str, Any]:
        """What came of starting CUDA, in the shape that probes/cuda_child.py describes."""

    @abstractmethod
    def target_answer(self) -> Mapping[str, Any]:
        """What the target interpreter said of itself, in the shape that target/answer.py describes."""

    @abstractmethod
    def pip_freeze(self) -> Optional[str]:
        """`pip freeze` of the target, where nothing better is recorded; None on a live machine."""

    def stated(self, what: str) -> Any:
        """What a recording states of the machine beside its files ("platform", "shm"…); None where it does not,
        and on a live machine."""
        return None

    @property
    @abstractmethod
    def live(self) -> bool:
        """Is this the machine we run on?"""

    def is_file(self, path: str) -> bool:
        """Is there a regular file at `path`?"""
        found = self.stat(path)
        return found is not None and found.kind == "file"

    def waiting_for(self) -> tuple[str, ...]:
        """What is still being waited for, in words."""
        return ()

    def close(self) -> None:
        """End whatever was started; nothing was unless a subclass did."""
        return


def kind_of(mode: int) -> str:
    """What `Stat.kind` calls the file type in `mode`."""
    if stat_module.S_ISCHR(mode):
        return "char"
    if stat_module.S_ISDIR(mode):
        return "dir"
    return "file" if stat_module.S_ISREG(mode) else "other"
