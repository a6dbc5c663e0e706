"""A whole healthy machine for tests of the command line: files, NVML, CUDA driver and TensorFlow are stand-ins at the
boundary; everything between them is real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import fake_cuda
import fake_nvml
import trees
from probes.test_libraries import WHEELS, environment

KERNEL_MODULE = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC version:  gcc\n"
)
WIDE = {
    f"{trees.PCI}/{trees.PORT}/current_link_width": "16\n",
    f"{trees.PCI}/{trees.PORT}/{trees.CARD}/current_link_width": "16\n",
}


@dataclass
class Whole:
    """Run tfdoctor on it with `check()`; change it before."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def programs(self) -> Path:
        """The first folder on PATH."""
        return self.folder / "programs"

    def program(self, name: str, script: str) -> None:
        """A program in place of the machine's, written in Python."""
        path = self.programs / name
        path.write_text(f"#!{sys.executable}\n{script}\n")
        path.chmod(0o755)

    def run(self, *arguments: str, timeout: float = 300, **variables: str) -> subprocess.CompletedProcess[str]:
        """`python -m tfdoctor ARGUMENTS` on this machine."""
        argv = [sys.executable, "-m", "tfdoctor", *arguments]
        return subprocess.run(
            argv,
            env={**self.variables, **variables},
            cwd=self.folder / "elsewhere",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def check(self, *arguments: str, timeout: float = 300, **variables: str) -> dict[str, Any]:
        """What `check --format json` says."""
        done = self.run("check", "--format", "json", *arguments, timeout=timeout, **variables)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def build(
    folder: Path,
    *,
    nvml: Optional[Any] = None,
    cuda: Optional[Any] = None,
    tree: Mapping[str, Optional[trees.Content]] = {},
    tensorflow: bool = True,
) -> Whole:
    """One GTX 1080 (compute capability 6.1, which the stand-in build's sm_60 serves), driver 550, TensorFlow 2.20 with its CUDA wheels: the verdict is "yes" until something is changed."""
    fake_nvml.need_compiler()
    root = trees.build(folder / "root", {**WIDE, "/proc/driver/nvidia/version": KERNEL_MODULE, **tree})
    for name in ("programs", "elsewhere", "site-packages"):
        (folder / name).mkdir()
    if tensorflow:
        environment(folder / "site-packages", list(WHEELS), "2.20.0")
    drop = ("CUDA", "NVIDIA", "TF_", "LD_", "NCCL_", "XLA_", "TFDOCTOR_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    stand_ins = fake_nvml.merge(
        fake_nvml.environment(nvml or fake_nvml.gtx1080(), folder),
        fake_cuda.environment(cuda or fake_cuda.profile(), folder),
    )
    path = f"{folder / 'programs'}{os.pathsep}{kept['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(folder / "site-packages"), "TFDOCTOR_ROOT": str(root)}
    return Whole(folder, {**kept, **stand_ins, **own})
