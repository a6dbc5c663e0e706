"""TFD523 rocm-wheel-arch-list-bug."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.rules._log import line


@rule("TFD523", Severity.ERROR)
def rocm_wheel_arch_list_bug(log: LogMatch, interpreter: Optional[Interpreter]) -> Found:
    """A comma is missing in this ROCm wheel's list of GPUs, so two supported kinds are refused.

    ## What it is
    In `tensorflow-rocm` 2.14.0.600 (ROCm 6.0) the names gfx1030 and gfx1100 have run together in the list that the build checks
    against. Radeon RX 6800/6900 (gfx1030) and RX 7900 (gfx1100) match nothing and are left out, although the wheel holds code
    for them.

    ## How it shows
    `Ignoring visible gpu device (device: 0, name: Radeon RX 7900 XTX, …) with AMDGPU version : gfx1100. The supported AMDGPU versions
    are gfx1030gfx1100, gfx900, gfx906, …`: note the missing comma.

    ## How to be sure
    The two names without a comma in that line.

    ## What to do
    - Linux: a newer `tensorflow-rocm`; AMD publishes wheels per ROCm release on its own server (from ROCm 6.1 on).
    - `HSA_OVERRIDE_GFX_VERSION` cannot help: no other name would match either, except that of another generation.
    - Docker, Kubernetes: a newer `rocm/tensorflow` image. Slurm: the site's newer ROCm module with its wheel.
    - Windows, WSL2, macOS: does not arise.

    ## References
    - https://github.com/ROCm/tensorflow-upstream/issues/2524
    """
    return Diagnosis(
        _("This tensorflow-rocm wheel has gfx1030 and gfx1100 run together in its list of GPUs and refuses both."),
        evidence=(line(log),),
        fixes=(
            remedies.by_hand(_("Install a newer tensorflow-rocm from AMD's server, for the ROCm that is installed")),
        ),
    )
