"""TFD244 nvml-not-available."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Nvml
from tfdoctor.probes.surroundings import Container
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import contained, starts
from tfdoctor.tables import fits

CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
#: Seen with a stand-in driver: 2.21.0 calls nvmlInit after cuInit and lists no GPU where it fails; 2.14 to 2.20 open no NVML.
NEEDS_NVML = ">=2.21.dev0"


@rule("TFD244", Severity.ERROR, caused_by=("TFD202", "TFD237", "TFD238", "TFD242"), blocks=True)
def nvml_not_available(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    nvml: Optional[Nvml],
    cuda: Optional[CudaDriver],
    environment: Optional[Environment],
    container: Optional[Container],
) -> Found:
    """CUDA starts, but NVML does not, and this TensorFlow uses no GPU without it.

    ## What it is
    NVML (`libnvidia-ml.so.1`) is the part of NVIDIA's driver that nvidia-smi asks. From 2.21 on TensorFlow starts it too, right
    after CUDA; where that fails it lists no GPU, and at the default log level says nothing about it. Up to 2.20 it was
    not needed. Containers lack it that were given only the driver's CUDA part.

    ## How it shows
    - `list_physical_devices('GPU')` is `[]` with TensorFlow 2.21 where 2.20 lists the GPUs
    - nvidia-smi is not there, or says `couldn't find libnvidia-ml.so library in your system`

    ## How to be sure
    `python -c "import ctypes; print(ctypes.CDLL('libnvidia-ml.so.1').nvmlInit_v2())"` prints 0 on a sound machine.

    ## What to do
    - Docker, Kubernetes: start the container with `NVIDIA_DRIVER_CAPABILITIES=compute,utility` (or `all`): `utility` brings NVML.
    - Linux: install the package with `libnvidia-ml.so.1` of the driver's own version. Slurm: ask the operators for it.
    - The library is there and fails: what it says is named below; often the loaded kernel module is of another version.
    - Until then TensorFlow 2.20 uses the GPUs without it.
    - Windows, macOS: does not arise.

    ## References
    - https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
    - https://docs.nvidia.com/deploy/nvml-api/
    """
    if (
        nvml is None
        or nvml.state == "ok"
        or cuda is None
        or not starts(cuda)
        or not fits(tensorflow.version, NEEDS_NVML)
    ):
        return None
    why = " ".join((nvml.error or nvml.state).split()).rstrip(".")
    evidence = [Evidence(why, nvml.source), Evidence(_("CUDA starts"), cuda.source)]
    asked = environment.get(CAPABILITIES) if environment else ""
    if environment is not None and asked:
        evidence.append(Evidence(f"{CAPABILITIES}={asked}", environment.source))
    return Diagnosis(
        _("TensorFlow {version} needs NVML beside CUDA, and NVML does not start: {why}.").format(
            version=tensorflow.version, why=why
        ),
        tuple(evidence),
        (_fix(nvml, container),),
        # Slow is not never: a driver that takes longer than the limit may still come up.
        severity=Severity.WARNING if nvml.state == "timed-out" else None,
    )


def _fix(nvml: Nvml, container: Optional[Container]) -> Fix:
    if contained(container):
        command = ("docker", "run", "--gpus", "all", "-e", f"{CAPABILITIES}=compute,utility", "IMAGE")
        return remedies.by_hand(_("Start the container with the driver's NVML"), command)
    if nvml.state == "library-missing":
        note = _("It must be of the driver's own version.")
        return remedies.by_hand(_("Install the driver's library libnvidia-ml.so.1"), note=note, needs=("root",))
    return remedies.by_hand(_("Read what the kernel says"), ("dmesg",), needs=("root",))
