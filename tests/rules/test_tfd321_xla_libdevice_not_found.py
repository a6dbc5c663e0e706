"""TFD321 xla-libdevice-not-found: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.libraries.tfd321_xla_libdevice_not_found import xla_libdevice_not_found as rule

GPU = facts.gpu_machine()


def test_nowhere() -> None:
    found = facts.found(rule, GPU, facts.tensorflow(), facts.xla_tools(libdevice=""))
    assert "libdevice.10.bc" in found.message and "2.20.0" in found.message
    assert found.fixes[0].requirements == ("nvidia-cuda-nvcc-cu12",)


def test_elsewhere_in_the_right_layout() -> None:
    other = "/opt/conda/nvvm/libdevice/libdevice.10.bc"
    found = facts.found(rule, GPU, facts.tensorflow(), facts.xla_tools(libdevice="", libdevice_elsewhere=(other,)))
    assert other in found.message
    assert found.fixes[0].environment == (("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/opt/conda"),)


def test_elsewhere_in_a_layout_that_xla_does_not_know() -> None:
    found = facts.found(
        rule,
        GPU,
        facts.tensorflow_release("2.11.0"),
        facts.xla_tools(libdevice="", libdevice_elsewhere=("/opt/lib/libdevice.10.bc",)),
    )
    assert not found.fixes[0].environment and "11.2" in found.fixes[0].title


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.xla_tools())
    assert facts.silent(rule, GPU, facts.tensorflow(cuda_build=False), facts.xla_tools(libdevice=""))
