"""`check --format github`: workflow commands that become annotations on a GitHub Actions run."""

from __future__ import annotations

from tfdoctor.model import Severity
from tfdoctor.render.view import Checked

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(checked: Checked) -> str:
    """One line for the verdict, then one for each unmet requirement and each diagnosis."""
    verdict = checked.report.verdict
    lines = [_command("notice", "TensorFlow and the GPUs", f"{verdict.gpu}: {verdict.summary}")]
    lines += [_command("error", f"requirement {j.requirement.text}", j.why) for j in checked.unmet]
    lines += [
        _command(COMMANDS[severity], f"{outcome.rule.code} {outcome.rule.name}", diagnosis.message)
        for outcome, diagnosis, severity in checked.findings
    ]
    return "".join(line + "\n" for line in lines)


def _command(name: str, title: str, message: str) -> str:
    return f"::{name} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
