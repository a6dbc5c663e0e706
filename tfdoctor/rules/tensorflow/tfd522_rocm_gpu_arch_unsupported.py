"""TFD522 rocm-gpu-arch-unsupported."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.tensorflow import TensorFlow


@rule("TFD522", Severity.ERROR)
def rocm_gpu_arch_unsupported(rocm: Rocm, tensorflow: TensorFlow) -> Found:
    """The AMD GPU is of a kind that this ROCm build of TensorFlow has no code for.

    ## What it is
    The ROCm build holds code for a list of targets (gfx906, gfx90a, gfx942 …) and ignores other GPUs. The list of the ROCm
    stack itself is longer than that of TensorFlow's libraries, so `rocm-smi` and `rocminfo` may well show the GPU.

    ## How it shows
    - `Ignoring visible gpu device with AMDGPU ISA gfx701. The minimum required AMDGPU ISA is gfx803.`
    - `Ignoring visible gpu device … with AMDGPU version : gfx1010. The supported AMDGPU versions are gfx1030, gfx900, …`

    ## How to be sure
    `rocminfo | grep gfx` against the list in that line, or in `tf.sysconfig.get_build_info()`.

    ## What to do
    - Linux: a supported GPU, see AMD's list. There is no software that makes an unsupported one work well.
    - A near relative (gfx1031 and gfx1030): `HSA_OVERRIDE_GFX_VERSION=10.3.0` makes ROCm treat it as the other. AMD does not support
      it, and results must be checked.
    - If the list shows two names run together (`gfx1030gfx1100`), see rocm-wheel-arch-list-bug.
    - Docker, Kubernetes, Slurm: the same; ask for a node with a supported GPU.
    - Windows, WSL2, macOS: there is no official ROCm build of TensorFlow for native Windows or macOS.

    ## References
    - https://github.com/ROCm/tensorflow-upstream/issues/225
    - https://rocm.docs.amd.com/projects/install-on-linux/en/latest/reference/system-requirements.html
    """
    listed = tuple(entry for entry in tensorflow.compute_capabilities if entry.startswith("gfx"))
    if not tensorflow.rocm_build or not listed:
        return None
    lost = [(name, target) for name, target in rocm.gpus if target and not any(target in entry for entry in listed)]
    if not lost:
        return None
    name, target = lost[0]
    return Diagnosis(
        _("{name} is {target}, and this TensorFlow {version} was built for {listed}.").format(
            name=name, target=target, version=tensorflow.version, listed=" ".join(listed)
        ),
        evidence=(
            Evidence(target, rocm.source),
            Evidence(_("built for {listed}").format(listed=" ".join(listed)), tensorflow.source),
        ),
        fixes=(remedies.by_hand(_("Use a GPU that this build supports")),),
    )
