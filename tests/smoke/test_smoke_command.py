"""`tfdoctor smoke` as it is called: exit codes, JSON, Markdown, the baseline; and once with real TensorFlow on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import scripted

from tfdoctor.model import BadInput
from tfdoctor.smoke import plan
from tfdoctor.smoke.baseline import Change, compare, earlier
from tfdoctor.smoke.session import Session
from tfdoctor.smoke.workers import config, parse, unreachable_because

SCHEMA = json.loads((Path(plan.__file__).parents[1] / "schemas" / "smoke.json").read_text(encoding="utf-8"))


def smoke(*arguments: str, path: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with this interpreter; `path` is PYTHONPATH of tfdoctor and so of the target."""
    clean = {k: v for k, v in os.environ.items() if k not in ("CUDA_VISIBLE_DEVICES", "TF_CONFIG")}
    if path:
        clean["PYTHONPATH"] = path
    command = [sys.executable, "-m", "tfdoctor", "smoke", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**clean, **variables}, timeout=600, check=False)


def test_a_device_that_adds(tmp_path: Path) -> None:
    done = smoke("--test", "devices", "--format", "json", path=str(scripted.stand_in(tmp_path)), STAND_IN_GPUS="1")
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    (test,) = found["tests"]
    assert (test["state"], test["devices"], found["rehearsal"]) == ("passed", ["GPU:0"], False)
    # The stand-in is not installed, so the rules said that there is no TensorFlow: the run contradicts them.
    assert "TFD003" in {d["code"] for d in found["diagnoses"]} and done.returncode == 1


def test_the_chosen_device_is_the_one_that_is_described(tmp_path: Path) -> None:
    path = str(scripted.stand_in(tmp_path))
    done = smoke("--test", "devices", "--devices", "1", "--format", "json", path=path, STAND_IN_GPUS="2")
    (test,) = json.loads(done.stdout)["tests"]
    assert (test["state"], test["devices"], test["measured"]["gpus"]) == ("passed", ["GPU:0"], 2)
    assert [gpu["name"] for gpu in test["measured"]["listed"]] == ["NVIDIA RTX A6000"]


@pytest.mark.parametrize(("there", "wanted"), [("0", "0"), ("2", "1,2")])
def test_a_chosen_device_that_is_not_there_is_no_rehearsal(tmp_path: Path, there: str, wanted: str) -> None:
    done = smoke("--devices", wanted, path=str(scripted.stand_in(tmp_path)), STAND_IN_GPUS=there)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--devices {wanted[-1]}: there is no such GPU; TensorFlow lists {there}," in done.stderr


def test_a_rehearsal_says_so(tmp_path: Path) -> None:
    done = smoke("--test", "devices", path=str(scripted.stand_in(tmp_path)))
    assert done.returncode == 0
    assert "1 check right" in done.stdout
    assert "rehearsal on the CPU" in done.stdout and "nothing about a GPU" in done.stdout
    assert done.stderr == ""


def test_a_broken_tensorflow_is_1(tmp_path: Path) -> None:
    where = scripted.stand_in(tmp_path)
    (where / "tensorflow" / "__init__.py").write_text("import os; os.abort()")
    done = smoke("--test", "matmul", path=str(where))
    assert done.returncode == 1
    assert "SIGABRT" in done.stdout and "TFD524" in done.stdout


