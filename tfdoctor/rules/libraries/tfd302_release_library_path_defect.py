"""TFD302 release-library-path-defect."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.probes.toolkits import Toolkits
from tfdoctor.rules.libraries._fixes import path_defect, search_path, with_extra
from tfdoctor.rules.libraries._which import Situation, searched, toolkit_majors
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfDefect


@rule("TFD302", Severity.ERROR, blocks=True)
def release_library_path_defect(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    tables: Tables,
    libraries: Optional[Libraries],
    distributions: Optional[Distributions],
    environment: Optional[Environment],
    toolkits: Optional[Toolkits],
    interpreter: Optional[Interpreter],
) -> Found:
    """This TensorFlow release does not look into the folders of its own CUDA packages.

    ## What it is
    The NVIDIA wheels that the extra `and-cuda` installs lie in `site-packages/nvidia/*/lib`. TensorFlow finds them
    through the RUNPATH of the library that opens them, `libtensorflow_framework.so.2`. In 2.16.1 that RUNPATH names only
    `nvidia/cuda_runtime`; in 2.21.0 it lacks `nvidia/cusolver`. One needed library that is not found is enough for
    TensorFlow to use no GPU. The installation itself is complete: nothing is missing, the release has a fault.

    ## How it shows
    - `Cannot dlopen some GPU libraries. … Skipping registering GPU devices...`, often without naming a library
    - `list_physical_devices('GPU')` is `[]` right after a clean `pip install 'tensorflow[and-cuda]'`

    ## How to be sure
    `TF_CPP_MAX_VLOG_LEVEL=3 python -c "import tensorflow as tf; tf.config.list_physical_devices('GPU')"` names the
    library; `readelf -d …/tensorflow/libtensorflow_framework.so.2` shows a RUNPATH without its folder.

    ## What to do
    - Linux, WSL2, Docker: another patch release: 2.16.2 in place of 2.16.1, 2.20.0 in place of 2.21.0.
    - Or put the wheels' `lib` folders on LD_LIBRARY_PATH before Python starts, in the environment's own activation
      script, not in the shell's profile where every program would get them.
    - Kubernetes, Slurm: set LD_LIBRARY_PATH in the pod or job, after modules were loaded.
    - Do not install a system CUDA for this, and leave the driver alone. Windows, macOS: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/63362
    - https://github.com/tensorflow/tensorflow/issues/65035
    """
    defect = path_defect(tensorflow, tables)
    if libraries is None:
        return _from_packages(tensorflow, tables, defect, distributions, environment, toolkits, interpreter)
    situation = Situation(tensorflow, libraries, tables, toolkits=toolkits, distributions=distributions)
    fault = situation.fault("release-library-path-defect")
    if fault is None:
        return None
    caller = fault.libraries[0].caller
    fixes = [search_path(fault.folders, environment)]
    if defect is not None:
        fixes.insert(0, remedies.install(interpreter, with_extra(tensorflow, tables)))
    return Diagnosis(
        _(
            "TensorFlow {version} does not look where its CUDA packages are: the RUNPATH of {caller} lacks {folders}, so it "
            "does not find {names} although their packages are installed."
        ).format(version=tensorflow.version, caller=caller, folders=fault.places, names=fault.names),
        evidence=fault.evidence + _row(defect),
        fixes=tuple(fixes),
    )


def _row(defect: Optional[TfDefect]) -> tuple[Evidence, ...]:
    return () if defect is None else (Evidence(f"{defect.what}: {defect.effect}", defect.source),)


def _from_packages(
    tensorflow: TensorFlow,
    tables: Tables,
    defect: Optional[TfDefect],
    distributions: Optional[Distributions],
    environment: Optional[Environment],
    toolkits: Optional[Toolkits],
    interpreter: Optional[Interpreter],
) -> Found:
    """Only the packages are known: the defect's row decides, unless another CUDA 12 could step in."""
    if defect is None or not defect.id.startswith("runpath-lacks") or distributions is None:
        return None
    lost = _lost_wheels(tensorflow, tables, distributions)
    path = environment.get("LD_LIBRARY_PATH") if environment else ""
    if not lost or "nvidia/" in path:
        return None
    # A toolkit of the same major on the loader's path would supply what the wheels do not.
    sure = environment is not None and not path and toolkits is not None and 12 not in toolkit_majors(toolkits)
    return Diagnosis(
        _("TensorFlow {version} does not look into the folders of {names}: {what}.").format(
            version=tensorflow.version, names=", ".join(lost), what=defect.what
        ),
        evidence=(
            *_row(defect),
            Evidence(_("installed: {names}").format(names=", ".join(lost)), distributions.source),
        ),
        fixes=(remedies.install(interpreter, with_extra(tensorflow, tables)),),
        severity=None if sure else Severity.WARNING,
    )


def _lost_wheels(tensorflow: TensorFlow, tables: Tables, distributions: Distributions) -> tuple[str, ...]:
    """The installed NVIDIA wheels of needed libraries whose folder is not on the release's RUNPATH."""
    release = tables.release(tensorflow.version)
    listed = searched(release) if release else frozenset()
    if release is None or not listed:
        return ()
    needed = ("cuda-runtime", "cublas", "cufft", "cusolver", "cusparse", "cudnn")
    names = [name for name in (release.and_cuda or {}) if re.sub(r"^nvidia-|-cu\d+$", "", name) in needed]
    return tuple(name for name in names if name in distributions.by_name and _folder(name) not in listed)


def _folder(wheel: str) -> str:
    """`nvidia/cuda_runtime/lib` of "nvidia-cuda-runtime-cu12"."""
    return f"nvidia/{re.sub(r'^nvidia-|-cu[0-9]+$', '', wheel).replace('-', '_')}/lib"
