"""TensorFlow lists no GPU although the driver does: the device list again with one thing changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Optional

from tfdoctor.i18n import _
from tfdoctor.smoke.plan import Planned
from tfdoctor.smoke.results import Experiment
from tfdoctor.smoke.runner import Runner

# NVIDIA's wheels put their libraries here, below any folder of sys.path; the same for those of CUDA 13 (nvidia/cu13/lib).
FOLDERS = """
import glob, json, os, sys
print(json.dumps([f for p in sys.path if p for f in sorted(glob.glob(os.path.join(p, "nvidia", "*", "lib")))]))
"""
LISTING_TIME = 120.0  # seconds; TensorFlow's import and the driver's start
PATH_FAULTS = ("release-library-path-defect", "pip-nvidia-libs-not-on-path")
HIDDEN = ("cuda-visible-devices-hidden",)


def listing_experiments(
    test: Planned, runner: Runner, options: Mapping[str, Any], timeout: float
) -> Iterator[Experiment]:
    """With the NVIDIA wheels' folders on LD_LIBRARY_PATH; with CUDA_VISIBLE_DEVICES unset; with both where neither helps."""
    path, hidden = library_path(runner), "CUDA_VISIBLE_DEVICES" in os.environ
    changes: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
    if hidden:
        changes.append((_("CUDA_VISIBLE_DEVICES unset"), {"CUDA_VISIBLE_DEVICES": ""}, HIDDEN))
    if path:
        what = _("the NVIDIA wheels' folders on LD_LIBRARY_PATH")
        changes.append((what, {"LD_LIBRARY_PATH": path}, PATH_FAULTS))
    if hidden and path:
        both = {"CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": path}
        changes.append((_("both changes together"), both, HIDDEN + PATH_FAULTS))
    for what, environment, confirms in changes:
        again = runner.run(
            test.program, options, timeout=min(timeout, LISTING_TIME), environment=environment, name=test.name
        )
        helped = again.passed and int(again.measured.get("gpus", 0)) > 0
        yield Experiment(test.name, what, confirms, helped, again)
        if helped:
            return


def library_path(runner: Runner) -> Optional[str]:
    """LD_LIBRARY_PATH with the folders of the target's NVIDIA wheels in front; None when it has none."""
    done = runner.ask(FOLDERS)
    try:
        folders = json.loads(done.stdout) if done is not None else []
    except ValueError:
        return None
    if not isinstance(folders, list) or not folders:
        return None
    before = os.environ.get("LD_LIBRARY_PATH", "")
    return os.pathsep.join([*map(str, folders), *([before] if before else [])])
