"""TFD318 windows-dll-search-path."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD318", Severity.ERROR, blocks=True)
def windows_dll_search_path(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    environment: Optional[Environment],
) -> Found:
    """The CUDA DLL exists and its folder is on PATH, but this Python does not search PATH for DLLs.

    ## What it is
    From Python 3.8 on, Windows' Python loads the dependencies of extension modules only from a few safe folders and from
    those given to `os.add_dll_directory`. Python from the Microsoft Store is stricter still. A shell or IDE that was open
    before CUDA was installed has the old PATH as well.

    ## How it shows
    `Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found`, while `where cudart64_110.dll`
    finds it in the same shell.

    ## How to be sure
    In Python: `import os, ctypes; os.add_dll_directory(r"C:\\…\\bin"); ctypes.WinDLL("cudart64_110.dll")` works, and
    without the first call it does not.

    ## What to do
    - Windows: open a new shell (or restart the IDE) first. Then call `os.add_dll_directory` with CUDA's and cuDNN's `bin`
      folders before `import tensorflow`.
    - Use Python from python.org or conda in place of the Store's.
    - Better for anything new: WSL2 with `tensorflow[and-cuda]`.
    - Linux, macOS, Docker, Kubernetes, Slurm: does not arise.

    ## References
    - https://docs.python.org/3/library/os.html#os.add_dll_directory
    - https://docs.python.org/3/whatsnew/3.8.html#bpo-36085-whatsnew
    """
    fault = Situation(tensorflow, libraries, tables, environment=environment).fault("windows-dll-search-path")
    if fault is None:
        return None
    folders = ", ".join(fault.folders)
    return Diagnosis(
        _("{names} lies in {folders}, which is on PATH, and Python does not load it from there.").format(
            names=fault.names, folders=folders
        ),
        evidence=fault.evidence,
        fixes=(
            remedies.by_hand(_("Open a new shell, or restart the IDE"), needs=("new shell",)),
            remedies.by_hand(
                _("Call os.add_dll_directory for {folders} before importing TensorFlow").format(folders=folders)
            ),
        ),
    )
