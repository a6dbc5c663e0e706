"""TFD504 tensorflow-files-damaged."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.interpreter import Distribution, Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlowPackages

#: What Python loads when TensorFlow is imported.
_CODE = (".py", ".so", ".pyd", ".dll", ".dylib")


@rule("TFD504", Severity.ERROR, caused_by=("TFD503",), blocks=True)
def tensorflow_files_damaged(
    packages: TensorFlowPackages, distributions: Optional[Distributions], interpreter: Optional[Interpreter]
) -> Found:
    """Files of the installed TensorFlow are missing or are not those that were installed.

    ## What it is
    Every distribution keeps a list of its files with their hashes (`RECORD`). Here some are gone, empty or different: an
    installation that was interrupted, a disk that was full, another TensorFlow distribution that was removed and took
    shared files along, a virus scanner, or a copy of the environment that is not complete.

    ## How it shows
    - `ModuleNotFoundError: No module named 'tensorflow.python'`
    - `ImportError: cannot import name … from 'tensorflow'`, `No module named 'tensorflow.python.platform.build_info'`
    - `invalid ELF header`, `file too short` for a library

    ## How to be sure
    `python -m pip check` does not see it. tfdoctor compares the files with `RECORD`; the first ones are named below.

    ## What to do
    - All systems: install the same version again and leave its dependencies alone:
      `python -m pip install --force-reinstall --no-deps tensorflow==VERSION`. Add `--no-cache-dir` if it comes back damaged.
    - Check the space first: TensorFlow takes about 2 GB on disk, its CUDA packages several more.
    - Changed on purpose (a patch of your own): then this is as you want it.
    - conda: `conda install --force-reinstall tensorflow`. Docker, Kubernetes: rebuild the image.
    - Slurm, shared folders: look at quotas; a purge of old files may have hit the environment.

    ## References
    - https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    - https://pip.pypa.io/en/stable/cli/pip_install/#cmdoption-force-reinstall
    """
    names = {name for name, _version in packages.installed}
    hurt = [d for name, d in (distributions.by_name if distributions else {}).items() if name in names and d.damaged]
    if not hurt:
        return None
    first = hurt[0]
    return Diagnosis(
        _("{count} files of {name} {version} are missing or changed, {path} among them.").format(
            count=first.damaged, name=first.name, version=first.version, path=first.damage[0] if first.damage else "?"),
        evidence=tuple(Evidence(path, f"RECORD of {first.name} {first.version}") for path in first.damage[:5]),
        fixes=(remedies.reinstall(interpreter, f"{first.name}=={first.version}"),),
        severity=None if _stops_import(first) else Severity.INFO,
    )


def _stops_import(damaged: Distribution) -> bool:
    """Whether code is among the damaged files, or more of them than are named."""
    return damaged.damaged > len(damaged.damage) or any(path.endswith(_CODE) for path in damaged.damage)
