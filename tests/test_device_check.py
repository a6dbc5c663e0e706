"""scripts/device_check.sh where there is no GPU and no TensorFlow: everything else still runs and is kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(os.name != "posix" or shutil.which("bash") is None, reason="a bash script")
def test_without_tensorflow(tmp_path: Path) -> None:
    """The interpreter of the tests has no TensorFlow, or the smoke tests run with it: both are answers."""
    own = tmp_path / "bin"
    own.mkdir()
    (own / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (own / "python3").chmod(0o755)
    out = tmp_path / "out"
    path = os.pathsep.join([str(own), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", str(REPOSITORY / "scripts" / "device_check.sh"), str(out)],
        capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((out / "check.json").read_text(encoding="utf-8"))
    assert report["schema"] == 1 and report["crashed"] == []
    assert (out / "recording" / "target.json").is_file()
    assert (out / "requirements.txt").is_file() or (out / "smoke.json").is_file()
    assert "exit code 2" not in (out / "log.txt").read_text(encoding="utf-8")
