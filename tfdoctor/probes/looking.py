"""Looking at several places of which not all can be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, Optional, TypeVar

from tfdoctor.host import Host
from tfdoctor.model import Unavailable

T = TypeVar("T")


def if_told(look: Callable[..., Optional[T]], *arguments: Any) -> Optional[T]:
    """What `look(*arguments)` saw; None when it saw nothing or could not look: for a value whose absence means "not told"."""
    try:
        return look(*arguments)
    except Unavailable:
        return None


def is_there(host: Host, path: str) -> Optional[bool]:
    """Whether there is something of this path; None when it could not be looked at."""
    return if_told(lambda: host.stat(path) is not None)


def text(host: Host, path: str) -> str:
    """The text of a file, stripped; "" when there is none or it could not be read."""
    return (if_told(host.read, path) or "").strip().strip("\0")


def first_text(host: Host, paths: Iterable[str]) -> tuple[str, str]:
    """(path, text) of the first file that is there; ("", "") when all were seen to be absent.

    Raises Unavailable when none was seen and one of them could not be looked at."""
    reason = None
    for path in paths:
        try:
            found = host.read(path)
        except Unavailable as why:
            reason = reason or why
            continue
        if found is not None:
            return path, found
    if reason is not None:
        raise reason
    return "", ""


def globbed(host: Host, patterns: Iterable[str]) -> tuple[str, ...]:
    """Every path that matches one of `patterns`, in their order. Raises Unavailable when none matched and one of them
    could not be looked at."""
    found: dict[str, None] = {}
    reason = None
    for pattern in patterns:
        try:
            found.update(dict.fromkeys(host.glob(pattern)))
        except Unavailable as why:
            reason = reason or why
    if not found and reason is not None:
        raise reason
    return tuple(found)
