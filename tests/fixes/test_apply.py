"""Whole runs over small environments: applied, checked again, undone, and never more than that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import facts
import fake_nvml
import pytest
from wheelhouse import Env, copy_of, wheel

from tfdoctor.children import Children
from tfdoctor.fixes.apply import target_of
from tfdoctor.fixes.installer import Installer


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


def test_what_others_installed_since_is_not_taken_away_unasked(env: Env, tmp_path: Path) -> None:
    before = env.listing()
    env.fix("--yes")
    assert env.pip("install", str(wheel(tmp_path, "torch", "2.4.0"))).returncode == 0
    since = env.listing()
    for options, says in (((), "no answer"), (("--yes",), "nothing was changed: after run")):
        refused = env.fix("--undo", *options)
        assert (refused.returncode, env.listing()) == (1, since)
        assert says in refused.stderr and "torch-2.4.0" in refused.stderr
    assert env.fix("--undo", "--yes", "--include", "ask").returncode == 0
    assert env.listing() == before


def test_without_an_answer_nothing_is_done(env: Env) -> None:
    before = env.listing()
    done = env.fix()
    assert done.returncode == 1
    assert "no answer" in done.stderr
    assert env.listing() == before
    assert not (env.root / ".tfdoctor").exists()


def test_a_person_is_asked_about_each_step(env: Env) -> None:
    argv = [sys.executable, "-m", "tfdoctor", "fix", "--python", str(env.python)]
    before = env.listing()
    for answer, code in (("n\n", 1), ("y\n", 0)):
        done = subprocess.run(argv, input=answer, capture_output=True, text=True, check=False, env=env.variables)
        assert done.returncode == code, done.stderr
        assert "do it?" in done.stderr
        assert (env.listing() == before) == (code == 1)


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


def test_a_variable_goes_to_the_activation_script(env: Env, tmp_path: Path) -> None:
    fake_nvml.need_compiler()
    machine = {**fake_nvml.environment(fake_nvml.rtx3090(), tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    home = tmp_path / "home"
    home.mkdir()
    before = env.listing()
    done = env.fix("--yes", "--include", "ask", "--only", "TFD601", HOME=str(home), **machine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed: TFD601" in done.stdout
    assert "Activate the environment again" in done.stdout
    changed = {name for name, content in env.listing().items() if before.get(name) != content}
    assert changed == {"bin/activate", "bin/activate.fish", "bin/activate.csh"}
    assert list(home.iterdir()) == []
    script = f'. {env.root}/bin/activate; printf "%s" "${{CUDA_VISIBLE_DEVICES-gone}}"'
    shown = subprocess.run(
        ["bash", "-c", script], env={"CUDA_VISIBLE_DEVICES": "", "PATH": "/bin"}, capture_output=True, check=True
    )
    assert shown.stdout == b"gone"
    assert env.fix("--undo").returncode == 0
    assert env.listing() == before


def test_stale_segments_are_deleted_on_consent(env: Env, tmp_path: Path) -> None:
    fake_nvml.need_compiler()
    shared = Path("/dev/shm")
    if not shared.is_dir() or list(shared.glob("nccl-*")):
        pytest.skip("no /dev/shm, or somebody works in it")
    stale = shared / f"nccl-tfdoctor-test-{os.getpid()}"
    machine = fake_nvml.environment(fake_nvml.rtx3090(), tmp_path)
    try:
        stale.write_bytes(b"0" * 4096)
        assert env.fix("--yes", "--only", "TFD801", **machine).returncode == 1, "not without consent"
        assert stale.exists()
        done = env.fix("--yes", "--include", "ask", "--only", "TFD801", **machine)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not stale.exists()
    finally:
        stale.unlink(missing_ok=True)


def test_no_pip_and_no_uv(env: Env) -> None:
    for folder in (*env.site.glob("pip"), *env.site.glob("pip-*.dist-info")):
        shutil.rmtree(folder)
    before = env.listing()
    done = env.fix("--yes", PATH="/nonexistent")
    assert done.returncode == 1
    assert "ensurepip" in done.stdout
    assert env.listing() == before


def test_an_externally_managed_interpreter(env: Env) -> None:
    """The system's own, where it has PEP 668's mark: nothing is installed there, and the way out is told."""
    system = next(
        (p for p in ("/usr/bin/python3",) if list(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED"))), None
    )
    if system is None or not Path(system).exists():
        pytest.skip("no externally managed interpreter here")
    argv = [sys.executable, "-m", "tfdoctor", "fix", "--yes", "--include", "ask", "--python", system]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env.variables, cwd=env.root)
    assert done.returncode == 1
    assert "PEP 668" in done.stdout
    assert "-m venv" in done.stdout


def test_uv_for_an_environment_without_pip(template: Env, tmp_path: Path) -> None:
    """And what uv has linked from its cache stays as it is there."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("no uv here")
    made = Env(tmp_path / "uv", template.index)
    variables = {**made.variables, "UV_CACHE_DIR": str(tmp_path / "cache"), "UV_LINK_MODE": "hardlink"}
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(made.root)], check=True, env=variables)
    for names in (["tensorflow-cpu==2.15.1"], ["--no-deps", "keras==3.3.3", "numpy==2.1.0"]):
        subprocess.run([uv, "pip", "install", "-q", "--python", str(made.python), *names], check=True, env=variables)
    cached = Env(tmp_path / "cache" / "archive-v0", template.index)
    cache, before, frozen = cached.listing(), made.listing(), made.freeze()
    done = made.fix("--yes", UV_CACHE_DIR=variables["UV_CACHE_DIR"], UV_LINK_MODE="hardlink")
    assert done.returncode == 0, done.stderr
    assert made.journals()[0]["entries"][0]["commands"][0][1:3] == ["pip", "install"]
    assert "keras==2.15.0" in made.freeze()
    assert made.fix("--undo").returncode == 0
    assert (made.listing(), made.freeze()) == (before, frozen)
    after = cached.listing()
    assert {name: after[name] for name in cache} == cache


