"""TFD231 vgpu-license-missing."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus
from tfdoctor.rules._hints import listed


@rule("TFD231", Severity.WARNING)
def vgpu_license_missing(machine: GpuMachine, gpus: Gpus) -> Found:
    """This virtual GPU has no licence, and unlicensed ones are slowed down and finally refuse CUDA.

    ## What it is
    A vGPU is a slice of a card that a hypervisor gives to a virtual machine. The guest's driver fetches a licence from the
    site's server. Without one it works for a while, then more and more slowly, and in the end starts no CUDA program.

    ## How it shows
    - `CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable` on an idle GPU
    - the GPU's name is `GRID …` or ends in a profile such as `-8C` or `-4Q`
    - work becomes slow some time after the machine has started

    ## How to be sure
    `nvidia-smi -q | grep -A2 'vGPU Software'` shows `License Status : Unlicensed`. Cards without vGPU show N/A, and that is fine.

    ## What to do
    - Linux guest: put the site's client token below `/etc/nvidia/ClientConfigToken`, set `FeatureType` in
      `/etc/nvidia/gridd.conf`, `systemctl restart nvidia-gridd`; look at its journal.
    - Windows guest: the same token and the registry values that NVIDIA's licensing guide names.
    - The licence server must be reachable, and the clock right. Cloud: ask the provider.

    ## References
    - https://docs.nvidia.com/vgpu/latest/grid-licensing-user-guide/index.html
    - https://github.com/DDMAL/Rodan/issues/1332
    """
    bare = tuple(g for g in gpus if g.license.lower().startswith("unlicensed") and _is_guest(g.virtualization))
    if not bare:
        return None
    message = _('The virtual GPU {gpus} ({name}) has no licence: "{license}".').format(
        gpus=listed(g.index for g in bare), name=bare[0].name, license=bare[0].license
    )
    fix = remedies.by_hand(
        _("Give the licence client its token, then start it again"),
        ("systemctl", "restart", "nvidia-gridd"),
        note=_("The token comes from the site's licence server and belongs below /etc/nvidia/ClientConfigToken."),
        needs=("root",),
    )
    return Diagnosis(
        message,
        (Evidence(_("licence status {status}").format(status=bare[0].license), gpus.source),),
        (fix,),
        gpus=tuple(g.index for g in bare),
    )


def _is_guest(virtualization: str) -> bool:
    """A vGPU seen from its guest; "host vgpu" is the hypervisor's side and "pass-through" a whole card."""
    mode = virtualization.lower().replace("_", "-").replace(" ", "-")
    return "vgpu" in mode and "host" not in mode
