"""Starting CUDA in a process of its own: every way it can end, and where it is not tried."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import facts
import fake_cuda
import fake_nvml
import pytest
import trees
import whole_machine
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.engine import Facts, all_probes
from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import cuda_child
from tfdoctor.probes.cuda_driver import CudaDevice, CudaDriver, of_answer
from tfdoctor.tables import Tables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="libcuda.so.1 is Linux's")


def answer(profile: fake_cuda.Profile, folder: Path, **variables: str) -> dict[str, Any]:
    """What the child says with the stand-in libcuda."""
    fake_cuda.need_compiler()
    kept = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    env = {**kept, **fake_cuda.environment(profile, folder), **variables}
    done = subprocess.run([sys.executable, "-I", "-S", cuda_child.__file__], env=env, capture_output=True, text=True)
    assert done.stderr == "", done.stderr
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_two_gpus(tmp_path: Path) -> None:
    found = of_answer(answer(fake_cuda.profile(count=2, compute_capability="8.6", driver_version=12020), tmp_path))
    assert (found.state, found.code, found.version, found.count, found.unhidden) == ("ok", 0, "12.2", 2, None)
    assert found.devices == (CudaDevice("NVIDIA A100-SXM4-80GB", "8.6", "default"),) * 2
    assert found.path.endswith("/libcuda.so.1")
    assert found.works and not found.finds_none


@pytest.mark.parametrize("code", [3, 34, 46, 100, 304, 802, 803, 804, 999])
def test_the_code_of_cuinit(tmp_path: Path, code: int) -> None:
    found = of_answer(answer(fake_cuda.profile(init=code), tmp_path))
    assert (found.state, found.function, found.code, found.count) == ("failed", "cuInit", code, None)
    assert found.finds_none is (code == 100) and not found.works


def test_a_later_function_fails(tmp_path: Path) -> None:
    found = of_answer(answer(fake_cuda.profile().but({"fail.cuDeviceGetCount": 999}), tmp_path))
    assert (found.state, found.function, found.code) == ("failed", "cuDeviceGetCount", 999)


@pytest.mark.parametrize("value", ["", "-1", "7,0"])
def test_hidden_gpus_are_counted_without_the_variable(tmp_path: Path, value: str) -> None:
    found = of_answer(answer(fake_cuda.profile(count=2), tmp_path, CUDA_VISIBLE_DEVICES=value))
    assert (found.finds_none, found.unhidden) == (True, 2)


def test_what_the_variable_leaves_is_counted(tmp_path: Path) -> None:
    found = of_answer(answer(fake_cuda.profile(count=2), tmp_path, CUDA_VISIBLE_DEVICES="1"))
    assert (found.works, found.count, found.unhidden) == (True, 1, None)


def test_the_variable_is_not_to_blame(tmp_path: Path) -> None:
    found = of_answer(answer(fake_cuda.profile(init=100), tmp_path, CUDA_VISIBLE_DEVICES="0"))
    assert (found.finds_none, found.unhidden) == (True, None)


def test_a_file_that_the_loader_refuses(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("not a library")
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-I", "-S", cuda_child.__file__], env=env, capture_output=True, text=True)
    found = of_answer(json.loads(done.stdout.splitlines()[-1]))
    assert found.state == "not-loaded" and "libcuda.so.1" in found.error


def live(folder: Path, monkeypatch: pytest.MonkeyPatch, profile: fake_cuda.Profile) -> Facts:
    """A machine of files with a GPU on its bus and the stand-in libcuda, and no NVML."""
    fake_cuda.need_compiler()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name, value in fake_cuda.environment(profile, folder).items():
        monkeypatch.setenv(name, value)
    return Facts([LiveHost(root=str(trees.build(folder / "root")), timeout=2), Tables()], all_probes())


def test_on_a_live_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert live(tmp_path, monkeypatch, fake_cuda.profile()).get(CudaDriver).works


@pytest.mark.parametrize(("fault", "state"), [("hang", "timed-out"), ("crash", "crashed")])
@pytest.mark.parametrize("function", ["cuInit", "cuDeviceGetCount"])
def test_a_driver_that_hangs_or_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, state: str, function: str
) -> None:
    found = live(tmp_path, monkeypatch, fake_cuda.profile().but({f"{fault}.{function}": "any"})).get(CudaDriver)
    assert (found.state, found.function, found.works) == (state, function, False)
    assert found.error


def test_nothing_is_started_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the start nor by the probe."""
    fake_cuda.need_compiler()
    env = fake_cuda.environment(fake_cuda.profile(), tmp_path)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    gone = {"/proc/driver": None, f"{trees.PCI}/{trees.PORT}/{trees.CARD}": None}
    gone |= {path: None for path in trees.WORKSTATION if path.startswith("/dev/nvidia")}
    host = LiveHost(root=str(trees.build(tmp_path / "root", gone)), timeout=20).start()
    with pytest.raises(NotApplicable):
        Facts([host, Tables()], all_probes()).get(CudaDriver)
    host.close()
    assert fake_cuda.calls(env) == []


def test_nothing_is_started_without_libcuda(tmp_path: Path) -> None:
    given = (facts.gpu_machine(), facts.platform(), facts.driver_library(picked=None, how=""))
    with pytest.raises(NotApplicable):
        Facts([RecordedHost(str(recording(tmp_path))), *given], all_probes()).get(CudaDriver)


def recording(folder: Path, **parts: Any) -> Path:
    place = folder / "recording"
    place.mkdir()
    (place / "env.txt").write_text("")
    for name, value in parts.items():
        (place / f"{name}.json").write_text(json.dumps(value))
    return place


def test_a_recording(tmp_path: Path) -> None:
    given = (facts.gpu_machine(), facts.platform(), facts.driver_library())
    host = RecordedHost(str(recording(tmp_path, cuda={"state": "failed", "function": "cuInit", "code": 999})))
    assert Facts([host, *given], all_probes()).get(CudaDriver).code == 999


def test_a_recording_without_it(tmp_path: Path) -> None:
    given = (facts.gpu_machine(), facts.platform(), facts.driver_library())
    with pytest.raises(Unavailable):
        Facts([RecordedHost(str(recording(tmp_path))), *given], all_probes()).get(CudaDriver)


def test_it_is_recorded(tmp_path: Path) -> None:
    machine = whole_machine.build(tmp_path)
    done = machine.run("record", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "out" / "cuda.json").read_text())
    assert (said["state"], said["count"]) == ("ok", 1)


def test_with_nvml_beside_it(tmp_path: Path) -> None:
    machine = whole_machine.build(tmp_path, nvml=fake_nvml.rtx3090())
    assert machine.check()["facts"]["cuda_driver"]["state"] == "ok"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["count", "name", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["state", "code", "function", "error", "version", "count", "devices", "unhidden", "path"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_no_answer_makes_it_raise(said: dict[str, Any]) -> None:
    found = of_answer(said)
    assert found.works in (True, False) and found.finds_none in (True, False)
