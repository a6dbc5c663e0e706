"""`report`: the fields of TensorFlow's issue form, and nothing private in anything that leaves the machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tfdoctor.cli import root
from tfdoctor.render import FORMATS

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
# The labels of tensorflow_issue_template.yaml, in its order, as an issue shows them.
FORM = [
    "Issue type", "Have you reproduced the bug with TensorFlow Nightly?", "Source", "TensorFlow version", "Custom code",
    "OS platform and distribution", "Mobile device", "Python version", "Bazel version", "GCC/compiler version", "CUDA/cuDNN version",
    "GPU model and memory", "Current behavior?", "Standalone code to reproduce the issue", "Relevant log output",
]  # fmt: skip


def report(*arguments: str) -> str:
    done = CliRunner().invoke(root, ["report", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_the_form_and_markdown(host: Path) -> None:
    from markdown_it import MarkdownIt

    text = report("--host", str(host))
    assert re.findall(r"^### (.+)$", text, re.M) == FORM
    values = re.split(r"^### .+$", text, flags=re.M)[1:]
    assert all(value.strip() for value in values)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    html = [t.content.strip() for t in tokens if t.type == "html_block"]
    assert all(h.startswith(("<details>", "</details>", "<!-- please fill in -->")) for h in html)


def test_what_it_says_of_a_machine() -> None:
    text = report("--host", str(next(h for h in HOSTS if "driver470" in h.name)))
    assert "tensorflow 2.17.1" in text
    assert "built for CUDA 12.3" in text and "driver 470.82.01, CUDA driver API 11.4" in text
    assert "`TFD203 driver-too-old`" in text and "Tesla T4" in text


def test_a_log_goes_in_and_cannot_close_its_fence(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n}\n" for n in range(500)) + "```\n### not a heading\n")
    text = report("--host", str(HOSTS[0]), "--log", str(log))
    assert "step 499" in text and "step 100\n" not in text
    assert "````shell" in text


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "text"])
def test_a_version_with_four_parts_is_no_address(form: str) -> None:
    host = str(next(h for h in HOSTS if h.name == "ubuntu-rtx3090-tf2.20-healthy"))
    done = CliRunner().invoke(root, ["check", "--host", host, "--format", form, "--require", "cudnn>=99"])
    assert "192.0.2.1" not in done.stdout
    assert form == "prometheus" or "9.28.0.42" in done.stdout
    expected = CliRunner().invoke(root, ["expect", "--host", host]).stdout
    assert "here 9.28.0.42" in expected and "192.0.2.1" not in expected


def test_a_pipe_is_written_to_and_a_link_stays(tmp_path: Path) -> None:
    host = str(next(h for h in HOSTS if h.name == "ubuntu-rtx3090-tf2.20-healthy"))
    argv = [sys.executable, "-m", "tfdoctor", "report", "--host", host, "--output"]
    done = subprocess.run([*argv, "/dev/stdout"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("### Issue type"), done.stderr
    link, file = tmp_path / "latest.md", tmp_path / "today.md"
    link.symlink_to(file)
    subprocess.run([*argv, str(link)], check=True, timeout=60)
    assert link.is_symlink() and file.read_text() == done.stdout
