"""Fixes that the rules of this folder share."""

from __future__ import annotations

import re
from typing import Optional

from packaging.version import InvalidVersion, Version

from tfdoctor import remedies
from tfdoctor.i18n import _
from tfdoctor.model import Fix
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import pair
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfDefect

#: Ids in compat/tf_defects.json of releases whose and-cuda extra installs, and yet is not used.
_NOT_FOUND = ("runpath-lacks-cusolver", "runpath-lacks-libraries", "and-cuda-uninstallable")
#: The newest cuDNN that runs below compute capability 7.5 (compat/cudnn.json, rows for CUDA 12).
OLD_GPU_CUDNN = "nvidia-cudnn-cu12<9.11"


def path_defect(tensorflow: TensorFlow, tables: Tables) -> Optional[TfDefect]:
    """The row for a release whose extra cannot be installed or is not found once it is."""
    return next((row for row in tables.defects(tensorflow.version) if row.id in _NOT_FOUND), None)


def with_extra(tensorflow: TensorFlow, tables: Tables) -> str:
    """`tensorflow[and-cuda]==2.20.0`: the same release, or the nearest one whose extra works."""
    if tensorflow.distribution == "tf-nightly":
        return "tf-nightly[and-cuda]"
    defect = path_defect(tensorflow, tables)
    named = re.match(r"tensorflow\[and-cuda\]==[0-9.]+", defect.instead) if defect else None
    if named:
        return named.group(0).rstrip(".")
    release = tables.release(tensorflow.version)
    extra = "[and-cuda]" if release is None or release.and_cuda is not None else ""  # none before 2.14
    return f"tensorflow{extra}=={public(tensorflow.version)}"


def public(version: str) -> str:
    """A version without its local part, which no package index has ("2.17.0+nv25.02")."""
    try:
        return Version(version).public
    except InvalidVersion:
        return version


def install_extra(
    interpreter: Optional[Interpreter], tensorflow: TensorFlow, tables: Tables, gpus: Optional[Gpus] = None
) -> Fix:
    """Install TensorFlow with its CUDA libraries, and hold cuDNN back for GPUs that newer ones dropped."""
    wanted = [with_extra(tensorflow, tables)]
    release = tables.release(re.sub(r".*==", "", wanted[0]))
    cudnn = (release.and_cuda or {}).get("nvidia-cudnn-cu12", "") if release else ""
    if gpus is not None and "==" not in cudnn and any(below(gpu.compute_capability, "7.5") for gpu in gpus):
        wanted.append(OLD_GPU_CUDNN)
    note = _("A newer driver is not needed for this, and neither is a CUDA toolkit on the system.")
    return remedies.install(interpreter, *wanted, note=note)


def search_path(folders: tuple[str, ...], environment: Optional[Environment]) -> Fix:
    """Put `folders` in front of what the loader searches (PATH on Windows) before Python starts."""
    name, separator = ("PATH", ";") if any("\\" in one for one in folders) else ("LD_LIBRARY_PATH", ":")
    before = environment.get(name) if environment else ""
    value = separator.join([*folders, *([before] if before else [])])
    note = _(
        "Set it before Python starts (in the environment's activation script): inside a running program it is too late."
    )
    title = (
        _("Put {folders} in front of {name}")
        if len(folders) == 1
        else _("Put these {count} folders in front of {name}")
    )
    title = title.format(folders=folders[0] if folders else "", count=len(folders), name=name)
    return remedies.variable(name, value, title=title, note=note)


def below(compute_capability: Optional[str], limit: str) -> bool:
    """Whether a compute capability is known and lower than `limit`; both as "8.6"."""
    return compute_capability is not None and pair(compute_capability) < pair(limit)
