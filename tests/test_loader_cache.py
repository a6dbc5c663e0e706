"""ld.so.cache: against ldconfig's own listing, in every format that is met, and over damaged files."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from elf_build import build
from fake_build import need_compiler
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdoctor.loader_cache import NAMED_HWCAP, CacheEntry, look_up, parse_cache, usable_hwcaps

LDCONFIG = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")


def listed(cache: Path) -> list[tuple[str, str]]:
    """(soname, path) of `ldconfig -p`."""
    assert LDCONFIG is not None
    text = subprocess.run([LDCONFIG, "-C", str(cache), "-p"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\t(\S+) \([^)]*\) => (\S+)$", text, re.M)


def test_this_machine() -> None:
    cache = Path("/etc/ld.so.cache")
    if LDCONFIG is None or not cache.is_file():
        pytest.skip("no ldconfig here")
    assert [(e.soname, e.path) for e in parse_cache(cache.read_bytes())] == listed(cache)


@pytest.mark.parametrize("form", ["new", "compat"])
def test_what_ldconfig_writes(tmp_path: Path, form: str) -> None:
    need_compiler()
    if LDCONFIG is None:
        pytest.skip("no ldconfig here")
    build(tmp_path / "one/libcudnn.so.9")
    build(tmp_path / "two/libcudnn.so.9")
    build(tmp_path / "two/libcublas.so.12")
    build(tmp_path / "two/glibc-hwcaps/x86-64-v3/libcublas.so.12")
    configuration = tmp_path / "ld.so.conf"
    configuration.write_text(f"{tmp_path}/one\n{tmp_path}/two\n")
    cache = tmp_path / "cache"
    done = subprocess.run(
        [LDCONFIG, "-X", "-c", form, "-C", str(cache), "-f", str(configuration)], capture_output=True, text=True
    )
    if not cache.is_file():
        pytest.skip(f"this ldconfig writes no such cache: {done.stderr}")
    entries = [e for e in parse_cache(cache.read_bytes()) if str(tmp_path) in e.path]
    assert [(e.soname, e.path) for e in entries] == [x for x in listed(cache) if str(tmp_path) in x[1]]
    found = look_up(entries, "libcudnn.so.9", "EM_X86_64")
    assert found is not None
    assert found.path == f"{tmp_path}/one/libcudnn.so.9"
    if any(e.hwcap for e in entries):
        best = look_up(entries, "libcublas.so.12", "EM_X86_64", ["x86-64-v4", "x86-64-v3"])
        assert best is not None
        assert "glibc-hwcaps/x86-64-v3" in best.path
    plain = look_up(entries, "libcublas.so.12", "EM_X86_64")
    assert plain is not None
    assert plain.path == f"{tmp_path}/two/libcublas.so.12"


def test_entries_of_another_architecture_are_passed_over() -> None:
    entries = [
        CacheEntry("liba.so.1", "/lib32/liba.so.1", 0x0003, ""),
        CacheEntry("liba.so.1", "/lib/liba.so.1", 0x0303, ""),
    ]
    found = look_up(entries, "liba.so.1", "EM_X86_64")
    assert found is not None
    assert found.path == "/lib/liba.so.1"
    assert look_up(entries[:1], "liba.so.1", "EM_X86_64") is None


def test_big_endian_and_old_header() -> None:
    """The old table may come first; the new one is found behind it."""
    strings = b"libx.so.1\0/opt/libx.so.1\0"
    at = 48 + 24
    for order in "<>":
        new = b"glibc-ld.so.cache1.1" + struct.pack(order + "II", 1, len(strings)) + b"\0" * 20
        new += struct.pack(order + "iIIIQ", 0x0303, at, at + 10, 0, 0) + strings
        old = b"ld.so-1.7.0\0" + struct.pack(order + "I", 1) + struct.pack(order + "iII", 3, 0, 0)
        for data in (new, old + b"\0" * (-len(old) % 8) + new):
            assert parse_cache(data) == (CacheEntry("libx.so.1", "/opt/libx.so.1", 0x0303, ""),)


def test_levels_of_the_processor() -> None:
    v2 = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}
    v3 = v2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
    assert usable_hwcaps(frozenset()) == ()
    assert usable_hwcaps(frozenset(v2)) == ("x86-64-v2",)
    assert usable_hwcaps(frozenset(v3)) == ("x86-64-v3", "x86-64-v2")
    assert usable_hwcaps(frozenset(v3 - v2)) == ()


@settings(max_examples=300)
@given(st.binary(max_size=400), st.sampled_from([b"", b"glibc-ld.so.cache1.1", b"ld.so-1.7.0\0"]), st.integers(0, 40))
def test_nothing_makes_it_raise(rubbish: bytes, head: bytes, count: int) -> None:
    named = struct.pack("<II", count, 100) + struct.pack("<Q", NAMED_HWCAP)
    for data in (head + rubbish, head + named + rubbish):
        assert isinstance(parse_cache(data), tuple)
