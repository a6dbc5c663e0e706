"""Whole runs over small environments: applied, checked again, undone, and never more than that."""

from __future__ import annotations

from pathlib import Path

from wheelhouse import Env, copy_of


def test_two_faults_are_one_step_with_one_consistent_set(env: Env) -> None:
    plan = env.plan()
    (step,) = plan["steps"]
    assert {"TFD509", "TFD511"} <= set(step["codes"])
    assert step["safety"] == "safe"
    (command,) = step["commands"]
    assert command[:4] == [str(env.python), "-m", "pip", "install"]
    assert "tensorflow-cpu==2.15.1" in command, "TensorFlow is pinned, so that the resolver does not move it"
    assert {w.split("<")[0].split("=")[0] for w in command[6:]} == {"keras", "numpy", "tensorflow-cpu"}


def test_applied_checked_undone(env: Env) -> None:
    before, frozen = env.listing(), env.freeze()
    done = env.fix("--yes")
    assert done.returncode == 0, done.stderr
    assert "fixed: TFD509, TFD511" in done.stdout
    assert {"keras==2.15.0", "numpy==1.26.4", "tensorflow-cpu==2.15.1"} <= set(env.freeze())
    again = env.fix("--yes")
    assert (again.returncode, again.stdout) == (0, "Nothing to do.\n")
    undone = env.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert "no difference is left" in undone.stdout
    assert env.freeze() == frozen
    assert env.listing() == before
    assert env.fix("--undo").returncode == 2


def test_a_named_run_is_undone_and_an_unknown_one_is_named(env: Env) -> None:
    env.fix("--yes")
    (record,) = env.journals()
    assert record["state"] == "done"
    assert record["freeze"], "what was installed is on record"
    wrong = env.fix("--undo", "20000101-000000")
    assert wrong.returncode == 2
    assert record["run"] in wrong.stderr
    assert env.fix("--undo", record["run"]).returncode == 0


def test_without_an_answer_nothing_is_done(env: Env) -> None:
    before = env.listing()
    done = env.fix()
    assert done.returncode == 1
    assert "no answer" in done.stderr
    assert env.listing() == before
    assert not (env.root / ".tfdoctor").exists()


def test_dry_run_writes_nothing(env: Env) -> None:
    before = env.listing()
    for form in ("text", "json", "sh"):
        assert env.fix("--dry-run", "--format", form, PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert env.listing() == before
    assert not (env.root / ".tfdoctor").exists()


def test_other_environments_are_left_alone(env: Env, tmp_path: Path) -> None:
    other = copy_of(env, tmp_path / "other")
    before = other.listing()
    assert env.fix("--yes", PATH=f"{other.root}/bin:/usr/bin:/bin", VIRTUAL_ENV=str(other.root)).returncode == 0
    assert other.listing() == before


def test_only_one_diagnosis(env: Env) -> None:
    (step,) = env.plan("--only", "numpy-abi-mismatch")["steps"]
    assert step["codes"] == ["TFD509"]
    assert env.fix("--dry-run", "--only", "TFD000x").returncode == 2


def test_requirements_that_cannot_be_met_change_nothing(env: Env) -> None:
    before = env.listing()
    (env.index.parent / "empty").mkdir(exist_ok=True)
    done = env.fix("--yes", PIP_FIND_LINKS=str(env.index.parent / "empty"))
    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert "keras" in done.stderr or "numpy" in done.stderr
    assert env.listing() == before


def test_an_index_that_does_not_answer_changes_nothing(env: Env) -> None:
    before = env.listing()
    closed = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_NO_INDEX": "0",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
    }
    done = env.fix("--yes", **closed)
    assert done.returncode == 1
    assert "the package index could not be reached" in done.stderr
    assert env.listing() == before


def test_what_must_stay_is_not_touched(env: Env) -> None:
    """TensorFlow must stay and NumPy too: there is no such set, and that is said."""
    plan = env.plan("--keep", "numpy", "--keep", "tensorflow-cpu")
    assert plan["steps"] == []
    assert any("must stay" in entry["why"] for entry in plan["open"])
    assert env.fix("--dry-run", "--keep", "scipy").returncode == 2


def test_the_tensorflow_that_fits_what_must_stay(env: Env) -> None:
    """NumPy 2.1 stays, so TensorFlow goes to a release that was built for it, and Keras with it."""
    (step,) = env.plan("--keep", "numpy")["steps"]
    command = step["commands"][-1]
    moved = next(word for word in command if word.startswith("tensorflow-cpu=="))
    assert tuple(map(int, moved.partition("==")[2].split(".")[:2])) >= (2, 18)
    assert "numpy==2.1.0" in command
    assert step["safety"] == "ask", "another TensorFlow is not installed unasked"


def test_no_tensorflow_goes_with_all_that_must_stay(env: Env) -> None:
    """NumPy 2.1 needs TensorFlow 2.18, which needs Keras 3.5."""
    plan = env.plan("--keep", "numpy", "--keep", "keras")
    assert plan["steps"] == []
    assert "numpy 2.1.0, keras 3.3.3 must stay" in plan["open"][0]["why"]


def test_machine_formats_go_with_a_dry_run_only(env: Env) -> None:
    assert env.fix("--yes", "--format", "json").returncode == 2
