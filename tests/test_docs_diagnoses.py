"""docs/diagnoses/ is what `tfdoctor explain CODE` prints."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tfdoctor.pages import all_pages
from tfdoctor.tables import Tables

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = all_pages(Tables())
SECTIONS = ("What it is", "How it shows", "How to be sure", "What to do")


def test_the_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location("build_docs", REPOSITORY / "scripts" / "build_docs.py")
    assert spec is not None and spec.loader is not None
    build_docs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_docs)
    wanted = build_docs.documents(PAGES)
    have = {path.name: path.read_text(encoding="utf-8") for path in build_docs.FOLDER.glob("*.md")}
    different = sorted(name for name in wanted.keys() | have.keys() if wanted.get(name) != have.get(name))
    assert not different, "run python scripts/build_docs.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_a_page_says_what_it_is_and_what_to_do(page: object) -> None:
    text = page.text  # type: ignore[attr-defined]
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert [h for h in headings if h in SECTIONS] == [s for s in SECTIONS if s in headings]
    assert {"What it is", "What to do"} <= set(headings)
