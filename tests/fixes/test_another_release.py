"""A remedy that moves TensorFlow moves the distribution that is there: two of them would share one folder (TFD503)."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Diagnosis
from tfdoctor.rules.python.tfd407_glibc_too_old import glibc_too_old
from tfdoctor.rules.python.tfd408_cpu_instruction_set_avx import cpu_instruction_set_avx
from tfdoctor.rules.tensorflow.tfd509_numpy_abi_mismatch import numpy_abi_mismatch


def _for_numpy(name: str) -> Diagnosis:
    installed = facts.distributions({"numpy": "2.1.0", name: "2.16.2"}, source="pip freeze")
    return facts.found(numpy_abi_mismatch, facts.tensorflow_release("2.16.2", distribution=name), installed)


def _for_glibc(name: str) -> Diagnosis:
    old = facts.platform(distro="centos", libc_version="2.17")
    return facts.found(glibc_too_old, old, facts.tensorflow_release("2.21.0", distribution=name), facts.interpreter())


def _for_the_processor(name: str) -> Diagnosis:
    avx = facts.cpu(flags=frozenset({"avx"}))
    known = facts.platform(), facts.tensorflow_release("2.4.0", distribution=name), avx
    return facts.found(cpu_instruction_set_avx, *known)


@pytest.mark.parametrize("found", [_for_numpy, _for_glibc, _for_the_processor])
@pytest.mark.parametrize("name", ["tensorflow", "tensorflow-cpu"])
def test_the_distribution_that_is_there(found, name) -> None:  # type: ignore[no-untyped-def]
    (moved,) = [r for fix in found(name).fixes for r in fix.requirements if r.startswith("tensorflow")]
    assert moved.removeprefix(name)[:2] in ("==", ">=")
    assert any(moved in command for fix in found(name).fixes for command in fix.commands)
