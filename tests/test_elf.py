"""The summary of shared libraries: against gcc's own output, and over damaged files."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from elf_build import build
from fake_build import need_compiler
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdoctor.elf import Elf, from_json, read_elf
from tfdoctor.host import LiveHost, RecordedHost


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_compiler()
    folder = tmp_path_factory.mktemp("elf")
    low = build(folder / "liblow.so.2")
    return build(
        folder / "libone.so.1.2.3", soname="libone.so.1", needs=[low], runpath=["$ORIGIN/a", "/b", "$ORIGIN/a"]
    )


def test_what_the_loader_reads(library: Path) -> None:
    elf = LiveHost().elf(str(library))
    assert elf is not None
    assert (elf.soname, elf.needed, elf.runpath, elf.rpath) == (
        "libone.so.1",
        ("liblow.so.2",),
        ("$ORIGIN/a", "/b"),
        (),
    )
    assert elf.bits == 64
    assert not elf.problem


def test_rpath_is_told_apart_from_runpath(tmp_path: Path) -> None:
    need_compiler()
    elf = LiveHost().elf(str(build(tmp_path / "libold.so", rpath=["/x"])))
    assert elf is not None
    assert (elf.rpath, elf.runpath) == (("/x",), ())


def test_cudnn_states_its_version_inside(tmp_path: Path) -> None:
    need_compiler()
    build(tmp_path / "libcudnn.so.9", source='const char *part(void) { return "libcudnn_graph.so.9.10.2"; }')
    elf = LiveHost().elf(str(tmp_path / "libcudnn.so.9"))
    assert elf is not None
    assert elf.stated == "9.10.2"


def test_one_that_ends_too_early(library: Path) -> None:
    """Where the loader would map more than there is. What no segment holds (section headers at the end) may be missing."""
    whole = library.read_bytes()
    library.write_bytes(whole[: len(whole) // 8])
    elf = LiveHost().elf(str(library))
    assert elf is not None and elf.problem == "file ends too early"
    library.write_bytes(whole[:-64])
    elf = LiveHost().elf(str(library))
    assert elf is not None and elf.problem == ""


def test_absent_and_unreadable(tmp_path: Path) -> None:
    host = LiveHost()
    assert host.elf(str(tmp_path / "none.so")) is None
    assert host.elf(str(tmp_path / "a.so/none.so")) is None
    folder = host.elf(str(tmp_path))
    assert folder is not None
    assert folder.problem == "Is a directory"


def test_a_recording_gives_the_same_summary(library: Path, tmp_path: Path) -> None:
    import json

    live = LiveHost().elf(str(library))
    assert live is not None
    (tmp_path / "elf.json").write_text(json.dumps({"/x.so": live.as_json(), "/gone.so": None, "/rubbish.so": 7}))
    recorded = RecordedHost(str(tmp_path))
    assert recorded.elf("/x.so") == live
    assert recorded.elf("/gone.so") is None
    assert recorded.elf("/rubbish.so") is None


def test_a_file_kept_in_a_recording_without_its_content_counts(tmp_path: Path) -> None:
    place = tmp_path / "root/usr/lib/libcuda.so.1"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    elf = RecordedHost(str(tmp_path)).elf("/usr/lib/libcuda.so.1")
    assert elf == Elf("/usr/lib/libcuda.so.1", soname="libcuda.so.1")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_damage_makes_it_raise(library: Path, data: st.DataObject) -> None:
    whole = bytearray(library.read_bytes())
    for _change in range(data.draw(st.integers(0, 12))):
        whole[data.draw(st.integers(0, min(len(whole) - 1, 1200)))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    elf = read_elf(io.BytesIO(bytes(whole[:cut])), "x")
    assert isinstance(elf.problem, str)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(rubbish: bytes) -> None:
    for head in (b"", b"\x7fELF\x02\x01\x01"):
        assert read_elf(io.BytesIO(head + rubbish), "x").real == "x"


@given(
    st.dictionaries(
        st.sampled_from(["real", "soname", "bits", "needed", "runpath", "no_default", "odd"]),
        st.none() | st.integers() | st.lists(st.text()) | st.text(),
    )
)
def test_no_recorded_summary_makes_it_raise(recorded: dict[str, object]) -> None:
    assert isinstance(from_json(recorded), Elf)
