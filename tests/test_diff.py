"""`tfdoctor diff`: what differs between two machines, and what of it matters."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import facts
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.cli import main, root
from tfdoctor.comparison import WEIGHTY, compare, flat, load
from tfdoctor.engine import fact_name
from tfdoctor.model import BadInput
from tfdoctor.render.plain import plain

HOSTS = Path(__file__).with_name("hosts")
HEALTHY, HIDDEN, OLD = (
    str(HOSTS / n)
    for n in ("ubuntu-rtx3090-tf2.20-healthy", "ubuntu-rtx3090-tf2.20-hidden", "ubuntu-t4-driver470-tf2.17")
)


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(root, ["diff", *arguments])
    return done.exit_code, done.stdout


@pytest.fixture(scope="module")
def healthy() -> dict[str, Any]:
    return load(HEALTHY)


def changed(report: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(report)
    inside: Any = other["facts"]
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return other


@pytest.mark.parametrize("host", sorted(HOSTS.iterdir()), ids=lambda h: h.name)
def test_a_machine_does_not_differ_from_itself(host: Path) -> None:
    code, said = run(str(host), str(host))
    assert code == 0 and "Nothing differs that matters." in said and "other field" not in said


def test_the_cause_comes_first() -> None:
    code, said = run(HEALTHY, HIDDEN)
    assert code == 1
    assert "Found only in B:" in said and "TFD601 cuda-visible-devices-hidden" in said
    rows = said.partition("Differs and matters:")[2].splitlines()
    assert rows[1].strip() == "environment.variables.CUDA_VISIBLE_DEVICES  (TFD601)"
    assert rows[2].strip() == "A: not there" and rows[3].strip() == 'B: ""'


def test_a_diagnosis_names_the_fields_that_it_speaks_of() -> None:
    found = compare(load(HEALTHY), load(OLD))
    spoken = {d.path for d in found.mattering if "TFD203" in d.because}
    assert "driver.version" in spoken
    assert found.mattering[0].because and not found.mattering[-1].because


def test_a_json_report_is_as_good_as_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    done = CliRunner().invoke(root, ["check", "--host", HEALTHY, "--format", "json"])
    path.write_text(done.stdout)
    assert run(str(path), HEALTHY)[0] == 0
    assert run(str(path), HIDDEN)[0] == 1


def test_what_passes_is_left_out_and_what_is_minor_does_not_matter(healthy: dict[str, Any]) -> None:
    gpu = ("gpus", "gpus", 0)
    warmer = compare(healthy, changed(healthy, (*gpu, "temperature"), 80))
    assert not warmer.found and [d.path for d in warmer.differences] == ["gpus.gpus[0].temperature"]
    narrow = compare(healthy, changed(healthy, (*gpu, "pcie", "width"), 8))
    assert [d.path for d in narrow.mattering] == ["gpus.gpus[0].pcie.width"]


def test_a_missing_gpu_is_told_once(healthy: dict[str, Any]) -> None:
    none = compare(healthy, changed(healthy, ("gpus", "gpus"), []))
    (lost,) = none.mattering
    assert (lost.path, lost.a, lost.b) == ("gpus.gpus[0]", "present", "absent")


def test_could_not_look_is_not_the_same_as_absent(healthy: dict[str, Any]) -> None:
    blind = changed(healthy, ("driver",), {"unavailable": "NVML timed out"})
    nothing = changed(healthy, ("driver",), {"not_applicable": "no NVIDIA GPU"})
    (difference,) = compare(blind, nothing).mattering
    assert difference.path == "driver" and difference.a != difference.b
    (difference,) = compare(healthy, blind).mattering
    assert difference.a == "present" and difference.b == {"unavailable": "NVML timed out"}


@pytest.mark.parametrize(
    "wanted",
    [
        "tensor_flow.version", "tensor_flow.cudnn", "driver.version", "driver.cuda", "kernel_driver.loaded_version", "platform.kernel",
        "platform.libc_version", "interpreter.version", "container.kind", "cloud.instance_type", "shm.total", "topology.levels.0-1",
        "gpus.gpus[0].name", "gpus.gpus[0].lost", "gpus.gpus[0].memory_total", "gpus.gpus[0].pcie.width", "gpus.gpus[0].pcie.max_width",
        "gpus.gpus[0].ecc.volatile_uncorrected", "gpus.gpus[0].mig", "gpus.gpus[0].nvlinks[3].active", "gpus.gpus[1]", "gpus",
        "libraries.libraries[cudnn].picked.version",
    ],
)  # fmt: skip
def test_weighty_fields_exist(wanted: str) -> None:
    """So that a renamed field does not silently stop to matter."""
    machine = {fact_name(type(fact)): plain(fact) for fact in facts.TWO_3090.given}
    assert wanted in dict(flat(machine)) and WEIGHTY.fullmatch(wanted)


@pytest.mark.parametrize(
    ("name", "content"),
    [("no.json", None), ("text.json", "no JSON"), ("list.json", "[]"), ("other.json", '{"schema": 1}'),
     ("later.json", '{"schema": 2, "facts": {}}')],
)  # fmt: skip
def test_what_is_no_report_is_refused(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(SystemExit) as end:
        main(["diff", str(path), HEALTHY])
    assert end.value.code == 2
    assert name in capsys.readouterr().err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), JSON), st.dictionaries(st.text(), JSON))
def test_whatever_the_facts_are(a: Any, b: Any) -> None:
    verdict = {"gpu": "yes", "summary": ""}
    left, right = {"facts": a, "verdict": verdict}, {"facts": b, "verdict": verdict}
    assert json.dumps(a) != json.dumps(b) or not compare(left, right).differences
    assert not compare(left, left).differences


def test_a_folder_that_holds_something_else_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path, tmp_path / "empty"):
        with pytest.raises(BadInput, match="is no recording"):
            load(str(folder))
    (tmp_path / "nvidia-smi.txt").touch()
    assert load(str(tmp_path))["verdict"]["gpu"] == "unknown"
