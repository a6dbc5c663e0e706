"""CUDA toolkits on disk, and the ptxas and libdevice that XLA would use, over recorded folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from site_build import BUILD_INFO, CUDA_CONFIG

from tfdoctor.engine import Facts
from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import interpreter, tensorflow
from tfdoctor.probes import toolkits as probes
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.toolkits import (
    Toolkits,
    XlaTools,
    data_dir,
    parse_cuda_header,
    parse_version_json,
    parse_version_txt,
)
from tfdoctor.tables import Tables

LINUX = Platform("linux", "x86_64", "6.1", "debian", (), "12", "glibc", "2.36", 0, "test")
SITE = "/venv/lib/python3.11/site-packages"


def look(host: RecordedHost | LiveHost) -> Facts:
    used = [
        interpreter.distributions,
        tensorflow.tensorflow_packages,
        tensorflow.tensorflow,
        probes.toolkits,
        probes.xla_tools,
    ]
    return Facts([host, Tables(), LINUX], used)


def machine(
    folder: Path,
    files: Mapping[str, str],
    links: Mapping[str, str] | None = None,
    env: str = "",
    target: Mapping[str, Any] | None = None,
) -> RecordedHost:
    for name, text in {"/usr/local/.keep": "", **files}.items():
        (folder / "root" / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (folder / "root" / name.lstrip("/")).write_text(text)
    for name, to in (links or {}).items():
        (folder / "root" / name.lstrip("/")).symlink_to(to)
    (folder / "env.txt").write_text(f"PATH=/usr/bin\n{env}\n")
    if target is not None:
        (folder / "target.json").write_text(json.dumps(target))
    return RecordedHost(str(folder))


def version_json(version: str) -> str:
    return json.dumps({"cuda": {"name": "CUDA SDK", "version": version}, "cuda_cudart": {"version": "1.2.3"}})


def test_each_way_to_state_a_version(tmp_path: Path) -> None:
    host = machine(
        tmp_path,
        {
            "/usr/local/cuda-12.4/version.json": version_json("12.4.1"),
            "/usr/local/cuda-12.4/bin/nvcc": "",
            "/usr/local/cuda-10.2/version.txt": "CUDA Version 10.2.89\n",
            "/usr/local/cuda-11.8/include/cuda.h": "/* x */\n#define CUDA_VERSION 11080\n",
            "/usr/local/cuda-12.1/lib64/libcudart.so.12": "",
            "/usr/local/cuda-samples/README": "",
        },
        links={"/usr/local/cuda": "cuda-12.4"},
    )
    found = look(host).get(Toolkits)
    assert {t.path: (t.version, t.stated_by, t.has_nvcc) for t in found.toolkits} == {
        "/usr/local/cuda-12.4": ("12.4.1", "version.json", True),
        "/usr/local/cuda-10.2": ("10.2", "version.txt", False),
        "/usr/local/cuda-11.8": ("11.8", "header", False),
        "/usr/local/cuda-12.1": ("12.1", "folder name", False),
    }
    assert found.default == "/usr/local/cuda-12.4"


def test_toolkits_of_a_distribution_of_conda_and_of_cuda_home(tmp_path: Path) -> None:
    host = machine(
        tmp_path,
        {
            "/usr/bin/nvcc": "",
            "/usr/include/cuda.h": "#define CUDA_VERSION 11050\n",
            "/conda/bin/nvcc": "",
            "/conda/targets/x86_64-linux/include/cuda.h": "#define CUDA_VERSION 12030\n",
            "/scratch/cuda-12.9/version.json": version_json("12.9.1"),
        },
        env="CUDA_HOME=/scratch/cuda-12.9/",
        target={"python": {"kind": "conda", "prefix": "/conda", "version": "3.11.7"}},
    )
    found = look(host).get(Toolkits)
    assert {t.path: t.version for t in found.toolkits} == {
        "/usr": "11.5",
        "/conda": "12.3",
        "/scratch/cuda-12.9": "12.9.1",
    }
    assert found.default == ""


def test_none_and_not_looked_at(tmp_path: Path) -> None:
    host = machine(tmp_path, {"/usr/bin/python3": "", "/opt/x": ""})
    (tmp_path / "absent.txt").write_text("\n".join(["/usr/bin/nvcc", "/usr/lib", "/opt/nvidia/hpc_sdk"]))
    assert look(RecordedHost(str(tmp_path))).get(Toolkits).toolkits == ()
    assert host is not None
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "env.txt").write_text("PATH=/usr/bin\n")
    with pytest.raises(Unavailable):
        look(RecordedHost(str(empty))).get(Toolkits)


def test_this_machine() -> None:
    found = look(LiveHost()).get(Toolkits)
    assert all(Path(t.path).is_dir() for t in found.toolkits)
    assert found.default == "" or Path("/usr/local/cuda").exists()


@pytest.mark.parametrize(
    ("stated", "version"), [("12.4.1", "12.4.1"), ("12.6.20241114", "12.6"), ("13.0", "13.0"), ("", ""), ("twelve", "")]
)
def test_version_json(stated: str, version: str) -> None:
    assert parse_version_json(version_json(stated)) == version


def test_captures(shared: Path) -> None:
    found = {
        path.name: parse_version_json(path.read_text()) for path in (shared / "captures/cuda/version.json").iterdir()
    }
    assert found == {"11.5.2.json": "11.5.2", "12.6-date.json": "12.6", "13.3.1.json": "13.3.1"}


@given(st.text())
def test_no_text_makes_the_parsers_raise(text: str) -> None:
    for parse in (parse_version_json, parse_version_txt, parse_cuda_header, data_dir):
        assert isinstance(parse(text), str)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda x: st.dictionaries(st.sampled_from(["cuda", "version"]), x) | st.lists(x),
    )
)
def test_no_json_makes_the_parser_raise(value: object) -> None:
    assert isinstance(parse_version_json(json.dumps(value)), str)


# XLA --------------------------------------------------------------------------------------------------------------


def target(version: str = "2.21.0", toolkit: str = "", wheel: str = "", tools: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the target says: TensorFlow of that version, with NVIDIA's nvcc wheel of version `wheel`."""
    entries = [{"name": "tensorflow", "version": version, "owns_tensorflow": True, "location": SITE}]
    if wheel:
        entries.append({"name": "nvidia-cuda-nvcc-cu12", "version": wheel, "location": SITE})
    headers = {"cuda_config.h": CUDA_CONFIG.replace('TOOLKIT_PATH ""', f'TOOLKIT_PATH "{toolkit}"')}
    found = {"found": f"{SITE}/tensorflow", "real": True, "build_info": BUILD_INFO, "headers": headers}
    return {
        "cwd": "/job",
        "python": {"version": "3.11.7"},
        "distributions": entries,
        "tensorflow": found,
        "tools": list(tools),
    }


