"""TFD312 docker-image-lacks-cudnn9."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.surroundings import Container
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._fixes import with_extra
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD312", Severity.ERROR, blocks=True)
def docker_image_lacks_cudnn9(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    container: Optional[Container],
    interpreter: Optional[Interpreter],
) -> Found:
    """The tensorflow/tensorflow image holds cuDNN 8, and the TensorFlow in it was built for cuDNN 9.

    ## What it is
    The official GPU images of 2.18 and 2.19 kept the base of 2.17, with CUDA 12.3 and cuDNN 8.9, while TensorFlow 2.18
    moved to cuDNN 9. Every CUDA library loads; `libcudnn.so.9` does not exist in the image.

    ## How it shows
    - `Cannot dlopen some GPU libraries … Skipping registering GPU devices...` in a container whose `nvidia-smi` works
    - `list_physical_devices('GPU')` is `[]` with 2.18 and 2.19, and lists the GPU with the image of 2.17

    ## How to be sure
    In the container: `dpkg -l | grep cudnn` shows `libcudnn8` only; `ldconfig -p | grep libcudnn.so.9` is empty.

    ## What to do
    - Docker, Kubernetes: in a Dockerfile on top of the image, `python -m pip install 'tensorflow[and-cuda]==VERSION'`, or
      install the package `cudnn9-cuda-12` from NVIDIA's repository. Do it in the image: a running container forgets.
    - Or use the tag `2.17.0-gpu`, or NVIDIA's own image `nvcr.io/nvidia/tensorflow`.
    - Slurm with Apptainer or Enroot: build the same into the image.
    - Linux, WSL2, Windows, macOS outside of a container: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/88348
    - https://github.com/tensorflow/build/issues/221
    """
    fault = Situation(tensorflow, libraries, tables, container=container).fault("docker-image-lacks-cudnn9")
    if fault is None:
        return None
    return Diagnosis(
        _("This tensorflow/tensorflow image has {have}, and TensorFlow {version} in it needs {names}.").format(
            have=", ".join(dict.fromkeys(copy.soname for copy in fault.copies)),
            version=tensorflow.version,
            names=fault.names,
        ),
        evidence=fault.evidence,
        fixes=(
            remedies.install(
                interpreter,
                with_extra(tensorflow, tables),
                note=_("In the image's Dockerfile: what is installed in a container goes with it."),
            ),
            remedies.by_hand(_("Use the image tensorflow/tensorflow:2.17.0-gpu")),
        ),
    )
