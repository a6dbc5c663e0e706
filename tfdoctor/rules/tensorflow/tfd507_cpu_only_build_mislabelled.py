"""TFD507 cpu-only-build-mislabelled."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables


@rule("TFD507", Severity.ERROR, caused_by=("TFD503", "TFD506"), blocks=True)
def cpu_only_build_mislabelled(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    platform: Optional[Platform],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The installed package is called a GPU build, but the TensorFlow in it was built without CUDA.

    ## What it is
    What counts is what the build says of itself, not what the package is called. conda packages with `cuda` in their build
    string have been published with CPU code, wheels from mirrors and wheel houses are rebuilt under the same name, and
    another distribution may have overwritten the files.

    ## How it shows
    - `tf.test.is_built_with_cuda()` is `False`, although `conda list tensorflow` shows a build such as `cuda112py39…`
    - No line about CUDA or cuDNN in the log: a build without CUDA never tries

    ## How to be sure
    `python -c "import tensorflow as tf; print(tf.sysconfig.get_build_info())"` says `is_cuda_build: False`. Check this before any
    advice about drivers.

    ## What to do
    - pip, Linux x86_64, WSL2: install the official wheel afresh:
      `python -m pip install --force-reinstall --no-deps tensorflow==VERSION`; look at `pip config list` for a mirror.
    - conda: another build number of the package (`conda search 'tensorflow=*=cuda*'`), or pip's `tensorflow[and-cuda]`.
    - Slurm, clusters: a site's wheel house often holds both; ask for the name of the GPU build.
    - Docker, Kubernetes: rebuild the image from the official wheel.
    - Windows from 2.11, macOS, aarch64: no official build has CUDA; see cpu-only-build.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/sysconfig/get_build_info
    - https://github.com/conda-forge/tensorflow-feedstock
    """
    if tensorflow.cuda_build is not False or tensorflow.rocm_build:
        return None
    promise = _promise(tensorflow, tables, platform, distributions)
    if promise is None:
        return None
    return Diagnosis(
        _("{distribution} {version} should hold the GPU build, but what is installed was built without CUDA.").format(
            distribution=tensorflow.distribution, version=tensorflow.version
        ),
        evidence=(promise, Evidence(_("is_cuda_build is False"), tensorflow.source)),
        fixes=(remedies.reinstall(interpreter, f"{tensorflow.distribution}=={tensorflow.version}"),),
    )


def _promise(
    tensorflow: TensorFlow, tables: Tables, platform: Optional[Platform], distributions: Optional[Distributions]
) -> Optional[Evidence]:
    """What says that this package should have CUDA; None when nothing does."""
    if tensorflow.distribution == "tensorflow-gpu":
        return Evidence(_("the package is called {name}").format(name=tensorflow.distribution), tensorflow.source)
    own = distributions.by_name.get(tensorflow.distribution) if distributions else None
    release = tables.release(tensorflow.version)
    if own is None or own.installer not in ("pip", "uv") or platform is None or release is None:
        return None
    wheel = release.platform(platform.system, platform.machine)
    exact = tensorflow.distribution == "tensorflow" and release.version == tensorflow.version
    if not exact or wheel is None or not wheel.is_cuda:
        return None
    return Evidence(_("the official wheel {tag} has CUDA").format(tag=wheel.tag), release.source)
