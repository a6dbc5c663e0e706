"""Completion in the real shells, and help that teaches by examples."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tfdoctor.cli import COMMANDS, root


@pytest.fixture
def shell(tmp_path: Path):
    """Runs a script in a shell in which `tfdoctor` is a program on PATH."""
    program = tmp_path / "bin" / "tfdoctor"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tfdoctor "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}

    def run(name: str, script: str) -> str:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        done = subprocess.run([name, "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def in_bash(shell, words: str) -> set[str]:
    number = len(words.split(" ")) - 1
    quoted = " ".join(shlex.quote(w) for w in words.split(" "))
    script = f"""
        source <(tfdoctor completion bash)
        complete -p tfdoctor > /dev/null || exit 1
        COMP_WORDS=({quoted}); COMP_CWORD={number}
        _tfdoctor_completion tfdoctor 2> /dev/null
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return set(shell("bash", script).split())


def test_bash_knows_the_commands(shell) -> None:
    assert in_bash(shell, "tfdoctor ") == set(COMMANDS)
    assert in_bash(shell, "tfdoctor com") == {"compat", "completion"}


def test_bash_knows_options_and_their_values(shell) -> None:
    assert {"--format", "--fail-on", "--require"} <= in_bash(shell, "tfdoctor check --")
    assert in_bash(shell, "tfdoctor check --format j") == {"json", "junit"}
    assert in_bash(shell, "tfdoctor schema ex") == {"explain"}


def test_the_documented_command_installs_it_for_bash(shell, tmp_path: Path) -> None:
    text = CliRunner().invoke(root, ["completion", "--help"]).stdout
    steps = re.search(r"mkdir -p ~/.local/share/bash-completion.*?completions/tfdoctor$", text, re.S | re.M)
    assert steps
    shell("bash", steps.group())
    installed = tmp_path / ".local/share/bash-completion/completions/tfdoctor"
    assert "complete -o nosort -F _tfdoctor_completion tfdoctor" in installed.read_text()


def test_fish(shell) -> None:
    said = shell("fish", "tfdoctor completion fish | source; complete -C 'tfdoctor check --format j'")
    assert [line.split("\t")[0] for line in said.splitlines()] == ["json", "junit"]


def test_zsh(shell) -> None:
    said = shell(
        "zsh", "autoload -Uz compinit && compinit -u; source <(tfdoctor completion zsh); echo $_comps[tfdoctor]"
    )
    assert said.strip() == "_tfdoctor_completion"
    shell("zsh", "tfdoctor completion zsh > _tfdoctor && zsh -n _tfdoctor")


def test_another_shell_is_refused() -> None:
    assert CliRunner().invoke(root, ["completion", "tcsh"]).exit_code == 2


@pytest.mark.parametrize(
    "name", [None, *(n for n in COMMANDS if n in ("check", "report", "diff", "expect", "schema", "completion"))]
)
def test_help_teaches_by_examples(name: str) -> None:
    """Every example of the help is a command line that the parser takes."""
    command = root if name is None else root.get_command(click.Context(root), name)
    assert command is not None and command.help
    lines = [line for line in command.help.splitlines() if re.match(r"\s*tfdoctor \w", line)]
    assert lines
    for line in lines:
        words = shlex.split(re.split(r"\s{2,}(?=\w)| > |; |\)$", line.strip())[0])
        inner = root.get_command(click.Context(root), words[1])
        assert inner is not None, line
        with inner.make_context(words[1], words[2:], resilient_parsing=False):
            pass


def test_exit_codes_are_documented() -> None:
    for arguments in (["--help"], ["check", "--help"], ["diff", "--help"], ["expect", "--help"], ["report", "--help"]):
        assert "Exit codes: 0" in CliRunner().invoke(root, arguments).stdout
