"""The computed search against the real dynamic loader, over libraries that gcc builds here."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from elf_build import CALLER, Real, build, build_program, really_open
from fake_build import need_compiler

from tfdoctor.host import LiveHost
from tfdoctor.loader import Loaded, Loader, Opened
from tfdoctor.loader_cache import parse_cache, usable_hwcaps
from tfdoctor.model import Unavailable


@pytest.fixture(autouse=True)
def _compiler() -> None:
    need_compiler()
    if not Path("/etc/ld.so.cache").is_file():
        pytest.skip("the loader here is not glibc's")


def predict(caller: Path, names: Sequence[str], environment: Mapping[str, str]) -> list[Opened]:
    """What our loader says of the same calls."""
    host = LiveHost()
    elf = host.elf(str(caller))
    assert elf is not None
    cache = parse_cache(host.read_bytes("/etc/ld.so.cache") or b"")
    flags = next((line for line in (host.read("/proc/cpuinfo") or "").splitlines() if line.startswith("flags")), "")
    hwcaps = usable_hwcaps(frozenset(flags.partition(":")[2].split()))
    path = environment.get("LD_LIBRARY_PATH", "")
    loader = Loader(host, elf.machine, elf.bits, path, cache, hwcaps, here=str(Path.cwd()))
    start = Loaded(str(caller), elf)
    loader.assume(elf.needed, start)
    nobody = Loaded("", type(elf)(""))
    for name in environment.get("LD_PRELOAD", "").split(":"):
        hit = loader.find(name, nobody) if name else None
        if hit is not None:
            loader.put(Loaded(hit.path, hit.elf))
    return [loader.open(name, start) for name in names]


def agree(caller: Path, names: Sequence[str], environment: Mapping[str, str]) -> tuple[list[Opened], list[Real]]:
    """Both answers, after checking that they say the same."""
    said, seen = predict(caller, names, environment), really_open(caller, names, environment)
    for name, ours, real in zip(names, said, seen):
        opened = ours.hit.elf.real if ours.hit is not None and not ours.missing else None
        assert opened == real.real, f"{name}: we say {ours}, the loader {real}"
        for missing in ours.missing[:1]:
            assert missing.split(" (")[0] in real.error
    return said, seen


def test_runpath_of_the_calling_object_is_used(tmp_path: Path) -> None:
    build(tmp_path / "nvidia/cudnn/lib/libone.so.9")
    caller = build(tmp_path / "tf/libcaller.so", runpath=["$ORIGIN/../nvidia/cudnn/lib"], source=CALLER)
    said, _seen = agree(caller, ["libone.so.9", "libother.so.9"], {})
    assert said[0].hit is not None
    assert said[0].hit.how == "RUNPATH of libcaller.so"
    assert said[1].hit is None


def test_library_path_comes_before_runpath_but_after_rpath(tmp_path: Path) -> None:
    for where in ("env", "own"):
        build(tmp_path / where / "libone.so.1")
    environment = {"LD_LIBRARY_PATH": f"/nowhere::{tmp_path}/env"}
    new = build(tmp_path / "a/libcaller.so", runpath=[f"{tmp_path}/own"], source=CALLER)
    old = build(tmp_path / "b/libcaller.so", rpath=[f"{tmp_path}/own"], source=CALLER)
    hows = [agree(caller, ["libone.so.1"], environment)[0][0].hit for caller in (new, old)]
    assert [hit.how for hit in hows if hit is not None] == ["LD_LIBRARY_PATH", "RPATH of libcaller.so"]


def test_runpath_is_not_inherited_and_rpath_is(tmp_path: Path) -> None:
    deep = build(tmp_path / "deep/libdeep.so.1")
    middle = build(tmp_path / "lib/libmiddle.so.1", needs=[deep])
    folders = [f"{tmp_path}/lib", f"{tmp_path}/deep"]
    build(tmp_path / "new/libnew.so.1", needs=[middle], runpath=folders)
    build(tmp_path / "old/libold.so.1", needs=[middle], rpath=folders)
    caller = build(tmp_path / "libcaller.so", runpath=["$ORIGIN/new", "$ORIGIN/old"], source=CALLER)
    said, _seen = agree(caller, ["libnew.so.1", "libold.so.1"], {})
    assert [opened.missing for opened in said] == [("libdeep.so.1",), ()]


@pytest.mark.parametrize("kind", ["runpath", "rpath"])
def test_what_a_call_opens_inherits_nothing_from_the_caller(tmp_path: Path, kind: str) -> None:
    deep = build(tmp_path / "deep/libdeep.so.1")
    build(tmp_path / "lib/libone.so.1", needs=[deep])
    caller = build(tmp_path / "libcaller.so", source=CALLER, **{kind: [f"{tmp_path}/lib", f"{tmp_path}/deep"]})
    said, _seen = agree(caller, ["libone.so.1"], {})
    assert said[0].missing == ("libdeep.so.1",)


def test_the_rpath_of_the_program_counts(tmp_path: Path) -> None:
    """Conda's python has one, to the lib folder of the environment."""
    build(tmp_path / "lib/libone.so.1")
    program = build_program(tmp_path / "bin/program", rpath=["$ORIGIN/../lib"])
    for name, options in {"plain": {}, "with-runpath": {"runpath": ["/nowhere"]}}.items():
        caller = build(tmp_path / f"{name}.so", source=CALLER, **options)
        done = subprocess.run([program, caller, "libone.so.1"], capture_output=True, text=True, check=True)
        host = LiveHost()
        elf, main = host.elf(str(caller)), host.elf(str(program))
        assert elf is not None
        assert main is not None
        loader = Loader(host, elf.machine, elf.bits, program=Loaded(str(program), main))
        opened = loader.open("libone.so.1", Loaded(str(caller), elf))
        assert (opened.hit is not None) == (done.stdout.strip() != "none"), (name, opened, done.stdout)
        assert (opened.hit is not None) == (name == "plain")


