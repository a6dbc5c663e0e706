"""docs/preflight.md shows what the program prints. TFDOCTOR_UPDATE_DOCS=1 writes it anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tfdoctor.preflight.requirement import SUBJECTS, parse
from tfdoctor.render import FORMATS

REPOSITORY = Path(__file__).resolve().parent.parent
DOC = REPOSITORY / "docs" / "preflight.md"
BLOCK = re.compile(r"````console\n\$ (tfdoctor [^\n]*)\n(.*?)````\n", re.S)


def printed(line: str) -> str:
    argv = [sys.executable, "-m", "tfdoctor", *shlex.split(line)[1:]]
    env = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    done = subprocess.run(
        argv, cwd=REPOSITORY, env=env, stdout=subprocess.PIPE, text=True, encoding="utf-8", timeout=120
    )
    assert done.returncode in (0, 1) and "tfdoctor's own" not in done.stdout
    return done.stdout if done.stdout.endswith("\n") else done.stdout + "\n"


def counted(text: str) -> str:
    """Without the numbers that grow with every new rule and fact."""
    return re.sub(r"\d+ (checks? could not|other fields? differ)", r"N \1", text)


def test_the_blocks_are_what_is_printed() -> None:
    text = DOC.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda m: f"````console\n$ {m.group(1)}\n{printed(m.group(1))}````\n", text)
    if os.environ.get("TFDOCTOR_UPDATE_DOCS"):
        DOC.write_text(new, encoding="utf-8")
    assert text.count("````console") == len(BLOCK.findall(text)) >= 6
    assert counted(new) == counted(DOC.read_text(encoding="utf-8")), "run this test with TFDOCTOR_UPDATE_DOCS=1"


def test_every_requirement_and_format_is_documented() -> None:
    text = DOC.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.M)
    spoken = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    requirements = [w for w in spoken if w not in FORMATS]
    assert {parse(w).subject for w in requirements} == set(SUBJECTS)
    assert set(FORMATS) <= set(spoken)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", DOC.read_text(encoding="utf-8")))))
def test_links_lead_somewhere(link: str) -> None:
    assert (DOC.parent / link).exists()
