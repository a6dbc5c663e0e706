"""Which steps a plan has, and how several diagnoses share one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import facts

from tfdoctor.fixes.installer import Installer
from tfdoctor.fixes.packages import World
from tfdoctor.fixes.plan import KEPT_PATH, Plan, make
from tfdoctor.model import Diagnosis, Fix, Outcome, Report, Rule, Safety, Severity, Status, Verdict
from tfdoctor.tables import Tables

TABLES = Tables()


def found(code: str, *fixes: Fix, severity: Severity = Severity.ERROR, under: str | None = None) -> Outcome:
    rule = Rule(code, f"name-{code.lower()}", severity, (), False, lambda: None, {})
    return Outcome(rule, Status.FOUND, (Diagnosis(f"{code} is so.", (), fixes),), folded_under=under)


def plan(*outcomes: Outcome, kind: str = "venv", known: Mapping[str, Any] | None = None, **options: Any) -> Plan:
    interpreter = facts.interpreter(kind=kind)
    installed = facts.distributions()
    report = Report(
        "python",
        {"interpreter": interpreter, "distributions": installed, **(known or {})},
        {},
        outcomes,
        (),
        Verdict("no", None, ""),
    )
    world = World(installed, interpreter, TABLES, None, lambda: TABLES.releases())
    return make(report, Installer("pip", interpreter.path, interpreter.prefix), world, **options)


def variable(name: str, value: str | None) -> Fix:
    return Fix(f"Set {name}", safety=Safety.ASK, environment=((name, value),))


REBOOT = Fix("Reboot", (("systemctl", "reboot"),))
NUMPY = Fix("Install", (("pip",),), Safety.SAFE, requirements=("numpy<2",))


def test_what_follows_from_a_cause_is_not_fixed_twice() -> None:
    (step,) = plan(found("TFD202", REBOOT), found("TFD238", NUMPY, under="TFD202")).steps
    assert step.codes == ("TFD202", "TFD238")


def test_information_and_matters_of_taste_have_no_step() -> None:
    taste = Fix("Or the small package", optional=True)
    made = plan(found("TFD101", taste, severity=Severity.WARNING), found("TFD603", NUMPY, severity=Severity.INFO))
    assert (made.steps, made.open) == ((), ())
    assert plan(found("TFD603", NUMPY, severity=Severity.INFO), only=["TFD603"]).steps


def test_no_known_fix_is_told() -> None:
    assert plan(found("TFD110")).open == (("TFD110", "tfdoctor knows no fix for it"),)


def test_the_machine_comes_before_the_packages() -> None:
    made = plan(found("TFD509", NUMPY), found("TFD601", variable("A", None)), found("TFD801", REBOOT))
    assert [step.kind for step in made.steps] == ["manual", "packages", "environment"]


def test_the_same_thing_is_done_once() -> None:
    (step,) = plan(found("TFD202", REBOOT), found("TFD214", REBOOT)).steps
    assert step.codes == ("TFD202", "TFD214")
    assert step.why == "TFD202 is so. TFD214 is so."


def test_path_lists_are_put_together() -> None:
    paths = (variable("LD_LIBRARY_PATH", "/a:/b"), variable("LD_LIBRARY_PATH", "/b:/c"))
    (step,) = plan(found("TFD302", paths[0]), found("TFD303", paths[1])).steps
    assert step.environment == (("LD_LIBRARY_PATH", "/a:/b:/c" + KEPT_PATH),)
    assert step.codes == ("TFD302", "TFD303")
    assert "new shell" in step.needs


def test_what_a_path_list_held_is_not_frozen_into_it() -> None:
    now = facts.environment(LD_LIBRARY_PATH="/old")
    (step,) = plan(found("TFD303", variable("LD_LIBRARY_PATH", "/a:/old")), known={"environment": now}).steps
    assert step.environment == (("LD_LIBRARY_PATH", "/a" + KEPT_PATH),)


def test_two_values_of_one_variable_are_a_conflict_that_is_told() -> None:
    made = plan(found("TFD603", variable("A", "1")), found("TFD816", variable("A", "2")))
    (step,) = made.steps
    assert step.environment == (("A", "1"),)
    assert "TFD816" not in step.codes
    assert made.open == (("TFD816", "A=2 would be needed, and TFD603 needs A=1"),)


def test_outside_of_an_environment_a_variable_is_printed_only() -> None:
    (step,) = plan(found("TFD601", variable("A", None)), kind="system").steps
    assert (step.kind, step.safety) == ("manual", Safety.MANUAL)


def test_a_fix_that_leaves_alone_what_must_stay_is_preferred() -> None:
    path = variable("LD_LIBRARY_PATH", "/a")
    other = Fix("", (("pip",),), Safety.SAFE, requirements=("tensorflow==2.18.1",))
    (step,) = plan(found("TFD302", other, path), keep=["tensorflow"]).steps
    assert step.kind == "environment"


def test_an_unreadable_requirement_is_told() -> None:
    made = plan(found("TFD509", Fix("", (("pip",),), Safety.SAFE, requirements=("numpy<<2",))))
    assert made.steps == ()
    assert "numpy<<2" in made.open[0][1]
