"""A journal is on disk, whole, after every change, and says clearly when it is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdoctor.fixes import journal
from tfdoctor.model import BadInput


def begin(prefix: Path) -> journal.Journal:
    entries = [journal.Entry("Install numpy<2", ("TFD509",), (("python", "-m", "pip", "install", "numpy<2"),))]
    return journal.begin(str(prefix), "python", ["numpy==2.0"], entries, ["TFD509"])


def test_it_comes_back_as_written(tmp_path: Path) -> None:
    record = begin(tmp_path).having(state="applying").step(0, state="running")
    assert journal.read(record.folder) == record
    assert journal.find(str(tmp_path), None) == record
    assert journal.find(str(tmp_path), record.run) == record


def test_an_undone_run_is_not_found_again(tmp_path: Path) -> None:
    begin(tmp_path).having(state="undone")
    with pytest.raises(BadInput, match="no run"):
        journal.find(str(tmp_path), None)


def test_two_runs_in_one_second_are_two(tmp_path: Path) -> None:
    assert begin(tmp_path).run != begin(tmp_path).run


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}', '{"schema": 1}', '{"schema": 1, "entries": [1]}'])
def test_a_broken_one_is_named(tmp_path: Path, text: str) -> None:
    record = begin(tmp_path)
    (record.folder / "journal.json").write_text(text)
    with pytest.raises(BadInput, match=r"journal\.json"):
        journal.read(record.folder)


def test_an_unknown_run_is_named_with_the_known_ones(tmp_path: Path) -> None:
    known = begin(tmp_path).run
    with pytest.raises(BadInput, match=known):
        journal.find(str(tmp_path), "20000101-000000")


def test_old_runs_are_forgotten(tmp_path: Path) -> None:
    made = [begin(tmp_path).run for _ in range(5)]
    journal.forget_old(str(tmp_path))
    assert [p.name for p in journal.runs(str(tmp_path))] == sorted(made)[-journal.KEPT_RUNS :]
