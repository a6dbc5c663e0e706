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
from tfdoctor.tables import fits

_OBJECT = re.compile(r"\.(?:pyd|dll|dylib|so(?:\.\d+)*)$")  # also libtensorflow_cc.so.2
_SOURCE = re.compile(r"\.py$")
# What an import opens was seen in sys.modules and /proc/self/maps of 2.15.1, 2.16.1, 2.18.1 and 2.21.0, and every compiled
# object of 2.15.1 and 2.18.1 was taken away by itself: those that are opened are needed, those named here are not.
_LATER = re.compile(
    r"/(?:kernel_tests|memory_tests|benchmarks|testing|tests)/|^tensorflow/tools/(?:common|pip_package)/"
    r"|^tensorflow/python/tools/(?!__init__|module_util)"
    r"|/(?:_errors_test_helper|_pywrap_kernel_registry|_pywrap_snapshot_utils|_pywrap_stat_summarizer"
    r"|_pywrap_tensorflow_lite_calibration_wrapper|_pywrap_tf_item|_pywrap_tfcompile|_pywrap_transform_graph"
    r"|_python_memory_checker_helper|_xla_ops|lib_native_proto_caster|libtfkernel_sobol_op"
    r"|pywrap_tensorflow_to_stablehlo|pywrap_xla_ops|stablehlo_extension)\.\w+$"
)
_INTERNAL = re.compile(r"/_pywrap_tensorflow_internal\.")  # 2.20 imports it in a `try`; 2.19 cannot do without
_BY_RELEASE = re.compile(
    r"^tensorflow/lite/|/(?:_pywrap_(?:toco_api|tpu_embedding|python_api_info|python_api_parameter_converter)"
    r"|fast_tensor_util)\."
)
#: Modules that every release imports. Of the others one in six is not imported at once.
_MODULES = re.compile(
    r"^tensorflow/(?:__init__|python/(?:pywrap_tensorflow|eager/context|framework/(?:constant_op|dtypes|errors_impl|ops"
    r"|tensor_shape)|ops/(?:array_ops|control_flow_ops|math_ops|variables)|platform/self_check)"
    r"|core/framework/(?:graph|tensor|types)_pb2)\.py$"
)
#: Of the files that are compared, those that an import does not open are less than this share (a fifth).
_UNUSED = 0.25


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
    severity, blocks = _effect(first)
    return Diagnosis(
        _message(first),
        evidence=tuple(Evidence(path, f"RECORD of {first.name} {first.version}") for path in first.damage[:5]),
        fixes=(_afresh(first, interpreter),),
        severity=severity,
        blocks=blocks,
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


def _effect(damaged: Distribution) -> tuple[Optional[Severity], Optional[bool]]:
    """How bad it is, and whether it keeps TensorFlow from starting (False: it does not).

    Code that is missing may not be needed at once, and code that is only changed may be somebody's patch."""
    gone = damaged.gone or 0
    if gone > _UNUSED * damaged.checked > 0 or any(_stops(p, damaged.version) for p in damaged.damage[:gone]):
        return None, None
    code = [path for path in damaged.damage if _OBJECT.search(path) or _SOURCE.search(path)]
    if damaged.damaged > len(damaged.damage) or not all(_later(path, damaged.version) for path in code):
        return Severity.WARNING, None
    return (Severity.WARNING if code else Severity.INFO), False


def _later(path: str, version: str) -> bool:
    """Is this known to be opened later, or never?"""
    return bool(_LATER.search(path) or (_INTERNAL.search(path) and fits(version, ">=2.20.dev0")))


def _stops(path: str, version: str) -> bool:
    """Is an import known to fail without this file?"""
    compiled = _OBJECT.search(path) and not _BY_RELEASE.search(path)
    return bool((compiled or _MODULES.search(path)) and not _later(path, version))
