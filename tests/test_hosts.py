"""Recorded machines and what must be said of each.

tests/hosts/NAME/expected.txt: the verdict and the diagnosis that it names, then a line for each diagnosis: code, name,
severity and, for a consequence, the code that it is folded under. scripts/record_hosts.py says how most were made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdoctor.checkup import check
from tfdoctor.host import RecordedHost

HOSTS = Path(__file__).with_name("hosts")
NAMES = sorted(path.name for path in HOSTS.iterdir() if path.is_dir())


def said(folder: Path) -> list[str]:
    report = check(RecordedHost(str(folder)))
    assert report.crashes == ()
    lines = [f"{report.verdict.gpu} {report.verdict.because or '-'}"]
    for outcome in sorted(report.found, key=lambda o: o.rule.code):
        under = f" under {outcome.folded_under}" if outcome.folded_under else ""
        lines.append(f"{outcome.rule.code} {outcome.rule.name} {outcome.severity}{under}")
    return lines


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_machine(name: str) -> None:
    expected = (HOSTS / name / "expected.txt").read_text().splitlines()
    assert said(HOSTS / name) == expected


def test_no_recording_names_the_machine_that_made_it() -> None:
    for path in HOSTS.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for trace in (b"/root/", b"/work/"):
                assert trace not in content, path
