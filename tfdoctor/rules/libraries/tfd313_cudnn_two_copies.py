"""TFD313 cudnn-two-copies."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._cudnn import built_with, minor, too_old
from tfdoctor.rules.libraries._fixes import search_path
from tfdoctor.rules.libraries._which import folder, same
from tfdoctor.tables import Tables


@rule("TFD313", Severity.ERROR)
def cudnn_two_copies(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
) -> Found:
    """Two copies of cuDNN are on this machine, and the loader takes the one that is too old for this TensorFlow.

    ## What it is
    TensorFlow refuses a cuDNN with a lower minor version than the one it was built with. A good copy exists here, but an
    older one comes first: from a system package, a conda environment, a folder on LD_LIBRARY_PATH. A copy that another
    framework loaded into the process before TensorFlow does the same.

    ## How it shows
    - `Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0. CuDNN library needs to have matching major
      version and equal or higher minor version.`
    - The GPU is listed; the first convolution fails: `DNN library is not found`, `No DNN in stream executor`.

    ## How to be sure
    `find / -name 'libcudnn.so.*' 2>/dev/null` lists the copies; `grep cudnn /proc/PID/maps` of the running program
    shows the one in use.

    ## What to do
    - Linux, WSL2: take the old copy's folder off LD_LIBRARY_PATH, or put the good one's first.
    - A program with PyTorch and TensorFlow: import TensorFlow first, or give each its own environment.
    - conda: update `cudnn` in the environment that runs, not under `/usr/local`.
    - Docker, Kubernetes: remove the image's cuDNN package or its LD_LIBRARY_PATH. Slurm: do not load the site's cuDNN.
    - Windows: the folder of the good DLL first on PATH. macOS: there is no cuDNN.

    ## References
    - https://github.com/Kaggle/docker-python/pull/363
    - https://docs.nvidia.com/deeplearning/cudnn/latest/
    """
    entry = libraries.get("cudnn")
    needed = built_with(tensorflow, tables)
    if entry is None or entry.picked is None or not too_old(entry.picked.version, needed):
        return None
    good = [copy for copy in same(entry) if minor(copy.version) and not too_old(copy.version, needed)]
    usable = [copy for copy in good if copy.origin not in ("torch", "jax", "stub")]
    if not usable:
        return None
    return Diagnosis(
        _(
            "TensorFlow {version} was built with cuDNN {needed}; the loader takes {have} in {path}, although {better} lies in "
            "{folder}."
        ).format(
            version=tensorflow.version,
            needed=needed,
            have=entry.picked.version,
            path=entry.picked.path,
            better=usable[0].version,
            folder=folder(usable[0].path),
        ),
        evidence=(
            Evidence(
                _("cuDNN {version}, found by {how}").format(version=entry.picked.version, how=entry.how),
                entry.picked.path,
            ),
            *(Evidence(_("cuDNN {version}").format(version=copy.version), copy.path) for copy in usable),
        ),
        fixes=(search_path((folder(usable[0].path),), environment),),
    )
