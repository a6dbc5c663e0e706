"""Shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"


@pytest.fixture
def shared() -> Path:
    """Captures and evidence kept beside the checkout; tests that read them rest where they are not."""
    if not SHARED.is_dir():
        pytest.skip("no shared captures beside this checkout")
    return SHARED
