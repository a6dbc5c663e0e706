"""The verdict: "yes" only over positive evidence, "no" only for certain, "unknown" for the rest."""

from __future__ import annotations

from dataclasses import replace

import facts
import pytest

from tfdoctor.contradictions import contradictions
from tfdoctor.engine import all_rules, rule, run_rules
from tfdoctor.model import Diagnosis, Severity, Verdict
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke.results import Experiment, SmokeResult
from tfdoctor.verdict import DECISIVE, because, decide, prove


def verdict(machine: facts.Machine, *rules) -> Verdict:
    given = machine.facts()
    outcomes = run_rules([r for r in rules or all_rules() if not r.log_only], given)
    return decide(outcomes, given)


@rule("TFD998", Severity.ERROR, blocks=True)
def blocks_all(gpus: Gpus):
    """Fault."""
    return Diagnosis("it is broken", severity=Severity.ERROR)  # as severe as the rule: that is no doubt


@rule("TFD998", Severity.ERROR, blocks=True)
def blocks_first(gpus: Gpus):
    """Fault."""
    return Diagnosis("GPU 0 is broken", gpus=(0,))


@rule("TFD998", Severity.ERROR, blocks=True)
def may_block(gpus: Gpus):
    """Fault."""
    return Diagnosis("it may be broken", severity=Severity.WARNING)


@rule("TFD998", Severity.ERROR, blocks=True)
def leaves_it_listed(gpus: Gpus):
    """Fault."""
    return Diagnosis("it fails later", blocks=False)


@rule("TFD998", Severity.ERROR, blocks=True)
def bug(gpus: Gpus):
    """Fault."""
    raise ZeroDivisionError


def test_a_healthy_workstation_will_use_its_gpu() -> None:
    said = verdict(facts.WORKSTATION)
    assert (said.gpu, said.because) == ("yes", None)
    assert "NVIDIA GeForce RTX 3090" in said.summary
    assert "2.20.0" in said.summary


@pytest.mark.parametrize("kind", DECISIVE)
def test_without_a_decisive_look_nobody_says_yes(kind: type) -> None:
    assert verdict(facts.WORKSTATION.but(without=(kind,))).gpu != "yes"


@pytest.mark.parametrize("kind", DECISIVE)
def test_a_look_alone_that_failed_is_unknown_and_named(kind: type) -> None:
    said = verdict(facts.WORKSTATION.but(without=(kind,)), may_be_silent)
    assert said.gpu == "unknown"
    assert kind.__name__ in said.summary


@rule("TFD997", Severity.ERROR, blocks=True)
def may_be_silent(gpu_machine: facts.Platform):
    """Fault."""


@pytest.mark.parametrize(
    "sick",
    [
        facts.gpus(facts.gpu(lost=True)),
        facts.tensorflow(cuda_build=None),
        facts.libraries(facts.library("cudnn", picked=None)),
        facts.driver_library(picked=None),
    ],
)
def test_what_does_not_add_up_is_never_yes_even_if_no_rule_objects(sick) -> None:
    assert verdict(facts.WORKSTATION.but(sick), may_be_silent).gpu == "unknown"


def test_one_blocking_fault_is_no() -> None:
    said = verdict(facts.WORKSTATION, blocks_all)
    assert (said.gpu, said.because) == ("no", "blocks-all")
    named = because(said, run_rules([blocks_first, blocks_all], facts.WORKSTATION.facts()))
    assert named is not None and named.rule is blocks_all


@pytest.mark.parametrize("count", [3, 4])
def test_three_reasons_are_told_and_the_rest_is_counted(count: int) -> None:
    without = DECISIVE[:count]
    said = verdict(facts.WORKSTATION.but(without=without), may_be_silent).summary
    assert [kind.__name__ in said for kind in without] == [True] * 3 + [False] * (count - 3)
    assert ("and 1 more" in said, " more" in said) == (count == 4, count == 4)


def test_a_rule_that_is_not_sure_makes_unknown() -> None:
    said = verdict(facts.WORKSTATION, may_block)
    assert said.gpu == "unknown"
    assert "it may be broken" in said.summary


