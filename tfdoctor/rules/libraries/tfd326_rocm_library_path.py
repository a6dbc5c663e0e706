"""TFD326 rocm-library-path."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.tensorflow import TensorFlow


@rule("TFD326", Severity.ERROR, caused_by=("TFD325",))
def rocm_library_path(rocm: Rocm, tensorflow: TensorFlow) -> Found:
    """ROCm is installed, but the loader does not find its libraries.

    ## What it is
    ROCm lies below `/opt/rocm*`, which the loader searches only when a file in `/etc/ld.so.conf.d` or LD_LIBRARY_PATH
    names it. Packages usually register it; archives, several versions side by side and containers often do not.

    ## How it shows
    - `libhip_hcc.so: cannot open shared object file`, `Could not load dynamic library 'libamdhip64.so.6'`
    - `list_physical_devices('GPU')` is `[]` although `rocm-smi` lists the GPU

    ## How to be sure
    `ls /opt/rocm*/lib/libamdhip64.so*` shows the file and `ldconfig -p | grep amdhip` does not.

    ## What to do
    - Linux: `LD_LIBRARY_PATH=/opt/rocm/lib` before Python starts, or (root) that folder in a file below `/etc/ld.so.conf.d/`
      and `ldconfig`.
    - Docker, Kubernetes: the `rocm/tensorflow` images have it set; in your own image use `ENV LD_LIBRARY_PATH`.
    - Slurm: load the ROCm module.
    - Windows, WSL2, macOS: does not arise.

    ## References
    - https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/post-install.html
    """
    if not tensorflow.rocm_build or not rocm.version or rocm.libraries_found:
        return None
    return Diagnosis(
        _(
            "ROCm {version} is installed, but the loader does not find its libraries for {distribution} {tensorflow}."
        ).format(version=rocm.version, distribution=tensorflow.distribution, tensorflow=tensorflow.version),
        evidence=(
            Evidence(
                _("ROCm {version}; its libraries are not on the loader's path").format(version=rocm.version),
                rocm.source,
            ),
        ),
        fixes=(remedies.variable("LD_LIBRARY_PATH", "/opt/rocm/lib"),),
    )
