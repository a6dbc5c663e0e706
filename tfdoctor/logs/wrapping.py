"""Lines that a terminal cut at its width, put together again: what people copy from a screen is such a log."""

from __future__ import annotations

import re

#: Columns that a terminal may have. Narrower, and lines of one length are a table; wider, and they are a log's own.
_NARROWEST, _WIDEST = 79, 250
#: The width that terminals have unless somebody changes it: here one full line is enough to tell.
_USUAL = 80

#: How a line begins that is no other's rest: a date, a level, an indented or empty line, a table, a list, a prompt, a traceback.
_NEW = re.compile(
    r"\d{4}-\d\d-\d\d|\[ *\d+\.\d|[EFIW]\d{4} \d\d:|[EFIW] \w+/|(?:DEBUG|INFO|WARNING|ERROR|FATAL|CRITICAL)[: ]|\s\s|\t|[-*] |\r?$|\||\+-|>>> |\$ |Traceback|\w+Error: "
)
#: What others write before each line of a program: quotation marks of a mail or a bug report, time stamps, the names of
#: containers, pods, workers and MPI ranks, systemd's and a notebook's columns. A message may begin after it.
PREFIX = re.compile(
    r"^(?:[ \t]{1,8}|[>#]{1,2}> ?|[>`]{1,3} ?|\[\d+,\d+\]<std(?:out|err|diag)>: ?|[\w.-]{1,60}[ ]{0,20}\| "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,12}(?:Z|[+-]\d\d:?\d\d)? ?|std(?:out|err) [FP] |\[[^\]\n]{1,80}\] |\{[^}\n]{1,80}\} "
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR)(?: ?[:-] ?| {1,5}\| | )|\([\w .=:,-]{1,80}\) |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,80} \S{1,80}: "
    r"|#\d{1,4} (?:\d+\.\d+ )?|\d+\.\d+s\s{1,8}\d+ |\d{1,4}: ){1,4}",
    re.MULTILINE,
)
#: How a line ends that is complete whatever its length: a table's border.
_CLOSED = re.compile(r"(?:[|+]|={3}|-{3})\r?$")


def unwrapped(text: bytes) -> bytes:
    """`text` with each cut line and its rest on one line, where it looks like a copy from a terminal; else `text`.

    The line ends taken away come back as empty lines, so that every line keeps its number."""
    lines = text.decode("utf-8", errors="surrogateescape").split("\n")
    width = max((len(line.rstrip("\r")) for line in lines), default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return text
    cut = [_cut(line, after, width) for line, after in zip(lines, lines[1:])] + [False]
    if len({line for line, is_cut in zip(lines, cut) if is_cut}) < (1 if width == _USUAL else 2):
        return text
    joined: list[str] = []
    whole = ""
    empty = 0
    for line, is_cut in zip(lines, cut):
        whole += line.rstrip("\r") if is_cut else line
        if is_cut:
            empty += 1
        else:
            joined += [whole, *[""] * empty]
            whole, empty = "", 0
    return "\n".join(joined).encode("utf-8", errors="surrogateescape")


def _cut(line: str, after: str, width: int) -> bool:
    """Whether `after` is the rest of `line`."""
    full = len(line.rstrip("\r")) == width
    return (
        full and line != after and not _CLOSED.search(line) and not _NEW.match(after) and not _both_begin(line, after)
    )


def _both_begin(line: str, after: str) -> bool:
    """Whether the same was written before both lines, but for its numbers: then the second one is no rest."""
    first, second = (
        re.sub(r"\d", "0", found.group()) if (found := PREFIX.match(text)) else "" for text in (line, after)
    )
    return first == second and bool(first.strip())
