"""TFD407 glibc-too-old."""

from __future__ import annotations

from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.python._wheels import pythons, tag
from tfdoctor.rules.tensorflow._requirements import vendor_or_conda
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfRelease


@rule("TFD407", Severity.ERROR, blocks=True)
def glibc_too_old(
    platform: Platform,
    tensorflow: TensorFlow,
    tables: Tables,
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The C library of this system is older than the one this TensorFlow was built against.

    ## What it is
    A program runs with the glibc that it was built for and with every newer one, never with an older. TensorFlow's wheels ask
    for 2.12 (up to 2.8), 2.17 (2.9 to 2.20) or 2.27 (2.21). pip sees to that; an environment that was copied or mounted from a
    newer machine, or a wheel that was installed by force, gets around it. glibc belongs to the operating system.

    ## How it shows
    `ImportError: /lib64/libm.so.6: version 'GLIBC_2.27' not found (required by …/tensorflow/…so)`

    ## How to be sure
    `ldd --version` prints the system's glibc in its first line.

    ## What to do
    - Linux: a newer distribution, or a container (Docker, Podman, Apptainer), which brings its own glibc. Only the NVIDIA driver
      comes from the host.
    - Or the newest TensorFlow for this glibc, or one from conda-forge, which is built for older systems.
    - Never replace the system's glibc: nothing on the system may start afterwards.
    - Slurm, clusters: Apptainer with the official or NVIDIA's image. Docker, Kubernetes: a newer base image.
    - WSL2: a newer distribution. Windows, macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/28660
    - https://peps.python.org/pep-0600/
    """
    if platform.system != "linux" or platform.libc != "glibc":
        raise NotApplicable(_("no glibc on this system"))
    release = tables.release(tensorflow.version)
    have = _version(platform.libc_version)
    official = tensorflow.distribution in ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
    if release is None or have is None or not official or vendor_or_conda(tensorflow, distributions):
        return None
    if have >= Version(release.glibc_floor):
        return None
    return Diagnosis(
        _("glibc {have} is older than {need}, which TensorFlow {version} was built for.").format(
            have=platform.libc_version, need=release.glibc_floor, version=tensorflow.version
        ),
        evidence=(
            Evidence(_("glibc {version}").format(version=platform.libc_version), platform.source),
            Evidence(_("needs glibc {version}").format(version=release.glibc_floor), release.source),
        ),
        fixes=_fixes(tensorflow, have, tables, platform, interpreter),
        severity=None if release.solid else Severity.WARNING,
    )


def _fixes(
    tensorflow: TensorFlow, have: Version, tables: Tables, platform: Platform, interpreter: Optional[Interpreter]
) -> tuple[Fix, ...]:
    python = tag(interpreter.version) if interpreter else ""
    fitting = next((row for row in tables.releases() if _runs(row, have, python, platform)), None)
    container = remedies.by_hand(_("Run TensorFlow in a container with a newer glibc"))
    if fitting is None:
        return (container,)
    title = _("The newest TensorFlow for this glibc")
    older = remedies.another_release(tensorflow, f"=={fitting.version}")
    return (container, remedies.install(interpreter, older, title=title))


def _runs(release: TfRelease, have: Version, python: str, platform: Platform) -> bool:
    return Version(release.glibc_floor) <= have and (not python or python in pythons(release, platform))


def _version(text: str) -> Optional[Version]:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None
