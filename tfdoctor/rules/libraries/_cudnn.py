"""The cuDNN that TensorFlow would load: from the loader, or where only packages are known from the pip wheel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._which import searched
from tfdoctor.tables import Tables


@dataclass(frozen=True)
class Cudnn:
    """`version` "9.12.0.46", where it is, and whether that is what the loader takes (else: what the package says)."""

    version: str
    source: str
    sure: bool


def loaded(
    tensorflow: TensorFlow, libraries: Optional[Libraries], distributions: Optional[Distributions], tables: Tables
) -> Optional[Cudnn]:
    """The cuDNN in use, or None when it is not known (or none would be found)."""
    if libraries is not None:
        entry = libraries.get("cudnn")
        picked = entry.picked if entry else None
        return Cudnn(picked.version, picked.path, True) if picked and picked.version else None
    name = f"nvidia-cudnn-cu{cuda_of(tensorflow, tables).split('.')[0]}"
    version = distributions.version(name) if distributions else ""
    # A release that looks into the wheels takes this one first, unless LD_LIBRARY_PATH holds another.
    if not version or not distributions or not _looks_in_wheels(tensorflow, tables):
        return None
    return Cudnn(version, f"{distributions.source}: {name}", False)


def cuda_of(tensorflow: TensorFlow, tables: Tables) -> str:
    """The CUDA that TensorFlow was built for; the release's, where a list of packages does not tell the system."""
    if tensorflow.cuda or tensorflow.cuda_build is False or tensorflow.distribution != "tensorflow":
        return tensorflow.cuda
    release = tables.release(tensorflow.version)
    return release.cuda or "" if release and release.version == tensorflow.version else ""


def _looks_in_wheels(tensorflow: TensorFlow, tables: Tables) -> bool:
    release = tables.release(tensorflow.version)
    if release is None:
        return False
    return release.and_cuda is not None if release.runpath_dirs is None else "nvidia/cudnn/lib" in searched(release)


def built_with(tensorflow: TensorFlow, tables: Tables) -> str:
    """The cuDNN that TensorFlow was built with, as exact as is known: "9.3.0", "8.6", "" unknown."""
    if tensorflow.cudnn.count("."):
        return tensorflow.cudnn
    release = tables.release(tensorflow.version)
    known = release.cudnn if release and release.version == tensorflow.version and release.cudnn else ""
    agrees = not tensorflow.cudnn or known.split(".")[0] == tensorflow.cudnn
    return known if agrees else ""


def minor(version: str) -> Optional[tuple[int, int]]:
    """(9, 3) of "9.3.0.75"; None when the version has no minor part."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found.group(1)), int(found.group(2))) if found else None


def too_old(version: str, needed: str) -> bool:
    """TensorFlow's own test: the same major and at least the minor that it was built with. False when not known."""
    have, want = minor(version), minor(needed)
    return have is not None and want is not None and have[0] == want[0] and have < want
