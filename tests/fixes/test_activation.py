"""The activation scripts of an environment set what a fix asks for, in real shells."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tfdoctor.fixes import activation


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    return tmp_path / "env"


def seen(environment: Path, name: str, before: str = "") -> str:
    script = f'. {environment}/bin/activate; printf "%s" "${name}"'
    env = {"PATH": "/usr/bin:/bin", **({name: before} if before else {})}
    return subprocess.run(["bash", "-c", script], env=env, check=True, capture_output=True, text=True).stdout


def test_a_virtual_environment_sets_it(environment: Path) -> None:
    activation.write(str(environment), "venv", [("TF_X", "a b;$(touch hacked)")])
    assert seen(environment, "TF_X") == "a b;$(touch hacked)"


def test_a_path_list_keeps_what_was_there(environment: Path) -> None:
    activation.write(str(environment), "venv", [("LD_LIBRARY_PATH", "/a:/b:$LD_LIBRARY_PATH")])
    assert seen(environment, "LD_LIBRARY_PATH", "/c") == "/a:/b:/c"


def test_unset(environment: Path) -> None:
    activation.write(str(environment), "venv", [("CUDA_VISIBLE_DEVICES", None)])
    assert seen(environment, "CUDA_VISIBLE_DEVICES", "-1") == ""


def test_a_second_block_takes_the_place_of_the_first(environment: Path) -> None:
    for value in ("1", "2"):
        activation.write(str(environment), "venv", [("TF_X", value)])
    assert (environment / "bin" / "activate").read_text().count(activation.BEGIN) == 1
    assert seen(environment, "TF_X") == "2"


def test_conda_gets_its_own_folders(tmp_path: Path) -> None:
    activation.write(str(tmp_path), "conda", [("TF_X", "1")])
    assert "export TF_X=1" in (tmp_path / "etc/conda/activate.d/tfdoctor.sh").read_text()
    assert "unset TF_X" in (tmp_path / "etc/conda/deactivate.d/tfdoctor.sh").read_text()
