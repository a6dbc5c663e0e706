"""Every format of `check`, read by its ecosystem's own tool; with hostile texts in every sentence."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import published_schemas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.checkup import check, examine
from tfdoctor.engine import rule
from tfdoctor.host import RecordedHost
from tfdoctor.model import Crash, Diagnosis, Evidence, Fix, Outcome, Report, Severity, Status, Verdict
from tfdoctor.preflight.judge import Judgement, judge_all
from tfdoctor.preflight.requirement import parse
from tfdoctor.render import FORMATS, renderer
from tfdoctor.render.markdown import escape
from tfdoctor.render.view import Checked

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
HOSTILE = (
    "a%b::error::x,y:z|c<d>&amp;`e`*f*_g_[h](i)\n::warning::j\r\n\tk\x00\x1b[31ml\u2028m\ud83dn\ufffe\"o'\\p ]]> 中文"
)
WANTED = tuple(map(parse, ("gpus>=1", "gpus>=99", "smoke.matmul>=0.4", "gpu", "tensorflow>=2.16,<2.22")))


def hostile(text: str = HOSTILE) -> Checked:
    """A report in which every sentence is `text`."""

    @rule("TFD998", Severity.ERROR)
    def fault():
        """Fault."""

    @rule("TFD997", Severity.WARNING)
    def warning():
        """Warning."""

    fix = Fix(text, (("printf", text),), environment=(("X", text),), note=text)
    diagnosis = Diagnosis(text, (Evidence(text, text),), (fix,))
    outcomes = (
        Outcome(fault, Status.FOUND, (diagnosis, diagnosis)),
        Outcome(warning, Status.FOUND, (diagnosis,), folded_under="TFD998"),
        Outcome(warning, Status.SKIPPED, reason=text),
        Outcome(warning, Status.CRASHED, reason=text),
    )
    report = Report("python", {}, {"gpus": text}, outcomes, (Crash("rule", text),), Verdict("no", "fault", text))
    judgements = (Judgement(parse("gpus>=1"), "not-met", text, text), Judgement(parse("gpus>=2"), "met", "2", text))
    return Checked(report, judgements)


@pytest.fixture(scope="module", params=[*HOSTS, HOSTILE], ids=lambda p: p.name if isinstance(p, Path) else "hostile")
def checked(request: pytest.FixtureRequest) -> Checked:
    if isinstance(request.param, str):
        return hostile(request.param)
    seen = examine(RecordedHost(str(request.param)))
    return Checked(seen.report, judge_all(WANTED, seen.report, seen.facts))


def severities(checked: Checked, severity: Severity) -> int:
    return sum(1 for _o, _d, s in checked.findings if s is severity)


def test_junit(checked: Checked, tmp_path: Path) -> None:
    from junitparser import Error, Failure, JUnitXml, Skipped

    path = tmp_path / "tfdoctor.xml"
    path.write_text(renderer("junit")(checked), encoding="utf-8")
    suites = list(JUnitXml.fromfile(str(path)))
    assert [s.name for s in suites] == ["tfdoctor.check", "tfdoctor.require"]
    rules, required = suites
    assert (rules.tests, required.tests) == (len(checked.report.outcomes), len(checked.judgements))
    kinds = [type(r) for case in rules for r in case.result]
    failing = [o for o in checked.report.found if o.severity is Severity.ERROR]
    assert kinds.count(Failure) == rules.failures == len(failing)
    assert kinds.count(Skipped) == rules.skipped and kinds.count(Error) == rules.errors
    assert required.failures == len(checked.unmet)


def test_sarif(checked: Checked) -> None:
    value = json.loads(renderer("sarif")(checked))
    published_schemas.validator("sarif-2.1.0.json").validate(value)
    (run,) = value["runs"]
    results = run["results"]
    assert len(results) == len(list(checked.findings)) + len(checked.unmet)
    ids = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert {r["ruleId"] for r in results} == set(ids)
    assert all(ids[r["ruleIndex"]] == r["ruleId"] for r in results if "ruleIndex" in r)
    assert all(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results)


def test_prometheus(checked: Checked) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    families = {f.name: f for f in text_string_to_metric_families(renderer("prometheus")(checked))}
    verdicts = {s.labels["gpu"]: s.value for s in families["tfdoctor_verdict"].samples}
    assert verdicts == {w: float(w == checked.report.verdict.gpu) for w in ("yes", "no", "unknown")}
    met = {s.labels["requirement"]: s.value for s in families["tfdoctor_requirement_met"].samples}
    assert met == {j.requirement.text: float(j.met) for j in checked.judgements}
    assert all(f.type == "gauge" and f.documentation for f in families.values())


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_by_its_linter(checked: Checked) -> None:
    import subprocess

    done = subprocess.run(
        ["promtool", "check", "metrics"], input=renderer("prometheus")(checked), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def annotations(text: str) -> list[tuple[str, str, str]]:
    """(command, title, message) as the runner reads a line of a log: the documented workflow commands."""
    found = []
    for line in text.split("\n")[:-1]:
        shape = re.fullmatch(r"::(\w+) title=([^,:]*)::(.*)", line, re.S)
        assert shape, line
        command, title, message = shape.groups()
        for code, sign in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            title = title.replace(code, sign)
            message = message.replace(code, sign) if code not in ("%3A", "%2C") else message
        found.append((command, title, message))
    return found


def test_github_annotations(checked: Checked) -> None:
    lines = annotations(renderer("github")(checked))
    assert len(lines) == 1 + len(checked.unmet) + len(list(checked.findings))
    assert lines[0][0] == "notice" and checked.report.verdict.summary in lines[0][2]
    assert sum(c == "error" for c, _t, _m in lines) == severities(checked, Severity.ERROR) + len(checked.unmet)
    assert [m for _c, _t, m in lines[1 + len(checked.unmet) :]] == [d.message for _o, d, _s in checked.findings]


def paragraphs(markdown: str) -> tuple[list[str], list[str]]:
    """(texts, code) that a Markdown reader sees; fails on HTML."""
    from markdown_it import MarkdownIt

    texts, code = [], []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(markdown):
        assert token.type != "html_block"
        if token.type == "fence":
            code.append(token.content)
        for child in token.children or ():
            assert child.type in ("text", "softbreak", "text_special", "code_inline"), child
        if token.type == "inline":
            texts.append("".join(c.content for c in token.children or ()))
    return texts, code


def readable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def test_markdown(checked: Checked) -> None:
    texts, code = paragraphs(renderer("markdown")(checked))
    for _outcome, diagnosis, _severity in checked.findings:
        assert readable(diagnosis.message) in texts
    rows = sum(text in ("met", "not-met", "unknown") for text in texts)
    assert rows == len(checked.judgements)
    assert len(code) == sum(
        1 for o, d, _s in checked.findings for f in d.fixes if not o.folded_under and (f.commands or f.environment)
    )


@given(st.text())
def test_whatever_a_message_looks_like_markdown_shows_it(text: str) -> None:
    texts, _code = paragraphs("x\n\n" + escape(text) + "\n")
    assert "".join(texts[1:]) == readable(text)


@given(st.text())
def test_no_text_breaks_a_format(text: str) -> None:
    from junitparser import JUnitXml

    checked = hostile(text)
    assert len(JUnitXml.fromstring(renderer("junit")(checked).encode())) == 2
    assert len(annotations(renderer("github")(checked))) == 5
    assert json.loads(renderer("sarif")(checked))["version"] == "2.1.0"
    renderer("text")(checked)


def test_three_states_of_a_fact_in_json() -> None:
    facts = json.loads(renderer("json")(Checked(check(RecordedHost(str(HOSTS[0]))))))["facts"]
    assert set(facts["smoke_results"]) == {"not_applicable"}
    lone = next(h for h in HOSTS if h.name.startswith("lone-"))
    facts = json.loads(renderer("json")(Checked(check(RecordedHost(str(lone))))))["facts"]
    assert set(facts["interpreter"]) == {"unavailable"}
    assert facts["driver"]["version"]


def test_all_formats_are_tested_here() -> None:
    assert set(FORMATS) == {"text", "json", "markdown", "junit", "sarif", "github", "prometheus"}
