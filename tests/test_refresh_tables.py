"""Rebuilding rows: the reading of fat binaries and wheels, on an index of this test's own; and the real one."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import struct
import sys
import threading
import zipfile
from pathlib import Path
from typing import ClassVar

import pytest
from elf_build import build
from fake_build import compiler
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pypi_simple", reason="needs the extra tables")
pytest.importorskip("remotezip", reason="needs the extra tables")

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

import refresh_tables  # noqa: E402
from refresh import codes, companions, cudnn, libraries, nccl, plugins, ptxas, tensorflow, wheel  # noqa: E402
from refresh.fatbin import MAGIC, scan  # noqa: E402
from refresh.index import Index, configured_index  # noqa: E402
from refresh.resolve import resolved  # noqa: E402


def entry(kind: int, architecture: int, version: tuple[int, int] = (1, 7), code: bytes = b"x" * 40) -> bytes:
    """One entry of a fat binary: kind 1 PTX, 2 machine code."""
    head = struct.pack("<HHIQ", kind, 0x101, 64, len(code)) + b"\0" * 8
    head += struct.pack("<HHI", version[1], version[0], architecture)
    return head.ljust(64, b"\0") + code


def fatbin(*entries: bytes) -> bytes:
    payload = b"".join(entries)
    return MAGIC + struct.pack("<HHQ", 1, 16, len(payload)) + payload


LIBRARY = (
    b"\x7fELF text before "
    + fatbin(entry(2, 60), entry(2, 80), entry(1, 90, (8, 5)))
    + b"between"
    + fatbin(entry(2, 60), entry(2, 80), entry(2, 90), entry(1, 90, (8, 3)))
    + fatbin(entry(2, 60), entry(2, 80), entry(1, 90, (8, 5)))
    + fatbin(entry(1, 90, (8, 3)))
)


def test_fat_binaries_are_counted_by_what_they_hold():
    assert scan(io.BytesIO(LIBRARY)) == {
        ((60, 80), ((90, "8.5"),)): 2,
        ((60, 80, 90), ((90, "8.3"),)): 1,
        ((), ((90, "8.3"),)): 1,
    }


def test_fat_binaries_over_the_border_of_two_reads_are_found(monkeypatch):
    monkeypatch.setattr("refresh.fatbin._CHUNK", 37)
    assert sum(scan(io.BytesIO(LIBRARY)).values()) == 4


def test_a_cut_off_fat_binary_is_left_out():
    whole = fatbin(entry(2, 60), entry(2, 80))
    assert sum(scan(io.BytesIO(whole + whole[:-10])).values()) == 1


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=4))
def test_no_bytes_make_the_scan_fail(noise, cuts):
    data = noise + MAGIC + noise + LIBRARY
    for cut in cuts:
        scan(io.BytesIO(data[cut:]))
    scan(io.BytesIO(noise + MAGIC + noise))


def test_library_names_come_from_the_versions_in_the_header():
    names = wheel.sonames({"TF_CUDA_VERSION": "11.8", "TF_CUDART_VERSION": "11", "TF_CUSOLVER_VERSION": "11"})
    assert names == {"cudart": "libcudart.so.11.0", "cusolver": "libcusolver.so.11"}
    assert wheel.sonames({"TF_CUDA_VERSION": "10.1"}) == {"cudart": "libcudart.so.10.1"}
    assert wheel.sonames({}) == {}


class Ranges(http.server.BaseHTTPRequestHandler):
    """Serves ``files`` with byte ranges, as package indexes do."""

    files: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        content = self.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        asked = self.headers.get("Range", "")
        first, last = 0, len(content) - 1
        if asked.startswith("bytes=-"):
            first = max(0, len(content) - int(asked[7:]))
        elif asked:
            begin, _, end = asked[6:].partition("-")
            first, last = int(begin), min(int(end), last) if end else last
        body = content[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
{requires}
"""
CUDA_CONFIG = """#define TF_CUDA_VERSION "12.5.1"
#define TF_CUDART_VERSION "12"
#define TF_CUBLAS_VERSION "12"
#define TF_CUDNN_VERSION "9"
#define TF_CUDA_COMPUTE_CAPABILITIES 60, 80, 90
"""
BUILD_INFO = """import collections
build_info = collections.OrderedDict([('cuda_version', '12.5.1'), ('cudnn_version', '9'),
    ('cuda_compute_capabilities', ['sm_60', 'sm_80', 'compute_90']), ('is_cuda_build', True),
    ('is_tensorrt_build', False)])
"""


