"""TFD316 cudnn-dependency-missing-zlib."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.platform import Platform
from tfdoctor.rules.libraries._which import folder


@rule("TFD316", Severity.ERROR)
def cudnn_dependency_missing_zlib(machine: GpuMachine, platform: Platform, libraries: Libraries) -> Found:
    """cuDNN is installed on this Windows machine, but the zlib DLL that it depends on is not.

    ## What it is
    cuDNN 8.3 and newer 8.x for Windows depends on `zlibwapi.dll`, which NVIDIA does not ship with it. The cuDNN DLL
    that TensorFlow opens is found; a part that cuDNN loads later (`cudnn_cnn_infer64_8.dll`) is not loadable, and the
    message names the part and not the file that lacks.

    ## How it shows
    - `Could not load library cudnn_cnn_infer64_8.dll. Error code 126. Please make sure cudnn_cnn_infer64_8.dll is in your
      library path!`, and the program ends at the first convolution
    - The GPU is listed before.

    ## How to be sure
    `where cudnn_cnn_infer64_8.dll` finds the file and `where zlibwapi.dll` finds none. Error code 126 means that a
    dependency is missing, not the named file.

    ## What to do
    - Windows: put the 64-bit `zlibwapi.dll` that NVIDIA's cuDNN guide names next to cuDNN's DLLs or into another folder
      on PATH, then open a new shell. Adding cuDNN's folder to PATH again changes nothing.
    - Or use cuDNN 8.1, which TensorFlow 2.5 to 2.10 were tested with and which does not need it.
    - WSL2, Linux, Docker, Kubernetes, Slurm, macOS: does not arise.

    ## References
    - https://github.com/Softcatala/whisper-ctranslate2/issues/41
    - https://docs.nvidia.com/deeplearning/cudnn/archives/cudnn-897/install-guide/index.html#install-zlib-windows
    """
    if platform.system != "windows":
        raise NotApplicable(_("this is not Windows"))
    entry = libraries.get("cudnn")
    picked = entry.picked if entry else None
    if picked is None or not any(name.lower() == "zlibwapi.dll" for name in picked.missing):
        return None
    return Diagnosis(
        _("cuDNN {version} in {folder} needs zlibwapi.dll, which is not on this machine's PATH.").format(
            version=picked.version, folder=folder(picked.path)
        ),
        evidence=(Evidence(_("lacks zlibwapi.dll"), picked.path),),
        fixes=(
            remedies.by_hand(
                _("Put the 64-bit zlibwapi.dll into {folder}").format(folder=folder(picked.path)), needs=("new shell",)
            ),
        ),
    )
