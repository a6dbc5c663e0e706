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


@pytest.mark.parametrize("name", NAMES)
def test_what_it_says_begins_and_ends_like_a_sentence(name: str) -> None:
    """A package's or a file's own name may come first: "keras 3.3.3 is …", "libcuda.so.1 is …"."""
    for outcome in check(RecordedHost(str(HOSTS / name))).found:
        for diagnosis in outcome.diagnoses:
            words = diagnosis.message.split()
            named = any(c in words[0] for c in "._/") or words[1][0].isdigit() or words[0] == "cuDNN"
            assert words[0][0].isupper() or named, diagnosis.message
            assert diagnosis.message.endswith("."), diagnosis.message
            assert "  " not in diagnosis.message, f"a value is missing: {diagnosis.message}"


def test_no_recording_names_the_machine_that_made_it() -> None:
    for path in HOSTS.rglob("*"):
        assert "/root/work" not in str(path) and "/root/root" not in str(path)
        if path.is_file():
            content = path.read_bytes()
            for trace in (b"/root/", b"/work/"):
                assert trace not in content, path
