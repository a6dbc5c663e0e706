"""TFD410 windows-msvc-runtime-missing."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD410", Severity.ERROR)
def windows_msvc_runtime_missing(log: LogMatch) -> Found:
    """The Microsoft Visual C++ runtime that TensorFlow needs is missing or too old on this Windows.

    ## What it is
    TensorFlow for Windows is built with Visual C++ and needs its runtime DLLs, from 2.1 on `msvcp140_1.dll` too, which older
    redistributables lack. The message does not name the file. CUDA is not the missing module.

    ## How it shows
    `ImportError: DLL load failed: The specified module could not be found.` or `DLL load failed while importing
    _pywrap_tensorflow_internal`, then `Failed to load the native TensorFlow runtime.`

    ## How to be sure
    `where msvcp140_1.dll` finds nothing, or Apps & features shows a Visual C++ redistributable older than 2019. With
    `initialization routine failed` in the message the processor may lack AVX instead: see cpu-instruction-set-avx.

    ## What to do
    - Windows: install the latest x64 redistributable for Visual Studio 2015 to 2022 from Microsoft, then open a new shell.
      TensorFlow need not be installed again.
    - conda: `conda install vc14_runtime` (or `vs2015_runtime`) in the environment.
    - Windows containers: the redistributable in the image.
    - Linux, WSL2, macOS, Kubernetes, Slurm: does not arise.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/35749
    - https://learn.microsoft.com/en-us/cpp/windows/latest-supported-vc-redist
    """
    return Diagnosis(
        _(
            "A DLL that TensorFlow needs is not found; on Windows that is most often the Visual C++ runtime (msvcp140_1.dll)."
        ),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Install Microsoft's latest x64 Visual C++ redistributable"), needs=("new shell",)),),
    )
