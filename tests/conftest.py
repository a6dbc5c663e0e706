"""Shared by all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from real_environments import TENSORFLOW, Environments

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"

#: Beginnings of variables that tfdoctor regards and that terminals, CI servers, schedulers and containers set.
REGARDED = (
    "CI", "COLUMNS", "CONDA_", "CUDA_", "GITHUB_", "KUBERNETES_", "LANG", "LC_", "NCCL_", "NO_COLOR", "NVIDIA_", "SLURM_",
    "TERM", "TFDOCTOR_COMPAT", "TFDOCTOR_ROOT", "TF_", "VIRTUAL_ENV", "XLA_", "container",
)  # fmt: skip
for name in [name for name in os.environ if name.startswith(REGARDED)]:
    del os.environ[name]  # a test sets what it means, and passes or fails wherever it runs

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started with `&` by a script: children would inherit it and not hear SIGINT
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def shared() -> Path:
    """Captures and evidence kept beside the checkout; tests that read them rest where they are not."""
    if not SHARED.is_dir():
        pytest.skip("no shared captures beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    """Environments that are really built from packages; those with one name are built once for all tests."""
    return Environments(tmp_path_factory.mktemp("environments"))


@pytest.fixture
def plain(environments: Environments) -> Path:
    """The interpreter of an environment with TensorFlow and nothing else."""
    return environments.get("plain", "3.11", f"tensorflow=={TENSORFLOW}")
