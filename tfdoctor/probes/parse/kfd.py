"""AMD's compute driver: /sys/class/kfd/kfd/topology/nodes/*/properties, and `rocm-smi --showallinfo --json`."""

from __future__ import annotations

import json
import re


def gfx(properties: str) -> str:
    """`gfx_target_version 90402` -> "gfx942"; "" for a processor node (0) or when it is not told."""
    found = re.search(r"^gfx_target_version\s+([0-9]{1,8})\s*$", properties, re.M)
    number = int(found.group(1)) if found else 0
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}" if number else ""


def smi(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """((name, gfx target) of each card, driver version) from rocm-smi's JSON, warnings around it ignored."""
    try:
        answer = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return (), ""
    if not isinstance(answer, dict):
        return (), ""
    cards = [v for k, v in answer.items() if re.match(r"card[0-9]", k) and isinstance(v, dict)]
    system = answer.get("system")
    driver = system.get("Driver version", "") if isinstance(system, dict) else ""
    return tuple(
        (_one(c, "Device Name", "Card Series", "Card series", "Card model"), _one(c, "GFX Version")) for c in cards
    ), str(driver)


def _one(card: dict[str, object], *names: str) -> str:
    return next((str(card[n]) for n in names if card.get(n) not in (None, "N/A", "")), "")
