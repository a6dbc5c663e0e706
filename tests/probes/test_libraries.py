"""The libraries that TensorFlow would open: a whole small environment built by gcc, against the real loader, and recorded."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import pytest
from elf_build import CALLER, build, really_open
from fake_build import need_compiler
from site_build import BUILD_INFO, CUDA_CONFIG, TENSORFLOW, distribution, imported

from tfdoctor.elf import Elf
from tfdoctor.engine import Facts
from tfdoctor.host import Host, LiveHost, RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import cudnn_parts, interpreter, libraries, tensorflow
from tfdoctor.probes.libraries import DriverLibrary, Libraries
from tfdoctor.probes.library_files import LibraryFiles, origin_of
from tfdoctor.probes.platform import Cpu, Platform
from tfdoctor.tables import Tables

LINUX = Platform("linux", "x86_64", "6.1", "debian", (), "12", "glibc", "2.36", 0, "test")
WHEELS = {
    "cuda_runtime": ("libcudart.so.12", "nvidia-cuda-runtime-cu12", "12.5.82"),
    "cublas": ("libcublas.so.12", "nvidia-cublas-cu12", "12.5.3.2"),
    "cufft": ("libcufft.so.11", "nvidia-cufft-cu12", "11.2.3.61"),
    "cusparse": ("libcusparse.so.12", "nvidia-cusparse-cu12", "12.5.1.3"),
    "cusolver": ("libcusolver.so.11", "nvidia-cusolver-cu12", "11.6.3.83"),
    "nvjitlink": ("libnvJitLink.so.12", "nvidia-nvjitlink-cu12", "12.5.82"),
    "cudnn": ("libcudnn.so.9", "nvidia-cudnn-cu12", "9.3.0.75"),
}
SONAMES = [
    "libcudart.so.12",
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcufft.so.11",
    "libcusolver.so.11",
    "libcusparse.so.12",
    "libcudnn.so.9",
]


def environment(site: Path, runpath: Sequence[str], version: str = "2.21.0") -> Path:
    """TensorFlow with the CUDA wheels, laid out as the real ones are. Returns the object that calls dlopen."""
    need_compiler()
    files = {name: text for name, text in TENSORFLOW.items() if not name.endswith("framework.so.2")}
    distribution(site, "tensorflow", version, files)
    imported(site)
    caller = build(
        site / "tensorflow/libtensorflow_framework.so.2",
        source=CALLER,
        runpath=[f"$ORIGIN/../nvidia/{f}/lib" for f in runpath],
    )
    for folder, (soname, name, wheel_version) in WHEELS.items():
        distribution(site, name, wheel_version)
        needs, own = [], []
        if folder == "cublas":
            needs, own = [build(site / "nvidia/cublas/lib/libcublasLt.so.12")], ["$ORIGIN"]
        if folder in ("cusparse", "cusolver"):
            jit = site / "nvidia/nvjitlink/lib/libnvJitLink.so.12"
            needs, own = [jit if jit.exists() else build(jit)], ["$ORIGIN/../../nvjitlink/lib"]
        if folder == "cudnn":  # opens its parts itself
            own = ["$ORIGIN"]
            for part in (*cudnn_parts.CUDNN_PARTS["9"], *cudnn_parts.CUDNN_MORE_PARTS["9"]):
                build(site / "nvidia/cudnn/lib" / part)
        build(site / "nvidia" / folder / "lib" / soname, needs=needs, runpath=own)
    return caller


def look(host: Host, *facts: Any) -> Facts:
    probes = [
        interpreter.distributions,
        tensorflow.tensorflow_packages,
        tensorflow.tensorflow,
        libraries.libraries,
        libraries.driver_library,
    ]
    given = facts or (LINUX,)
    return Facts([host, Tables(), Cpu("test", frozenset(), 1, "test"), *given], probes)


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site-packages folder that this interpreter sees, and no search paths from outside."""
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    return site


def agrees(found: Libraries, caller: Path, variables: Mapping[str, str]) -> None:
    """Does the real loader, asked from the same object in the same order, open the same files?"""
    needed = [entry for entry in found.libraries if entry.needed]
    for entry, real in zip(needed, really_open(caller, [e.soname for e in needed], variables)):
        opened = entry.picked is not None and not entry.picked.missing
        assert opened == (real.path is not None), f"{entry} {real}"
        if opened and entry.picked is not None:
            assert str(Path(entry.picked.path).resolve()) == real.real


