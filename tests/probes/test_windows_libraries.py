"""What Windows would find: names, the order of its search, and what the target interpreter says of it."""

from __future__ import annotations

import types
from typing import Any

import pytest

from tfdoctor.model import Unavailable
from tfdoctor.probes.libraries import library_name
from tfdoctor.probes.library_files import LibraryFiles
from tfdoctor.probes.windows_libraries import WindowsSearch, dll_of, driver_copy, windows_origin
from tfdoctor.target import libraries, reading

TOOLKIT = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.2\bin"
OTHER = r"D:\apps\renderer"
ANSWER = {
    "dll_search": [OTHER, TOOLKIT, r"C:\Windows\System32"],
    "libraries": {
        TOOLKIT: ["cudart64_110.dll", "cublas64_11.dll"],
        OTHER: ["CUDART64_110.DLL", "cudart64_101.dll"],
        r"E:\old": ["cudart64_90.dll"],
        r"C:\Windows\System32": ["nvcuda.dll"],
    },
}


def search(answer: Any = ANSWER) -> WindowsSearch:
    return WindowsSearch(answer, LibraryFiles(None, None))  # type: ignore[arg-type]  no version is asked of the host


@pytest.mark.parametrize(
    ("soname", "dll"),
    [
        ("libcudart.so.11.0", "cudart64_110.dll"),
        ("libcudart.so.10.1", "cudart64_101.dll"),
        ("libcudnn.so.8", "cudnn64_8.dll"),
        ("libcublasLt.so.11", "cublasLt64_11.dll"),
        ("cufft64_10.dll", "cufft64_10.dll"),
    ],
)
def test_names(soname: str, dll: str) -> None:
    assert dll_of(soname) == dll


def test_names_as_the_wheel_states_them() -> None:
    assert library_name("cudart", "64_110") == "cudart64_110.dll"
    assert library_name("cudart", "11.0") == "libcudart.so.11.0"


def test_the_first_folder_of_the_search_counts_whatever_the_case() -> None:
    assert [c.path for c in search().found("cudart64_110.dll")] == [
        OTHER + r"\CUDART64_110.DLL",
        TOOLKIT + r"\cudart64_110.dll",
    ]
    assert not list(search().found("cudart64_90.dll")), "a folder that is not searched"
    assert {c.soname for c in search().copies("cudart")} == {
        "CUDART64_110.DLL",
        "cudart64_110.dll",
        "cudart64_101.dll",
        "cudart64_90.dll",
    }


def test_an_interpreter_that_does_not_tell_its_search_is_an_unknown() -> None:
    with pytest.raises(Unavailable):
        search({"libraries": ANSWER["libraries"]})
    with pytest.raises(Unavailable):
        driver_copy({**ANSWER, "libraries": {}}, LibraryFiles(None, None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        (TOOLKIT + r"\cudart64_110.dll", "toolkit"),
        (r"C:\Users\x\miniconda3\envs\tf\Library\bin\cudart64_110.dll", "conda"),
        (r"C:\v\Lib\site-packages\torch\lib\cudart64_110.dll", "torch"),
        (r"C:\Windows\System32\nvcuda.dll", "system"),
        (r"D:\apps\cudart64_110.dll", "other"),
    ],
)
def test_origins(path: str, origin: str) -> None:
    assert windows_origin(path) == origin


def test_where_windows_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    import ntpath

    assert libraries.dll_search() == [], "only Windows has such a list"
    environment = {"PATH": TOOLKIT + ";;" + OTHER, "SYSTEMROOT": r"C:\Windows"}
    windows = types.SimpleNamespace(name="nt", environ=environment, path=ntpath, pathsep=";", getcwd=lambda: r"C:\work")
    for module in (libraries, reading):
        monkeypatch.setattr(module, "os", windows)
    monkeypatch.setattr(libraries, "sys", types.SimpleNamespace(_base_executable=r"C:\Python310\python.exe"))
    assert libraries.dll_search() == [
        r"C:\Python310", r"C:\Windows\System32", r"C:\Windows", r"C:\work", TOOLKIT, OTHER
    ]  # fmt: skip
