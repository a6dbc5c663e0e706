"""Exit codes: met, not met, unknown, against each --fail-on; and what is found, likewise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tfdoctor.cli import root
from tfdoctor.commands.check import exit_code
from tfdoctor.engine import rule
from tfdoctor.model import Diagnosis, Outcome, Report, Severity, Status, Verdict
from tfdoctor.preflight.judge import Judgement
from tfdoctor.preflight.requirement import parse
from tfdoctor.render.view import Checked


def checked(severity=None, state=None) -> Checked:
    @rule("TFD999", severity or Severity.INFO)
    def fault():
        """Fault."""

    found = () if severity is None else (Outcome(fault, Status.FOUND, (Diagnosis("m"),)),)
    judgements = () if state is None else (Judgement(parse("gpus>=1"), state, "1", "because"),)
    return Checked(Report("python", {}, {}, found, (), Verdict("yes", None, "")), judgements)


@pytest.mark.parametrize(
    ("state", "fail_on", "code"),
    [
        ("met", "error", 0),
        ("met", "warning", 0),
        ("met", "requirement", 0),
        ("met", "never", 0),
        ("not-met", "error", 1),
        ("not-met", "warning", 1),
        ("not-met", "requirement", 1),
        ("not-met", "never", 0),
        ("unknown", "error", 1),
        ("unknown", "warning", 1),
        ("unknown", "requirement", 1),
        ("unknown", "never", 0),
    ],
)
def test_requirements(state: str, fail_on: str, code: int) -> None:
    assert exit_code(checked(state=state), fail_on) == code


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        (Severity.ERROR, "error", 1),
        (Severity.ERROR, "warning", 1),
        (Severity.ERROR, "requirement", 0),
        (Severity.ERROR, "never", 0),
        (Severity.WARNING, "error", 0),
        (Severity.WARNING, "warning", 1),
        (Severity.INFO, "warning", 0),
        (None, "warning", 0),
    ],
)
def test_diagnoses(severity, fail_on: str, code: int) -> None:
    assert exit_code(checked(severity=severity), fail_on) == code


HOST = str(Path(__file__).with_name("hosts") / "ubuntu-rtx3090-tf2.20-healthy")


@pytest.mark.parametrize("fail_on", ["error", "warning", "requirement", "never"])
@pytest.mark.parametrize(("wanted", "state"), [("gpus>=1", "met"), ("gpus>=9", "not-met"), ("ecc=clean", "unknown")])
def test_on_the_command_line(wanted: str, state: str, fail_on: str) -> None:
    arguments = ["check", "--host", HOST, "--require", wanted, "--fail-on", fail_on, "--format", "json"]
    done = CliRunner().invoke(root, arguments)
    report = json.loads(done.stdout)
    assert [r["state"] for r in report["requirements"]] == [state]
    assert report["diagnoses"] == []
    assert done.exit_code == (0 if state == "met" or fail_on == "never" else 1)
