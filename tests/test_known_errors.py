"""The two tables of `explain`: every row proves itself, and none points where it should not."""

from __future__ import annotations

import io
import re
import time

import printed
import pytest

from tfdoctor.engine import all_rules
from tfdoctor.logs.matcher import Matcher
from tfdoctor.logs.reader import AHEAD, blocks
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownCause, KnownError

TABLES = Tables()
ROWS = TABLES.rows(KnownError)
CAUSES = {cause.name: cause for cause in TABLES.rows(KnownCause)}
RULES = {rule.code: rule for rule in all_rules()}


def matches(row: KnownError, text: str) -> bool:
    return any(word in text for word in row.words) and re.search(row.pattern, text, re.MULTILINE) is not None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_an_example_matches_its_own_row(row: KnownError) -> None:
    assert any(word in row.example for word in row.words)
    assert re.search(row.pattern, row.example, re.MULTILINE)
    assert row.example.count("\n") < row.span <= AHEAD + 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_alternative_of_a_pattern_has_a_word(row: KnownError) -> None:
    """The pattern is only tried where a word is: what has none would never be found."""
    without = {text for text in printed.texts(row.pattern, 300) if not any(word in text for word in row.words)}
    assert not without


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_word_is_one_that_the_pattern_lets_through(row: KnownError) -> None:
    """A word of lines that the pattern never takes finds nothing, and hides that a wording is missing from the pattern."""
    texts = {re.sub(r" +", " ", text) for text in (*printed.texts(row.pattern, 600), row.example)}
    case = re.IGNORECASE if "(?i" in row.pattern else re.UNICODE
    for word in row.words:
        letters = "".join(f"(?:{re.escape(c)}|{printed.ANY}+)" for c in re.sub(r" +", " ", word))
        assert any(re.search(letters, text, case) for text in texts), word


def test_an_alternative_without_a_word_is_seen() -> None:
    texts = set(printed.texts("no [Gg]pu(?: found)?|is (?:absent|gone)", 50))
    assert texts == {"no Gpu", "no gpu", "no Gpu found", "no gpu found", "is absent", "is gone"}


@pytest.mark.parametrize("row", [r for r in ROWS if r.role != "fact"], ids=lambda row: row.id)
def test_an_example_matches_no_row_of_another_cause(row: KnownError) -> None:
    mine = {meaning.cause for meaning in row.means}
    others = [o for o in ROWS if o is not row and o.role != "fact" and o.means and matches(o, row.example)]
    strangers = [o.id for o in others if mine and o.means[0].cause not in mine]
    assert not strangers


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_is_sound(row: KnownError) -> None:
    assert row.role in ("cause", "consequence", "harmless", "fact")
    assert row.words and all(len(word) > 1 or row.role == "fact" for word in row.words)
    assert all(1 <= meaning.weight <= 100 and meaning.cause in CAUSES for meaning in row.means)
    assert [m.weight for m in row.means] == sorted((m.weight for m in row.means), reverse=True)
    assert bool(row.means) or row.role in ("fact", "consequence")
    if row.role == "harmless":
        assert CAUSES[row.means[0].cause].harmless
    if row.role == "cause":
        assert not CAUSES[row.means[0].cause].harmless or row.means[0].cause == "no-gpu-machine"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_pattern_takes_linear_time(row: KnownError) -> None:
    """Four times the text takes about four times as long, whatever it is made of; a blow-up would take sixteen or more.

    The matcher shows a pattern 5120 characters at most, so that even a quadratic one would end: this keeps it cheap."""
    pattern = re.compile(row.pattern, re.MULTILINE)
    for filler in ("a", " ", "0", "a.", "/", "= ", "\\", "a b ", row.words[0], row.example + " "):
        text = (filler * 5000)[:5120]
        start = time.process_time()
        pattern.search(text)
        assert time.process_time() - start < 0.5  # a pattern that backtracks exponentially takes hours here


@pytest.mark.parametrize("cause", CAUSES.values(), ids=lambda cause: cause.name)
def test_a_cause_is_sound(cause: KnownCause) -> None:
    ids = {row.id for row in ROWS}
    for clue in cause.clues:
        assert clue.then or clue.otherwise
        if clue.fact == "seen":
            assert set(clue.fits.split("|")) <= ids
        elif clue.fits[:1] not in "<>=!~":
            re.compile(clue.fits)
    for condition in cause.mild:
        if condition.fact == "unseen":
            assert set(condition.fits.split("|")) <= ids
    assert cause.says if cause.harmless else cause.look
    assert cause.code.startswith("TFD9") == cause.name.startswith("benign-") or cause.harmless


def test_codes_and_names_are_unique_and_those_of_the_rules() -> None:
    codes = [cause.code for cause in CAUSES.values()]
    assert len(codes) == len(set(codes))
    for cause in CAUSES.values():
        rule = RULES.get(cause.code)
        assert rule is None or rule.name == cause.name


def test_a_retired_name_is_no_living_one() -> None:
    retired = [name for cause in CAUSES.values() for name in cause.formerly]
    assert len(retired) == len(set(retired))
    assert not set(retired) & set(CAUSES)


def test_the_matcher_finds_every_example() -> None:
    matcher = Matcher(ROWS)
    missing = [
        row.id
        for row in ROWS
        if row.id not in {item.row.id for item in matcher.scan(blocks(io.BytesIO(row.example.encode()))).found}
    ]
    assert not missing
