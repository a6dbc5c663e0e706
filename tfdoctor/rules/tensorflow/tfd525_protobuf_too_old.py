"""TFD525 protobuf-too-old."""

from __future__ import annotations

from typing import Optional

from packaging.specifiers import SpecifierSet

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import Stated, parsed, stated, vendor_or_conda
from tfdoctor.tables import Tables, fits

#: The first release whose generated code checks the runtime (tensorflow/core/framework/graph_pb2.py in the wheels:
#: 2.20.0 asks for 5.28.3, 2.21.0 for 6.31.1).
FIRST_CHECKED = "2.20"


@rule("TFD525", Severity.ERROR, blocks=True)
def protobuf_too_old(
    tensorflow: TensorFlow,
    tables: Tables,
    distributions: Optional[Distributions],
    environment: Optional[Environment],
    interpreter: Optional[Interpreter],
) -> Found:
    """The installed protobuf is older than the compiler that made this TensorFlow's generated code.

    ## What it is
    From 2.20 on the Python code that protobuf generated for TensorFlow checks, when it is imported, that the installed protobuf
    is not older than the compiler that made it: 5.28.3 for 2.20, 6.31.1 for 2.21. pip sees to that, until another package
    with an upper limit on protobuf takes it back down.

    ## How it shows
    `google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions when loading
    tensorflow/core/framework/….proto: gencode 6.31.1 runtime 5.29.5. Runtime version cannot be older than the linked gencode
    version.`, at `import tensorflow`

    ## How to be sure
    `python -m pip show protobuf tensorflow`, and `python -m pip check`, which names the range.

    ## What to do
    - All systems: `python -m pip install 'protobuf>=6.31.1,<8'` (2.21) or `'protobuf>=5.28.3'` (2.20).
    - `python -m pip show protobuf` lists under `Required-by` who needs an older one: update that package, or give it an
      environment of its own, or use an older TensorFlow (2.19 goes with protobuf 3.20 to 5).
    - The variable that switches the check off only hides it; do not rely on it.
    - Docker, Kubernetes, Slurm: in the image or environment file.

    ## References
    - https://protobuf.dev/support/cross-version-runtime-guarantee/
    """
    version = distributions.version("protobuf") if distributions else ""
    if distributions is None or parsed(version) is None or vendor_or_conda(tensorflow, distributions):
        return None
    ranges = stated("protobuf", tensorflow, tables, distributions, interpreter)
    if ranges is None or not fits(tensorflow.version, f">={FIRST_CHECKED}.dev0") or not _below(version, ranges):
        return None
    hidden = environment is not None and environment.get("TEMPORARILY_DISABLE_PROTOBUF_VERSION_CHECK").lower() == "true"
    return Diagnosis(
        _("protobuf {have} is older than TensorFlow {version} accepts ({need}): it cannot be imported.").format(
            have=version, version=tensorflow.version, need=ranges.text
        ),
        evidence=(
            Evidence(f"protobuf {version}", distributions.source),
            Evidence(f"protobuf {ranges.text}", ranges.source),
        ),
        fixes=(remedies.install(interpreter, f"protobuf{ranges.ranges[0]}"),),
        severity=Severity.INFO if hidden else None,
    )


def _below(version: str, ranges: Stated) -> bool:
    """Below every lower bound that the ranges state."""
    lower = [
        one.version for text in ranges.ranges for one in SpecifierSet(text) if one.operator in (">=", "~=", ">", "==")
    ]
    return bool(lower) and all(fits(version, f"<{bound.replace('.*', '')}") for bound in lower)
