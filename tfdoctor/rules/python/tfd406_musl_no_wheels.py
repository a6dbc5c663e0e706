"""TFD406 musl-no-wheels."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlowPackages


@rule("TFD406", Severity.ERROR, blocks=True)
def musl_no_wheels(platform: Platform, packages: Optional[TensorFlowPackages]) -> Found:
    """This Linux uses the C library musl, and TensorFlow's wheels are for glibc.

    ## What it is
    Alpine Linux and images ending in `-alpine` use musl. Binary wheels for Linux are built for one of the two C libraries, and
    TensorFlow and its companions publish only those for glibc (manylinux, not musllinux). NVIDIA's libraries are for glibc
    as well, so building TensorFlow oneself does not bring the GPU.

    ## How it shows
    `ERROR: No matching distribution found for tensorflow`, `(from versions: none)`, in a container that is otherwise fine

    ## How to be sure
    `ldd --version` says musl; `cat /etc/os-release` says Alpine.

    ## What to do
    - Docker, Kubernetes: a base image with glibc, `python:3.12-slim` for one, or a tensorflow or NVIDIA image. They are larger;
      TensorFlow itself is far larger than the difference.
    - Linux on musl: run TensorFlow in such a container.
    - Compatibility layers (`gcompat`) do not carry TensorFlow.
    - WSL2: use Ubuntu or Debian in place of Alpine. Slurm: does not arise. Windows, macOS: does not arise.

    ## References
    - https://github.com/tensorflow/io/issues/1694
    - https://peps.python.org/pep-0656/
    """
    if platform.libc != "musl" or (packages is not None and packages.installed):
        return None
    return Diagnosis(
        _("{distro} uses musl {version}, and TensorFlow has wheels for glibc only.")
        .format(distro=platform.distro or "This Linux", version=platform.libc_version)
        .replace("  ", " "),
        evidence=(Evidence(f"{platform.libc} {platform.libc_version}".strip(), platform.source),),
        fixes=(remedies.by_hand(_("Use an image with glibc, such as python:3.12-slim")),),
    )