def test_a_dependency_has_its_own_runpath(tmp_path: Path) -> None:
    deep = build(tmp_path / "nvjitlink/lib/libdeep.so.12")
    build(tmp_path / "cusparse/lib/libone.so.12", needs=[deep], runpath=["$ORIGIN/../../nvjitlink/lib"])
    caller = build(tmp_path / "tf/libcaller.so", runpath=["$ORIGIN/../cusparse/lib"], source=CALLER)
    agree(caller, ["libone.so.12", "libdeep.so.12"], {})
    (tmp_path / "nvjitlink/lib/libdeep.so.12").unlink()
    said, seen = agree(caller, ["libone.so.12"], {})
    assert said[0].missing == ("libdeep.so.12",)
    assert "cannot open shared object file" in seen[0].error


def test_what_is_loaded_already_is_taken_by_its_soname(tmp_path: Path) -> None:
    second = build(tmp_path / "own/libsecond.so.1")
    build(tmp_path / "own/libfirst.so.1", needs=[second], runpath=["$ORIGIN"])
    build(tmp_path / "lib/libsecond.so.1")
    build(tmp_path / "lib/odd-name.so", soname="libthird.so.3")
    caller = build(tmp_path / "libcaller.so", runpath=["$ORIGIN/lib", "$ORIGIN/own"], source=CALLER)
    said, _seen = agree(caller, ["libfirst.so.1", "libsecond.so.1", "odd-name.so", "libthird.so.3"], {})
    assert said[1].hit is not None
    assert said[1].hit.how == "already loaded for libfirst.so.1"
    assert said[3].hit is not None


