"""TFD203 driver-too-old."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvml import Driver
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import older
from tfdoctor.tables import DriverFloor, Tables, has_wheel
from tfdoctor.tables.tf_rows import TfRelease


@rule("TFD203", Severity.ERROR, blocks=True)
def driver_too_old(
    machine: GpuMachine,
    driver: Driver,
    tensorflow: TensorFlow,
    platform: Platform,
    library: Optional[DriverLibrary],
    interpreter: Optional[Interpreter],
    tables: Tables,
) -> Found:
    """The NVIDIA driver is older than the oldest one that the CUDA of this TensorFlow runs on.

    ## What it is
    Every CUDA toolkit needs a driver of a certain age. From CUDA 11 on one driver serves a whole major family
    (minor-version compatibility): 450.80.02 for CUDA 11.x, 525.60.13 for 12.x, 580 for 13.x on Linux. A driver that is
    newer than the CUDA of TensorFlow is always right: there is no "too new".

    ## How it shows
    - `CUDA driver version is insufficient for CUDA runtime version` (cudaErrorInsufficientDriver, 35)
    - `Cannot dlopen some GPU libraries` does not belong here: that is about libraries, not about the driver
    - nvidia-smi shows a CUDA version below TensorFlow's major version; that number is what the driver can do, not what is
      installed

    ## How to be sure
    Compare the driver version of `nvidia-smi` with the floor of TensorFlow's CUDA:
    `python -c "import tensorflow as tf; print(tf.sysconfig.get_build_info()['cuda_version'])"`.

    ## What to do
    - Linux: install a newer driver from the distribution or from NVIDIA's repository, then reboot.
    - WSL2 and Windows: install the newer driver on Windows.
    - Docker, Kubernetes: update the driver of the host. Data-centre GPUs may instead use NVIDIA's cuda-compat package.
    - Slurm and other shared machines: ask for the update, or use a TensorFlow release built for an older CUDA.
    - Old cards: the newest driver branch for Kepler is 470 and for Maxwell, Pascal and Volta 580; TensorFlow releases that need more do
      not run there.

    ## References
    - https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
    - https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
    """
    if not tensorflow.cuda_build or not tensorflow.cuda:
        raise NotApplicable(_("this TensorFlow names no CUDA that it was built with"))
    system = "wsl2" if platform.wsl else platform.system
    floor = tables.driver_floor(tensorflow.cuda, system)
    if floor is None or not older(driver.version, floor.minimum) or _helped_by_compat(library, floor):
        return None
    message = _(
        "The NVIDIA driver is {have}, but TensorFlow {tensorflow} with CUDA {cuda} needs {need} or newer."
    ).format(have=driver.version, tensorflow=tensorflow.version, cuda=tensorflow.cuda, need=floor.minimum)
    evidence = (
        Evidence(_("driver {version}").format(version=driver.version), driver.source),
        Evidence(_("built with CUDA {cuda}").format(cuda=tensorflow.cuda), tensorflow.source),
        Evidence(_("CUDA {cuda} needs driver {need}").format(cuda=floor.cuda, need=floor.minimum), floor.source),
    )
    fixes = [remedies.install_driver(platform, floor.minimum)]
    fitting = _release_that_fits(tables, driver.version, system, interpreter.version if interpreter else "")
    if fitting is not None:
        fixes.append(_another_release(tables, fitting, driver.version, interpreter))
    return Diagnosis(message, evidence, tuple(fixes), None if floor.solid else Severity.WARNING)


def _helped_by_compat(library: Optional[DriverLibrary], floor: DriverFloor) -> bool:
    """NVIDIA's cuda-compat package puts a newer libcuda over an older kernel driver. Whether it may is TFD223 and TFD224."""
    picked = library.picked if library else None
    return picked is not None and picked.origin == "compat" and not older(picked.version or "0", floor.minimum)


def _release_that_fits(tables: Tables, driver: str, system: str, python: str) -> Optional[TfRelease]:
    """The newest TensorFlow whose GPU build runs on this driver and has wheels for `python` ("": any)."""
    for row in tables.releases():
        floor = tables.driver_floor(row.cuda, system) if row.cuda else None
        wheel = not python or has_wheel(row.pythons, python)
        if wheel and floor is not None and not older(driver, floor.minimum):
            return row
    return None


def _another_release(tables: Tables, release: TfRelease, driver: str, interpreter: Optional[Interpreter]) -> Fix:
    """A command where pip brings the CUDA libraries too; else what is to be there first."""
    if tables.extra_installs(release, interpreter.version if interpreter else ""):
        note = _("The newest release that the present driver runs.")
        return remedies.install(interpreter, f"tensorflow=={release.version}", note=note)
    title = _("Or TensorFlow {version}, the newest that driver {have} runs, beside CUDA {cuda} and cuDNN {cudnn}")
    title = title.format(version=release.version, have=driver, cuda=release.cuda, cudnn=release.cudnn)
    note = _("pip does not bring these libraries for it. `tfdoctor compat` lists what goes with what.")
    return remedies.by_hand(title, ("tfdoctor", "compat", "--driver", driver), note=note)