def packed(name: str, version: str, requires: list[str], members: dict[str, bytes]) -> bytes:
    lines = "\n".join(f"Requires-Dist: {line}" for line in requires)
    folder = f"{name}-{version}.dist-info"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{folder}/METADATA", METADATA.format(name=name, version=version, requires=lines))
        for path, content in members.items():
            archive.writestr(path, content)
    return out.getvalue()


#: Retired architectures keep their sm_ name among the texts of ptxas.
PTXAS = {
    "12.6.85": b"\0sm_50\0lto_50\0sm_35\0sm_90a\0lto_90a\0lto_90\0",
    "12.8.93": b"\0sm_50\0lto_50\0lto_90\0lto_101\0lto_120f\0",
    "13.0.88": b"\0sm_50\0lto_90\0lto_120\0",
}


def nvidia_libraries(suffix: str, first: str, last: str, differ: dict[str, tuple[str, str]]) -> dict[str, dict]:
    """The projects of a CUDA major version: two releases of each, with libraries named after the major version."""
    projects: dict[str, dict] = {}
    for component, project in libraries.PROJECTS.items():
        listed = projects.setdefault(project + suffix, {})
        for number, version in enumerate((first, last)):
            name = differ.get(component, (f"lib{component}.so.{version[:2]}",) * 2)[number]
            held = (
                [name]
                if component not in ("cublas", "cublasLt")
                else [f"lib{c}.so.{version[:2]}" for c in ("cublas", "cublasLt")]
            )
            wheel_name = f"{(project + suffix).replace('-', '_')}-{version}-py3-none-manylinux2014_x86_64.whl"
            files = {f"nvidia/lib/{file}": b"" for file in (*held, f"{held[0]}.2024.3")}
            listed[wheel_name] = packed(project, version, [], files)
    return projects


@pytest.fixture
def index(monkeypatch, tmp_path):
    """An index with a TensorFlow, cuDNNs, a companion, a plug-in and an NCCL."""
    if compiler() is None:
        pytest.skip("needs a C compiler")
    folders = ["$ORIGIN/../nvidia/cublas/lib", "$ORIGIN/", "$ORIGIN/../../nvidia/cudnn/lib"]
    framework = build(tmp_path / "libtensorflow_framework.so.2", runpath=folders).read_bytes() + LIBRARY
    filler = {f"tensorflow/filler{number}.py": b"" for number in range(30)}
    members = {
        **filler,
        "tensorflow/libtensorflow_framework.so.2": framework,
        "tensorflow/python/platform/build_info.py": BUILD_INFO.encode(),
        "tensorflow/include/third_party/gpus/cuda/cuda_config.h": CUDA_CONFIG.encode(),
        "tensorflow/include/external/nccl/nccl.h": b"#define NCCL_MAJOR 2\n#define NCCL_MINOR 25\n#define NCCL_PATCH 1\n",
    }
    requires = ["numpy<2.2,>=1.26", "protobuf<6.0.0dev,>=3.20.3", "nvidia-cudnn-cu12<10.0,>=9.3; extra == 'and-cuda'"]
    windows = ["tensorflow-intel==2.20.0; platform_system == 'Windows'"]
    files = {
        "tensorflow": {
            "tensorflow-2.20.0-cp311-cp311-manylinux_2_17_x86_64.whl": packed(
                "tensorflow", "2.20.0", requires, members
            ),
            "tensorflow-2.20.0-cp39-cp39-manylinux_2_17_x86_64.whl": packed("tensorflow", "2.20.0", requires, members),
            "tensorflow-2.20.0-cp311-cp311-win_amd64.whl": packed("tensorflow", "2.20.0", windows, {}),
            "tensorflow-2.21.0rc0-cp311-cp311-manylinux_2_17_x86_64.whl": packed("tensorflow", "2.21.0rc0", [], {}),
        },
        "nvidia-cudnn-cu12": {
            f"nvidia_cudnn_cu12-{v}-py3-none-manylinux_2_27_x86_64.whl": packed(
                "nvidia_cudnn_cu12", v, [], {"nvidia/cudnn/lib/libcudnn_ops.so.9": LIBRARY}
            )
            for v in ("9.3.0.75", "9.28.0.42", "10.1")
        },
        "tf-keras": {
            "tf_keras-2.20.1-py3-none-any.whl": packed("tf_keras", "2.20.1", ["tensorflow<2.21,>=2.20"], {}),
        },
        "nvidia-nccl-cu12": {
            "nvidia_nccl_cu12-2.25.1-py3-none-manylinux2014_x86_64.whl": packed(
                "nvidia_nccl_cu12", "2.25.1", [], {"nvidia/nccl/lib/libnccl.so.2": LIBRARY}
            ),
        },
        "tensorflow-metal": {
            "tensorflow_metal-1.2.0-cp311-cp311-macosx_12_0_arm64.whl": packed("tensorflow_metal", "1.2.0", [], {}),
        },
        "nvidia-cuda-nvcc-cu11": {},
        "nvidia-cuda-nvcc": {},
        "nvidia-cuda-nvcc-cu12": {
            f"nvidia_cuda_nvcc_cu12-{v}-py3-none-manylinux2014_x86_64.whl": packed(
                "nvidia_cuda_nvcc_cu12", v, [], {"nvidia/cuda_nvcc/bin/ptxas": names}
            )
            for v, names in PTXAS.items()
        },
        **nvidia_libraries("-cu11", "11.7.99", "11.8.89", {"cupti": ("libcupti.so.11.7", "libcupti.so.11.8")}),
        **nvidia_libraries("-cu12", "12.0.76", "12.9.79", {}),
        **nvidia_libraries("", "13.0.48", "13.5.37", {}),
        "nvidia-nccl-cu11": {},
        "nvidia-nccl-cu13": {},
        "tensorflow-gpu": {},
    }
    served = {f"/files/{name}": content for listed in files.values() for name, content in listed.items()}
    for project, listed in files.items():
        links = "".join(
            f'<a href="/files/{name}#sha256={hashlib.sha256(content).hexdigest()}">{name}</a>'
            for name, content in listed.items()
        )
        served[f"/simple/{project}/"] = f"<html><body>{links}</body></html>".encode()
    handler = type("Handler", (Ranges,), {"files": served})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
    yield Index(tmp_path / "cache"), served
    server.shutdown()
    server.server_close()