def test_a_fault_in_a_form_that_leaves_the_gpu_listed_does_not_change_the_verdict() -> None:
    said = verdict(facts.WORKSTATION, leaves_it_listed)
    assert said.gpu == "yes"
    assert said.summary.endswith("Errors remain: leaves-it-listed."), "nobody is to stop reading at the yes"
    assert "remain" not in verdict(facts.WORKSTATION).summary


def test_a_crashed_blocking_rule_makes_unknown() -> None:
    assert verdict(facts.WORKSTATION, bug).gpu == "unknown"


def test_one_broken_gpu_of_two_leaves_the_other() -> None:
    two = facts.WORKSTATION.but(facts.gpus(facts.gpu(0), facts.gpu(1)))
    assert verdict(two, blocks_first).gpu == "yes"
    assert verdict(facts.WORKSTATION, blocks_first).gpu == "no"


@rule("TFD999", Severity.ERROR, blocks=True)
def blocks_second(gpus: Gpus):
    """Another fault."""
    return Diagnosis("GPU 1 is broken", gpus=(1,))


def test_two_faults_that_leave_no_gpu_between_them() -> None:
    two = facts.WORKSTATION.but(facts.gpus(facts.gpu(0), facts.gpu(1)))
    said = verdict(two, blocks_first, blocks_second)
    assert (said.gpu, said.because) == ("no", "blocks-first")


TWO = facts.gpus(facts.gpu(0), facts.gpu(1))
MIXED = facts.gpus(facts.gpu(0), facts.gpu(1, name="NVIDIA GeForce GTX 1060"))


@pytest.mark.parametrize(
    ("gpus", "variables", "said"),
    [
        (TWO, {}, "1"),
        (TWO, {"CUDA_VISIBLE_DEVICES": "0"}, "no"),
        (TWO, {"CUDA_VISIBLE_DEVICES": "1"}, "1"),
        (TWO, {"CUDA_VISIBLE_DEVICES": "0;1"}, "no"),
        (TWO, {"CUDA_VISIBLE_DEVICES": "1,7,0"}, "1"),
        (TWO, {"CUDA_VISIBLE_DEVICES": facts.gpu(0).uuid}, "no"),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, "no"),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "0"}, "unknown"),  # CUDA's 0 may be the driver's 1
        (MIXED, {"CUDA_VISIBLE_DEVICES": "0,1"}, "1"),
    ],
)
def test_a_broken_gpu_and_hidden_ones(gpus, variables: dict[str, str], said: str) -> None:
    """GPU 0 is broken: which are left is counted without the hidden ones."""
    found = verdict(facts.WORKSTATION.but(gpus, facts.environment(**variables)), blocks_first)
    assert found.gpu == ("yes" if said == "1" else said), found
    assert " x " not in found.summary


@pytest.mark.parametrize(
    ("named", "said"),
    [("NVIDIA GeForce RTX 3090", "no"), ("NVIDIA GeForce GTX 1060", "yes"), ("NVIDIA T4", "unknown")],
)
def test_different_models_are_told_apart_by_what_cuda_counts(named: str, said: str) -> None:
    """GPU 0, the RTX 3090, is broken, and which of the two is CUDA's 0 nobody can know by the number."""
    cuda = facts.cuda_driver(count=1, devices=(facts.CudaDevice(named, "8.6"),))
    machine = facts.WORKSTATION.but(MIXED, facts.environment(CUDA_VISIBLE_DEVICES="0"), cuda)
    found = verdict(machine, blocks_first)
    assert found.gpu == said
    assert said != "yes" or f"use {named}." in found.summary


def test_one_of_two_models_that_will_both_do() -> None:
    machine = facts.WORKSTATION.but(MIXED, facts.environment(CUDA_VISIBLE_DEVICES="1"))
    found = verdict(machine, may_be_silent)
    assert (found.gpu, "use 1 of NVIDIA GeForce RTX 3090, NVIDIA GeForce GTX 1060." in found.summary) == ("yes", True)


