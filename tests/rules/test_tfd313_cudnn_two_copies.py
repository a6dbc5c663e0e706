"""TFD313 cudnn-two-copies: sick, healthy, and at the boundary."""

from __future__ import annotations

from typing import Any

import facts
import library_faults as broken

from tfdoctor.probes.libraries import Libraries
from tfdoctor.rules.libraries.tfd313_cudnn_two_copies import cudnn_two_copies as rule

GPU = facts.gpu_machine()


def _cudnn(version: str, *copies: Any) -> Libraries:
    picked = facts.library_file("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", version, origin="system")
    return facts.libraries(facts.library("cudnn", picked=picked, how="LD_LIBRARY_PATH", copies=copies))


GOOD = facts.library_file(f"{facts.SITE}/nvidia/cudnn/lib/libcudnn.so.9", "9.12.0.46")


def test_the_old_one_comes_first() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), _cudnn("9.1.0", GOOD))
    assert "9.1.0" in found.message and "9.3.0" in found.message and "9.12.0.46" in found.message
    assert broken.fired(facts.tensorflow(), _cudnn("9.1.0", GOOD)) == {"TFD313": None, "TFD314": "TFD313"}


def test_healthy_with_two_copies() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), _cudnn("9.3.0", GOOD))


def test_one_copy_alone_is_another_fault() -> None:
    assert broken.fired(facts.tensorflow(), _cudnn("9.1.0")) == {"TFD314": None}


def test_a_copy_inside_torch_is_no_remedy() -> None:
    torch = facts.library_file(f"{facts.SITE}/torch/lib/libcudnn.so.9", "9.10.2", origin="torch")
    assert facts.silent(rule, GPU, facts.tensorflow(), _cudnn("9.1.0", torch))
