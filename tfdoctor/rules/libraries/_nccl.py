"""The NCCL that TensorFlow uses: built in up to 2.20, the library that the loader takes from 2.21 on."""

from __future__ import annotations

import re
from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables


def in_use(
    tensorflow: TensorFlow, tables: Tables, libraries: Optional[Libraries], distributions: Optional[Distributions]
) -> tuple[str, str]:
    """(version, source); ("", "") when it is not known."""
    entry = libraries.get("nccl") if libraries else None
    if entry is not None:
        picked = entry.picked
        return (picked.version, picked.path) if picked else ("", "")
    release = tables.release(tensorflow.version)
    if release is not None and release.nccl_linkage == "wheel":
        name = f"nvidia-nccl-cu{tensorflow.cuda.split('.')[0]}"
        version = distributions.version(name) if distributions else ""
        return (version, f"{distributions.source}: {name}") if version and distributions else ("", "")
    return (tensorflow.nccl, tensorflow.source) if tensorflow.nccl else ("", "")


def older(version: str, than: str) -> bool:
    """Whether an NCCL version is known and older."""
    found = re.match(r"[0-9]+(\.[0-9]+)+", version)
    try:
        return found is not None and Version(found.group(0)) < Version(than)
    except InvalidVersion:
        return False
