"""Each environment is addressed with its own tool, or refused with the way out."""

from __future__ import annotations

from pathlib import Path

import facts
import pytest

from tfdoctor.fixes.installer import conda_spec, elsewhere, installer_of


def nothing(_name: str) -> None:
    return None


def on_path(*names: str):
    return lambda name: f"/usr/bin/{name}" if name in names else None


def test_its_own_pip() -> None:
    found = installer_of(facts.interpreter(kind="venv", pip="24.0", path="/v/bin/python"), None, on_path("uv"))
    assert found.install(["numpy<2"])[:4] == ("/v/bin/python", "-m", "pip", "install")
    assert found.uninstall(["keras"])[-2:] == ("-y", "keras")
    assert (found.refusal, found.can_ask) == ("", True)


def test_an_old_pip_cannot_be_asked_first() -> None:
    assert not installer_of(facts.interpreter(kind="venv", pip="20.0.2"), None, nothing).can_ask


def test_uv_where_there_is_no_pip() -> None:
    found = installer_of(facts.interpreter(kind="uv", pip="", path="/v/bin/python"), None, on_path("uv"))
    assert found.install(["keras"]) == ("/usr/bin/uv", "pip", "install", "--python", "/v/bin/python", "keras")
    assert found.install(["keras"], no_deps=True, force=True)[-3:] == ("--no-deps", "--reinstall", "keras")


def test_neither_pip_nor_uv_is_refused_with_the_way_out() -> None:
    found = installer_of(facts.interpreter(kind="venv", pip="", path="/v/bin/python"), None, nothing)
    assert "/v/bin/python -m ensurepip" in found.refusal


@pytest.mark.parametrize("kind", ["system", "conda", ""])
def test_an_externally_managed_interpreter_is_refused_with_the_way_out(kind: str) -> None:
    python = facts.interpreter(kind=kind, externally_managed=True, pip="23.0", path="/usr/bin/python3")
    found = installer_of(python, None, on_path("uv"))
    assert "PEP 668" in found.refusal
    assert "/usr/bin/python3 -m venv" in found.refusal


def conda_environment():
    mine = facts.Distribution("tensorflow", "2.15.0", "/c/lib", installer="conda")
    return facts.interpreter(kind="conda", pip="24.0", prefix="/c"), facts.distributions({}, mine)


def test_conda_where_conda_put_tensorflow() -> None:
    python, installed = conda_environment()
    found = installer_of(python, installed, on_path("conda", "mamba"))
    assert found.install(["keras==2.15.*", "numpy<2"]) == (
        "/usr/bin/mamba", "install", "--yes", "--prefix", "/c", "keras=2.15", "numpy<2",
    )  # fmt: skip
    assert found.freeze()[:2] == ("/usr/bin/mamba", "list")
    assert "neither mamba nor conda" in installer_of(python, installed, nothing).refusal


def test_the_conda_that_the_environment_belongs_to(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "conda"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    _python, installed = conda_environment()
    python = facts.interpreter(kind="conda", prefix=str(tmp_path / "envs" / "tf"))
    assert installer_of(python, installed, nothing).program == str(program)


def test_pip_in_a_conda_environment_where_pip_put_tensorflow() -> None:
    assert installer_of(facts.interpreter(kind="conda", pip="24.0"), None, on_path("conda")).tool == "pip"


def test_another_machine_is_not_asked_for_its_programs() -> None:
    found = installer_of(facts.interpreter(kind="uv", pip=""), None, elsewhere)
    assert found.program == "uv"


@pytest.mark.parametrize(
    ("requirement", "spec"),
    [
        ("keras==2.15.*", "keras=2.15"),
        ("numpy<2,>=1.23", "numpy<2,>=1.23"),
        ("tensorflow[and-cuda]==2.17.0", "tensorflow=2.17.0=*cuda*"),
        ("tensorflow[and-cuda]", "tensorflow=*=*cuda*"),
        ("tf-keras", "tf-keras"),
    ],
)
def test_requirements_as_conda_writes_them(requirement: str, spec: str) -> None:
    assert conda_spec(requirement) == spec
