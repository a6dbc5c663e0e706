"""TFD101 no-gpu-machine."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Container, Wsl
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import contained, lost_lines, xids

#: The first kernel of WSL2 with GPU support; Microsoft's documentation names it.
FIRST_KERNEL = (4, 19, 121)


@rule("TFD101", Severity.WARNING, blocks=True)
def no_gpu_machine(
    platform: Platform,
    machine: Optional[GpuMachine],
    pci: Optional[Pci],
    wsl: Optional[Wsl],
    container: Optional[Container],
    log: Optional[KernelLog],
    tensorflow: Optional[TensorFlow],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    library: Optional[DriverLibrary],
) -> Found:
    """This machine has no GPU that TensorFlow's CUDA builds can use.

    ## What it is
    The PCI bus holds no NVIDIA display or compute controller (and under WSL2 Windows offers none). TensorFlow then runs
    on the CPU. That is not a fault: every line that it prints about CUDA on such a machine is harmless.

    ## How it shows
    - `Could not find cuda drivers on your machine, GPU will not be used.`
    - `failed call to cuInit: UNKNOWN ERROR (303)` or `CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected`
    - `Could not load dynamic library 'libcudart.so.11.0'`, followed by advice to ignore it without a GPU
    - `tf.config.list_physical_devices('GPU')` is `[]`

    ## How to be sure
    `lspci -nn -d 10de:` prints nothing. Under WSL2: `/dev/dxg` does not exist, or `/usr/lib/wsl/lib` holds no `libcuda.so.1`. In a cloud: the instance type is one
    without a GPU.

    ## What to do
    - Nothing, if the CPU is what you want. `tensorflow-cpu` is a smaller download and prints less.
    - Linux and Windows: if a card is plugged in and `lspci` does not show it, it is a matter of power, slot or firmware.
    - WSL2: install NVIDIA's driver on Windows, then `wsl --update` and `wsl --shutdown`.
    - macOS: `tensorflow-metal` is Apple's plug-in for its own GPUs; there is no CUDA.
    - AMD: the CUDA builds do not use it; `tensorflow-rocm` does, where it supports the card.
    - Cloud, Kubernetes, Slurm: choose a machine type, node pool or partition with GPUs.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://github.com/google/deepvariant/issues/1076
    """
    if (tensorflow is not None and tensorflow.rocm_build) or xids(log, 79) or (log and lost_lines(log)):
        return None
    if platform.system == "darwin":
        return _on_a_mac(platform, distributions, interpreter)
    if platform.wsl:
        return _under_wsl(platform, wsl, container, library)
    if machine is not None:
        return None
    if pci is None or pci.nvidia_gpus:
        raise NotApplicable(_("nothing says that there is no GPU"))
    message = _("There is no NVIDIA GPU on this machine.")
    if tensorflow is not None:
        message = _("There is no NVIDIA GPU on this machine, so TensorFlow runs on the CPU.")
    if pci.amd_gpus:
        message = _("The only GPU here is AMD's {name}, and TensorFlow's CUDA builds need one of NVIDIA's.").format(
            name=pci.amd_gpus[0].name or pci.amd_gpus[0].device
        )
    return Diagnosis(
        message,
        (Evidence(_("no NVIDIA display or compute controller"), pci.source),),
        _smaller(tensorflow, interpreter),
    )


def _on_a_mac(platform: Platform, distributions: Optional[Distributions], interpreter: Optional[Interpreter]) -> Found:
    if distributions is not None and distributions.version("tensorflow-metal"):
        raise NotApplicable(_("tensorflow-metal uses Apple's GPU"))
    message = _(
        "macOS has no NVIDIA driver, so TensorFlow runs on the CPU here unless Apple's tensorflow-metal is installed."
    )
    return Diagnosis(
        message, (Evidence(_("macOS"), platform.source),), (remedies.install(interpreter, "tensorflow-metal"),)
    )


def _under_wsl(
    platform: Platform, wsl: Optional[Wsl], container: Optional[Container], library: Optional[DriverLibrary]
) -> Found:
    """What Windows offers. WSL1 and old kernels have their own diagnosis (TFD205), and so has a container that was not given the GPU (TFD222)."""
    numbers = tuple(int(n) for n in re.findall(r"[0-9]+", platform.kernel)[:3])
    if platform.wsl == 1 or wsl is None or contained(container) or numbers < FIRST_KERNEL:
        raise NotApplicable(_("whether Windows has a GPU cannot be seen from here"))
    if not wsl.dxg:
        message = _("Windows offers no GPU to WSL2 (/dev/dxg does not exist), so TensorFlow runs on the CPU.")
        return Diagnosis(message, (Evidence(_("no /dev/dxg"), wsl.source),), (remedies.install_driver(platform),))
    if wsl.libcuda or wsl.linux_libcuda or (library is not None and library.picked is not None):
        return None
    # /dev/dxg is there for GPUs of every vendor.
    message = _(
        "Windows gives WSL2 a GPU but no libcuda.so.1: it is not one of NVIDIA's, or Windows lacks NVIDIA's driver."
    )
    return Diagnosis(
        message, (Evidence(_("no libcuda.so.1 in /usr/lib/wsl/lib"), wsl.source),), (remedies.install_driver(platform),)
    )


def _smaller(tensorflow: Optional[TensorFlow], interpreter: Optional[Interpreter]) -> tuple[Fix, ...]:
    """Nothing has to be done; somebody who has the large package may want the small one."""
    if tensorflow is None or not tensorflow.cuda_build or tensorflow.distribution != "tensorflow":
        return ()
    fix = Fix(
        _("Keep using the CPU; tensorflow-cpu is the smaller package for it"),
        (
            remedies.pip(interpreter, "uninstall", "-y", "tensorflow"),
            remedies.pip(interpreter, "install", "tensorflow-cpu"),
        ),
        note=_("Only if no GPU will ever be used from this environment."),
        optional=True,
    )
    return (fix,)
