"""TFD502 tensorflow-not-installed."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlowPackages


@rule("TFD502", Severity.ERROR, caused_by=("TFD401", "TFD402", "TFD405", "TFD406", "TFD411", "TFD501"), blocks=True)
def tensorflow_not_installed(
    packages: TensorFlowPackages,
    interpreter: Optional[Interpreter],
    platform: Optional[Platform],
    machine: Optional[GpuMachine],
) -> Found:
    """The Python that was looked at has no TensorFlow.

    ## What it is
    Every Python interpreter and every virtual environment has its own packages. The usual mistake is `pip` of one and
    `python` of another: TensorFlow is then installed, only not where the program runs.

    ## How it shows
    `ModuleNotFoundError: No module named 'tensorflow'`

    ## How to be sure
    `python -m pip show tensorflow` with the very `python` that runs the program, and
    `python -c "import sys; print(sys.executable)"` inside it. tfdoctor also looks at the other interpreters on PATH
    and names those that have a TensorFlow; check another one with `tfdoctor check --python PATH`.

    ## What to do
    - Use the interpreter's own pip: `python -m pip install …`, never a bare `pip`.
    - Linux x86_64, WSL2 with an NVIDIA GPU: `python -m pip install 'tensorflow[and-cuda]'`; without a GPU `tensorflow`.
    - Native Windows: `tensorflow` (CPU only from 2.11 on); for the GPU use WSL2.
    - macOS on Apple silicon: `tensorflow`, and `tensorflow-metal` for the GPU.
    - Linux aarch64: `tensorflow` is CPU only; NVIDIA's image or JetPack wheel for the GPU.
    - Jupyter: install into the kernel's environment, `%pip install` does that.
    - Docker, Kubernetes: in the image. Slurm: activate the environment inside the job script.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://docs.python.org/3/installing/index.html
    """
    if packages.installed or packages.folder:  # a folder without an owner is another fault: TFD503
        return None
    others = interpreter.others if interpreter else ()
    elsewhere = _(" {path} has TensorFlow {version}.").format(path=others[0][0], version=others[0][1]) if others else ""
    where = interpreter.path if interpreter else packages.source
    return Diagnosis(
        _("{python} has no TensorFlow.").format(python=where) + elsewhere,
        evidence=(
            Evidence(_("no distribution of TensorFlow"), packages.source),
            *(Evidence(_("TensorFlow {version}").format(version=version), path) for path, version in others),
        ),
        fixes=_fixes(interpreter, platform, machine),
    )


def _fixes(
    interpreter: Optional[Interpreter], platform: Optional[Platform], machine: Optional[GpuMachine]
) -> tuple[Fix, ...]:
    cuda = platform is None or (platform.system, platform.machine) == ("linux", "x86_64")
    wanted = "tensorflow[and-cuda]" if cuda and machine is not None else "tensorflow"
    fixes = [remedies.install(interpreter, wanted)]
    for path, version in (interpreter.others if interpreter else ())[:1]:
        fixes.append(
            remedies.by_hand(
                _("Or run the program with {path}, which has TensorFlow {version}").format(path=path, version=version)
            )
        )
    return tuple(fixes)