WHEEL = f"{SITE}/nvidia/cuda_nvcc"
BITCODE = "nvvm/libdevice/libdevice.10.bc"
OTHERS = (
    "/job/cuda_sdk_lib/bin/ptxas",
    "/usr/bin/ptxas",
    "/usr/local/cuda/bin/ptxas",
    "/opt/cuda/bin/ptxas",
    f"{WHEEL}/bin/ptxas",
)
OTHER_BITCODE = (
    *tuple(f"{r}/{BITCODE}" for r in ("/job/cuda_sdk_lib", "/usr/local/cuda", "/opt/cuda", WHEEL, "/job")),
    "/job/libdevice.10.bc",
)


def xla(
    folder: Path,
    files: tuple[str, ...],
    answer: dict[str, Any],
    env: str = "",
    extra: Optional[Mapping[str, str]] = None,
) -> XlaTools:
    host = machine(folder, {**dict.fromkeys(files, ""), **(extra or {})}, env=env, target=answer)
    present = {*files, *(extra or {})}
    flagged = ("/flag/bin/ptxas", f"/flag/{BITCODE}", "/built/bin/ptxas", f"/built/{BITCODE}")
    absent = [p for p in (*OTHERS, *OTHER_BITCODE, *flagged, "/usr/bin/nvcc", "/opt", "/usr/lib") if p not in present]
    (folder / "absent.txt").write_text("\n".join(absent))
    assert host is not None
    return look(RecordedHost(str(folder))).get(XlaTools)


