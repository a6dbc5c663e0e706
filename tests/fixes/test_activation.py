"""The activation scripts of an environment set what a fix asks for, and put it back, in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfdoctor.fixes import activation


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    return tmp_path / "env"


def run(shell: str, script: str, **before: str) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **before}
    return subprocess.run([shell, "-c", script], env=env, check=True, capture_output=True, text=True).stdout


def seen(environment: Path, name: str, before: str = "") -> str:
    script = f'. {environment}/bin/activate; printf "%s" "${name}"'
    return run("bash", script, **({name: before} if before else {}))


def test_a_virtual_environment_sets_it(environment: Path) -> None:
    activation.write(str(environment), "venv", [("TF_X", "a b;$(touch hacked)")])
    assert seen(environment, "TF_X") == "a b;$(touch hacked)"


def test_a_path_list_keeps_what_was_there(environment: Path) -> None:
    activation.write(str(environment), "venv", [("LD_LIBRARY_PATH", "/a:/b:$LD_LIBRARY_PATH")])
    assert seen(environment, "LD_LIBRARY_PATH", "/c") == "/a:/b:/c"


@pytest.mark.parametrize(("before", "after"), [("/c", "/a:/c"), ("", "/a")])
def test_a_path_list_has_no_empty_entry(environment: Path, before: str, after: str) -> None:
    """An empty entry in LD_LIBRARY_PATH is the working directory."""
    activation.write(str(environment), "venv", [("LD_LIBRARY_PATH", "/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")])
    assert seen(environment, "LD_LIBRARY_PATH", before) == after


def test_unset(environment: Path) -> None:
    activation.write(str(environment), "venv", [("CUDA_VISIBLE_DEVICES", None)])
    assert seen(environment, "CUDA_VISIBLE_DEVICES", "-1") == ""


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
@pytest.mark.parametrize("value", ["new", None])
def test_deactivate_puts_the_former_value_back(environment: Path, shell: str, value: str | None) -> None:
    activation.write(str(environment), "venv", [("TF_X", value), ("TF_Y", "y")])
    script = f'. {environment}/bin/activate; printf "%s|" "$TF_X"; deactivate; printf "%s|%s" "$TF_X" "${{TF_Y-gone}}"'
    assert run(shell, script, TF_X="old") == f"{value or ''}|old|gone"


def test_activated_twice_then_deactivated(environment: Path) -> None:
    activation.write(str(environment), "venv", [("TF_X", "new")])
    script = f'. {environment}/bin/activate; . {environment}/bin/activate; deactivate; printf "%s" "$TF_X"'
    assert run("bash", script, TF_X="old") == "old"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "csh", "tcsh"])
@pytest.mark.parametrize("before", ["/c", None])
def test_every_shell_activates_and_deactivates(environment: Path, shell: str, before: str | None) -> None:
    pairs = [("TF_X", "it's"), ("TF_Y", None), ("LD_LIBRARY_PATH", "/a b${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")]
    activation.write(str(environment), "venv", pairs)
    suffix = {"fish": ".fish", "csh": ".csh", "tcsh": ".csh"}.get(shell, "")
    source = f"{'source' if suffix else '.'} {environment}/bin/activate{suffix}"
    show = "env | grep -e ^TF_ -e ^LD_LIBRARY_PATH | sort"
    former = {"TF_X": "old", "TF_Y": "y"} | ({"LD_LIBRARY_PATH": before} if before else {})
    prompt = "set prompt = x; " if "csh" in shell else ""
    printed = run(shell, f"{prompt}{source}; {show}; echo; {source}\ndeactivate\n{show}", **former)
    path = "/a b:/c" if before else "/a b"
    assert printed.split("\n\n") == [
        f"LD_LIBRARY_PATH={path}\nTF_X=it's",
        "\n".join(f"{name}={value}" for name, value in sorted(former.items())) + "\n",
    ]


@pytest.mark.parametrize(("before", "after"), [("/c", "/a b:/c"), ("", "/a b")])
@pytest.mark.parametrize("shell", ["bash", "fish", "csh"])
def test_a_path_list_as_it_is_printed_for_a_shell(shell: str, before: str, after: str) -> None:
    line = activation.show("LD_LIBRARY_PATH", "/a b${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", shell)
    former = {"LD_LIBRARY_PATH": before} if before else {}
    assert run(shell, f"{line}; printenv LD_LIBRARY_PATH", **former) == f"{after}\n"


def test_a_second_block_takes_the_place_of_the_first(environment: Path) -> None:
    for value in ("1", "2"):
        activation.write(str(environment), "venv", [("TF_X", value)])
    text = (environment / "bin" / "activate").read_text()
    assert text.count(activation.BEGIN.format(name="TF_X")) == 2  # one in deactivate, one at the end
    assert seen(environment, "TF_X") == "2"


def test_another_variable_leaves_the_first_alone(environment: Path) -> None:
    activation.write(str(environment), "venv", [("TF_X", "1")])
    activation.write(str(environment), "venv", [("TF_Y", "2")])
    assert (seen(environment, "TF_X"), seen(environment, "TF_Y")) == ("1", "2")


def test_the_script_is_replaced_not_written_into(environment: Path) -> None:
    """It may be a hard link to a file of somebody else's cache."""
    script = environment / "bin" / "activate"
    other = environment / "other"
    os.link(script, other)
    before = other.read_bytes()
    activation.write(str(environment), "venv", [("TF_X", "1")])
    assert other.read_bytes() == before
    assert script.stat().st_mode & 0o777 == other.stat().st_mode & 0o777


def test_no_shell_start_up_file_is_touched(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("mine\n")
    monkeypatch.setenv("HOME", str(home))
    written = activation.write(str(environment), "venv", [("TF_X", "1")])
    assert all(path.startswith(str(environment)) for path in written)
    assert [p.read_text() for p in home.iterdir()] == ["mine\n"]


def test_an_environment_without_scripts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        activation.write(str(tmp_path), "venv", [("TF_X", "1")])


def test_conda_gets_its_own_folders(tmp_path: Path) -> None:
    activation.write(str(tmp_path), "conda", [("TF_X", "1")])
    (begin,), (end,) = ((tmp_path / "etc/conda" / d).iterdir() for d in ("activate.d", "deactivate.d"))
    script = f'. {begin}; printf "%s|" "$TF_X"; . {end}; printf "%s" "$TF_X"'
    assert run("bash", script, TF_X="old") == "1|old"


@pytest.mark.parametrize("value", ["/a", "/a:$LD_LIBRARY_PATH", "/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", None])
@pytest.mark.parametrize("before", ["/c", None])
def test_what_a_new_shell_has_is_computed_as_a_shell_does(
    environment: Path, value: str | None, before: str | None
) -> None:
    pair = ("LD_LIBRARY_PATH", value)
    activation.write(str(environment), "venv", [pair])
    start = {} if before is None else {"LD_LIBRARY_PATH": before}
    computed = activation.as_activated([pair], start).get("LD_LIBRARY_PATH", "")
    assert computed == seen(environment, "LD_LIBRARY_PATH", before or "")


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("posix", "export A='b c'"),
        ("fish", "set -gx A 'b c'"),
        ("csh", "setenv A 'b c'"),
        ("powershell", "$env:A = 'b c'"),
        ("cmd", 'set "A=b c"'),
    ],
)
def test_shown_for_the_shell_in_use(shell: str, line: str) -> None:
    assert activation.show("A", "b c", shell) == line
