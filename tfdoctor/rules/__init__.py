"""One root cause, one diagnosis, one file. Codes: TFD and three digits, by layer from the bottom up."""

from __future__ import annotations

from collections.abc import Mapping

#: Layer (first digit of the code) -> folder. Layer 9 are harmless messages: rows of compat/known_errors.json, no rules.
LAYERS: Mapping[str, str] = {
    "0": "itself",
    "1": "hardware",
    "2": "driver",
    "3": "libraries",
    "4": "python",
    "5": "tensorflow",
    "6": "configuration",
    "7": "speed",
    "8": "distributed",
}

#: Codes that are no longer used -> (name that it had, why, code that stands for it now or ""). A code is never used again.
RETIRED: Mapping[str, tuple[str, str, str]] = {}
