"""TFD239 driver-library-hidden-by-stub."""

from __future__ import annotations

import posixpath
import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.rules._hints import returned, says_cuda, starts
from tfdoctor.tables import Tables

STUB_LIBRARY = 34  # CUDA_ERROR_STUB_LIBRARY


@rule("TFD239", Severity.ERROR, blocks=True, caused_by=("TFD201", "TFD222", "TFD238"))
def driver_library_hidden_by_stub(
    machine: GpuMachine,
    library: DriverLibrary,
    tables: Tables,
    cuda: Optional[CudaDriver],
    environment: Optional[Environment],
) -> Found:
    """The loader finds the CUDA toolkit's stub of libcuda.so.1 before the driver's own library.

    ## What it is
    The toolkit brings a `libcuda.so` without content in folders named `stubs`, so that programs can be linked on machines
    without a driver. It answers every call with an error. It must never be found when a program runs.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library` (error 34)
    - `tf.config.list_physical_devices('GPU')` is empty while nvidia-smi works

    ## How to be sure
    `echo $LD_LIBRARY_PATH` names a folder `stubs` before the driver's, or `ldconfig -p | grep libcuda.so.1` leads to one.

    ## What to do
    - Take the folder `stubs` out of `LD_LIBRARY_PATH`; for linking, `-L…/stubs` is enough.
    - If ld.so.cache leads there: remove the line below `/etc/ld.so.conf.d` and run `ldconfig`.
    - Docker: a line `ENV LD_LIBRARY_PATH` in the image's Dockerfile often sets it. Kubernetes, Slurm: the same, or a module.
    - WSL2: the driver's library is in `/usr/lib/wsl/lib`, which must come first. Windows: does not arise.

    ## References
    - https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
    """
    picked = library.picked
    stub = returned(cuda, STUB_LIBRARY)
    path = (_preloaded(environment) if stub else "") or (picked.path if picked is not None else "")
    copies = library.others if picked is None else (picked, *library.others)
    own = next((c for c in copies if c.path != path and c.origin not in ("stub", "compat") and not c.problem), None)
    if picked is None or starts(cuda) or not (stub or (picked.origin == "stub" and own is not None)):
        return None
    if own is not None:
        message = _(
            "libcuda.so.1 is the toolkit's stub {path}, which no program can use; the driver's own is {own}."
        ).format(path=path, own=own.path)
    else:
        message = _("libcuda.so.1 is a toolkit's stub, {path}, which no program can use.").format(path=path)
    evidence = [Evidence(_("libcuda.so.1 is {path} ({how})").format(path=picked.path, how=library.how), library.source)]
    if cuda is not None and stub:
        evidence.append(says_cuda(cuda, tables))
    return Diagnosis(message, tuple(evidence), (_without(path, environment),))


def _without(path: str, environment: Optional[Environment]) -> Fix:
    """Take the stub's folder away from where the loader was told of it."""
    folder = posixpath.dirname(path)
    if path == _preloaded(environment):
        rest = [entry for entry in _preloads(environment) if entry != path]
        return remedies.variable("LD_PRELOAD", ":".join(rest) or None)
    entries = (environment.get("LD_LIBRARY_PATH") if environment else "").split(":")
    kept = [entry for entry in entries if entry and posixpath.normpath(entry) != folder]
    if len(kept) < len([entry for entry in entries if entry]):
        return remedies.variable("LD_LIBRARY_PATH", ":".join(kept) or None)
    note = _("Remove the line {folder} from the file below /etc/ld.so.conf.d that holds it first.").format(
        folder=folder
    )
    return remedies.by_hand(_("Take the stub out of the loader's cache"), ("ldconfig",), note=note, needs=("root",))


def _preloads(environment: Optional[Environment]) -> list[str]:
    return [entry for entry in re.split(r"[ :]+", environment.get("LD_PRELOAD") if environment else "") if entry]


def _preloaded(environment: Optional[Environment]) -> str:
    """The libcuda that LD_PRELOAD puts before all that the loader would find, "" none."""
    named = (entry for entry in _preloads(environment) if "/" in entry)
    return next((entry for entry in named if posixpath.basename(entry).startswith("libcuda.so")), "")