@pytest.fixture
def relocated(relocated_python: Env) -> Env:
    """With the broken environment's packages."""
    assert relocated_python.pip("install", "tensorflow-cpu==2.15.1").returncode == 0
    assert relocated_python.pip("install", "--no-deps", "keras==3.3.3", "numpy==2.1.0").returncode == 0
    return relocated_python


def test_a_container_s_own_python(relocated: Env) -> None:
    """Outside of an environment nothing is done unasked."""
    before, frozen = relocated.listing(), relocated.freeze()
    asked = relocated.fix("--yes")
    assert (asked.returncode, relocated.listing()) == (1, before)
    done = relocated.fix("--yes", "--include", "ask")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "keras==2.15.0" in relocated.freeze()
    undone = relocated.fix("--undo")
    assert undone.returncode == 0, undone.stderr
    assert (relocated.listing(), relocated.freeze()) == (before, frozen)


CONDA = """#!/bin/sh
# Stands in for conda: notes what it is asked for, and does it with pip.
echo "$@" >> "{log}"
case "$1" in
  list) exec "{python}" -m pip freeze ;;
  install)
    case "$*" in *--dry-run*) exit 0 ;; esac
    echo changed > "{root}/lib/libsomething.so"
    exec "{python}" -m pip install -q --no-deps "keras==2.15.*" ;;
esac
exit 1
"""


def test_conda_for_what_conda_installed(relocated: Env, tmp_path: Path) -> None:
    """The program conda is stood in for; it also changes a file outside of site-packages, as conda does."""
    made = copy_of(relocated, tmp_path / "conda")
    (made.root / "conda-meta").mkdir()
    (made.root / "pkgs").mkdir()
    (made.root / "pkgs" / "archive").write_text("the cache is no part of the environment")
    for info in made.site.glob("tensorflow_cpu-*.dist-info"):
        (info / "INSTALLER").unlink()
        (info / "INSTALLER").write_text("conda\n")
    log, program = tmp_path / "log", tmp_path / "bin" / "conda"
    program.parent.mkdir()
    program.write_text(CONDA.format(log=log, python=made.python, root=made.root))
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    before = made.listing()
    done = made.fix("--yes", "--include", "ask", **path)
    assert "TFD511" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr
    (install,) = [
        line for line in log.read_text().splitlines() if line.startswith("install") and "--dry-run" not in line
    ]
    assert install.startswith(f"install --yes --prefix {made.root} keras=2.15")
    assert made.listing() != before
    assert made.fix("--undo", **path).returncode == 0
    assert made.listing() == before


def test_a_file_named_like_a_module_where_tfdoctor_was_started(
    env: Env, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -c` imports from the working directory first."""
    (tmp_path / "json.py").write_text("raise SystemExit('not the library')\n")
    monkeypatch.chdir(tmp_path)
    interpreter = facts.interpreter(path=str(env.python), prefix=str(env.root))
    target = target_of(interpreter, Installer("pip", str(env.python), str(env.root)), Children())
    assert target.prefix == str(env.root)


@pytest.mark.parametrize("name", ["TARGET", "PREFIX", "ROOT"])
def test_a_pip_that_is_set_to_install_elsewhere(env: Env, tmp_path: Path, name: str) -> None:
    before = env.listing()
    done = env.fix("--yes", **{f"PIP_{name}": str(tmp_path / "elsewhere")})
    assert done.returncode == 1
    assert f".{name.lower()}='{tmp_path / 'elsewhere'}'" in done.stderr and "Traceback" not in done.stderr
    assert env.listing() == before and not (tmp_path / "elsewhere").exists()