def test_markdown(tmp_path: Path) -> None:
    done = smoke("--test", "devices", "--format", "markdown", path=str(scripted.stand_in(tmp_path)))
    assert "| devices" in done.stdout and done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--devices", "a"], "must be numbers"),
        (["--devices", "0,0"], "each once"),
        (["--devices", "0", "--cpu"], "do not go together"),
        (["--baseline", "absent.json"], "does not exist"),
        (["--baseline", "."], "is a folder"),
        (["--tf-config", "{"], "TF_CONFIG must look like"),
        (["--tf-config", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 3}}'], "1 workers"),
        (["--python", "absent/python"], "does not exist"),
        (["--test", "nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_2_and_one_sentence(arguments: list[str], says: str) -> None:
    done = smoke(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert says in done.stderr and "Traceback" not in done.stderr


def test_an_address_that_does_not_answer_is_told_before_anything_runs() -> None:
    text = config(["127.0.0.1:2222", "nowhere.invalid:2222"], 0)
    done = smoke("--tf-config", text)
    assert done.returncode == 1
    assert "nowhere.invalid:2222 does not answer" in done.stdout


def test_addresses() -> None:
    (port,) = __import__("tfdoctor.smoke.workers", fromlist=["x"]).free_ports(1)
    assert unreachable_because(f"127.0.0.1:{port}") is None, "a host that refuses is there: its worker starts later"
    assert "is not host:port" in str(unreachable_because("no-port"))
    assert parse(config(["a:1", "b:2"], 1)) == (["a:1", "b:2"], 1)
    for wrong in ("[]", "{}", '{"cluster": 1, "task": 2}', '{"cluster": {"worker": "ab"}, "task": {"index": "0"}}'):
        with pytest.raises(BadInput):
            parse(wrong)


# The baseline -------------------------------------------------------------------------------------------------------


def test_slower_beyond_the_noise() -> None:
    quiet, noisy = (10.0, 10.1, 9.9), (10.0, 14.0, 6.0)
    found = {
        c.what: c.slower
        for c in compare({"a": quiet, "b": noisy, "c": quiet}, {"a": (7.0,) * 3, "b": (7.0,) * 3, "d": quiet})
    }
    assert found == {"a": True, "b": False}
    assert not Change("x", 10.0, 9.2, 0.0).slower, "clocks alone change this much"
    assert not Change("x", 10.0, 12.0, 0.0).slower


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in ("{", "[]", "{}", '{"tests": [5]}', '{"tests": [{"measured": {"repeats": {"a": ["x"]}}}]}'):
        path.write_text(text)
        with pytest.raises(BadInput):
            earlier(str(path))


def test_the_plan() -> None:
    quick = {t.name for t in plan.chosen((), quick=True)}
    assert {"devices", "matmul", "convolution", "xla", "mixed-precision", "copies", "allreduce"} == quick
    allreduce = next(t for t in plan.TESTS if t.name == "allreduce")
    assert plan.options_for(allreduce, gpus=2, seconds=4)["sizes"] == [1024 * 4**i for i in range(10)]
    assert plan.SIZES[-1] == 256 * 2**20
    assert plan.options_for(allreduce, gpus=0, seconds=4)["logical_cpus"] == 2
    assert plan.options_for(allreduce, gpus=4, seconds=4, devices=[1, 3])["devices"] == [1, 3]


def test_the_loops_of_quick_take_5_seconds_on_one_gpu() -> None:
    """What the inner loops are given; starting CUDA in six processes takes the rest."""
    loops = {"matmul": 4, "convolution": 1, "copies": 3}  # formats; layers; directions
    given = sum(
        loops.get(t.name, 0) * plan.options_for(t, gpus=1, seconds=plan.QUICK_SECONDS)["seconds"]
        for t in plan.chosen((), quick=True)
        if not t.several
    )
    assert given <= 5


def test_quick_starts_no_test_on_a_gpu_that_could_not_end_within_20_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
    if options["test"] in ("devices", "matmul"):
        time.sleep(0.6)  # 0.5 s of it count as TensorFlow's import
    passed(pipe, devices=("GPU:0",), gpus=1, listed=[{"name": "a"}])
    """
    assert plan.QUICK_BUDGET < 20
    monkeypatch.setattr(plan, "QUICK_BUDGET", 0.2)
    runner = scripted.runner(tmp_path, body)
    found = {r.test: r for r in Session(runner, timeout=scripted.LIMIT).run(quick=True)}
    assert found["matmul"].passed or "took" in found["matmul"].detail  # a slow machine spends it all on the first
    late = found["copies"]
    assert (late.state, "--quick starts none after 0.2 s" in late.detail) == ("not-run", True)
    assert all(r.passed for r in Session(runner, timeout=scripted.LIMIT).run(["matmul", "copies"]))


# Real TensorFlow ------------------------------------------------------------------------------------------------------


@pytest.mark.real
def test_real_tensorflow_on_the_cpu(plain: Path, tmp_path: Path) -> None:
    done = smoke("--python", str(plain), "--seconds", "0.2", "--cpu", "--format", "json", TMPDIR=str(tmp_path))
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    states = {t["test"]: (t["state"], t["detail"]) for t in found["tests"]}
    not_run = {name for name, (state, _detail) in states.items() if state == "not-run"}
    assert not_run == {"memory-growth"}, states
    assert {state for name, (state, _detail) in states.items() if name not in not_run} == {"passed"}, states
    assert set(states) == {*(t.name for t in plan.TESTS), plan.MULTIWORKER}
    assert done.returncode == 0 and found["rehearsal"]
    by_name = {t["test"]: t for t in found["tests"]}
    assert by_name["allreduce"]["measured"]["operations"]["default"] == ["CollectiveReduceV2"]
    assert by_name["allreduce-copies"]["measured"]["operations"] == {"hierarchical": ["AddN"], "one-device": ["AddN"]}
    assert (by_name["multiworker"]["measured"]["workers"], by_name["multiworker"]["measured"]["replicas"]) == (2, 2)
    assert all(len(rates) >= 2 for t in found["tests"] for rates in t["measured"].get("repeats", {}).values())
    assert scripted.left_over() == []
    assert list(tmp_path.iterdir()) == [], "nothing is left in the folder for temporary files"


def test_without_tensorflow_that_is_the_cause(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True, timeout=120)
    done = smoke("--python", str(tmp_path / "bare" / "bin" / "python"))
    assert done.returncode == 1
    assert "TFD502 tensorflow-not-installed" in done.stdout
    assert "It also explains: TFD524" in done.stdout
