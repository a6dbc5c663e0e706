"""Where prediction and reality part, and docs/reality.md."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from reality.cases import CASES
from reality.environments import PYTHON


def is_named(said: Mapping[str, Any], library: str) -> bool:
    """Does an error or a warning name this library?"""
    text = json.dumps([d for d in said.get("diagnoses", []) if d["severity"] != "info"])
    return re.search(re.escape(library) + r"(?![0-9])", text) is not None


OPTIONAL = re.compile(r"libnvinfer|libnvidia-ml|libnccl")


def decisive(real: Mapping[str, Any]) -> list[str]:
    """The libraries not found that TensorFlow itself asked for, or that one of those needs; optional ones left out.

    What NVIDIA's libraries look for on their own (cuDNN libcudnn_graph.so.9.28.0, then .9.28, then .9) is not among them.
    """
    asked = [
        entry["library"]
        for entry in real.get("dlopen", [])
        if not entry["found"] and ("needed_by" in entry or not re.search(r"/lib(cu|nv)[^/]*$", entry["caller"]))
    ]
    return [name for name in dict.fromkeys(asked) if not OPTIONAL.match(name)]


def disagreements(row: Mapping[str, Any]) -> list[str]:
    """Where prediction and reality part; empty when they agree."""
    real, said = row["real"], row["said"]
    if "verdict" not in said:
        return ["check failed: " + " ".join(said.get("error", "").split())[-200:]]
    found = []
    works = bool(real["gpus"]) and not any(case.unusable for case in CASES if case.name == row["case"])
    verdict = said["verdict"]["gpu"]
    if verdict != ("yes" if works else "no"):
        found.append(f"TensorFlow {'uses' if works else 'uses none of'} its GPUs, verdict is {verdict}")
    if not works:
        # A machine without a driver has no libcuda.so.1 either: the driver is what is to be named, and is.
        wanted = [name for name in decisive(real) if name != "libcuda.so.1"]
        unnamed = [name for name in wanted if not is_named(said, name)]
        if unnamed:
            found.append(f"not named: {' '.join(unnamed)}")
    return found


FINDINGS = """\
## What the cases show

- One library that dlopen cannot load costs all GPUs: libcudart, libcublas, libcublasLt, libcufft, libcusolver,
  libcusparse, libcudnn, and what they need (libnvJitLink). NCCL, CUPTI, NVRTC, cuRAND, ptxas and TensorRT do not count
  for listing. At the default log level TensorFlow does not say which library it was.
- All are opened by libtensorflow_framework.so.2, so its RUNPATH counts. That of 2.16.1 names only cudart's folder, that
  of 2.21.0 lacks cusolver's.
- Links to the libraries in `tensorflow/`, as TensorFlow's guide once told people to make, help where that RUNPATH begins
  with `$ORIGIN/`: to 2.19. From 2.20 on it does not.
- A file of the right name that is no library ends the loader's search with an error; a 32-bit library and a dangling link
  are passed over.
- libcudnn_graph.so.9 missing ends the process of 2.21.0 while it lists its GPUs (exit code -6), cut in half too (-7);
  2.18 to 2.20 list them all the same. The other parts of cuDNN are opened later by all.
- A library of which the second half is missing is mapped all the same, and ends the process (SIGBUS) at once.
- TensorFlow does not start without what it imports: numpy, protobuf, absl-py and others, with requests and what that
  imports. Without Keras and h5py it does.
- From 2.20 on TensorFlow starts without _pywrap_tensorflow_internal.so.
- 2.21.0 starts NVML too (nvmlInit), and lists no GPU where libnvidia-ml.so.1 is missing. Earlier releases do not open it.
- TensorFlow ignores GPUs below compute capability 3.5 when it lists; between that and what the build carries it lists
  them and cannot use them.
"""


def table(rows: list[dict[str, Any]]) -> str:
    """docs/reality.md."""
    known = {case.name: place for place, case in enumerate(CASES)}
    rows = sorted((row for row in rows if row["case"] in known), key=lambda row: known[row["case"]])
    agree = sum(not disagreements(row) for row in rows)
    releases = sorted({row["release"] for row in rows}, key=lambda r: [int(p) for p in r.split(".")])
    lines = [
        "# Prediction against reality",
        "",
        "Written by `scripts/reality_check.py`; do not edit.",
        "",
        f"Each release was installed as `tensorflow[and-cuda]` under Python {PYTHON} (2.14: 3.10) and started with a stand-in",
        f"driver (two A100, driver 550.54.14). `tfdoctor check` looked at the same environment. {agree} of {len(rows)} cases agree.",
        "",
        "*lists*: how many GPUs TensorFlow lists. *cannot load*: libraries that its dlopen does not find (TensorRT,",
        "which is optional, left out). *verdict*, *because*: what `check` says. Listing does not look at the driver's CUDA",
        'version: with a driver too old for every release TensorFlow lists GPUs that it could not use, and "no" is right.',
        "",
        FINDINGS,
    ]
    for release in releases:
        lines += [
            "",
            f"## TensorFlow {release}",
            "",
            "| case | lists | cannot load | verdict | because | |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            if row["release"] != release:
                continue
            verdict = row["said"].get("verdict", {"gpu": "-", "because": "check failed"})
            wrong = "; ".join(disagreements(row))
            cells = [
                row["says"],
                row["real"]["gpus"],
                " ".join(decisive(row["real"])) or "-",
                verdict["gpu"],
                verdict["because"] or "-",
                f"**{wrong}**" if wrong else "agrees",
            ]
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
