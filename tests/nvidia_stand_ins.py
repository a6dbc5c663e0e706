"""A live machine with a stand-in NVML and a stand-in nvidia-smi, for tests of the probes that ask them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

import fake_nvml
import pytest

from tfdoctor.engine import Facts, all_probes
from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.tables import Tables


class Machine:
    """What `check` would see of a machine whose NVML and nvidia-smi are ours."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch, self._folder = monkeypatch, folder
        self._programs = folder / "programs"
        self._programs.mkdir()
        (folder / "root").mkdir()
        self._compiler_path = os.environ["PATH"]
        monkeypatch.setenv("PATH", str(self._programs))

    def nvml(self, profile: fake_nvml.Profile, without: Sequence[str] = ()) -> Machine:
        """With an NVML that answers as `profile` says."""
        self._monkeypatch.setenv("PATH", self._compiler_path)
        fake_nvml.need_compiler()
        self.environment = fake_nvml.environment(profile, self._folder, without=without)
        self._monkeypatch.setenv("PATH", str(self._programs))
        for name, value in self.environment.items():
            self._monkeypatch.setenv(name, value)
        return self

    def no_nvml(self) -> Machine:
        """With a libnvidia-ml.so.1 that is no library, wherever the machine that runs the tests has a real one."""
        (self._folder / "libnvidia-ml.so.1").write_text("not a library")
        self._monkeypatch.setenv("LD_LIBRARY_PATH", str(self._folder))
        return self

    def smi(self, outputs: Mapping[str, str], code: int = 0) -> Machine:
        """With an nvidia-smi that prints `outputs[arguments]` and ends with `code`. "" are no arguments."""
        script = self._programs / "nvidia-smi"
        script.write_text(
            f"#!{sys.executable}\nimport sys\noutputs = {dict(outputs)!r}\n"
            f"sys.stdout.write(outputs.get(' '.join(sys.argv[1:]), 'Invalid combination of input arguments.'))\n"
            f"sys.exit({code})\n"
        )
        script.chmod(0o755)
        return self

    def file(self, path: str, text: str) -> Machine:
        """With a file below /proc, /sys, /dev or /etc."""
        place = self._folder / "root" / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return self

    def facts(self, timeout: float = 60.0) -> Facts:
        """Look, with a time limit for each child."""
        host = LiveHost(root=str(self._folder / "root"), timeout=timeout)
        return Facts([host, Tables()], all_probes())


def recorded(folder: Path, files: Mapping[str, str], nvml: Optional[str] = None) -> Facts:
    """A recorded machine that holds these files."""
    for name, text in {**files, **({"nvml.json": nvml} if nvml is not None else {})}.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Facts([RecordedHost(str(folder)), Tables()], all_probes())
