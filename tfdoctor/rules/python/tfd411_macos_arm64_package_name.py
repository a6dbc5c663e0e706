"""TFD411 macos-arm64-package-name."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.rules._log import line, value


@rule("TFD411", Severity.ERROR)
def macos_arm64_package_name(log: LogMatch, interpreter: Optional[Interpreter]) -> Found:
    """On Apple silicon TensorFlow before 2.13 has another package name.

    ## What it is
    Up to 2.12 Apple published TensorFlow for its own processors as `tensorflow-macos`; `tensorflow` had wheels for Intel Macs only.
    From 2.13 on `tensorflow` has wheels for both (through 2.15.0 it installs `tensorflow-macos`). A pin on an older `tensorflow`
    therefore finds nothing on an M1 or newer.

    ## How it shows
    `ERROR: No matching distribution found for tensorflow==2.10.0` (also `(from versions: 2.13.0rc0, 2.13.0, …)`) on a Mac

    ## How to be sure
    `python -c "import platform; print(platform.system(), platform.machine())"` prints `Darwin arm64`.

    ## What to do
    - macOS on Apple silicon: raise the pin to 2.13 or newer, or write `tensorflow-macos==2.10.0` for the old one. In a
      requirements file for several systems, with markers: `tensorflow-macos==2.10.0; sys_platform == 'darwin' and
      platform_machine == 'arm64'`.
    - The GPU: `tensorflow-metal` in a release that goes with it.
    - A Python that prints `x86_64` runs under Rosetta: install a native one.
    - Docker on such a Mac runs Linux on aarch64, where the Linux wheels count.
    - Intel Macs: up to 2.16.2. Linux, Windows, WSL2, Kubernetes, Slurm: does not arise.

    ## References
    - https://developer.apple.com/metal/tensorflow-plugin/
    - https://www.tensorflow.org/install/pip#macos
    """
    wanted = value(log, "version", "")
    fixes = [remedies.install(interpreter, "tensorflow>=2.13")]
    if wanted:
        fixes.append(remedies.install(interpreter, f"tensorflow-macos=={wanted}"))
    return Diagnosis(
        _(
            "On Apple silicon the package tensorflow begins with 2.13; before that it is tensorflow-macos{wanted}."
        ).format(wanted=f" (asked for: {wanted})" if wanted else ""),
        evidence=(line(log),),
        fixes=tuple(fixes),
    )