def test_a_release_is_rebuilt_from_its_wheels(index):
    row = tensorflow.row(index[0], "2.20.0", None, "2026-11-30")
    assert tensorflow.releases(index[0]) == ["2.20.0"]
    assert row["cuda"] == "12.5.1" and row["nccl"] == "2.25.1"
    assert (row["cudnn"], row["cudnn_from"]) == ("9", "build_info")
    assert row["compute_capabilities"] == ["sm_60", "sm_80", "compute_90"]
    assert row["sonames"]["cublasLt"] == "libcublasLt.so.12"
    assert row["pythons"] == ["cp39", "cp311"]
    assert row["glibc_floor"] == "2.17"
    assert row["requires"]["protobuf"] == [{"range": "<6.0.0.dev0,>=3.20.3", "marker": ""}]
    assert row["and_cuda"] == {"nvidia-cudnn-cu12": "<10.0,>=9.3"}
    assert row["and_cuda_resolved"] == {"nvidia-cudnn-cu12": "9.28.0.42"}
    assert row["runpath_dirs"] == {"libtensorflow_framework.so.2": ["nvidia/cublas/lib", "nvidia/cudnn/lib"]}
    assert [(code["count"], code["ptx_isa"]) for code in row["gpu_code"]] == [(2, "8.5"), (1, "8.3")]
    linux, windows = row["platforms"]
    assert linux["is_cuda"] and not linux["stub"]
    assert windows["stub"] and windows["forwards_to"] == "tensorflow-intel" and not windows["is_cuda"]


def test_what_was_read_is_kept_by_the_hash_of_the_wheel(index):
    reader, served = index
    first = tensorflow.row(reader, "2.20.0", None, "2026-11-30")
    for name in [name for name in served if name.startswith("/files/")]:
        del served[name]
    assert tensorflow.row(reader, "2.20.0", None, "2026-11-30") == first


def test_companions_and_nccl_are_rebuilt(index):
    (row,) = companions.rows(index[0], "tf-keras", {}, "2026-11-30")
    assert (row["version"], row["tensorflow"], row["how"]) == ("2.20.1", "<2.21,>=2.20", "requires")
    (row,) = nccl.rows(index[0], {}, "2026-11-30")
    assert row["machine_code"] == ["sm_60", "sm_80", "sm_90"] and row["ptx_isa"] == "8.5"


def test_library_names_are_file_names_that_the_oldest_and_newest_wheel_share(index):
    old = [{"cuda": asked, "sonames": {}, "source": "a person"} for asked in (">=10.2,<11", ">=11.1,<12", ">=12.0,<13")]
    earlier, eleven, twelve = libraries.rows(index[0], old, "2026-12-01")
    assert earlier == old[0]
    assert eleven["sonames"]["cublasLt"] == "libcublasLt.so.11" and "cupti" not in eleven["sonames"]
    assert twelve["sonames"]["cupti"] == "libcupti.so.12"
    assert twelve["source"] == "file names in the nvidia-*-cu12 wheels of CUDA 12.0 to 12.9"


