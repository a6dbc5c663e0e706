"""TFD307 cuda-major-mixed-libs."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._broken import broken, foreign
from tfdoctor.rules.libraries._fixes import search_path
from tfdoctor.rules.libraries._which import cuda_major, folder, same


@rule("TFD307", Severity.ERROR, blocks=True)
def cuda_major_mixed_libs(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    environment: Optional[Environment],
) -> Found:
    """The loader takes a CUDA library of another CUDA major version, which then lacks what it was built against.

    ## What it is
    Some CUDA libraries keep their file name across majors: `libcusolver.so.11` belongs to CUDA 11 and to CUDA 12,
    `libcurand.so.10` to all of 10 to 13. If the search path reaches a CUDA 11 folder first, TensorFlow for CUDA 12 gets the
    CUDA 11 file, which asks for `libcublas.so.11`, and that is not there.

    ## How it shows
    `Could not load dynamic library 'libcusolver.so.11'; dlerror: libnvJitLink.so.12: cannot open shared object file`: the
    name after `dlerror:` is another than the quoted one. The quoted file exists; one that it depends on does not.

    ## How to be sure
    `ldd` on the file that is taken shows the line `not found`, and the major in that name is not TensorFlow's.

    ## What to do
    - Linux, WSL2: order LD_LIBRARY_PATH so that it reaches only one CUDA major, the one of TensorFlow; with
      `tensorflow[and-cuda]` remove CUDA folders from it altogether.
    - conda: do not mix `cudatoolkit` of one major with pip packages of another.
    - Docker, Kubernetes: clear the base image's LD_LIBRARY_PATH. Slurm: `module purge`, then load one CUDA.
    - Windows: put the bin folder of the right CUDA first on PATH.

    ## References
    - https://github.com/NVIDIA/tensorflow/issues/110
    - https://man7.org/linux/man-pages/man8/ld.so.8.html
    """
    wanted = cuda_major(tensorflow.cuda)
    mixed = [item for item in broken(libraries) if foreign(item.lacks, wanted)]
    if not mixed:
        return None
    first = mixed[0]
    good = tuple(folder(copy.path) for item in mixed for copy in same(item.library) if not copy.missing)
    fix = (
        search_path(good, environment)
        if good
        else remedies.by_hand(_("Take {folder} off LD_LIBRARY_PATH").format(folder=folder(first.picked.path)))
    )
    return Diagnosis(
        _(
            "TensorFlow {version} (CUDA {cuda}) would load {path}, which is of another CUDA: it needs {lacks}, "
            "which the loader does not find."
        ).format(
            version=tensorflow.version, cuda=tensorflow.cuda, path=first.picked.path, lacks=", ".join(first.lacks)
        ),
        evidence=tuple(
            Evidence(
                _("{soname} found by {how}, lacks {lacks}").format(
                    soname=item.library.soname, how=item.library.how, lacks=", ".join(item.lacks)
                ),
                item.picked.path,
            )
            for item in mixed
        ),
        fixes=(fix,),
    )
