"""TFD204 driver-too-old-for-ptx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Driver, Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import listed, older
from tfdoctor.tables import Tables, driver_branch_of
from tfdoctor.tables.cuda_rows import PtxIsa
from tfdoctor.tables.gpu_code import as_text
from tfdoctor.tables.tf_rows import TfRelease


# A warning and no obstacle: TensorFlow lists the GPU all the same, and that its kernels fail then was not seen on hardware.
@rule("TFD204", Severity.WARNING, caused_by=("TFD203",))
def driver_too_old_for_ptx(
    machine: GpuMachine,
    driver: Driver,
    gpus: Gpus,
    tensorflow: TensorFlow,
    platform: Optional[Platform],
    tables: Tables,
) -> Iterator[Diagnosis]:
    """The driver is too old to compile the PTX that this GPU needs from this TensorFlow.

    ## What it is
    A TensorFlow build holds machine code for some compute capabilities and PTX for newer ones. A GPU without machine code
    of its own has the driver compile the PTX at first use, and a driver compiles only PTX versions that it knows. Minor-version
    compatibility of CUDA does not cover this: the driver must be as new as the toolkit that made the PTX.

    ## How it shows
    - `CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain` (222)
    - the GPU is listed, and operations whose kernels exist only as PTX fail

    ## How to be sure
    The CUDA version that `nvidia-smi` shows (what the driver can do) is below the CUDA that TensorFlow was built with, and
    the GPU's compute capability is newer than every machine code in the build: Hopper and Blackwell with most releases.

    ## What to do
    - Linux: a driver branch that knows the CUDA of the build; for data-centre GPUs the cuda-compat package does too.
    - WSL2 and Windows: a newer driver on Windows.
    - Docker, Kubernetes, Slurm: the same on the host, or an image with a TensorFlow built for the GPU (NVIDIA's NGC images).

    ## References
    - https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes
    - https://github.com/NVIDIA/nvbandwidth/issues/61
    - https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
    """
    if not tensorflow.cuda_build:
        raise NotApplicable(_("this TensorFlow has no CUDA"))
    by_isa: dict[str, list[Gpu]] = {}
    for gpu in gpus:
        by_isa.setdefault(_compiled_at_first_use(tensorflow, tables, gpu.compute_capability or ""), []).append(gpu)
    for isa, concerned in sorted(by_isa.items()):
        row = tables.ptx_driver(isa) if isa else None
        if row is not None and not _compiles(driver, row):
            yield _diagnosis(tuple(concerned), len(gpus), row, driver, tensorflow, platform)


def _diagnosis(
    concerned: tuple[Gpu, ...],
    total: int,
    row: PtxIsa,
    driver: Driver,
    tensorflow: TensorFlow,
    platform: Optional[Platform],
) -> Diagnosis:
    message = _(
        "TensorFlow lists {gpu} but has kernels for it that the driver must compile from PTX {ptx}: that needs a driver for CUDA {need}, and driver {driver} is for CUDA {have}."
    ).format(
        gpu=_names(concerned, total), ptx=row.ptx_isa, need=row.cuda, driver=driver.version, have=driver.cuda or "?"
    )
    evidence = (
        Evidence(
            _("machine code and PTX in the build: {codes}").format(codes=" ".join(tensorflow.compute_capabilities)),
            tensorflow.source,
        ),
        Evidence(_("PTX {ptx} came with CUDA {cuda}").format(ptx=row.ptx_isa, cuda=row.cuda), row.source),
    )
    fix = remedies.install_driver(platform, str(row.driver_branch) if row.driver_branch else "")
    return Diagnosis(message, evidence, (fix,), gpus=tuple(g.index for g in concerned))


def _measured(tensorflow: TensorFlow, tables: Tables) -> Optional[TfRelease]:
    """The row of exactly this release, if the code in its libraries was read."""
    release = tables.release(tensorflow.version)
    return release if release is not None and release.version == tensorflow.version and release.gpu_code else None


def _compiled_at_first_use(tensorflow: TensorFlow, tables: Tables, compute_capability: str) -> str:
    """The PTX version that a GPU has to compile from this build; "" when it need not, or nobody knows."""
    if not compute_capability:
        return ""
    release = _measured(tensorflow, tables)
    if release is not None:
        return release.jit_isa(compute_capability) or ""
    return tensorflow.ptx_isa if needs_ptx(compute_capability, tensorflow.compute_capabilities) else ""


def needs_ptx(compute_capability: str, codes: tuple[str, ...]) -> bool:
    """No machine code in `codes` runs on this compute capability (same major, minor not higher), and some PTX does."""
    if not compute_capability or not codes:
        return False
    major, minor = _parts(compute_capability)
    machine = [_parts(as_text(c)) for c in codes if c.startswith("sm_")]
    ptx = [_parts(as_text(c)) for c in codes if c.startswith("compute_")]
    runs = any(m == major and n <= minor for m, n in machine)
    return not runs and any(p <= (major, minor) for p in ptx)


def _parts(text: str) -> tuple[int, int]:
    major, _dot, minor = text.partition(".")
    return int(major), int(minor or 0)


def _compiles(driver: Driver, row: PtxIsa) -> bool:
    """The driver knows this PTX, or nothing says that it does not."""
    if driver.cuda:
        return not older(driver.cuda, row.cuda)
    branch = driver_branch_of(driver.version)
    return branch is None or row.driver_branch is None or branch >= row.driver_branch


def _names(concerned: tuple[Gpu, ...], total: int) -> str:
    if len(concerned) == 1:
        return f"{concerned[0].label}"
    if len(concerned) == total:
        wording = _("all {total} GPUs ({name}, compute capability {cc})")
        return wording.format(total=total, name=concerned[0].name, cc=concerned[0].compute_capability)
    return _("GPUs {indices} ({name}, compute capability {cc})").format(
        indices=listed(g.index for g in concerned), name=concerned[0].name, cc=concerned[0].compute_capability
    )