def test_after_a_failure_nothing_of_it_stays_loaded(tmp_path: Path) -> None:
    here = build(tmp_path / "lib/libhere.so.1")
    gone = build(tmp_path / "lib/libgone.so.1")
    build(tmp_path / "lib/libfirst.so.1", needs=[here, gone], runpath=["$ORIGIN"])
    gone.unlink()
    caller = build(tmp_path / "libcaller.so", runpath=["$ORIGIN/lib"], source=CALLER)
    (tmp_path / "other").mkdir()
    said, _seen = agree(caller, ["libfirst.so.1", "libgone.so.1", "libhere.so.1"], {})
    assert said[2].hit is not None
    assert said[2].hit.how == "RUNPATH of libcaller.so"


@pytest.mark.parametrize("spoil", ["text", "empty", "wrong-class", "wrong-machine", "folder"])
def test_a_file_that_is_no_library_for_this_machine(tmp_path: Path, spoil: str) -> None:
    """Other machines' files are passed over; what is no ELF file ends the search with an error."""
    bad = build(tmp_path / "bad/libone.so.1")
    build(tmp_path / "good/libone.so.1")
    data = bytearray(bad.read_bytes())
    if spoil == "folder":
        bad.unlink()
        bad.mkdir()
    else:
        if spoil == "wrong-class":
            data[4] = 3 - data[4]
        elif spoil == "wrong-machine":
            struct.pack_into("<H", data, 18, 2)  # SPARC
        bad.write_bytes({"text": b"INPUT(libelse.so)\n" * 3, "empty": b""}.get(spoil, bytes(data)))
    caller = build(tmp_path / "libcaller.so", runpath=["$ORIGIN/bad", "$ORIGIN/good"], source=CALLER)
    said, _seen = agree(caller, ["libone.so.1"], {})
    assert (said[0].missing == ()) == spoil.startswith("wrong")


def test_links_and_full_version_names(tmp_path: Path) -> None:
    real = build(tmp_path / "store/libone.so.9.10.2", soname="libone.so.9")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libone.so.9").symlink_to(real)
    caller = build(tmp_path / "libcaller.so", runpath=["${ORIGIN}/lib"], source=CALLER)
    said, _seen = agree(caller, ["libone.so.9"], {})
    assert said[0].hit is not None
    assert said[0].hit.path == f"{tmp_path}/lib/libone.so.9"
    assert said[0].hit.elf.real.endswith("libone.so.9.10.2")


def test_origin_is_the_folder_where_the_library_was_found_not_where_its_link_points(tmp_path: Path) -> None:
    store = build(tmp_path / "store/libcaller.so", runpath=["$ORIGIN/lib"], source=CALLER)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/libcaller.so").symlink_to(store)
    build(tmp_path / "store/lib/libone.so.1")
    build(tmp_path / "site/lib/libone.so.1")
    said, _seen = agree(tmp_path / "site/libcaller.so", ["libone.so.1"], {})
    assert said[0].hit is not None
    assert said[0].hit.path == f"{tmp_path}/site/lib/libone.so.1"


def test_preloaded_libraries_win(tmp_path: Path) -> None:
    forced = build(tmp_path / "forced.so", soname="libone.so.1")
    build(tmp_path / "lib/libone.so.1")
    caller = build(tmp_path / "libcaller.so", runpath=["$ORIGIN/lib"], source=CALLER)
    said, _seen = agree(caller, ["libone.so.1"], {"LD_PRELOAD": str(forced)})
    assert said[0].hit is not None
    assert said[0].hit.path == str(forced)


def test_the_cache_and_the_default_folders(tmp_path: Path) -> None:
    """Every library that ldconfig knows here, asked for by a library without any path of its own."""
    caller = build(tmp_path / "libcaller.so", source=CALLER)
    cache = parse_cache(Path("/etc/ld.so.cache").read_bytes())
    names = ["libz.so.1", "libm.so.6", "libexpat.so.1", "libgomp.so.1", "libnot-there.so.77"]
    known = [e.soname for e in cache if ".so." in e.soname]
    names += random.Random(7).sample(known, min(8, len(known)))
    host = LiveHost()
    for name in dict.fromkeys(names):
        said = predict(caller, [name], {})[0]
        real = really_open(caller, [name], {})[0]
        opened = said.hit.elf.real if said.hit is not None and not said.missing and not said.hit.elf.problem else None
        if real.real is None and opened is not None:
            continue  # found, but it cannot run here for a reason that is not its place (a symbol version, a static TLS block)
        if said.hit is not None and said.hit.how.startswith("already"):
            assert host.elf(real.path or "") is not None
            continue
        assert opened == real.real, f"{name}: {said} {real}"


