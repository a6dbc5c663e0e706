"""TFD401 python-32bit."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlowPackages


@rule("TFD401", Severity.ERROR, blocks=True)
def python_32bit(
    interpreter: Interpreter, packages: Optional[TensorFlowPackages], platform: Optional[Platform]
) -> Found:
    """This Python is a 32-bit program, and TensorFlow exists for 64-bit Python only.

    ## What it is
    A wheel is made for one kind of interpreter. TensorFlow has none for 32 bits on any system. On Windows the download page
    offers both, and the operating system being 64-bit does not make the Python so; on a Raspberry Pi the whole system may be
    32-bit.

    ## How it shows
    - `ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)`
    - `ERROR: No matching distribution found for tensorflow`

    ## How to be sure
    `python -c "import struct; print(struct.calcsize('P') * 8)"` prints 32.

    ## What to do
    - Windows: install the 64-bit Python of a version that TensorFlow supports, and make the environment anew with it. `py -0p`
      lists what is there.
    - Linux on ARM: a 64-bit system (`uname -m` says aarch64), then `tensorflow`; or TensorFlow Lite on 32 bits.
    - Linux on a PC: a 64-bit distribution. macOS, WSL2: always 64-bit.
    - Docker: an image for `linux/amd64` or `linux/arm64`, not `linux/arm/v7` or `linux/386`. Kubernetes, Slurm: the same.

    ## References
    - https://github.com/NikhilCodes/VirtualBLU/issues/2
    - https://www.tensorflow.org/install/pip#system-requirements
    """
    if interpreter.bits != 32 or (packages is not None and packages.installed):
        return None
    machine = platform.machine if platform else ""
    return Diagnosis(
        _("{python} is a 32-bit Python {version}, and TensorFlow needs a 64-bit one.").format(
            python=interpreter.path, version=interpreter.version
        ),
        evidence=(
            Evidence(
                _("{bits} bits {machine}").format(bits=interpreter.bits, machine=machine).strip(), interpreter.source
            ),
        ),
        fixes=(remedies.by_hand(_("Install a 64-bit Python and make the environment anew with it")),),
    )
