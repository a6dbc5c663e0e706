"""TFD508 cpu-only-build."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Safety, Severity, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._fixes import install_extra
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import SystemSupport


@rule("TFD508", Severity.ERROR, caused_by=("TFD503", "TFD506", "TFD507"), blocks=True)
def cpu_only_build(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    platform: Optional[Platform],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Found:
    """The installed TensorFlow was built without CUDA, and this machine has an NVIDIA GPU.

    ## What it is
    Whether TensorFlow can use an NVIDIA GPU is decided when it is built. Without CUDA in it: `tensorflow-cpu`, `tensorflow-intel`,
    `tensorflow-macos`, `tensorflow-cpu-aws`, every official wheel for native Windows from 2.11 on, for macOS and for Linux
    aarch64, conda's CPU builds, and `tensorflow` 2.0 itself.

    ## How it shows
    - `tf.config.list_physical_devices('GPU')` is `[]` and the log does not mention CUDA at all
    - `tf.test.is_built_with_cuda()` is `False`

    ## How to be sure
    `python -c "import tensorflow as tf; print(tf.sysconfig.get_build_info()['is_cuda_build'])"` prints `False`.

    ## What to do
    - Linux x86_64, WSL2: remove the CPU distribution, then `python -m pip install 'tensorflow[and-cuda]'`.
    - Native Windows: WSL2, or TensorFlow 2.10 (see windows-native-gpu-dropped).
    - Linux aarch64 (GH200, GB200, GB10, Jetson): no official CUDA wheel exists; NVIDIA's container or JetPack wheel.
    - macOS: no CUDA; `tensorflow-metal` for Apple's GPU.
    - conda: a build with `cuda` in its build string; set `CONDA_OVERRIDE_CUDA` when it is created where no GPU is.
    - Docker: a tag that ends in `-gpu`. Kubernetes: the same, and a resource `nvidia.com/gpu`. Slurm: the site's GPU build.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow
    """
    if tensorflow.cuda_build is None:
        raise Unavailable(_("whether this TensorFlow was built with CUDA is not known"))
    if tensorflow.cuda_build or (distributions and "tensorflow-directml-plugin" in distributions.by_name):
        return None
    what = _("for ROCm (AMD GPUs)") if tensorflow.rocm_build else _("without CUDA")
    support = _support(platform, tensorflow, tables)
    return Diagnosis(
        _("{distribution} {version} was built {what}, and this machine has an NVIDIA GPU ({gpu}).").format(
            distribution=tensorflow.distribution, version=tensorflow.version, what=what, gpu=machine.evidence
        ),
        evidence=(
            Evidence(_("is_cuda_build is False"), tensorflow.source),
            Evidence(machine.evidence, machine.source),
            *((Evidence(support.what, support.source),) if support else ()),
        ),
        fixes=_fixes(tensorflow, tables, support, interpreter, gpus),
    )


def _support(platform: Optional[Platform], tensorflow: TensorFlow, tables: Tables) -> Optional[SystemSupport]:
    if platform is None:
        return None
    system = "wsl2" if platform.wsl == 2 else {"darwin": "macos"}.get(platform.system, platform.system)
    return tables.system_support(system, platform.machine, tensorflow.version)


def _fixes(
    tensorflow: TensorFlow,
    tables: Tables,
    support: Optional[SystemSupport],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> tuple[Fix, ...]:
    if support is not None and support.gpu != "yes":
        return (remedies.by_hand(_("Use {instead}").format(instead=support.instead)),)
    extra = install_extra(interpreter, tensorflow, tables, gpus)
    if tensorflow.distribution == "tensorflow":
        return (extra,)
    remove = remedies.pip(interpreter, "uninstall", "-y", tensorflow.distribution)
    return (
        Fix(
            _("Replace {name} with the build that has CUDA").format(name=tensorflow.distribution),
            commands=(remove, *extra.commands),
            safety=Safety.ASK,
            note=extra.note,
            requirements=extra.requirements,
            removes=(tensorflow.distribution,),
        ),
    )