def test_everything_is_found_through_the_runpath(live: Path) -> None:
    caller = environment(live, [*WHEELS])
    found = look(LiveHost(sys.executable)).get(Libraries)
    assert [entry.soname for entry in found.libraries if entry.needed] == SONAMES
    assert found.missing == ()
    agrees(found, caller, {})
    cudnn = found.get("cudnn")
    assert cudnn is not None
    assert cudnn.picked is not None
    assert (cudnn.picked.version, cudnn.picked.origin, cudnn.how) == (
        "9.3.0.75",
        "pip",
        "RUNPATH of libtensorflow_framework.so.2",
    )
    blas = found.get("cublasLt")
    assert blas is not None
    assert blas.how == "already loaded for libcublas.so.12"


def test_tensorrt_is_looked_up_from_the_object_that_opens_it(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow 2.17 asks for TensorRT 8.6.1 by its whole version; without it only TF-TRT is lost."""
    environment(live, list(WHEELS), version="2.17.1")
    build(live / "tensorflow/compiler/tf2tensorrt/_pywrap_py_utils.so")
    distribution(live, "tensorrt-libs", "8.6.1")
    build(live / "tensorrt_libs/libnvinfer.so.8.6.1")
    found = look(LiveHost()).get(Libraries)
    tensorrt, plugin = found.get("nvinfer"), found.get("nvinfer_plugin")
    assert tensorrt is not None and plugin is not None and not {tensorrt, plugin} & {*found.missing}
    assert (tensorrt.soname, tensorrt.picked, tensorrt.caller) == ("libnvinfer.so.8.6.1", None, "_pywrap_py_utils.so")
    assert [(c.origin, c.version) for c in tensorrt.copies] == [("pip", "8.6.1")]
    monkeypatch.setenv("LD_LIBRARY_PATH", str(live / "tensorrt_libs"))
    tensorrt = look(LiveHost()).get(Libraries).get("nvinfer")
    assert tensorrt is not None and tensorrt.picked is not None and tensorrt.how == "LD_LIBRARY_PATH"


def test_a_release_without_tensorrt_asks_for_none(live: Path) -> None:
    environment(live, list(WHEELS), version="2.20.0")
    assert look(LiveHost()).get(Libraries).get("nvinfer") is None


def test_the_parts_of_cudnn_that_are_not_there(live: Path) -> None:
    environment(live, list(WHEELS))
    whole = look(LiveHost()).get(Libraries).get("cudnn")
    assert whole is not None and whole.picked is not None
    assert whole.picked.parts_missing == ()
    folder = live / "nvidia/cudnn/lib"
    (folder / "libcudnn_ops.so.9").unlink()
    (folder / "libcudnn_adv.so.9").unlink()
    (folder / "libcudnn_cnn.so.9").write_bytes(b"")
    half = (folder / "libcudnn_graph.so.9").read_bytes()[:1024]
    (folder / "libcudnn_graph.so.9").write_bytes(half)
    cudnn = look(LiveHost()).get(Libraries).get("cudnn")
    assert cudnn is not None and cudnn.picked is not None
    assert cudnn.picked.parts_missing == ("libcudnn_ops.so.9", "libcudnn_adv.so.9")
    assert cudnn.picked.parts_broken == (
        "libcudnn_graph.so.9: file ends too early",
        "libcudnn_cnn.so.9: file too short",
    )


def test_the_parts_of_cudnn_under_other_names_and_of_another_version(live: Path) -> None:
    """As cuDNN looks for them; what version a part is, only the full name of its file tells."""
    environment(live, list(WHEELS))
    folder = live / "nvidia/cudnn/lib"
    version = ".".join(WHEELS["cudnn"][2].split(".")[:3])
    (folder / "libcudnn_graph.so.9").rename(folder / f"libcudnn_graph.so.{version}")
    (folder / "libcudnn_cnn.so.9").rename(folder / "libcudnn_cnn.so.9.0.0")
    (folder / "libcudnn_cnn.so.9").symlink_to("libcudnn_cnn.so.9.0.0")
    cudnn = look(LiveHost()).get(Libraries).get("cudnn")
    assert cudnn is not None and cudnn.picked is not None
    assert (cudnn.picked.parts_missing, cudnn.picked.parts_broken) == ((), ())
    assert cudnn.picked.parts_other == ("libcudnn_cnn.so.9: 9.0.0",)


def test_one_folder_is_not_on_the_runpath_of_the_calling_object(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens to TensorFlow 2.21: that of libtensorflow_cc.so.2 does not help, LD_LIBRARY_PATH does."""
    caller = environment(live, [f for f in WHEELS if f != "cusolver"])
    build(live / "tensorflow/libtensorflow_cc.so.2", runpath=["$ORIGIN/../nvidia/cusolver/lib"])
    found = look(LiveHost(sys.executable)).get(Libraries)
    assert [entry.soname for entry in found.missing] == ["libcusolver.so.11"]
    assert [(c.origin, c.version) for c in found.missing[0].copies] == [("pip", "11.6.3.83")]
    agrees(found, caller, {})
    monkeypatch.setenv("LD_LIBRARY_PATH", str(live / "nvidia/cusolver/lib"))
    found = look(LiveHost(sys.executable)).get(Libraries)
    assert found.missing == ()
    agrees(found, caller, {"LD_LIBRARY_PATH": str(live / "nvidia/cusolver/lib")})


@pytest.mark.parametrize("folder", sorted(WHEELS))
def test_each_wheel_missing(live: Path, folder: str) -> None:
    caller = environment(live, [*WHEELS])
    soname = WHEELS[folder][0]
    (live / "nvidia" / folder / "lib" / soname).unlink()
    found = look(LiveHost(sys.executable)).get(Libraries)
    agrees(found, caller, {})
    if folder == "nvjitlink":
        hurt = {e.component for e in found.libraries if e.picked is not None and e.picked.missing}
        assert hurt == {"cusparse", "cusolver"}
    else:
        assert soname in [entry.soname for entry in found.missing]


def test_the_copy_on_the_library_path_wins_and_the_other_is_told(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = environment(live, [*WHEELS])
    (tmp_path / "own").mkdir()
    build(tmp_path / "store/libcudnn.so.9.1.0", soname="libcudnn.so.9")
    build(tmp_path / "own/libcudnn.so.8")
    (tmp_path / "own/libcudnn.so.9").symlink_to(tmp_path / "store/libcudnn.so.9.1.0")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "own"))
    found = look(LiveHost(sys.executable)).get(Libraries)
    agrees(found, caller, {"LD_LIBRARY_PATH": str(tmp_path / "own")})
    cudnn = found.get("cudnn")
    assert cudnn is not None
    assert cudnn.picked is not None
    assert (cudnn.picked.version, cudnn.how) == ("9.1.0", "LD_LIBRARY_PATH")
    mine = [(c.soname, c.version) for c in cudnn.copies if str(tmp_path) in c.path]
    assert mine == [("libcudnn.so.9", "9.3.0.75"), ("libcudnn.so.8", "")]


