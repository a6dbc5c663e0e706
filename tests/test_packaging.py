"""What is installed is what is in the tree, and the README's commands are what CI runs."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def setup_cfg() -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    return config


def test_every_package_is_named() -> None:
    named = set(setup_cfg()["options"]["packages"].split())
    found = {
        str(path.parent.relative_to(REPOSITORY)).replace("/", ".")
        for path in REPOSITORY.glob("tfdoctor/**/__init__.py")
    }
    assert named == found | {"tfdoctor.compat"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel built from a copy of the tree, so that building leaves nothing in it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignored = shutil.ignore_patterns(".*", "tests", "docs", "build", "*.egg-info", "__pycache__")
    shutil.copytree(REPOSITORY, source, ignore=ignored)
    argv = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(source),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if "No module named pip" in done.stderr or "Cannot import 'setuptools" in done.stderr:
        pytest.skip("this environment has no pip or setuptools")
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_every_module_and_table(wheel: zipfile.ZipFile) -> None:
    inside = set(wheel.namelist())
    for path in [*REPOSITORY.glob("tfdoctor/**/*.py"), *REPOSITORY.glob("tfdoctor/**/*.json")]:
        assert str(path.relative_to(REPOSITORY)) in inside
    for path in REPOSITORY.glob("compat/*.json"):
        assert f"tfdoctor/compat/{path.name}" in inside


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel.namelist()} == {"tfdoctor"}


def test_tensorflow_is_no_requirement() -> None:
    config = setup_cfg()
    assert "tensorflow" not in config["options"]["install_requires"]
    assert "tensorflow" in config["options.extras_require"]["tensorflow"]


def test_the_readme_names_the_command_that_ci_runs() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    _before, marker, after = readme.partition("<!-- the test command -->\n```\n")
    assert marker
    assert after.startswith("python3 -m venv .venv && ")
    assert "README.md" in Path(REPOSITORY / ".ci" / "run").read_text()