def test_toolkits_of_capabilities_come_from_ptxas_as_far_as_there_are_wheels(index, capsys):
    old = [
        {"compute_capability": c, "first_cuda": first, "last_cuda": "0.0"}
        for c, first in (("3.5", "5.0"), ("5.0", "6.0"), ("9.0", "11.8"), ("10.1", "0.0"))
    ]
    found = ptxas.rows(index[0], old, "2026-12-01")
    assert [(row["first_cuda"], row["last_cuda"]) for row in found] == [
        ("5.0", "0.0"),
        ("6.0", "12.8"),
        ("11.8", None),
        ("12.8", "12.8"),
    ]
    assert "no row for 12.0" in capsys.readouterr().err


def test_the_code_of_cudnn_is_that_of_the_newest_wheel_in_the_range(index):
    old = [
        {"versions": asked, "cuda_major": major, "machine_code": [], "source": "a page"}
        for asked, major in ((">=7.6,<8", "10"), (">=8.8,<9", "12"), (">=9.11,<10", "12"))
    ]
    earlier, without, newest = cudnn.rows(index[0], old, "2026-12-01")
    assert (earlier, without) == (old[0], old[1])
    assert newest["machine_code"] == ["sm_60", "sm_80", "sm_90", "compute_90"]
    assert newest["source"].startswith("a page; GPU code: libcudnn_ops.so.9 in nvidia_cudnn_cu12-9.28.0.42-")
    assert cudnn.rows(index[0], [newest], "2026-12-01") == [newest]


def test_plugins_keep_what_a_person_wrote_of_tensorflow(index):
    (row,) = plugins.rows(index[0], "tensorflow-metal", {}, "2026-11-30")
    assert (row["tensorflow"], row["systems"], row["pythons"]) == ("", ["macos"], ["cp311"])
    written = {**row, "tensorflow": ">=2.17,<2.19", "grade": "second-hand", "source": "a page", "pythons": []}
    (row,) = plugins.rows(index[0], "tensorflow-metal", {"1.2.0": written}, "2026-11-30")
    assert (row["tensorflow"], row["source"], row["pythons"]) == (">=2.17,<2.19", "a page", ["cp311"])
    (row,) = plugins.distributions(index[0], [{"name": "tensorflow-metal", "last": "0.1.0"}])
    assert row["last"] == "1.2.0"


def test_codes_follow_names_that_stand_for_others():
    text = "X_A = 3,\n X_B = X_A, X_C = X_D,\n X_D = X_C"
    assert codes.values(text, r"(X_\w+)\s*=\s*(\w+)") == {"X_A": 3, "X_B": 3}


def test_what_is_not_on_the_index_is_missing(index):
    assert resolved(index[0], {"nvidia-cudnn-cu12": ">=11", "no-such-project": ""}) == {
        "nvidia-cudnn-cu12": None,
        "no-such-project": None,
    }


def test_the_index_of_pip_is_used(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://example.invalid/simple/")
    assert configured_index() == "http://example.invalid/simple/"
    assert not Index(None).reachable()


def test_an_index_that_cannot_be_reached_compares_nothing(monkeypatch, capsys):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    assert refresh_tables.main(["--check"]) == 0
    assert "cannot be reached" in capsys.readouterr().err
    assert refresh_tables.main([]) == 2


def test_an_unknown_table_is_a_usage_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        refresh_tables.main(["gpus"])
    assert "no table gpus can be rebuilt" in capsys.readouterr().err


def test_differences_are_shown_before_anything_is_written(index, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "compat"
    folder.mkdir()
    old = refresh_tables.canonical("About NCCL.", [])
    (folder / "nccl.json").write_text(old)
    monkeypatch.setattr(refresh_tables, "COMPAT", folder)
    assert refresh_tables.refresh(index[0], ["nccl"], write=False) == 1
    assert '+   "version": "2.25.1"' in capsys.readouterr().out
    assert (folder / "nccl.json").read_text() == old
    refresh_tables.refresh(index[0], ["nccl"], write=True)
    assert json.loads((folder / "nccl.json").read_text())["rows"][0]["version"] == "2.25.1"
    capsys.readouterr()
    assert refresh_tables.refresh(index[0], ["nccl"], write=True) == 0
    assert "nothing changed" in capsys.readouterr().out


@pytest.mark.real
def test_the_rows_of_the_two_newest_releases_agree_with_the_index():
    """What open ranges resolve to and how big that is may change any day: `--check` tells it, this does not fail."""
    index = Index(None)
    if not index.reachable():
        pytest.skip("the package index cannot be reached")
    moving = ("and_cuda_resolved is", "and_cuda_download_mib is", "is not in compat/tensorflow.json")
    assert [line for line in refresh_tables.check(index) if not any(text in line for text in moving)] == []
