"""Known messages in a log, in two passes: a multi-pattern matcher finds lines with known words, regular expressions
are tried on those lines only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tfdoctor.logs.reader import Block
from tfdoctor.tables.log_rows import KnownError

#: Line numbers kept for one message. The count goes on, so that memory stays constant.
KEPT_LINES = 1000
#: Error-like lines kept for a log in which nothing is known.
KEPT_ODD = 20
#: Characters of a line that a regular expression sees, around the words: a bound on its time.
_BEFORE, _AFTER = 1024, 4096

#: What makes a line look like an error. Second half: the expression that decides.
_ODD_WORDS = ("Error", "ERROR", " error:", "FATAL", "Fatal", "fatal:", "Traceback (most", "Exception", " E tensorflow", " F tensorflow",
              " E external", " F external", "Segmentation fault", "core dumped", "Aborted", "NVRM:", " WARN ", "failed with", "Killed",
              "] Failed", " failed", "E0", "F0", "CRITICAL")
_ODD = re.compile(
    r"(?<![\w.])(?:\w{0,60}Error|ERROR|error|FATAL|Fatal|fatal|\w{0,60}Exception)\b ?[:(\]]|\b(?:FATAL|CRITICAL|ERROR)\b"
    r"|Traceback \(most|(?:^|\s)[EF] (?:tensorflow|external)/|^[EF]\d{4} \d\d:|Segmentation fault|core dumped|^Aborted|^Killed"
    r"|NVRM:|NCCL WARN|(?:Failed|failed) (?:to|call)|failed with"
)


@dataclass
class Found:
    """A known message as the log has it: how often, the first line numbers, the first text, what it states."""

    row: KnownError
    text: str
    count: int = 0
    lines: list[int] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    def add(self, line: int, values: dict[str, str]) -> None:
        """One more occurrence; what the first one did not state, a later one may."""
        self.count += 1
        if len(self.lines) < KEPT_LINES:
            self.lines.append(line)
        for name, value in values.items():
            self.values.setdefault(name, value)


@dataclass(frozen=True)
class Scan:
    """What a log holds: its number of lines, the known messages in order of appearance, lines that look like errors
    though no known message is in them (number, text)."""

    lines: int
    found: tuple[Found, ...]
    odd: tuple[tuple[int, str], ...]


class Matcher:
    """The known messages, ready to be looked for."""

    def __init__(self, rows: Iterable[KnownError]) -> None:
        import ahocorasick_rs

        self._rows = tuple(rows)
        self._patterns = [re.compile(row.pattern, re.IGNORECASE if row.pattern.startswith("(?i)") else 0) for row in self._rows]
        words: dict[str, list[int]] = {}
        for index, row in enumerate(self._rows):
            for word in row.words:
                words.setdefault(word, []).append(index)
        for word in _ODD_WORDS:
            words.setdefault(word, [])
        self._owners = list(words.values())
        self._words = list(words)
        self._automaton = ahocorasick_rs.BytesAhoCorasick([w.encode() for w in words])
        kept = [i for i, owners in enumerate(self._owners) if owners]
        self._known_only = ahocorasick_rs.BytesAhoCorasick([self._words[i].encode() for i in kept])
        self._known_owners = [self._owners[i] for i in kept]

    def scan(self, blocks: Iterable[Block]) -> Scan:
        """Look through a log."""
        found: dict[int, Found] = {}
        odd: list[tuple[int, str]] = []
        lines = 0
        for block in blocks:
            lines = block.first_line - 1 + block.lines + (not block.text.endswith(b"\n"))
            for number, start, end, rows in self._candidates(block, len(odd) < KEPT_ODD):
                text = _text(block.text, start, end)
                known = False
                for index in rows:
                    known = self._try(index, block, number, start, end, found) or known
                if not known and len(odd) < KEPT_ODD and _ODD.search(text):
                    odd.append((number, text))
        order = sorted(found.values(), key=lambda f: (f.lines[0], self._rows.index(f.row)))
        return Scan(lines, tuple(order), tuple(odd))

    def _candidates(self, block: Block, with_odd: bool) -> Iterator[tuple[int, int, int, list[int]]]:
        """(line number, start, end, rows whose words are there) of the lines with known words."""
        text = block.text
        automaton, owners = (self._automaton, self._owners) if with_odd else (self._known_only, self._known_owners)
        hits = automaton.find_matches_as_indexes(text, overlapping=True)
        hits.sort(key=lambda hit: hit[1])
        number, counted = block.first_line, 0
        start, end, rows = 0, -1, []
        for word, at, _end in hits:
            if at >= end:
                if end >= 0:
                    yield number, start, end, rows
                start = text.rfind(b"\n", 0, at) + 1
                number += text.count(b"\n", counted, start)
                counted = start
                end = text.find(b"\n", at)
                end = len(text) if end < 0 else end
                rows = []
            rows.extend(r for r in owners[word] if r not in rows)
        if end >= 0:
            yield number, start, end, rows

    def _try(self, index: int, block: Block, number: int, start: int, end: int, found: dict[int, Found]) -> bool:
        row = self._rows[index]
        for _more in range(row.span - 1):
            following = block.text.find(b"\n", end + 1)
            end = following if following >= 0 else len(block.text)
        if end - start > _AFTER:
            start, end = self._window(row, block.text, start, end)
        text = _text(block.text, start, end)
        match = self._patterns[index].search(text)
        if match is None:
            return False
        if index not in found:
            found[index] = Found(row, text.partition("\n")[0] if row.span == 1 else text.strip())
        found[index].add(number, {k: v for k, v in match.groupdict().items() if v})
        return True

    @staticmethod
    def _window(row: KnownError, text: bytes, start: int, end: int) -> tuple[int, int]:
        """The part of a very long line around the row's words."""
        places = [p for p in (text.find(w.encode(), start, end) for w in row.words) if p >= 0]
        place = min(places, default=start)
        return max(start, place - _BEFORE), min(end, place + _AFTER)


def _text(block: bytes, start: int, end: int) -> str:
    """A line as text, at most _BEFORE + _AFTER characters of it, without its line end."""
    return block[start : min(end, start + _BEFORE + _AFTER)].decode("utf-8", errors="replace").rstrip("\r\n")
