"""What the dynamic loader reads in a shared library: a summary small enough for a recording."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, BinaryIO

from tfdoctor.loose import text, texts

# Libraries whose full version is written inside them, where neither the file's name nor a package tells it. The
# front library of cuDNN 9 is about 100 KB and names its parts with their version.
STATED = re.compile(rb"libcudnn_graph\.so\.([0-9]+\.[0-9]+\.[0-9]+)\0")
STATED_IN = ("libcudnn.so.",)
MOST_SEARCHED = 1024 * 1024  # bytes

DF_1_NODEFLIB = 0x800

# Bounds for a damaged file. libtensorflow_cc.so.2 has 11 segments and 35 entries; the longest string known is the RUNPATH of
# TensorFlow 2.21's libtensorflow_framework.so.2 with 27 KB.
MOST_SEGMENTS, MOST_ENTRIES, MOST_STRING = 1000, 10_000, 256 * 1024


@dataclass(frozen=True)
class Elf:
    """A shared library, as the loader sees it. `real` is its path with links resolved, `bits` 32 or 64, `machine` as
    pyelftools names it ("EM_X86_64"). `runpath` and `rpath` are the entries as written ($ORIGIN kept), without repetitions.

    `problem`: why the loader would refuse the file ("" none). `stated`: the version written inside, where it was looked for.
    `no_default`: it asks the loader to leave out ld.so.cache and the default folders."""

    real: str
    soname: str = ""
    bits: int = 0
    machine: str = ""
    needed: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    problem: str = ""
    stated: str = ""
    no_default: bool = False

    def as_json(self) -> dict[str, Any]:
        """For a recording: what is not set is left out."""
        return {name: value for name, value in asdict(self).items() if value}


def from_json(value: Mapping[str, Any]) -> Elf:
    """The inverse of `as_json`; a value of another type counts as not set."""
    given: dict[str, Any] = {}
    for field in fields(Elf):
        raw = value.get(field.name)
        if field.name in ("needed", "runpath", "rpath"):
            given[field.name] = texts(raw)
        elif field.name == "bits":
            given[field.name] = raw if isinstance(raw, int) else 0
        elif field.name == "no_default":
            given[field.name] = raw is True
        else:
            given[field.name] = text(raw)
    return Elf(**given)


def read_elf(file: BinaryIO, real: str) -> Elf:
    """The summary of an open file. A file that is no ELF object has a `problem`; nothing makes this raise but OSError."""
    head = file.read(20)
    if len(head) < 20:
        return Elf(real, problem="file too short")
    if head[:4] != b"\x7fELF":
        return Elf(real, problem="invalid ELF header")
    from elftools.common.exceptions import ELFError
    from elftools.construct.core import ConstructError

    try:
        return _summary(file, real, {1: 32, 2: 64}[head[4]], {1: True, 2: False}[head[5]])
    except (ELFError, ConstructError, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError) as error:
        return Elf(real, problem=f"damaged ELF file ({type(error).__name__})")


@functools.cache
def _structs(bits: int, little_endian: bool, kind: str = "", machine: str = "", abi: str = "") -> Any:
    """pyelftools' structures alone, made once for each kind of file. Its ELFFile also imports everything about debug
    information, which takes 40 ms more, and walks all sections of a 1 GB library to reach the few bytes that count."""
    from elftools.elf.structs import ELFStructs

    structs = ELFStructs(little_endian=little_endian, elfclass=bits)
    structs.create_basic_structs()
    if machine:
        structs.create_advanced_structs(kind, machine, abi)
    return structs


def _summary(file: BinaryIO, real: str, bits: int, little_endian: bool) -> Elf:
    from elftools.common.utils import struct_parse

    header = struct_parse(_structs(bits, little_endian).Elf_Ehdr, file, 0)
    about = (str(header["e_type"]), str(header["e_machine"]), str(header["e_ident"]["EI_OSABI"]))
    structs = _structs(bits, little_endian, *about)
    places = (header["e_phoff"] + i * header["e_phentsize"] for i in range(min(header["e_phnum"], MOST_SEGMENTS)))
    segments = [struct_parse(structs.Elf_Phdr, file, place) for place in places]
    if file.seek(0, 2) < max((s["p_offset"] + s["p_filesz"] for s in segments if s["p_type"] == "PT_LOAD"), default=0):
        return Elf(real, problem="file ends too early")  # the loader maps it all the same, and a look beyond is SIGBUS
    entries = _dynamic_entries(file, structs, next((s for s in segments if s["p_type"] == "PT_DYNAMIC"), None))
    strings = _string_table(segments, dict(entries))
    tags = ("DT_SONAME", "DT_NEEDED", "DT_RUNPATH", "DT_RPATH")
    found = {tag: [_string_at(file, strings + value) for t, value in entries if t == tag] for tag in tags}
    soname = next(iter(found["DT_SONAME"]), "")
    # ld.so(8): RPATH is ignored where there is a RUNPATH.
    rpath = () if found["DT_RUNPATH"] else _entries(found["DT_RPATH"])
    return Elf(
        real=real,
        soname=soname,
        bits=bits,
        machine=about[1],
        needed=tuple(found["DT_NEEDED"]),
        runpath=_entries(found["DT_RUNPATH"]),
        rpath=rpath,
        stated=_stated(file, soname),
        no_default=any(t == "DT_FLAGS_1" and value & DF_1_NODEFLIB for t, value in entries),
    )


def _dynamic_entries(file: BinaryIO, structs: Any, segment: Any) -> list[tuple[str, int]]:
    """(tag, value) of the dynamic segment, up to its end mark."""
    from elftools.common.utils import struct_parse

    if segment is None:
        return []
    entries: list[tuple[str, int]] = []
    file.seek(segment["p_offset"])
    for _entry in range(min(segment["p_filesz"] // structs.Elf_Dyn.sizeof(), MOST_ENTRIES)):
        entry = struct_parse(structs.Elf_Dyn, file)
        if entry["d_tag"] == "DT_NULL":
            break
        entries.append((str(entry["d_tag"]), int(entry["d_val"])))
    return entries


def _string_table(segments: list[Any], values: Mapping[str, int]) -> int:
    """Where in the file the dynamic strings begin: DT_STRTAB is an address in memory. Raises ValueError when nowhere."""
    address = values.get("DT_STRTAB", 0)
    for segment in segments:
        if segment["p_type"] == "PT_LOAD" and 0 <= address - segment["p_vaddr"] < segment["p_filesz"]:
            return int(segment["p_offset"]) + address - int(segment["p_vaddr"])
    if values:
        raise ValueError("no segment holds the dynamic strings")
    return 0


def _string_at(file: BinaryIO, offset: int) -> str:
    file.seek(offset)
    string = file.read(MOST_STRING)  # not the whole table: that of libtensorflow_cc.so.2 has 87 MB
    return string.partition(b"\0")[0].decode("utf-8", "replace")


def _entries(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for value in values for entry in value.split(":") if entry))


def _stated(file: BinaryIO, soname: str) -> str:
    if not soname.startswith(STATED_IN):
        return ""
    file.seek(0, 2)
    if file.tell() > MOST_SEARCHED:
        return ""
    file.seek(0)
    found = STATED.search(file.read(MOST_SEARCHED))
    return found.group(1).decode("ascii") if found else ""
