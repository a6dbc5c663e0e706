"""TFD327 cuda-library-missing."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.libraries import Libraries, Library
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._broken import Broken, broken
from tfdoctor.rules.libraries._fixes import install_extra
from tfdoctor.rules.libraries._which import Situation, other, same
from tfdoctor.tables import Tables

SPECIFIC = (
    "TFD301",
    "TFD302",
    "TFD303",
    "TFD304",
    "TFD305",
    "TFD306",
    "TFD307",
    "TFD308",
    "TFD309",
    "TFD310",
    "TFD311",
    "TFD312",
    "TFD318",
)


@rule("TFD327", Severity.ERROR, caused_by=SPECIFIC, blocks=True)
def cuda_library_missing(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Found:
    """A CUDA library that TensorFlow must have is not found, or cannot be loaded.

    ## What it is
    When TensorFlow starts it opens the CUDA runtime, cuBLAS, cuFFT, cuSOLVER, cuSPARSE and cuDNN by file name. If one is
    missing, or lacks something that it depends on itself, TensorFlow registers no GPU at all. This diagnosis says which. It is
    often the consequence of another, more telling one (the extra not installed, a search path, another CUDA version), and
    is then shown below that one.

    ## How it shows
    - `Could not load dynamic library '…'; dlerror: …` (up to 2.15 or so), `Cannot dlopen some GPU libraries.` (all)
    - `Skipping registering GPU devices...`; `list_physical_devices('GPU')` is `[]`

    ## How to be sure
    `TF_CPP_MAX_VLOG_LEVEL=3` names each library that is tried. tfdoctor computes the same from the RUNPATH of the object that
    opens it, LD_LIBRARY_PATH, the loader's cache and the default folders.

    ## What to do
    - Linux, WSL2: `python -m pip install 'tensorflow[and-cuda]==VERSION'` (2.14 and newer) brings every one of them.
    - System or conda CUDA: install the package of the missing library, in the version of the table of tested builds.
    - Docker, Kubernetes: in the image. Slurm: load the module that holds it (cuDNN is often one of its own).
    - Windows: toolkit and cuDNN `bin` folders on PATH. macOS: there is no CUDA.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://www.tensorflow.org/install/source#gpu
    """
    lost, torn = libraries.missing, broken(libraries)
    if not lost and not torn:
        return None
    names = ", ".join([entry.soname for entry in lost] + [item.library.soname for item in torn])
    return Diagnosis(
        _("TensorFlow {version} cannot load {names}, so it uses no GPU.").format(
            version=tensorflow.version, names=names
        ),
        evidence=tuple([_absence(entry, libraries) for entry in lost] + [_damage(item) for item in torn]),
        fixes=(_fix(tensorflow, libraries, tables, distributions, interpreter, gpus),),
    )


def _absence(entry: Library, libraries: Libraries) -> Evidence:
    usable, foreign = same(entry), other(entry)
    if usable:
        return Evidence(
            _("{soname}: a copy lies in {path}, where {caller} does not search").format(
                soname=entry.soname, path=usable[0].path, caller=entry.caller
            ),
            libraries.source,
        )
    if foreign:
        return Evidence(
            _("{soname}: no copy, only {other} in {path}").format(
                soname=entry.soname, other=foreign[0].soname, path=foreign[0].path
            ),
            libraries.source,
        )
    return Evidence(_("{soname}: no copy seen").format(soname=entry.soname), libraries.source)


def _damage(item: Broken) -> Evidence:
    if item.picked.problem:
        return Evidence(
            _("{soname} cannot be loaded: {problem}").format(soname=item.library.soname, problem=item.picked.problem),
            item.picked.path,
        )
    return Evidence(
        _("{soname} needs {lacks}, which is not found").format(soname=item.library.soname, lacks=", ".join(item.lacks)),
        item.picked.path,
    )


def _fix(
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
    gpus: Optional[Gpus],
) -> Fix:
    situation = Situation(tensorflow, libraries, tables, distributions=distributions)
    conda = situation.fault("cuda-library-missing") is not None and situation.from_conda
    if situation.has_extra and not conda:
        return install_extra(interpreter, tensorflow, tables, gpus)
    title = _("Install CUDA {cuda} and cuDNN {cudnn} with the package manager that TensorFlow came from")
    if any(entry.soname.lower().endswith(".dll") for entry in libraries.libraries):
        title = _("Install CUDA {cuda} and cuDNN {cudnn} from NVIDIA, with their bin folders on PATH; then a new shell")
    return remedies.by_hand(title.format(cuda=tensorflow.cuda or "?", cudnn=tensorflow.cudnn or "?"))
