"""What pip, uv and conda print, as one sentence. The texts are theirs, shortened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.children import Completed
from tfdoctor.fixes.words import why_not

REFUSED = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('[Errno 111] Connection refused')'"


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            REFUSED + "\nERROR: Could not find a version that satisfies numpy<2 (from versions: none)",
            "could not be reached",
        ),
        (
            "error: Failed to fetch: `http://h/simple/numpy/`\n  Caused by: error sending request",
            "could not be reached",
        ),
        ("CondaHTTPError: HTTP 000 CONNECTION FAILED", "could not be reached"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: Cannot install a and b because these package versions have conflicting dependencies.", "conflicting"),
        (
            "x No solution found when resolving dependencies:\n  Because a needs b<2, we can conclude",
            "No solution found",
        ),
        ("ERROR: Could not find a version that satisfies x (from versions: none)", "has none for this Python"),
        ("", "exit code 1"),
    ],
)
def test_the_reason(printed: str, said: str) -> None:
    assert said in why_not(Completed("", printed, 1))


def test_without_a_word() -> None:
    assert "could not be started" in why_not(None)
    assert "did not come to an end" in why_not(Completed("", "", None, timed_out=True))


@given(st.text(), st.text())
def test_any_text_is_one_short_line(out: str, err: str) -> None:
    text = why_not(Completed(out, err, 1))
    assert text
    assert len(text) < 1000
