"""The catalogue as a whole: every rule is where its code says, explained, tested, and linked only to what exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tfdoctor import engine
from tfdoctor.model import Rule
from tfdoctor.rules import LAYERS, RETIRED

REPOSITORY = Path(__file__).resolve().parent.parent
RULES = engine.all_rules()
HEADINGS = ("What it is", "How it shows", "How to be sure", "What to do", "References")
KNOWN = REPOSITORY.parent / "shared" / "knowledge" / "root_causes.json"


def source(rule: Rule) -> Path:
    return Path(rule.check.__code__.co_filename)


@pytest.fixture(params=RULES, ids=lambda rule: rule.code)
def rule(request: pytest.FixtureRequest) -> Rule:
    return request.param  # type: ignore[no-any-return]


def test_codes_and_names_are_used_once() -> None:
    codes = [r.code for r in RULES]
    names = [r.name for r in RULES]
    assert len(set(codes)) == len(codes) and len(set(names)) == len(names)
    assert not set(codes) & set(RETIRED)


def test_file_says_code_and_name(rule: Rule) -> None:
    assert re.fullmatch(r"TFD[0-8]\d\d", rule.code)
    assert source(rule).stem == f"{rule.code.lower()}_{rule.name.replace('-', '_').replace('.', '_')}"


def test_folder_says_the_layer(rule: Rule) -> None:
    assert source(rule).parent.name == LAYERS[rule.code[3]]


def test_one_rule_in_a_file() -> None:
    files = [source(r) for r in RULES]
    assert len(set(files)) == len(files)
    assert set((REPOSITORY / "tfdoctor" / "rules").glob("*/tfd*.py")) == set(files)


def test_explained(rule: Rule) -> None:
    assert re.findall(r"^## (.+)$", rule.explanation, re.M) == list(HEADINGS)
    for heading in HEADINGS:
        assert len(rule.section(heading)) >= 20, heading
    assert rule.title.endswith(".") and len(rule.title.split()) > 4, rule.title


def test_explanation_is_neither_a_stub_nor_an_essay(rule: Rule) -> None:
    assert 14 <= len(rule.explanation.splitlines()) <= 60


def test_references_are_links(rule: Rule) -> None:
    entries = [line for line in rule.section("References").splitlines() if line.strip()]
    assert entries
    for entry in entries:
        assert re.fullmatch(r"- https://[\w.-]+/\S*", entry.strip()), entry


def test_nothing_private_or_loud(rule: Rule) -> None:
    text = source(rule).read_text(encoding="utf-8")
    registry = "py" + "pi." + "org"
    home = "/" + "root/"
    workplace = "/" + "work/"
    assert not [word for word in (registry, home, workplace) if word in text]
    strings = re.findall(r'_\(\s*["\'](.*?)["\']\s*\)', text, re.S)
    assert not [s for s in strings if "!" in s]


def test_causes_are_lower_and_exist(rule: Rule) -> None:
    codes = {r.code for r in RULES}
    for cause in rule.caused_by:
        assert cause < rule.code, f"{rule.code} cannot be caused by {cause}"
        assert cause in codes


def test_it_has_a_test_of_its_own(rule: Rule) -> None:
    test = REPOSITORY / "tests" / "rules" / f"test_{source(rule).stem}.py"
    assert test.is_file()
    assert "def test_" in test.read_text(encoding="utf-8")


def test_a_rule_that_only_a_log_shows_does_not_block(rule: Rule) -> None:
    assert not (rule.log_only and rule.blocks)


def test_a_retired_code_names_its_successor() -> None:
    codes = {r.code for r in RULES}
    for code, (name, why, successor) in RETIRED.items():
        assert re.fullmatch(r"TFD\d{3}", code) and name and why
        assert successor == "" or successor in codes


@pytest.mark.skipif(not KNOWN.is_file(), reason="the collected root causes are not here")
def test_every_collected_root_cause_is_a_diagnosis() -> None:
    """By its given name: a rule, a harmless message of the known errors, or retired with a successor."""
    known = {entry["name"] for entry in json.loads(KNOWN.read_text(encoding="utf-8"))}
    have = {r.name for r in RULES} | {name for name, _why, _successor in RETIRED.values()}
    messages = REPOSITORY / "compat" / "known_errors.json"
    if messages.is_file():
        have |= set(re.findall(r'"([a-z0-9][a-z0-9.-]+)"', messages.read_text(encoding="utf-8")))
    else:
        known = {name for name in known if not name.startswith("benign-")} - {"ptxas-version-check-false-alarm"}
    assert sorted(known - have) == []
