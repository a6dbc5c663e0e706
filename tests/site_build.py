"""Builds small site-packages folders that look like real ones, and asks an interpreter about them."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tfdoctor.target
from tfdoctor.target.imports import IMPORTS

CHILD = Path(tfdoctor.target.__file__).with_name("child.py")
BUILD_INFO = """\
import collections
build_info = collections.OrderedDict([('cpu_compiler', 'clang'), ('cuda_compute_capabilities', ['sm_60', 'compute_90']),
    ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True), ('is_rocm_build', False)])
"""
CUDA_CONFIG = """\
#define TF_CUDA_VERSION "12.5.1"
#define TF_CUDART_VERSION "12"
#define TF_CUPTI_VERSION "12"
#define TF_CUBLAS_VERSION "12"
#define TF_CUSOLVER_VERSION "11"
#define TF_CURAND_VERSION "10"
#define TF_CUFFT_VERSION "11"
#define TF_CUSPARSE_VERSION "12"
#define TF_CUDNN_VERSION "9"
#define TF_CUDA_TOOLKIT_PATH ""
"""
#: Enough of TensorFlow for everything that is read without importing it.
TENSORFLOW: Mapping[str, str] = {
    "tensorflow/__init__.py": "raise SystemExit('TensorFlow must not be imported')\n",
    "tensorflow/python/__init__.py": "",
    "tensorflow/python/platform/build_info.py": BUILD_INFO,
    "tensorflow/python/_pywrap_tensorflow_internal.so": "not really",
    "tensorflow/include/third_party/gpus/cuda/cuda_config.h": CUDA_CONFIG,
    "tensorflow/include/third_party/gpus/cudnn/include/cudnn_version.h": (
        "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 3\n#define CUDNN_PATCHLEVEL 0\n"
    ),
    "tensorflow/libtensorflow_framework.so.2": "not really",
}


def distribution(
    site: Path,
    name: str,
    version: str,
    files: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
    folder: str = "",
) -> Path:
    """Install a distribution: its files, METADATA, RECORD and INSTALLER. Returns the .dist-info folder."""
    info = site / (folder or f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir(parents=True)
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    (info / "METADATA").write_text("\n".join([*lines, "", "A description.", "Name: not-this-one", ""]))
    (info / "INSTALLER").write_text("pip\n")
    rows = []
    for path, text in (files or {}).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        quoted = f'"{path}"' if "," in path else path
        rows.append(f"{quoted},sha256={digest},{len(text.encode())}")
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,", ""]))
    return info


def imported(site: Path) -> None:
    """Empty stand-ins for what TensorFlow imports of other distributions when it starts, where this interpreter has none."""
    for module in IMPORTS.values():
        if importlib.util.find_spec(module.partition(".")[0]):
            continue
        folder = site.joinpath(*module.split("."))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()


def ask(
    site: Path, python: str = sys.executable, cwd: Path | None = None, options: Sequence[str] = (), **environment: str
) -> dict[str, Any]:
    """What the target script says of `site` when `python` runs it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [python, *options, str(CHILD)],
        capture_output=True,
        text=True,
        cwd=cwd or site,
        env={**clean, "PYTHONPATH": str(site), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(answer, dict)
    return answer


def named(answer: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The entry of one distribution in an answer."""
    return next(d for d in answer["distributions"] if d["name"] == name)
