"""TFD408 cpu-instruction-set-avx: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity, Status
from tfdoctor.rules.python.tfd408_cpu_instruction_set_avx import cpu_instruction_set_avx as rule

LINUX = facts.platform()
OLD = facts.cpu(model="Intel(R) Celeron(R) N4505", flags=frozenset({"sse4_1", "sse4_2"}))


def test_no_avx() -> None:
    found = facts.found(rule, LINUX, facts.tensorflow(), OLD)
    assert "Celeron(R) N4505" in found.message and "AVX" in found.message and len(found.fixes) == 1


def test_a_virtual_machine_may_hide_it() -> None:
    found = facts.found(rule, LINUX, facts.tensorflow(), OLD, facts.cloud(virtual=True))
    assert "virtual machine" in found.fixes[0].title


def test_2_4_0_alone_needs_avx2() -> None:
    avx = facts.cpu(flags=frozenset({"avx"}))
    found = facts.found(rule, LINUX, facts.tensorflow_release("2.4.0"), avx)
    assert "AVX2" in found.message and found.fixes[0].requirements == ("tensorflow==2.4.1",)
    assert facts.silent(rule, LINUX, facts.tensorflow_release("2.4.1"), avx)


def test_a_conda_build_may_do_without() -> None:
    conda = facts.distributions({}, facts.distribution("tensorflow", "2.20.0", installer="conda"))
    assert facts.found(rule, LINUX, facts.tensorflow(), OLD, conda).severity is Severity.WARNING


def test_healthy() -> None:
    assert facts.silent(rule, LINUX, facts.tensorflow(), facts.cpu())


def test_rests_on_other_processors() -> None:
    assert facts.silent(
        rule, facts.platform(machine="aarch64"), facts.tensorflow(), facts.cpu(flags=frozenset({"neon"}))
    )


def test_unknown_is_not_fine() -> None:
    assert facts.run(rule, LINUX, facts.tensorflow()).status is Status.SKIPPED
    assert facts.silent(rule, facts.windows(), facts.tensorflow())
