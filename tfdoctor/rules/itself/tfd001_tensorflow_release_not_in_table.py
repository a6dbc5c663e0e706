"""TFD001 tensorflow-release-not-in-table."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables


@rule("TFD001", Severity.INFO)
def tensorflow_release_not_in_table(
    tensorflow: TensorFlow, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """tfdoctor's tables do not know the installed TensorFlow release.

    ## What it is
    tfdoctor ships tables of what each TensorFlow release needs. This one is newer than they are, a nightly or a vendor's build
    (NVIDIA's containers, Jetson, ROCm, Intel). What it needs is then read from the installed files alone, which say less.

    ## How it shows
    - only in tfdoctor's own output; TensorFlow itself is not concerned
    - rules that need a table row are left out, and the verdict is "unknown" sooner

    ## How to be sure
    `tfdoctor compat --tensorflow VERSION` says whether the release is known.

    ## What to do
    - Everywhere: update tfdoctor.
    - Own rows: a folder with files of the same names, named by `TFDOCTOR_COMPAT_EXTRA`; `scripts/refresh_tables.py` of the source
      reads a new release's wheels.
    - Vendor builds: the vendor's release notes name the driver and the CUDA version.

    ## References
    - https://www.tensorflow.org/install/source#gpu
    - https://docs.nvidia.com/deeplearning/frameworks/tensorflow-release-notes/index.html
    """
    if tensorflow.in_table:
        return None
    newest = tables.releases()[0].version
    message = _(
        "TensorFlow {version} is not in tfdoctor's tables (newest: {newest}); only what its own files say of it is used."
    ).format(version=tensorflow.version, newest=newest)
    fix = remedies.install(None, "--upgrade", "tfdoctor", title=_("Update tfdoctor"))
    source = tables.releases()[0].source
    evidence = (
        Evidence(f"{tensorflow.distribution} {tensorflow.version}", tensorflow.source),
        Evidence(_("newest row: {newest}").format(newest=newest), source),
    )
    return Diagnosis(message, evidence, (fix,) if tables.newer_than_table(tensorflow.version) else ())
