"""TFD504 tensorflow-files-damaged."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _, ngettext
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Safety, Severity
from tfdoctor.probes.interpreter import Distribution, Distributions, Interpreter
from tfdoctor.probes.tensorflow import TensorFlowPackages

#: What Python loads when TensorFlow is imported.
_CODE = re.compile(r"\.(?:py|pyd|dll|dylib|so(?:\.\d+)*)$")  # also libtensorflow_cc.so.2


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
        _message(first),
        evidence=tuple(Evidence(path, f"RECORD of {first.name} {first.version}") for path in first.damage[:5]),
        fixes=(_afresh(first, interpreter),),
        severity=_severity(first),
    )


def _afresh(damaged: Distribution, interpreter: Optional[Interpreter]) -> Fix:
    """What is only changed may be somebody's own work: then the question comes first."""
    fix = remedies.reinstall(interpreter, f"{damaged.name}=={damaged.version}")
    if damaged.gone != 0:
        return fix
    return replace(fix, safety=Safety.ASK, note=_("This overwrites changes that were made on purpose."))


def _message(damaged: Distribution) -> str:
    values = {"name": damaged.name, "version": damaged.version, "path": damaged.damage[0] if damaged.damage else "?"}
    if damaged.gone:
        wording = ngettext(
            "{count} file of {name} {version} is missing or empty: {path}.",
            "{count} files of {name} {version} are missing or empty, {path} among them.",
            damaged.gone,
        )
        return wording.format(count=damaged.gone, **values)
    if damaged.gone == 0:
        wording = ngettext(
            "{count} file of {name} {version} is not the one that was installed: {path}.",
            "{count} files of {name} {version} are not those that were installed, {path} among them.",
            damaged.damaged,
        )
    else:
        wording = _("{count} files of {name} {version} are missing or changed, {path} among them.")
    return wording.format(count=damaged.damaged, **values)


def _severity(damaged: Distribution) -> Optional[Severity]:
    """Code that is missing stops the import. Code that is only changed need not: somebody may have patched it."""
    gone = damaged.gone or 0
    if gone > len(damaged.damage) or _code(damaged.damage[:gone]):
        return None
    stops = damaged.damaged > len(damaged.damage) or _code(damaged.damage)
    return Severity.WARNING if stops else Severity.INFO


def _code(paths: tuple[str, ...]) -> bool:
    return any(_CODE.search(path) for path in paths)
