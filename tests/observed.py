"""Facts of the kernel's side and of the surroundings, over trees of files and over recordings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import trees

from tfdoctor.engine import Facts, all_probes
from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.tables import Tables


def live(tmp_path: Path, changes: dict[str, Any] | None = None) -> Facts:
    """Of the workstation of `trees`, with changes."""
    return Facts([LiveHost(root=str(trees.build(tmp_path / "root", changes or {}))), Tables()], all_probes())


def recorded(tmp_path: Path, files: dict[str, str | bytes]) -> Facts:
    """Of a recording with these files."""
    folder = tmp_path / "recording"
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return Facts([RecordedHost(str(folder)), Tables()], all_probes())


def program(tmp_path: Path, name: str, script: str) -> None:
    """Put a Python script on the PATH of the fixture `bare`."""
    place = tmp_path / "programs" / name
    place.write_text(f"#!{sys.executable}\n{script}\n")
    place.chmod(0o755)
