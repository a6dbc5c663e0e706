"""Over every healthy machine no rule of any layer finds a fault: nobody cries wolf."""

from __future__ import annotations

import facts
import pytest

from tfdoctor import engine
from tfdoctor.model import Severity, Status
from tfdoctor.verdict import decide

# Rules over what smoke tests measured: not run here.
MEASURED = {
    r.code
    for r in engine.all_rules()
    if any(kind.__name__ in ("SmokeResults", "Prediction") for kind, _ in r.needs.values())
}


@pytest.fixture(params=facts.HEALTHY, ids=lambda machine: machine.name)
def machine(request: pytest.FixtureRequest) -> facts.Machine:
    return request.param  # type: ignore[no-any-return]


def test_no_warning_and_no_error(machine: facts.Machine) -> None:
    faults = {
        o.rule.name: [d.message for d in o.diagnoses]
        for o in machine.outcomes()
        if o.status is Status.FOUND and o.severity > Severity.INFO
    }
    assert faults == {}


def test_no_rule_crashes(machine: facts.Machine) -> None:
    assert {o.rule.code: o.reason for o in machine.outcomes() if o.status is Status.CRASHED} == {}


def test_verdict_is_yes(machine: facts.Machine) -> None:
    """Whatever decides could be looked at: no blocking rule was left out."""
    outcomes = [o for o in machine.outcomes() if o.rule.code not in MEASURED]
    verdict = decide(outcomes, machine.facts())
    assert verdict.gpu == "yes", verdict.summary


def test_machine_without_a_gpu() -> None:
    faults = {o.rule.name for o in facts.CPU_ONLY.outcomes() if o.status is Status.FOUND and o.severity > Severity.INFO}
    assert faults == {"no-gpu-machine"}
    outcomes = [o for o in facts.CPU_ONLY.outcomes() if o.rule.code not in MEASURED]
    verdict = decide(outcomes, facts.CPU_ONLY.facts())
    assert (verdict.gpu, verdict.because) == ("no", "no-gpu-machine")


@pytest.mark.parametrize(
    "gone", sorted(facts.fact_types(), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_a_fact_that_could_not_be_looked_at_is_no_fault(gone: type) -> None:
    """Take away one fact of any machine: no rule may find a fault in what it does not see."""
    if gone is facts.Tables:
        pytest.skip("the tables are not a fact of the machine")
    for whole in facts.MACHINES:
        outcomes = whole.but(without=(gone,)).outcomes()
        faults = {o.rule.name for o in outcomes if o.status is Status.FOUND and o.severity > Severity.INFO}
        assert faults <= ({"no-gpu-machine"} if whole is facts.CPU_ONLY else set()), whole.name
        assert not [o.reason for o in outcomes if o.status is Status.CRASHED], whole.name
