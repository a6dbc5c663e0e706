"""`check --format junit`: JUnit XML as CI servers read it; each diagnosis and each requirement is a test case."""

from __future__ import annotations

from xml.etree import ElementTree

from tfdoctor.model import Severity, Status
from tfdoctor.render.view import Checked


def render(checked: Checked) -> str:
    """One test suite for the rules and one for the requirements."""
    root = ElementTree.Element("testsuites", name="tfdoctor")
    _rules(root, checked)
    if checked.judgements:
        _requirements(root, checked)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=name)


def _rules(root: ElementTree.Element, checked: Checked) -> None:
    suite = _suite(root, "tfdoctor.check")
    for outcome in checked.report.outcomes:
        case = ElementTree.SubElement(
            suite, "testcase", classname="tfdoctor.check", name=f"{outcome.rule.code} {outcome.rule.name}", time="0"
        )
        messages = "\n".join(d.message for d in outcome.diagnoses)
        if outcome.status is Status.FOUND and outcome.severity is Severity.ERROR:
            ElementTree.SubElement(case, "failure", message=_xml(messages), type=str(outcome.severity))
        elif outcome.status is Status.FOUND:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{outcome.severity}: {messages}")
        elif outcome.status is Status.CRASHED:
            ElementTree.SubElement(case, "error", message=_xml(outcome.reason), type="crash")
        elif outcome.status in (Status.SKIPPED, Status.NOT_APPLICABLE):
            ElementTree.SubElement(case, "skipped", message=_xml(outcome.reason))
    _count(suite)


def _requirements(root: ElementTree.Element, checked: Checked) -> None:
    suite = _suite(root, "tfdoctor.require")
    for judgement in checked.judgements:
        case = ElementTree.SubElement(
            suite, "testcase", classname="tfdoctor.require", name=_xml(judgement.requirement.text), time="0"
        )
        if not judgement.met:
            ElementTree.SubElement(case, "failure", message=_xml(judgement.why), type=judgement.state)
    _count(suite)


def _count(suite: ElementTree.Element) -> None:
    suite.set("tests", str(len(suite)))
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(len(suite.findall(f"testcase/{tag}"))))


def _xml(text: str) -> str:
    """Without the control characters that XML 1.0 cannot hold."""
    return "".join(
        c for c in text if c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )
