"""/proc/self/limits."""

from __future__ import annotations

import re
from typing import Optional


def locked_memory(text: str) -> Optional[tuple[Optional[int]]]:
    """The soft limit of `Max locked memory` in bytes, in a tuple: (None,) is "unlimited"; None when it is not told."""
    found = re.search(r"^Max locked memory\s+(unlimited|[0-9]{1,20})\s", text, re.M)
    if found is None:
        return None
    return (None,) if found.group(1) == "unlimited" else (int(found.group(1)),)
