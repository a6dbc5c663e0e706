"""The environment variables that matter, by an allow-list."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfdoctor.engine import probe
from tfdoctor.host import Host

# Beginnings of names that CUDA, TensorFlow, XLA, NCCL, ROCm, OpenMP and the interpreter read.
PREFIXES = (
    "CUDA_", "CUDNN_", "CUBLAS_", "NVIDIA_", "TF_", "XLA_", "NCCL_", "TENSORFLOW_", "TENSORRT_", "KERAS_", "HIP_", "HSA_", "ROCR_", "ROCM_",
    "MIOPEN_", "OMP_", "KMP_", "ONEDNN_", "DNNL_", "MKL_", "SLURM_GPUS", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_GPU",
)  # fmt: skip
NAMES = frozenset(
    (
        "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "PYTHONSAFEPATH",
        "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CUDA", "CUDNN", "GPU_DEVICE_ORDINAL", "MALLOC_CONF", "GLIBC_TUNABLES",
        "container", "KUBERNETES_SERVICE_HOST", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_NNODES",
        "SINGULARITY_CONTAINER", "APPTAINER_CONTAINER", "WSL_DISTRO_NAME", "WSL_INTEROP", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_SIZE", "PROCESSOR_ARCHITECTURE", "PROCESSOR_ARCHITEW6432", "DYLD_LIBRARY_PATH", "__NV_PRIME_RENDER_OFFLOAD",
    )
)  # fmt: skip
# Names that begin like ours and are another program's, or may hold a secret. Terraform's variables begin with TF_ too.
NEVER = re.compile(
    r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|_)_?KEY|AUTH|COOKIE"
    r"|^TF_(?:VAR|CLI|LOG|DATA_DIR|WORKSPACE|INPUT|PLUGIN|REGISTRY|IN_AUTOMATION|REATTACH|STATE|CLOUD|HTTP)",
    re.I,
)
# Only that these are set matters; their values are addresses, names or paths of somebody's machine.
MASKED = frozenset(
    ("KUBERNETES_SERVICE_HOST", "WSL_INTEROP", "WSL_DISTRO_NAME", "SINGULARITY_CONTAINER", "APPTAINER_CONTAINER")
)


@dataclass(frozen=True)
class Environment:
    """Names to values: CUDA_*, NVIDIA_*, TF_*, XLA_*, NCCL_*, LD_LIBRARY_PATH, LD_PRELOAD, PATH, PYTHONPATH, CONDA_PREFIX…
    A name that is not in `variables` is not set."""

    variables: Mapping[str, str]
    source: str

    def get(self, name: str) -> str:
        """The value, or "" when it is not set. Use `name in env.variables` to tell set-but-empty."""
        return self.variables.get(name, "")


@probe
def look_at_environment(host: Host) -> Environment:
    """The environment a program would be started with, reduced to what matters."""
    return Environment(reduced(host.env()), "environment")


def allowed(name: str) -> bool:
    """Is this variable one that matters here and that holds no secret?"""
    upper = name.upper()
    return (name in NAMES or upper.startswith(PREFIXES)) and not NEVER.search(upper)


def reduced(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that may be shown, sorted, with masked values."""
    return {name: _shown(name, value) for name, value in sorted(variables.items()) if allowed(name)}


def _shown(name: str, value: str) -> str:
    if name in MASKED:
        return "set"
    return _without_hosts(value) if name == "TF_CONFIG" else value


def _without_hosts(tf_config: str) -> str:
    """TF_CONFIG with host1, host2… for the machines it names (the same for the same): structure and ports stay."""
    try:
        config = json.loads(tf_config)
    except (ValueError, RecursionError):
        return "not JSON"
    hosts: dict[str, str] = {}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(v) for key, v in value.items()}
        if isinstance(value, list):
            return [renamed(v) for v in value]
        if not isinstance(value, str):
            return value
        host, colon, port = value.rpartition(":")
        if not colon or not port.isdecimal() or host in ("localhost", "127.0.0.1"):
            return value
        return f"{hosts.setdefault(host, f'host{len(hosts) + 1}')}:{port}"

    if isinstance(config, dict) and "cluster" in config:
        config["cluster"] = renamed(config["cluster"])
    return json.dumps(config)
