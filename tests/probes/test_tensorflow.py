"""TensorFlow as installed: from the wheel's own texts, and from a name and a version alone."""

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
from tfdoctor.host import RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import interpreter
from tfdoctor.probes import tensorflow as probes
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow, TensorFlowPackages, parse_build_info
from tfdoctor.tables import Tables

SITE = "/venv/lib/python3.11/site-packages"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=6,
)


def on(system: str, machine: str = "x86_64") -> Platform:
    return Platform(system, machine, "6.1", "", (), "", "", "", 0, "test")


def facts(
    folder: Path, platform: Optional[Platform], answer: Mapping[str, Any] | None = None, freeze: str = ""
) -> Facts:
    if answer is not None:
        (folder / "target.json").write_text(json.dumps(answer))
    (folder / "pip-freeze.txt").write_text(freeze)
    probes_used = [interpreter.distributions, probes.tensorflow_packages, probes.tensorflow]
    return Facts(
        [RecordedHost(str(folder)), Tables(), *([platform] if platform else [])],
        [*probes_used, *([] if platform else [NO_PLATFORM])],
    )


def _no_platform() -> Platform:
    raise Unavailable("nobody looked")


_no_platform.__annotations__["return"] = Platform
NO_PLATFORM = __import__("tfdoctor.engine", fromlist=["probe"]).probe(_no_platform)


def installed(version: str = "2.21.0", name: str = "tensorflow", **tensorflow: Any) -> dict[str, Any]:
    """A target's answer with one distribution that owns tensorflow/."""
    entry = {"name": name, "version": version, "location": SITE, "owns_tensorflow": True}
    found = {"found": f"{SITE}/tensorflow", "kind": "package", "real": True, "site": True, **tensorflow}
    python = {"version": "3.11.7", "platform": "linux", "machine": "x86_64"}
    return {"python": python, "distributions": [entry], "tensorflow": found}


HEADERS = {
    "cuda_config.h": CUDA_CONFIG,
    "cudnn_version.h": "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 3\n#define CUDNN_PATCHLEVEL 0",
    "nccl.h": "#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7",
}


def test_the_wheel_speaks_for_itself(tmp_path: Path) -> None:
    found = facts(tmp_path, None, installed(build_info=BUILD_INFO, headers=HEADERS)).get(TensorFlow)
    assert (found.cuda_build, found.rocm_build) == (True, False)
    assert (found.cuda, found.cudnn, found.nccl) == ("12.5.1", "9.3.0", "2.27.7")
    assert found.compute_capabilities == ("sm_60", "compute_90")
    assert found.location == f"{SITE}/tensorflow"
    assert found.source.endswith("build_info.py")
    assert found.in_table


def test_a_release_newer_than_the_table(tmp_path: Path) -> None:
    found = facts(tmp_path, None, installed("2.99.0", build_info=BUILD_INFO.replace("12.5.1", "14.0.1"))).get(
        TensorFlow
    )
    assert (found.cuda_build, found.cuda, found.cudnn, found.in_table, found.ptx_isa) == (
        True,
        "14.0.1",
        "9",
        False,
        "",
    )


def test_the_wheel_goes_before_the_table(tmp_path: Path) -> None:
    """A build of one's own under an official name and version."""
    own = BUILD_INFO.replace("12.5.1", "11.8")
    found = facts(tmp_path, on("linux"), installed(build_info=own)).get(TensorFlow)
    assert found.cuda == "11.8"
    cpu = "build_info = {'is_cuda_build': False, 'is_rocm_build': False}"
    found = facts(tmp_path, on("linux"), installed(build_info=cpu)).get(TensorFlow)
    assert (found.cuda_build, found.cuda, found.ptx_isa, found.compute_capabilities) == (False, "", "", ())


@pytest.mark.parametrize(
    ("name", "version", "platform", "cuda_build"),
    [
        ("tensorflow", "2.16.1", on("linux"), True),
        ("tensorflow", "2.16.1", on("linux", "aarch64"), False),
        ("tensorflow", "2.16.1", on("darwin", "aarch64"), False),
        ("tensorflow", "2.10.1", on("windows"), True),
        ("tensorflow", "2.18.0", on("windows"), False),
        ("tensorflow", "2.16.1", None, None),
        ("tensorflow-cpu", "2.16.1", None, False),
        ("tensorflow-intel", "2.15.0", None, False),
        ("tensorflow-macos", "2.15.0", on("darwin", "aarch64"), False),
        ("tensorflow-gpu", "2.10.1", on("linux"), True),
        ("tensorflow-rocm", "2.14.0", on("linux"), False),
        ("tf-nightly", "2.22.0.dev20260101", on("linux"), None),
        ("tensorflow", "2.14.0+nv23.11", on("linux"), True),
        ("tensorflow", "99.0", on("linux"), None),
        ("tensorflow", "not a version", on("linux"), None),
    ],
)
def test_a_name_and_a_version_alone(
    tmp_path: Path, name: str, version: str, platform: Optional[Platform], cuda_build: Optional[bool]
) -> None:
    text = (
        f"{name} @ file:///{name.replace('-', '_')}-{version}-cp311-cp311-linux_x86_64.whl"
        if " " not in version
        else f"{name}=={version}"
    )
    found = facts(tmp_path, platform, freeze=text).get(TensorFlow)
    assert found.distribution == name
    assert found.cuda_build is cuda_build
    if cuda_build and "+" not in version:
        row = Tables().release(version)
        assert row is not None
        assert (found.cuda, found.cudnn, found.ptx_isa) == (row.cuda, row.cudnn, row.ptx_isa or "")
    if not cuda_build:
        assert (found.cuda, found.ptx_isa) == ("", "")


