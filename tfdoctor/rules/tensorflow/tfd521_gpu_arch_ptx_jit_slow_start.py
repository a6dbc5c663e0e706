"""TFD521 gpu-arch-ptx-jit-slow-start."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit
from tfdoctor.rules.tensorflow._unlisted import capabilities, named, of_kind, only, unknown_to_toolkit
from tfdoctor.tables import Tables

#: 4 GiB, the most that the driver accepts. https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
LARGEST_CACHE = "4294967296"


@rule("TFD521", Severity.INFO)
def gpu_arch_ptx_jit_slow_start(
    machine: GpuMachine, tensorflow: TensorFlow, gpus: Gpus, tables: Tables, environment: Optional[Environment]
) -> Found:
    """This build has no machine code for the GPU's generation, so the driver compiles its PTX at the first start.

    ## What it is
    The wheel holds machine code for older generations and PTX for newer ones. On a GPU that came out later the driver
    compiles each kernel when it is first used and keeps the result in a cache (`~/.nv/ComputeCache`). The first start
    takes minutes, up to half an hour; later ones are normal, as long as the cache is kept and large enough. The driver
    must know the PTX version of the build.

    ## How it shows
    - `TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled
      from PTX, which could take 30 minutes or longer.`
    - A long pause after `Adding visible gpu devices`, at full load on one CPU core

    ## How to be sure
    No entry of `cuda_compute_capabilities` in `tf.sysconfig.get_build_info()` has the GPU's major version; the second start is
    fast; `~/.nv/ComputeCache` grows during the first.

    ## What to do
    - All systems: wait once. Raise the cache with `CUDA_CACHE_MAXSIZE=4294967296`, and do not set `CUDA_CACHE_DISABLE=1`.
    - A build with code for this GPU: a newer TensorFlow, or NVIDIA's image.
    - Docker, Kubernetes: keep the cache on a volume (`CUDA_CACHE_PATH`), or every container compiles again.
    - Slurm: a home folder on a slow network or without space loses the cache; point `CUDA_CACHE_PATH` elsewhere.
    - macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/62320
    - https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
    """
    listed = capabilities(tensorflow, gpus, tables)
    late = of_kind(Fit.PTX, gpus, listed) if tensorflow.cuda_build is not False else ()
    beyond = unknown_to_toolkit(tensorflow, gpus, tables) if late else ()
    hit = tuple(gpu for gpu in late if gpu not in beyond)  # of those gpu-arch-newer-than-build says more
    if not hit:
        return None
    disabled = environment is not None and environment.get("CUDA_CACHE_DISABLE") == "1"
    again = _(" The cache is switched off (CUDA_CACHE_DISABLE=1), so every start is slow.") if disabled else ""
    fix = (
        remedies.variable("CUDA_CACHE_DISABLE", None)
        if disabled
        else remedies.variable(
            "CUDA_CACHE_MAXSIZE", LARGEST_CACHE, note=_("Then the compiled kernels all fit into the cache.")
        )
    )
    return Diagnosis(
        _(
            "TensorFlow {version} has no machine code for {gpus}: the driver compiles its PTX at the first start, which takes "
            "minutes."
        ).format(version=tensorflow.version, gpus=named(hit))
        + again,
        evidence=(
            Evidence(_("built for {listed}").format(listed=" ".join(listed)), tensorflow.source),
            Evidence(_("compute capability {capability}").format(capability=hit[0].compute_capability), gpus.source),
        ),
        fixes=(fix,),
        severity=Severity.WARNING if disabled else None,
        gpus=only(hit, gpus),
    )