def test_cuda_does_not_count_a_lost_gpu() -> None:
    """So its 0 is not the driver's."""
    lost = facts.gpus(facts.gpu(0, lost=True), facts.gpu(1))
    machine = facts.WORKSTATION.but(lost, facts.environment(CUDA_VISIBLE_DEVICES="0"))
    assert verdict(machine, blocks_first).gpu == "yes"
    assert verdict(machine, blocks_second).gpu == "no"


@pytest.mark.parametrize(
    ("gpus", "variables", "says"),
    [
        (TWO, {}, "use 2 x NVIDIA GeForce RTX 3090."),
        (TWO, {"CUDA_VISIBLE_DEVICES": "1"}, "use NVIDIA GeForce RTX 3090."),
        (facts.gpus(facts.gpu(name="")), {}, "use a GPU that does not tell its name."),
    ],
)
def test_yes_names_the_gpus_that_are_used(gpus, variables: dict[str, str], says: str) -> None:
    assert says in verdict(facts.WORKSTATION.but(gpus, facts.environment(**variables)), may_be_silent).summary


def test_where_cuda_counts_others_its_word_is_told() -> None:
    one = facts.cuda_driver(count=1, devices=(facts.CudaDevice("NVIDIA T4", "7.5"),))
    assert "use NVIDIA T4." in verdict(facts.WORKSTATION.but(TWO, one), may_be_silent).summary
    lost = facts.gpus(facts.gpu(0), facts.gpu(1, lost=True))
    assert "use NVIDIA GeForce RTX 3090." in verdict(facts.WORKSTATION.but(lost, one), blocks_second).summary


def listed(gpus: int, state: str = "passed") -> SmokeResults:
    result = SmokeResult("devices", state, "d", measured={"gpus": gpus}, tensorflow="2.20.0")
    return SmokeResults((result,), (), (), "tfdoctor smoke")


@pytest.mark.parametrize(
    ("predicted", "smoke", "gpu"),
    [
        ("yes", listed(1), "yes"),
        ("yes", listed(0), "no"),
        ("no", listed(1), "yes"),
        ("unknown", listed(2), "yes"),
        ("yes", listed(1, "crashed"), "no"),
        ("yes", listed(1, "wrong"), "no"),
    ],
)
def test_a_run_counts_more_than_the_prediction_which_stays_beside_it(predicted, smoke, gpu) -> None:
    said = prove(Verdict(predicted, None, "", predicted), smoke)
    assert (said.gpu, said.predicted, said.proven) == (gpu, predicted, gpu)


@pytest.mark.parametrize("state", ["failed", "crashed", "hung", "out-of-memory"])
def test_a_run_that_failed_says_so_and_keeps_the_cause_that_was_predicted(state: str) -> None:
    said = prove(Verdict("yes", None, "", "yes"), listed(0, state))
    assert (said.because, said.summary) == ("smoke-test-failed", "TensorFlow did not run: d.")
    assert prove(Verdict("no", "driver-too-old", "", "no"), listed(0, state)).because == "driver-too-old"


@pytest.mark.parametrize(
    ("predicted", "says"), [("no", "the driver is old."), ("yes", "TensorFlow ran and lists no GPU.")]
)
def test_a_run_that_lists_no_gpu_says_why_and_what_helped(predicted: str, says: str) -> None:
    before = Verdict(predicted, None, "the driver is old.", predicted)
    assert prove(before, listed(0)).summary == says
    other, vain, good = (
        Experiment(test, what, (), helped, listed(1).results[0])
        for test, what, helped in (("compute", "x", True), ("devices", "y", False), ("devices", "z unset", True))
    )
    for experiments, more in (((other, vain), ""), ((other, vain, good), " With z unset it lists them.")):
        assert prove(before, replace(listed(0), experiments=experiments)).summary == says + more


def test_a_run_that_did_not_happen_proves_nothing() -> None:
    before = Verdict("yes", None, "", "yes")
    assert prove(before, listed(0, "not-run")) == before


MIB = 1024**2


def full(index: int = 0, free: int = 299) -> Gpu:
    return facts.gpu(index, memory_total=24576 * MIB, memory_used=(24576 - free) * MIB)


