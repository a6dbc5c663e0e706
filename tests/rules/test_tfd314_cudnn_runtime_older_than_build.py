"""TFD314 cudnn-runtime-older-than-build: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.libraries import Libraries
from tfdoctor.rules.libraries._cudnn import too_old
from tfdoctor.rules.libraries.tfd314_cudnn_runtime_older_than_build import cudnn_runtime_older_than_build as rule

GPU = facts.gpu_machine()


def _cudnn(version: str) -> Libraries:
    path = f"{facts.SITE}/nvidia/cudnn/lib/libcudnn.so.9"
    return facts.libraries(facts.library("cudnn", picked=facts.library_file(path, version)))


def test_older_minor() -> None:
    found = facts.found(rule, GPU, facts.tensorflow_release("2.18.1"), _cudnn("9.1.0.70"), facts.interpreter())
    assert "9.3.0" in found.message and "9.1.0.70" in found.message and "2.18.1" in found.message
    assert found.severity is None and found.fixes[0].requirements == ("nvidia-cudnn-cu12==9.3.0.75",)


def test_from_the_packages_alone() -> None:
    torch = facts.distributions({"nvidia-cudnn-cu12": "9.1.0.70"})
    found = facts.found(rule, GPU, facts.tensorflow_release("2.18.1"), torch)
    assert found.severity is Severity.WARNING and "nvidia-cudnn-cu12" in found.message


@pytest.mark.parametrize("version", ["9.3.0.75", "9.28.0.42"])
def test_equal_or_newer(version: str) -> None:
    assert facts.silent(rule, GPU, facts.tensorflow_release("2.18.1"), _cudnn(version))


def test_unknown_versions_say_nothing() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), _cudnn(""))
    assert facts.silent(rule, GPU, facts.tensorflow(version="2.99.0"), _cudnn("9.1.0"))
    assert facts.silent(rule, GPU, facts.tensorflow())


@pytest.mark.parametrize(
    ("have", "need", "refused"),
    [
        ("8.0.4", "8.1", True),
        ("8.5.0", "8.6.0", True),
        ("8.9.7", "8.9.6", False),
        ("8.9.4", "8.9.6", False),
        ("9.0.0", "8.9", False),
        ("9", "9.3.0", False),
        ("9.1.0", "9", False),
    ],
)
def test_the_rule_of_tensorflow(have: str, need: str, refused: bool) -> None:
    assert too_old(have, need) is refused