def test_an_empty_entry_of_the_library_path_is_the_working_directory(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = environment(live, [*WHEELS])
    here = tmp_path / "project"
    here.mkdir()
    (here / "libcufft.so.11").write_text("a text of more than sixty-four bytes, which is what an ELF header has\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/nowhere")
    found = look(LiveHost(sys.executable)).get(Libraries)
    agrees(found, caller, {"LD_LIBRARY_PATH": ":/nowhere"})
    cufft = found.get("cufft")
    assert cufft is not None
    assert cufft.picked is not None
    assert cufft.picked.path == str(here / "libcufft.so.11")


def test_a_file_that_is_no_library_is_picked_and_refused(live: Path) -> None:
    caller = environment(live, [*WHEELS])
    (live / "nvidia/cudnn/lib/libcudnn.so.9").write_text("a pointer to a large file\n" * 3)
    found = look(LiveHost(sys.executable)).get(Libraries)
    agrees(found, caller, {})
    cudnn = found.get("cudnn")
    assert cudnn is not None
    assert cudnn.picked is not None
    assert cudnn.picked.problem == "invalid ELF header"


def test_the_calling_object_is_missing(live: Path) -> None:
    environment(live, []).unlink()
    with pytest.raises(Unavailable, match="libtensorflow_framework"):
        look(LiveHost(sys.executable)).get(Libraries)


@pytest.mark.parametrize(
    ("version", "curand"), [("2.12.1", True), ("2.13.1", True), ("2.15.1", False), ("2.21.0", False)]
)
def test_curand_was_needed_once(live: Path, version: str, curand: bool) -> None:
    environment(live, [], version)
    found = look(LiveHost(sys.executable)).get(Libraries)
    assert (found.get("curand") is not None) == curand


def test_builds_without_cuda_and_unknown_ones(tmp_path: Path) -> None:
    def answered(text: str) -> Facts:
        entry = {"name": "tensorflow", "version": "2.99.0", "owns_tensorflow": True}
        found = {"found": "/s/tensorflow", "real": True, "build_info": text}
        (tmp_path / "target.json").write_text(json.dumps({"distributions": [entry], "tensorflow": found}))
        return look(RecordedHost(str(tmp_path)))

    with pytest.raises(NotApplicable):
        answered(BUILD_INFO.replace("('is_cuda_build', True)", "('is_cuda_build', False)")).get(Libraries)
    with pytest.raises(Unavailable):
        answered("").get(Libraries)
    with pytest.raises(Unavailable):
        answered(BUILD_INFO).get(Libraries)


def test_a_build_that_is_linked_with_cuda_instead_of_opening_it(live: Path, tmp_path: Path) -> None:
    environment(live, [])
    cudnn = build(tmp_path / "lib/libcudnn.so.9.8.0", soname="libcudnn.so.9")
    (tmp_path / "lib/libcudnn.so.9").symlink_to(cudnn)
    build(
        live / "tensorflow/libtensorflow_framework.so.2", source=CALLER, needs=[cudnn], runpath=[str(tmp_path / "lib")]
    )
    found = look(LiveHost(sys.executable)).get(Libraries).get("cudnn")
    assert found is not None
    assert found.picked is not None
    assert (found.picked.path, found.picked.version) == (str(tmp_path / "lib/libcudnn.so.9"), "9.8.0")


class Noting(LiveHost):
    """A live host that keeps the summaries it gave."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.elves: dict[str, Optional[Elf]] = {}

    def elf(self, path: str) -> Optional[Elf]:
        return self.elves.setdefault(path, super().elf(path))


def test_a_recorded_machine_gives_the_same_answer(live: Path, tmp_path: Path) -> None:
    environment(live, [f for f in WHEELS if f != "cusolver"])
    host = Noting(sys.executable)
    found = look(host).get(Libraries)
    folder = tmp_path / "recorded"
    (folder / "root/etc").mkdir(parents=True)
    (folder / "root/etc/ld.so.cache").write_bytes(host.read_bytes("/etc/ld.so.cache") or b"")
    (folder / "elf.json").write_text(
        json.dumps({p: e.as_json() if e is not None else None for p, e in host.elves.items()})
    )
    (folder / "target.json").write_text(json.dumps(host.target_answer()))
    (folder / "env.txt").write_text("PATH=/usr/bin\n")
    folders = [f for f in host.elves if f.startswith("/usr/lib/x86_64")][:1]
    (folder / "root/usr/lib/x86_64-linux-gnu").mkdir(parents=True)
    (folder / "absent.txt").write_text("\n".join(folders))
    again = look(RecordedHost(str(folder))).get(Libraries)

    def essence(entries: Libraries) -> list[tuple[object, ...]]:
        return [(e.soname, e.picked, e.how) for e in entries.libraries]

    assert essence(again) == essence(found)


# The driver's library ---------------------------------------------------------------------------------------------


def recorded(
    folder: Path, *files: str, env: str = "", links: Mapping[str, str] | None = None, absent: Sequence[str] = ()
) -> RecordedHost:
    for name in files:
        (folder / "root" / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (folder / "root" / name.lstrip("/")).write_bytes(b"")
    for name, to in (links or {}).items():
        (folder / "root" / name.lstrip("/")).symlink_to(to)
    (folder / "env.txt").write_text(f"PATH=/usr/bin\n{env}\n")
    places = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", *absent)
    names = ["/etc/ld.so.cache", *(f"{p}/libcuda.so.1" for p in places), "/usr/lib/x86_64-linux-gnu"]
    (folder / "absent.txt").write_text("\n".join(n for n in names if not (folder / "root" / n.lstrip("/")).exists()))
    return RecordedHost(str(folder))


def test_libcuda_by_its_full_name(tmp_path: Path) -> None:
    base = "/usr/lib/x86_64-linux-gnu"
    host = recorded(
        tmp_path,
        f"{base}/libcuda.so.535.183.01",
        "/usr/local/cuda-12.4/compat/libcuda.so.550.54.14",
        links={f"{base}/libcuda.so.1": "libcuda.so.535.183.01"},
    )
    found = look(host).get(DriverLibrary)
    assert found.picked is not None
    assert (found.picked.version, found.picked.origin, found.how) == ("535.183.01", "system", "default folder")
    assert [(o.version, o.origin) for o in found.others] == [("550.54.14", "compat")]


def test_no_libcuda_and_a_stub(tmp_path: Path) -> None:
    host = recorded(tmp_path, "/usr/local/cuda-12.4/lib64/stubs/libcuda.so")
    found = look(host).get(DriverLibrary)
    assert found.picked is None
    assert [(o.version, o.origin) for o in found.others] == [("", "stub")]


def test_wsl_keeps_its_own(tmp_path: Path) -> None:
    host = recorded(
        tmp_path,
        "/usr/lib/wsl/lib/libcuda.so.1.1",
        "/usr/lib/wsl/lib/libcuda.so.1",
        env="LD_LIBRARY_PATH=/usr/lib/wsl/lib",
    )
    found = look(host).get(DriverLibrary)
    assert found.picked is not None
    assert (found.picked.origin, found.picked.version, found.how) == ("wsl", "", "LD_LIBRARY_PATH")


def test_libcuda_where_nobody_looked(tmp_path: Path) -> None:
    (tmp_path / "env.txt").write_text("PATH=/usr/bin\n")
    with pytest.raises(Unavailable):
        look(RecordedHost(str(tmp_path))).get(DriverLibrary)
    with pytest.raises(Unavailable):
        look(RecordedHost(str(tmp_path)), dataclasses.replace(LINUX, system="windows")).get(DriverLibrary)
    with pytest.raises(NotApplicable):
        look(RecordedHost(str(tmp_path)), dataclasses.replace(LINUX, system="darwin")).get(DriverLibrary)


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/v/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9", "pip"),
        ("/v/lib/python3.11/site-packages/torch/lib/libcudnn.so.9", "torch"),
        ("/v/lib/python3.11/site-packages/tensorrt_libs/libnvinfer.so.10", "pip"),
        ("/usr/local/cuda-12.4/lib64/libcublas.so.12", "toolkit"),
        ("/usr/local/cuda/targets/x86_64-linux/lib/libcublas.so.12", "toolkit"),
        ("/usr/local/cuda-12.4/compat/libcuda.so.1", "compat"),
        ("/usr/local/cuda/lib64/stubs/libcuda.so", "stub"),
        ("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "system"),
        ("/lib64/libcuda.so.1", "system"),
        ("/usr/lib/wsl/lib/libcuda.so.1", "wsl"),
        ("/home/me/miniconda3/envs/tf/lib/libcudnn.so.9", "conda"),
        ("/env/lib/libcudnn.so.9", "conda"),
        ("/data/libs/libcudnn.so.9", "other"),
    ],
)
def test_where_a_file_comes_from(path: str, origin: str) -> None:
    assert origin_of(path, conda="/env") == origin


def test_two_cuda_releases_in_one_folder(tmp_path: Path) -> None:
    """The wheels for CUDA 11 and 12 share nvidia/cudnn/lib; the soname tells them apart."""
    names = {"nvidia-cudnn-cu11": "8.9.6.50", "nvidia-cudnn-cu12": "9.3.0.75", "nvidia-cublas": "13.1.0.3"}
    by_name = {n: interpreter.Distribution(n, v, "/s") for n, v in names.items()}
    files = LibraryFiles(LiveHost(), interpreter.Distributions(by_name, {}, "metadata"))
    for soname, path, version in (
        ("libcudnn.so.8", "/s/nvidia/cudnn/lib/libcudnn.so.8", "8.9.6.50"),
        ("libcudnn.so.9", "/s/nvidia/cudnn/lib/libcudnn.so.9", "9.3.0.75"),
        ("libcublasLt.so.13", "/s/nvidia/cu13/lib/libcublasLt.so.13", "13.1.0.3"),
        ("libcufft.so.12", "/s/nvidia/cufft/lib/libcufft.so.12", ""),
    ):
        assert files.version(path, path, soname) == version


def test_cudnns_version_from_its_header(tmp_path: Path) -> None:
    (tmp_path / "lib64").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include/cudnn_version.h").write_text(
        "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 4\n"
    )
    files = LibraryFiles(LiveHost(), None)
    for soname, version in (("libcudnn.so.8", "8.9.4"), ("libcudnn.so.7", ""), ("libcublas.so.11", "")):
        path = str(tmp_path / "lib64" / soname)
        assert files.version(path, path, soname) == version


def test_sonames_as_the_wheel_states_them() -> None:
    assert libraries._configured(CUDA_CONFIG)["cusolver"] == "libcusolver.so.11"
    assert libraries._configured(CUDA_CONFIG)["cublasLt"] == "libcublasLt.so.12"
    old = '#define TF_CUDA_VERSION "10.1"\n#define TF_CUDA_LIB_VERSION "10"\n#define TF_CUDNN_VERSION "7"\n'
    assert libraries._configured(old) == {
        "cudart": "libcudart.so.10.1",
        **{name: f"lib{name}.so.10" for name in ("cublas", "cufft", "curand", "cusolver", "cusparse")},
        "cudnn": "libcudnn.so.7",
    }
