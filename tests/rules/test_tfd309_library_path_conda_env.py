"""TFD309 library-path-conda-env: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd309_library_path_conda_env import library_path_conda_env as rule

GPU = facts.gpu_machine()
PLACE = "/home/me/conda/envs/tf/lib"


def test_in_the_conda_environment() -> None:
    tf = facts.tensorflow_release("2.9.3")
    lost = broken.all_elsewhere(PLACE, "conda", broken.CUDA11)
    found = facts.found(rule, GPU, tf, lost, facts.environment())
    assert PLACE in found.message and "libcudart.so.11.0" in found.message and "2.9.3" in found.message
    assert found.fixes[0].environment == (("LD_LIBRARY_PATH", PLACE),)
    assert broken.fired(tf, lost) == {"TFD309": None, "TFD327": "TFD309"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_a_system_folder_is_another_fault() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), broken.all_elsewhere("/usr/local/cuda-12.5/lib64", "toolkit"))
