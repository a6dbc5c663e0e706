"""The environment variables that matter, by an allow-list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Environment:
    """Names to values: CUDA_*, NVIDIA_*, TF_*, XLA_*, NCCL_*, LD_LIBRARY_PATH, LD_PRELOAD, PATH, PYTHONPATH, CONDA_PREFIX…
    A name that is not in `variables` is not set."""

    variables: Mapping[str, str]
    source: str

    def get(self, name: str) -> str:
        """The value, or "" when it is not set. Use `name in env.variables` to tell set-but-empty."""
        return self.variables.get(name, "")