def test_ptxas_on_path_goes_before_the_wheel(tmp_path: Path) -> None:
    both = (f"{WHEEL}/bin/ptxas", f"{WHEEL}/{BITCODE}")
    found = xla(tmp_path / "a", both, target(wheel="12.5.82", tools=both))
    assert (found.ptxas, found.ptxas_version) == (f"{WHEEL}/bin/ptxas", "12.5.82")
    assert (found.libdevice, found.libdevice_elsewhere) == (f"{WHEEL}/{BITCODE}", ())
    found = xla(tmp_path / "b", ("/usr/bin/ptxas", *both), target(wheel="12.5.82"))
    assert (found.ptxas, found.ptxas_version) == ("/usr/bin/ptxas", None)


def test_the_flag_goes_before_everything(tmp_path: Path) -> None:
    files = ("/flag/bin/ptxas", f"/flag/{BITCODE}", "/usr/bin/ptxas", f"{WHEEL}/{BITCODE}")
    found = xla(tmp_path, files, target(), "XLA_FLAGS=--xla_dump_to=/x --xla_gpu_cuda_data_dir=/flag")
    assert (found.ptxas, found.libdevice) == ("/flag/bin/ptxas", f"/flag/{BITCODE}")


def test_the_folder_that_the_build_names_and_the_default_one(tmp_path: Path) -> None:
    files = (f"/built/{BITCODE}", f"/usr/local/cuda/{BITCODE}")
    assert xla(tmp_path / "a", files, target("2.15.1", "/built")).libdevice == files[0]
    found = xla(tmp_path / "b", files[1:], target("2.15.1", "/built"))
    assert found.libdevice == files[1]
    assert found.ptxas == ""
    assert found.ptxas_version is None


def test_below_the_working_directory(tmp_path: Path) -> None:
    assert xla(tmp_path / "a", (f"/job/cuda_sdk_lib/{BITCODE}",), target()).libdevice == f"/job/cuda_sdk_lib/{BITCODE}"
    assert xla(tmp_path / "b", ("/job/libdevice.10.bc",), target()).libdevice == "/job/libdevice.10.bc"


def test_libdevice_lies_where_xla_does_not_look(tmp_path: Path) -> None:
    kit = {"/usr/local/cuda-12.4/version.json": version_json("12.4.1"), f"/usr/local/cuda-12.4/{BITCODE}": ""}
    found = xla(tmp_path / "a", (), target(), extra=kit)
    assert (found.libdevice, found.libdevice_elsewhere) == ("", (f"/usr/local/cuda-12.4/{BITCODE}",))
    # Releases before the extra and-cuda do not look into the wheels.
    place = f"{WHEEL}/{BITCODE}"
    found = xla(tmp_path / "b", (place,), target("2.12.1", tools=(place,)))
    assert (found.libdevice, found.libdevice_elsewhere) == ("", (place,))


@pytest.mark.parametrize(
    ("tensorflow_version", "kit", "taken"),
    [("2.21.0", "11.4.0", False), ("2.21.0", "11.8.0", True), ("2.15.1", "11.4.0", True)],
)
def test_newer_releases_pass_over_an_old_ptxas(tmp_path: Path, tensorflow_version: str, kit: str, taken: bool) -> None:
    files = {"/usr/local/cuda/version.json": version_json(kit)}
    found = xla(tmp_path, ("/usr/local/cuda/bin/ptxas",), target(tensorflow_version), extra=files)
    assert (found.ptxas == "/usr/local/cuda/bin/ptxas") == taken


def test_the_one_ptxas_that_is_known_to_be_bad(tmp_path: Path) -> None:
    found = xla(tmp_path, (f"{WHEEL}/bin/ptxas",), target(wheel="12.3.103"))
    assert found.ptxas == ""


def test_no_cuda_build(tmp_path: Path) -> None:
    answer = target()
    answer["tensorflow"]["build_info"] = "is_cuda_build = False"
    with pytest.raises(NotApplicable):
        xla(tmp_path, (), answer)


@pytest.mark.parametrize(
    ("flags", "folder"),
    [
        ("", "./cuda_sdk_lib"),
        ("--xla_gpu_cuda_data_dir=/a --xla_gpu_cuda_data_dir=/b", "/b"),
        ("--xla_gpu_cuda_data_dir='/with space'", "/with space"),
        ("--xla_gpu_cuda_data_dir=", "./cuda_sdk_lib"),
    ],
)
def test_flags(flags: str, folder: str) -> None:
    assert data_dir(flags) == folder
