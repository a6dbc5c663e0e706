"""TFD510 protobuf-too-new."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import parsed, stated, vendor_or_conda
from tfdoctor.tables import Tables, fits

#: The first release whose generated code goes with protobuf 4 (its wheel asks for protobuf <5,>=3.20.3; all before for <3.20).
FIRST_PROTOBUF4 = "2.12"


@rule("TFD510", Severity.ERROR, blocks=True)
def protobuf_too_new(
    tensorflow: TensorFlow,
    tables: Tables,
    distributions: Optional[Distributions],
    environment: Optional[Environment],
    interpreter: Optional[Interpreter],
) -> Found:
    """The installed protobuf is newer than this TensorFlow's generated code can work with.

    ## What it is
    TensorFlow contains Python code that a protobuf compiler generated. protobuf 4 refuses code of compilers before 3.19, which
    is what TensorFlow before 2.12 contains. The first patch releases of 2.x did not forbid protobuf 4 in their metadata, so
    pip installs it. With 2.12 to 2.19 a newer major than the metadata asks for mostly works, with warnings; that is a matter of
    tf-companion-version-mismatch.

    ## How it shows
    - `TypeError: Descriptors cannot not be created directly.` (newer: `cannot be created directly`), followed by advice to
      downgrade to 3.20.x
    - `AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'` with protobuf 6

    ## How to be sure
    `python -m pip show protobuf tensorflow`: protobuf 4 or newer beside TensorFlow before 2.12.

    ## What to do
    - TensorFlow before 2.12: `python -m pip install 'protobuf<3.21'`; 3.20.3 works with all of them.
    - Or a later patch release of the same minor, or TensorFlow 2.12 and newer.
    - Something else needs protobuf 4: a second environment. `PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python` makes both work, at
      the cost of slow parsing.
    - Docker, Kubernetes, Slurm: pin it in the image or environment file. Windows, macOS, WSL2: the same commands.

    ## References
    - https://protobuf.dev/news/2022-05-06/
    - https://github.com/dso-org/deep-symbolic-optimization/issues/60
    """
    version = distributions.version("protobuf") if distributions else ""
    protobuf = parsed(version)
    if distributions is None or protobuf is None or vendor_or_conda(tensorflow, distributions):
        return None
    old = fits(tensorflow.version, f"<{FIRST_PROTOBUF4}.dev0")
    if not old or protobuf.major < 4:  # 3.20 is outside of some ranges (<3.20) and works
        return None
    ranges = stated("protobuf", tensorflow, tables, distributions, interpreter)
    python_only = environment is not None and environment.get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION") == "python"
    return Diagnosis(
        _(
            "protobuf {have} is too new for TensorFlow {version}, which works with {need}: it cannot be imported."
        ).format(have=version, version=tensorflow.version, need="<3.21"),
        evidence=(
            Evidence(f"protobuf {version}", distributions.source),
            *((Evidence(f"protobuf {ranges.text}", ranges.source),) if ranges else ()),
        ),
        fixes=(remedies.install(interpreter, "protobuf<3.21"),),
        severity=Severity.INFO if python_only else None,
    )
