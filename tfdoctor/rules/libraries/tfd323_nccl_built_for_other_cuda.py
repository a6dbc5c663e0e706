"""TFD323 nccl-built-for-other-cuda."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.nvml import Driver, Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables


@rule("TFD323", Severity.WARNING)
def nccl_built_for_other_cuda(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    gpus: Gpus,
    driver: Driver,
    distributions: Distributions,
    tables: Tables,
    interpreter: Optional[Interpreter],
) -> Found:
    """The installed NCCL was built for a newer CUDA major version than the driver supports.

    ## What it is
    NCCL carries its own CUDA runtime. A build for CUDA 13 needs a driver for CUDA 13, whatever TensorFlow was built for. The
    packages `nvidia-nccl-cu12` and `nvidia-nccl-cu13` write the same file, `nvidia/nccl/lib/libnccl.so.2`: with both
    installed (PyTorch brings the other one) the last one installed is what every program gets.

    ## How it shows
    - `unhandled cuda error`, `ncclUnhandledCudaError` at the first collective; one GPU works
    - `NCCL_DEBUG=WARN` adds `CUDA driver version is insufficient for CUDA runtime version`
    - `NCCL version 2.28.9+cuda13.0`: the part after the plus sign is the CUDA it was built for

    ## How to be sure
    `NCCL_DEBUG=VERSION` prints that line; compare with "CUDA Version" of `nvidia-smi`, which is the driver's.

    ## What to do
    - Linux, WSL2: uninstall the NCCL of the other CUDA, then install TensorFlow's afresh; give PyTorch its own environment.
    - Or raise the driver to one that supports that CUDA.
    - System packages: `libnccl2=…+cudaX.Y` with the X.Y of the installed CUDA.
    - Docker, Kubernetes: the image's NCCL must not be newer than the host's driver. Slurm: the module of the right CUDA.
    - Windows, macOS: does not arise.

    ## References
    - https://github.com/NVIDIA/nccl-tests/issues/6
    - https://github.com/InternLM/lmdeploy/issues/1267
    """
    release = tables.release(tensorflow.version)
    if len(gpus) < 2 or release is None or release.nccl_linkage != "wheel":
        raise NotApplicable(_("this TensorFlow does not load an NCCL package here"))
    newest = _too_new(distributions, driver)
    if newest is None:
        return None
    name, major = newest
    own = f"nvidia-nccl-cu{tensorflow.cuda.split('.')[0]}"
    return Diagnosis(
        _("{name} {version} was built for CUDA {major}, and driver {driver} supports CUDA {cuda}.").format(
            name=name, version=distributions.version(name), major=major, driver=driver.version, cuda=driver.cuda
        ),
        evidence=(
            Evidence(f"{name} {distributions.version(name)}", distributions.source),
            Evidence(_("CUDA driver API {cuda}").format(cuda=driver.cuda), driver.source),
        ),
        fixes=(remedies.reinstall(interpreter, own, removes=(name,)),),
    )


def _too_new(distributions: Distributions, driver: Driver) -> Optional[tuple[str, int]]:
    """The NCCL package for a CUDA major above the driver's."""
    supported = re.match(r"[0-9]+", driver.cuda)
    for name in sorted(distributions.by_name, reverse=True):
        found = re.fullmatch(r"nvidia-nccl-cu([0-9]+)", name)
        if found and supported and int(found.group(1)) > int(supported.group(0)):
            return name, int(found.group(1))
    return None