@pytest.mark.parametrize(
    ("sick", "says"),
    [
        (facts.kernel_driver(loaded_version="535.54.03"), "535.54.03"),
        (facts.driver(version="550.107.02", cuda="12.0"), "12.0"),
        (facts.DeviceNodes((), "/dev"), "/dev has no node"),
        (facts.gpus(facts.gpu(compute_capability=None)), "compute capability of GPU 0"),
        (facts.gpus(full()), "299 MiB"),
    ],
)
def test_sources_that_contradict_each_other_are_no_yes(sick, says: str) -> None:
    said = verdict(facts.WORKSTATION.but(sick), may_be_silent)
    assert said.gpu == "unknown" and says in said.summary, said


@pytest.mark.parametrize(
    "odd",
    [
        facts.kernel_driver(loaded_version="535.54.03"),
        facts.driver(version="550.107.02", cuda="12.0"),
        facts.DeviceNodes((), "/dev"),
    ],
)
def test_cuda_that_was_seen_to_start_settles_what_the_driver_is_worth(odd) -> None:
    assert verdict(facts.WORKSTATION.but(odd, facts.cuda_driver()), may_be_silent).gpu == "yes"
    assert verdict(facts.WORKSTATION.but(odd, facts.cuda_fails()), may_be_silent).gpu == "unknown"


def test_what_only_looks_like_a_contradiction() -> None:
    for fine in (
        facts.driver(version="550.107.02", cuda="13.0"),  # a newer libcuda of cuda-compat
        facts.driver(version="550.107", cuda="12.4"),  # NVML of some drivers leaves the last part out
        facts.gpus(full(0), full(1, free=300)),
        facts.gpus(facts.gpu(memory_used=None)),
    ):
        assert verdict(facts.WORKSTATION.but(fine), may_be_silent).gpu == "yes", fine


OLD_CUDA = facts.driver(version="550.107.02", cuda="12.0")
NO_NODES = facts.DeviceNodes((), "/dev")


@pytest.mark.parametrize(
    "elsewhere",
    [
        facts.WORKSTATION.but(OLD_CUDA, NO_NODES, without=(Platform,)),
        facts.WORKSTATION.but(OLD_CUDA, NO_NODES, facts.platform(system="windows")),
        facts.WORKSTATION.but(OLD_CUDA, NO_NODES, facts.platform(wsl=2)),
        facts.WORKSTATION.but(facts.driver(version="550.107.02", cuda="")),
        facts.WORKSTATION.but(NO_NODES, facts.jetson()),
    ],
)
def test_where_branches_and_nodes_tell_nothing(elsewhere: facts.Machine) -> None:
    assert contradictions(facts.WORKSTATION.but(OLD_CUDA, NO_NODES).facts())
    assert contradictions(elsewhere.facts()) == []


def test_the_free_gpu_is_hidden_and_the_visible_one_is_full() -> None:
    pair = facts.WORKSTATION.but(facts.gpus(full(0), full(1, free=9000)))
    assert verdict(pair.but(facts.environment(CUDA_VISIBLE_DEVICES="1")), may_be_silent).gpu == "yes"
    assert verdict(pair.but(facts.environment(CUDA_VISIBLE_DEVICES="0")), may_be_silent).gpu == "unknown"
    mixed = facts.WORKSTATION.but(facts.gpus(full(0), replace(full(1, free=9000), name="NVIDIA T4")))
    assert verdict(mixed.but(facts.environment(CUDA_VISIBLE_DEVICES="1")), may_be_silent).gpu == "unknown"


@pytest.mark.parametrize(
    ("variables", "gpu"),
    [
        ({"TF_MIN_GPU_MULTIPROCESSOR_COUNT": "1000"}, "unknown"),
        ({"TF_XLA_FLAGS": "--nonsense=1"}, "unknown"),
        ({"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"}, "yes"),
    ],
)
def test_settings_whose_effect_is_not_known_here(variables: dict[str, str], gpu: str) -> None:
    said = verdict(facts.WORKSTATION.but(facts.environment(**variables)))
    assert said.gpu == gpu
    assert gpu == "yes" or next(iter(variables)) in said.summary
