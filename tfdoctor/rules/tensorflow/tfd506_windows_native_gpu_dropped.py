"""TFD506 windows-native-gpu-dropped."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables

WINDOWS_ONLY = "tensorflow-intel"


@rule("TFD506", Severity.ERROR, blocks=True)
def windows_native_gpu_dropped(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    platform: Optional[Platform],
    distributions: Optional[Distributions],
) -> Found:
    """This TensorFlow has no GPU support on native Windows, whatever CUDA is installed.

    ## What it is
    2.10 was the last TensorFlow with a CUDA build for native Windows. From 2.11 on the Windows wheels hold CPU code only
    (through 2.18.0 they just install `tensorflow-intel`). No driver, toolkit or cuDNN changes that.

    ## How it shows
    - `tf.config.list_physical_devices('GPU')` is `[]`, and there is not one line about CUDA in the log
    - `tf.test.is_built_with_cuda()` is `False`

    ## How to be sure
    `python -c "import sys, tensorflow as tf; print(sys.platform, tf.__version__, tf.test.is_built_with_cuda())"` prints
    `win32`, 2.11 or newer, `False`.

    ## What to do
    - WSL2 (recommended): Windows 10 21H2 or Windows 11, the normal Windows driver, then in a Linux distribution
      `python -m pip install 'tensorflow[and-cuda]'`. Do not install a Linux driver inside.
    - Native Windows: Python 3.7 to 3.10, `python -m pip install 'tensorflow<2.11' 'numpy<2'`, CUDA 11.2 and cuDNN 8.1 with
      their `bin` folders on PATH. It does not know GPUs newer than Ampere well.
    - DirectML: `tensorflow-directml-plugin` with exactly `tensorflow-cpu==2.10.0`; no longer developed.
    - Docker on Windows runs Linux containers through WSL2 and uses the GPU with `--gpus all`.
    - Linux, macOS, Kubernetes, Slurm: does not arise.

    ## References
    - https://www.tensorflow.org/install/pip#windows-native
    - https://github.com/tensorflow/tensorflow/issues/60237
    """
    # tensorflow-intel exists for native Windows only (compat/distributions.json): a pip freeze with it tells the system.
    there = tensorflow.distribution == WINDOWS_ONLY or bool(distributions and distributions.version(WINDOWS_ONLY))
    if platform is None and not there:
        raise Unavailable(_("the operating system is not known"))
    if platform is not None and platform.system != "windows":
        raise NotApplicable(_("this is not native Windows"))
    row = tables.system_support("windows", platform.machine if platform else "x86_64", tensorflow.version)
    if row is None or row.gpu != "no" or tensorflow.cuda_build:
        return None
    if distributions is not None and "tensorflow-directml-plugin" in distributions.by_name:
        return None
    return Diagnosis(
        _("TensorFlow {version} has no GPU support on native Windows; {last} was the last release that had.").format(
            version=tensorflow.version, last="2.10"
        ),
        evidence=(
            Evidence(row.what, row.source),
            Evidence(f"{tensorflow.distribution} {tensorflow.version}", tensorflow.source),
        ),
        fixes=(
            remedies.by_hand(
                _("Install WSL2 and use TensorFlow there"),
                ("wsl", "--install"),
                note=_("The Windows driver serves WSL2 too; install no Linux driver inside."),
            ),
            remedies.by_hand(
                _("Or TensorFlow 2.10 with CUDA 11.2 and cuDNN 8.1, in an environment with Python 3.7 to 3.10")
            ),
        ),
        severity=None if row.solid else Severity.WARNING,
    )
