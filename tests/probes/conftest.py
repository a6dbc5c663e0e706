"""What the tests of several probes share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No program on PATH but those of `observed.program`."""
    empty = tmp_path / "programs"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("tfdoctor.host.live.SYSTEM_FOLDERS", (str(empty),))
