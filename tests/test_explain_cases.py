"""Reports of real users with a confirmed cause, kept beside the checkout: how many `explain` gets right."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

from tfdoctor.known_errors import Catalogue, Explanation, explain
from tfdoctor.logs.given import KEYS, understand

#: Reports whose own lines say otherwise than the name they were filed under: this one loads cuDNN 7.1 for a build with 7.0.
CORRECTED = {"I039": "cudnn-runtime-newer-than-build"}
#: Shares that were reached on these reports; lower ones are a step back.
FIRST, AMONG_THREE, NAMED = 0.96, 1.0, 1.0


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    path = Path(__file__).resolve().parent.parent.parent / "shared" / "cases" / "reports.jsonl"
    if not path.is_file():
        pytest.skip("no reports beside this checkout")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def key_of(name: str) -> Optional[str]:
    """The key that a report's own name for it stands for: `tf` is tensorflow, `n_gpus` gpus, `install_method` install."""
    other = {"tf": "tensorflow", "n_gpus": "gpus", "install_method": "install"}.get(name, name)
    return other if other in KEYS else None


@pytest.fixture(scope="module")
def answers(reports: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Explanation]]:
    catalogue = Catalogue.load()
    told = []
    for report in reports:
        pairs = [f"{key_of(key)}={value}" for key, value in report["env"].items()]
        log = report["log"] if isinstance(report["log"], str) else "\n".join(report["log"])
        said = understand(pairs, catalogue.tables)
        told.append((report, explain(io.BytesIO(log.encode()), catalogue, given=said)))
    return told


def names(explanation: Explanation) -> Iterator[str]:
    """Every name, best first: causes before the rest, each with its alternatives."""
    seen = set()
    for answer in explanation.answers:
        for name in (answer.name, *answer.alternatives):
            if name not in seen:
                seen.add(name)
                yield name


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_causes(answers: list[tuple[dict[str, Any], Explanation]]) -> None:
    """A report that nobody was harmed by may still name a cause that is none of the harmless ones."""
    first, among_three, named = [], [], []
    for report, explanation in answers:
        if report["benign"]:
            continue
        ranked = list(names(explanation))
        top = next((a.name for a in explanation.answers if a.role == "cause"), "")
        right = CORRECTED.get(report["id"], report["class"])
        first.append(top == right)
        among_three.append(right in ranked[:3])
        named.append(right in ranked)
        if not first[-1]:
            print(f"{report['id']}: {right}, told {ranked[:4]}")
        assert all(len(answer.alternatives) <= 5 for answer in explanation.answers)
    print(f"first {share(first):.1%}, among three {share(among_three):.1%}, named {share(named):.1%} of {len(first)}")
    assert share(first) >= FIRST
    assert share(among_three) >= AMONG_THREE
    assert share(named) >= NAMED


def test_harmless_ones(answers: list[tuple[dict[str, Any], Explanation]]) -> None:
    wrong = [
        (report["id"], report["class"], [a.name for a in explanation.answers])
        for report, explanation in answers
        if report["benign"]
        and (any(a.role == "cause" for a in explanation.answers) or report["class"] not in names(explanation))
    ]
    assert not wrong
