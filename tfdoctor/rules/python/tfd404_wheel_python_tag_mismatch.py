"""TFD404 wheel-python-tag-mismatch."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD404", Severity.ERROR)
def wheel_python_tag_mismatch(log: LogMatch) -> Found:
    """A wheel file was made for another Python, system or machine than the pip that is to install it.

    ## What it is
    The name of a wheel says what it is for: `tensorflow-2.3.1-cp36-cp36m-linux_aarch64.whl` is for CPython 3.6 on 64-bit ARM Linux.
    pip refuses everything else. Mostly pip belongs to another Python than the one that was meant; NVIDIA's wheels for Jetson
    are for the Python of one JetPack release only.

    ## How it shows
    `ERROR: tensorflow-2.3.1-cp36-cp36m-linux_aarch64.whl is not a supported wheel on this platform.`

    ## How to be sure
    `python -m pip --version` shows pip's Python; `python -m pip debug --verbose` lists the tags it accepts.

    ## What to do
    - All systems: run the pip of the Python in the file's name, as `python3.6 -m pip install FILE`; a wheel must not be renamed.
    - Jetson: the wheel for this JetPack (4: cp36, 5: cp38, 6: cp310), or NVIDIA's container.
    - Windows: `win_amd64` needs a 64-bit Python. macOS: `arm64` needs a native Python, not one under Rosetta.
    - Docker, Kubernetes: the image's architecture (`docker build --platform`). Slurm: the Python module that is loaded.
    - Linux, WSL2: install by name and let pip choose, where the index has it.

    ## References
    - https://github.com/Qengineering/TensorFlow-JetsonNano/issues/2
    - https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
    """
    tag = value(log, "tag", "")
    wheel = _("The wheel for {tag}").format(tag=f"cp{tag}") if tag else _("The wheel")
    return Diagnosis(
        _("{wheel} is for another Python or machine than this pip.").format(wheel=wheel),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Install it with the pip of the Python that its name states")),),
    )
