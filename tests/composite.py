"""Runs the shell steps of a composite GitHub action as the runner does: expressions, environment, files for outputs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass
class Ran:
    """What came of a run. `uses` are the steps that call another action, with their inputs filled in."""

    code: int = 0
    output: str = ""
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    uses: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    summary: str = ""


def run(action: Path, folder: Path, inputs: Mapping[str, str], **variables: str) -> Ran:
    """Run `action` in `folder` with `inputs` over its defaults. A step that fails ends the run, as on GitHub."""
    described: dict[str, Any] = yaml.safe_load(action.read_text())
    unknown = set(inputs) - set(described["inputs"])
    assert not unknown, unknown
    given = {name: str(inputs.get(name, spec.get("default", ""))) for name, spec in described["inputs"].items()}
    temp = folder / "runner-temp"
    temp.mkdir(exist_ok=True)
    context = {"github.action_path": str(action.parent), "runner.temp": str(temp)}
    context.update({f"inputs.{name}": value for name, value in given.items()})
    summary = folder / "summary.md"
    summary.touch()
    ran = Ran()
    for number, step in enumerate(described["runs"]["steps"]):
        if "if" in step and not _true(step["if"], context):
            continue
        if "uses" in step:
            ran.uses.append((step["uses"], {k: _filled(str(v), context) for k, v in step.get("with", {}).items()}))
            continue
        output = folder / f"output-{number}"
        output.touch()
        env = {
            **os.environ,
            **variables,
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "CI": "true",
        }
        env.update({k: _filled(str(v), context) for k, v in step.get("env", {}).items()})
        assert step["shell"] == "bash"
        script = _filled(step["run"], context)
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]  # what `shell: bash` stands for
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
        ran.output += done.stdout + done.stderr
        said = dict(line.split("=", 1) for line in output.read_text().splitlines())
        ran.steps[step["name"]] = said
        context.update({f"steps.{step.get('id', number)}.outputs.{k}": v for k, v in said.items()})
        if done.returncode:
            ran.code = done.returncode
            break
    ran.outputs = {name: _filled(spec["value"], context) for name, spec in described["outputs"].items()}
    ran.summary = summary.read_text()
    return ran


def _filled(text: str, context: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda m: context[m.group(1)], text)


def _true(condition: str, context: Mapping[str, str]) -> bool:
    shape = re.fullmatch(r"\$\{\{\s*([\w.-]+) == '([^']*)'\s*\}\}", condition)
    assert shape, condition
    return context[shape.group(1)] == shape.group(2)
