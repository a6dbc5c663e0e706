"""The one sentence in which a package tool says why it did not succeed."""

from __future__ import annotations

from typing import Optional

from tfdoctor.children import Completed
from tfdoctor.i18n import _

MOST = 400  # characters of a tool's own words
#: What pip, uv and conda print when the index, or the way to it, does not answer.
UNREACHABLE = (
    "newconnectionerror",
    "connection refused",
    "failed to establish a new connection",
    "temporary failure in name resolution",
    "name or service not known",
    "error sending request",
    "failed to fetch",
    "condahttperror",
    "network is unreachable",
    "readtimeouterror",
    "connecttimeouterror",
    "proxyerror",
)
#: pip's words when the index lists no version at all; with its retries used up it says no more than that either.
NOTHING = ("(from versions: none)",)
FULL = ("no space left on device", "file too large", "disk quota exceeded")
#: Prefixes of lines that state the error itself.
ERRORS = ("error", "×", "x ", "fatal", "because", "╰─▶ because")


def why_not(done: Optional[Completed]) -> str:
    """Why a package tool's run came to nothing."""
    if done is None:
        return _("the package tool could not be started")
    if done.timed_out:
        return _("the package tool did not come to an end")
    lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    lower = [line.lower() for line in lines]
    full = _first(lines, lower, FULL)
    if full:
        return _("the disk is full ({words})").format(words=full)
    unreachable = _first(lines, lower, UNREACHABLE)
    if unreachable:
        return _("the package index could not be reached ({words})").format(words=unreachable)
    nothing = _first(lines, lower, NOTHING)
    if nothing:
        return _("{words}: the package index has none for this Python and machine, or it did not answer").format(
            words=nothing
        )
    stated = [line for line, small in zip(lines, lower) if small.startswith(ERRORS)]
    words = stated or lines[-1:] or [_("exit code {code}").format(code=done.code)]
    return " ".join(words[:3])[:MOST]


def _first(lines: list[str], lower: list[str], signs: tuple[str, ...]) -> str:
    return next((line[:MOST] for line, small in zip(lines, lower) if any(sign in small for sign in signs)), "")