@pytest.mark.parametrize(
    ("freeze", "owners"),
    [
        ("tensorflow==2.15.0\ntensorflow-intel==2.15.0\n", ["tensorflow-intel"]),
        ("tensorflow==2.15.0\ntensorflow-cpu==2.15.0\n", ["tensorflow", "tensorflow-cpu"]),
        ("tensorflow==2.15.0\ntensorflow-metal==1.1.0\ntensorflow-hub==0.16.0\n", ["tensorflow"]),
        ("tensorflow-estimator==2.15.0\nkeras==3.0.0\n", []),
    ],
)
def test_owners_by_name(tmp_path: Path, freeze: str, owners: list[str]) -> None:
    found = facts(tmp_path, None, freeze=freeze)
    assert [name for name, _version in found.get(TensorFlowPackages).installed] == owners
    if not owners:
        with pytest.raises(NotApplicable):
            found.get(TensorFlow)


@pytest.mark.parametrize(
    ("where", "real", "site", "kind", "shadow"),
    [
        ("/home/me/tensorflow.py", False, False, "module", True),
        ("/home/me/tensorflow", False, False, "package", True),
        ("/home/me/tensorflow", False, False, "namespace", False),
        (f"{SITE}/tensorflow", False, True, "package", False),
        ("/opt/copies/tensorflow", True, False, "package", False),
    ],
)
def test_shadows(tmp_path: Path, where: str, real: bool, site: bool, kind: str, shadow: bool) -> None:
    """What stands before site-packages and is no TensorFlow; a damaged one in its own place is not a shadow."""
    answer = installed(
        found=where, real=real, site=site, kind=kind, real_behind=f"{SITE}/tensorflow", build_info=BUILD_INFO
    )
    found = facts(tmp_path, None, answer)
    assert found.get(TensorFlowPackages).shadow == (where if shadow else "")
    assert found.get(TensorFlow).location == (where if real else f"{SITE}/tensorflow")


def test_a_folder_that_nobody_claims(tmp_path: Path) -> None:
    answer = installed(
        "",
        build_info=BUILD_INFO,
        headers={"version.h": "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 15\n#define TF_PATCH_VERSION 1"},
    )
    answer["distributions"] = []
    found = facts(tmp_path, None, answer)
    assert found.get(TensorFlowPackages).folder == f"{SITE}/tensorflow"
    assert (found.get(TensorFlow).distribution, found.get(TensorFlow).version) == ("", "2.15.1")


def test_of_two_owners_the_whole_one_is_meant(tmp_path: Path) -> None:
    answer = installed(build_info=BUILD_INFO)
    answer["distributions"][0].update(damaged=4, damage=["tensorflow/a.py"])
    answer["distributions"].append(
        {"name": "tensorflow-cpu", "version": "2.20.0", "owns_tensorflow": True, "damaged": 0}
    )
    found = facts(tmp_path, None, answer)
    assert len(found.get(TensorFlowPackages).installed) == 2
    assert (found.get(TensorFlow).distribution, found.get(TensorFlow).version) == ("tensorflow-cpu", "2.20.0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BUILD_INFO, {"cuda_version": "12.5.1", "is_cuda_build": True}),
        (
            "is_rocm_build = False\nis_cuda_build = True\nbuild_info = {'cuda_version_number': '10.1'}",
            {"is_cuda_build": True, "cuda_version_number": "10.1"},
        ),
        ("import os\nbuild_info = {'a': os.getcwd()}\nis_cuda_build = True", {"is_cuda_build": True}),
        ("def broken(", {}),
        ("\0", {}),
    ],
)
def test_build_info(text: str, expected: dict[str, object]) -> None:
    found = parse_build_info(text)
    assert {name: found.get(name) for name in expected} == expected


def test_versions_as_windows_writes_them(tmp_path: Path) -> None:
    text = "build_info = {'cuda_version': '64_112', 'cudnn_version': '64_8', 'is_cuda_build': True}"
    found = facts(tmp_path, on("windows"), installed("2.99.0", build_info=text)).get(TensorFlow)
    assert (found.cuda, found.cudnn) == ("11.2", "8")


def test_the_names_of_before_2_3(tmp_path: Path) -> None:
    text = "is_cuda_build = True\nbuild_info = {'cuda_version_number': '10.1', 'cudnn_version_number': '7'}"
    found = facts(tmp_path, on("linux"), installed("2.1.0", build_info=text)).get(TensorFlow)
    assert (found.cuda, found.cudnn.split(".")[0]) == ("10.1", "7")


@given(st.text())
def test_no_build_info_makes_it_raise(text: str) -> None:
    assert isinstance(parse_build_info(text), dict)
    assert isinstance(parse_build_info("build_info = " + text), dict)


@given(st.dictionaries(st.sampled_from(["found", "kind", "real", "site", "build_info", "headers", "behind"]), JSON))
def test_no_answer_crashes_the_probes(tmp_path_factory: pytest.TempPathFactory, answer: dict[str, Any]) -> None:
    found = facts(tmp_path_factory.mktemp("host"), None, {**installed(), "tensorflow": answer})
    found.look_at_all()
    assert found.crashes == []