def test_folders_for_better_processors_come_first(tmp_path: Path) -> None:
    for place in ("a", "a/glibc-hwcaps/x86-64-v2", "b", "b/glibc-hwcaps/x86-64-v2", "b/glibc-hwcaps/sparc"):
        build(tmp_path / place / "libone.so.1")
    build(tmp_path / "b/glibc-hwcaps/x86-64-v2/libtwo.so.1")
    caller = build(tmp_path / "libcaller.so", runpath=[f"{tmp_path}/b"], source=CALLER)
    for environment in ({}, {"LD_LIBRARY_PATH": f"{tmp_path}/a"}):
        agree(caller, ["libone.so.1", "libtwo.so.1"], environment)


def test_an_empty_entry_is_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("here", "here/below", "own"):
        build(tmp_path / place / "libone.so.1")
    caller = build(tmp_path / "libcaller.so", runpath=[f"{tmp_path}/own"], source=CALLER)
    monkeypatch.chdir(tmp_path / "here")
    for value in ("", ":", ":/nowhere", "/nowhere:", "/nowhere::/other", "below", "./below:", "/nowhere"):
        agree(caller, ["libone.so.1"], {"LD_LIBRARY_PATH": value})


@pytest.mark.parametrize("seed", range(12))
def test_random_layouts(tmp_path: Path, seed: int) -> None:
    """Folders with random copies, needs and paths; the computed answer is the loader's in every one."""
    dice = random.Random(seed)
    folders = [tmp_path / name for name in ("a", "b", "c", "d")]
    names = [f"lib{n}.so.1" for n in ("u", "v", "w")]
    built: dict[str, list[Path]] = {name: [] for name in names}
    for name in names:
        for folder in dice.sample(folders, dice.randint(1, 3)):
            lower = [dice.choice(built[n]) for n in names if n < name and built[n] and dice.random() < 0.6]
            paths = [f"$ORIGIN/../{f.name}" for f in dice.sample(folders, dice.randint(0, 2))]
            kind = {dice.choice(("runpath", "rpath")): paths}
            built[name].append(build(folder / name, needs=lower, **kind))
    for paths_of in built.values():
        if dice.random() < 0.4:
            paths_of[0].unlink()
    paths = [f"$ORIGIN/{f.name}" for f in dice.sample(folders, 2)]
    caller = build(tmp_path / "libcaller.so", source=CALLER, **{dice.choice(("runpath", "rpath")): paths})
    environment = {"LD_LIBRARY_PATH": ":".join(map(str, dice.sample(folders, dice.randint(0, 2))))}
    agree(caller, dice.sample(names, 3), environment)


def test_what_could_not_be_looked_at_is_not_taken_for_absent(tmp_path: Path) -> None:
    from tfdoctor.host import RecordedHost

    (tmp_path / "elf.json").write_text(
        '{"/a/libcaller.so": {"real": "/a/libcaller.so", "runpath": ["/b"], "bits": 64, "machine": "EM_X86_64"}}'
    )
    (tmp_path / "absent.txt").write_text("/b/libgone.so.1\n")
    host = RecordedHost(str(tmp_path))
    elf = host.elf("/a/libcaller.so")
    assert elf is not None
    loader = Loader(host, elf.machine, elf.bits)
    with pytest.raises(Unavailable):
        loader.open("libgone.so.1", Loaded("/a/libcaller.so", elf))
    assert os.path.exists(tmp_path / "elf.json")
