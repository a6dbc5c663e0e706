"""TFD306 cuda-minor-mismatch-soname."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.libraries._which import Situation
from tfdoctor.tables import Tables


@rule("TFD306", Severity.ERROR, blocks=True)
def cuda_minor_mismatch_soname(
    machine: GpuMachine,
    tensorflow: TensorFlow,
    libraries: Libraries,
    tables: Tables,
    interpreter: Optional[Interpreter],
) -> Found:
    """The CUDA toolkit has the right major version, but one of its libraries has another file name in this minor version.

    ## What it is
    Within one CUDA major the libraries keep their names, with one exception that matters: cuSOLVER is `libcusolver.so.10`
    in CUDA 11.0 and `libcusolver.so.11` from 11.1 on. TensorFlow 2.4 was built with CUDA 11.0 and asks for the former;
    everything else of CUDA 11.1 or 11.2 loads, and TensorFlow still uses no GPU.

    ## How it shows
    - `Successfully opened dynamic library libcudart.so.11.0` and so on, then
      `Could not load dynamic library 'libcusolver.so.10'; dlerror: libcusolver.so.10: cannot open shared object file`
    - `Cannot dlopen some GPU libraries … Skipping registering GPU devices...`

    ## How to be sure
    `ls /usr/local/cuda*/lib64/libcusolver.so.*` shows `.so.11` only, and only cuSOLVER is named as missing.

    ## What to do
    - Linux, WSL2: TensorFlow 2.5 or newer, built for CUDA 11.2. It works with the toolkit that is there.
    - To stay with 2.4: install CUDA 11.0 beside it and put its `lib64` first on LD_LIBRARY_PATH.
    - Work-around that users report to work: a link `libcusolver.so.10` to `libcusolver.so.11` in a folder of your own
      on LD_LIBRARY_PATH; the interface changed between them, so test it.
    - Docker, Kubernetes: a base image with CUDA 11.0. Slurm: the CUDA 11.0 module. Windows: same versions.

    ## References
    - https://github.com/Visual-Behavior/detr-tensorflow/issues/8
    - https://www.tensorflow.org/install/source#gpu
    """
    fault = Situation(tensorflow, libraries, tables).fault("cuda-minor-mismatch-soname")
    if fault is None:
        return None
    have = ", ".join(dict.fromkeys(copy.soname for copy in fault.copies))
    fixes = [remedies.by_hand(_("Install CUDA {cuda} beside the toolkit that is there").format(cuda=tensorflow.cuda))]
    if tensorflow.version.startswith("2.4."):
        fixes.insert(
            0, remedies.install(interpreter, "tensorflow>=2.5,<2.12", title=_("Install a TensorFlow for CUDA 11.2"))
        )
    return Diagnosis(
        _(
            "TensorFlow {version} asks for {names} as CUDA {cuda} has it, and the toolkit in {folders} has {have}."
        ).format(
            version=tensorflow.version,
            names=fault.names,
            cuda=tensorflow.cuda,
            folders=", ".join(fault.folders),
            have=have,
        ),
        evidence=fault.evidence,
        fixes=tuple(fixes),
    )
