"""TFD302 release-library-path-defect: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.model import Severity
from tfdoctor.rules.libraries.tfd302_release_library_path_defect import release_library_path_defect as rule

GPU = facts.gpu_machine()
V2161, V2210 = facts.tensorflow_release("2.16.1"), facts.tensorflow_release("2.21.0")


def _cusolver_lost() -> broken.Libraries:
    return facts.libraries(*broken.in_wheels("cusolver"))


def test_2_21_0_does_not_look_for_cusolver() -> None:
    found = facts.found(rule, GPU, V2210, _cusolver_lost(), facts.environment())
    assert "2.21.0" in found.message and "libcusolver.so.11" in found.message
    assert "libtensorflow_framework.so.2" in found.message and "nvidia/cusolver/lib" in found.message
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.20.0",)
    name, value = found.fixes[1].environment[0]
    assert name == "LD_LIBRARY_PATH" and value == f"{facts.SITE}/nvidia/cusolver/lib"


def test_2_16_1_loses_six() -> None:
    lost = broken.in_wheels("cublas", "cublasLt", "cufft", "cusolver", "cusparse", "cudnn")
    found = facts.found(rule, GPU, V2161, facts.libraries(*lost), facts.environment(LD_LIBRARY_PATH="/opt/x"))
    assert found.fixes[0].requirements == ("tensorflow[and-cuda]==2.16.2",)
    assert (found.fixes[1].environment[0][1] or "").endswith(":/opt/x")
    assert broken.fired(V2161, facts.libraries(*lost)) == {"TFD302": None, "TFD327": "TFD302"}


def test_a_release_that_does_look_is_not_blamed() -> None:
    assert broken.fired(facts.tensorflow_release("2.20.0"), _cusolver_lost()) == {"TFD303": None, "TFD327": "TFD303"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, V2210, facts.libraries())


def test_from_the_packages_alone() -> None:
    bare = (GPU, V2210, facts.distributions(), facts.environment(), facts.toolkits())
    found = facts.found(rule, *bare)
    assert found.severity is None and "nvidia-cusolver-cu12" in found.message


def test_from_the_packages_alone_it_is_unsure_where_another_cuda_may_help() -> None:
    found = facts.found(rule, GPU, V2161, facts.distributions())
    assert found.severity is Severity.WARNING and "nvidia-cudnn-cu12" in found.message


def test_from_the_packages_alone_with_a_path_over_the_wheels() -> None:
    path = facts.environment(LD_LIBRARY_PATH=f"{facts.SITE}/nvidia/cusolver/lib")
    assert facts.silent(rule, GPU, V2210, facts.distributions(), path)


def test_without_the_wheels_nothing_is_lost() -> None:
    plain = facts.distributions({"nvidia-cusolver-cu12": None})
    assert facts.silent(rule, GPU, V2210, plain, facts.environment(), facts.toolkits())
