"""Known messages in a log, in two passes: a multi-pattern matcher finds lines with known words, regular expressions
are tried on those lines only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Optional

from tfdoctor.logs.reader import Block
from tfdoctor.logs.wrapping import PREFIX
from tfdoctor.tables.log_rows import KnownError

#: Line numbers kept for one message. The count goes on, so that memory stays constant.
KEPT_LINES = 200
#: A message that was there so many times is not looked for any longer, but in the last lines: a log that repeats one
#: line stays fast.
ENOUGH = 200
#: The same for a message that only states facts, or that is harmless.
ENOUGH_MILD = 100
#: A message whose words were in so many lines in vain, for each time that it was there, is looked for in one block of
#: SAMPLED only, and in the last lines, where a program that failed says why.
IN_VAIN, SAMPLED = 5000, 32
#: Last lines of a log in which everything is looked for.
LAST_LINES = 2000
#: Error-like lines kept for a log in which nothing is known.
KEPT_ODD = 20
#: Characters of a line that a regular expression sees, around the words: a bound on its time.
_BEFORE, _AFTER = 1024, 4096

#: What people write before a message that they do not have, or ask about others: it ends where the message begins.
_DENIED = re.compile(
    r"(?:\b(?:no longer|(?:do|does|did)(?: not|n['’]t)|don['’]t|doesn['’]t|didn['’]t|never|without|not)\s+(?:(?:get|gets|got|getting|see|sees|saw|have|has|had"
    r"|print|prints|show|shows|throw|throws|any|a|an|the|this|that|more|of|about|with|error|message|is|be|been)\s+){0,4}"
    r"|\b(?:got rid of|instead of|rather than|fixe[sd]|solve[sd]|unlike|used to (?:get|see|have|print|show))\s+(?:(?:a|an|the|this|that|my|error|message)\s+){0,3})"
    r"['\"`‘“*_]{0,3}$",
    re.IGNORECASE,
)
#: What they write after one.
_GONE = re.compile(
    r"['\"`’”*_.,]{0,3}\s+(?:error |message |warning )?(?:any ?more|is gone|are gone|went away|has gone|disappeared|is fixed|is solved)\b",
    re.I,
)
#: How far before and after a message such words are looked for (characters).
_NEAR = 80

#: What makes a line look like an error. Second half: the expression that decides.
_ODD_WORDS = (
    "CUDNN_STATUS_",
    "CUBLAS_STATUS_",
    "Error",
    "ERROR",
    " error:",
    "\nerror:",  # never "error:", which every line with mean_absolute_error: has
    "FATAL",
    "Fatal",
    "fatal:",
    "Traceback (most",
    "Exception",
    " E tensorflow",
    " F tensorflow",
    " E external",
    " F external",
    "Segmentation fault",
    "core dumped",
    "Aborted",
    "NVRM:",
    " WARN ",
    "failed with",
    "Killed",
    "] Failed",
    " failed",
    "E0",
    "F0",
    "CRITICAL",
)
_ODD = re.compile(
    r"(?<![\w.])(?:\w{0,60}Error|ERROR|error|FATAL|Fatal|fatal|\w{0,60}Exception)\b ?[:(\]]|\b(?:FATAL|CRITICAL|ERROR)\b"
    r"|Traceback \(most|(?:^|\s)[EF] (?:tensorflow|external)/|^[EF]\d{4} \d\d:|Segmentation fault|core dumped|^Aborted|^Killed"
    r"|NVRM:|NCCL WARN|(?:Failed|failed) (?:to|call)|failed with|\b(?:CUDA_ERROR|CUDNN_STATUS|CUBLAS_STATUS|NVML_ERROR)_(?!SUCCESS)"
)


@dataclass
class Found:
    """A known message as the log has it: how often (`more`: at least), the first line numbers and the last, the first
    text, what it states."""

    row: KnownError
    text: str
    count: int = 0
    more: bool = False
    last: int = 0
    lines: list[int] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    def add(self, line: int, values: dict[str, str]) -> None:
        """One more occurrence; what the first one did not state, a later one may."""
        self.count += 1
        self.last = line
        self.more = self.more or self.count >= (ENOUGH_MILD if self.row.role in ("fact", "harmless") else ENOUGH)
        if len(self.lines) < KEPT_LINES:
            self.lines.append(line)
        for name, value in values.items():
            self.values.setdefault(name, value)


class _Words:
    """The words of some rows (by their indices) in one multi-pattern matcher, with those of odd lines if wanted."""

    def __init__(self, all_rows: Sequence[KnownError], rows: Iterable[int], *, odd: bool) -> None:
        import ahocorasick_rs

        self.rows = tuple(rows)
        self.odd = odd
        owners: dict[str, list[int]] = {}
        for index in self.rows:
            for word in all_rows[index].words:
                owners.setdefault(word, []).append(index)
        for word in _ODD_WORDS if odd else ():
            owners.setdefault(word, [])
        self._owners = [*owners.values(), []]
        self._automaton = ahocorasick_rs.BytesAhoCorasick([word.encode() for word in owners])

    def candidates(self, block: Block) -> Iterator[tuple[int, int, int, list[int]]]:
        """(line number, start, end, rows whose words are there) of the lines with known words."""
        text, owners = block.text, self._owners
        hits = self._automaton.find_matches_as_indexes(text, overlapping=True)
        hits.sort(key=lambda hit: hit[1])
        number, start, end, rows = block.first_line, 0, -1, list[int]()
        if self.odd and text.startswith(b"error:"):  # the one begin of a line that no line end stands before
            hits.insert(0, (len(owners) - 1, 0, 0))
        for word, at, _past in hits:
            at += text[at] == 10  # a word that begins with the line end before it
            if at >= block.own:
                break
            if at >= end:
                if end >= 0:
                    yield number, start, end, rows
                last, start = start, text.rfind(b"\n", 0, at) + 1
                number += text.count(b"\n", last, start)
                end = text.find(b"\n", at)
                end = len(text) if end < 0 else end
                rows = []
            rows.extend(index for index in owners[word] if index not in rows)
        if end >= 0:
            yield number, start, end, rows


@dataclass(frozen=True)
class Scan:
    """What a log holds: its number of lines, the known messages in order of appearance, lines that look like errors
    though no known message is in them (number, text)."""

    lines: int
    found: tuple[Found, ...]
    odd: tuple[tuple[int, str], ...]


@dataclass
class _Look:
    """One look through a log: what was found, and how often words were there in vain."""

    found: dict[int, Found] = field(default_factory=dict)
    odd: list[tuple[int, str]] = field(default_factory=list)
    vain: dict[int, int] = field(default_factory=dict)
    odd_vain: int = 0

    def tired(self, index: int) -> bool:
        """Whether the words of a row say too little in this log to look at each of their lines."""
        hits = self.found[index].count if index in self.found else 0
        return self.vain.get(index, 0) >= IN_VAIN * (hits + 1)

    def enough(self, index: int) -> bool:
        """Whether a row's message was there so often that more of it says nothing new."""
        return index in self.found and self.found[index].more

    def wants(self, index: int, sample: bool) -> bool:
        """Whether a row is to be looked for; `sample`: also where its words are mostly in vain."""
        return not self.enough(index) and (sample or not self.tired(index))

    def wants_odd(self, sample: bool) -> bool:
        """Whether lines that look like errors are still wanted."""
        return len(self.odd) < KEPT_ODD and (sample or self.odd_vain < IN_VAIN)

    def note_odd(self, number: int, text: str) -> None:
        """Keep a line in which nothing is known, if it looks like an error."""
        if _ODD.search(text) is not None:
            self.odd.append((number, text))
        else:
            self.odd_vain += 1

    def result(self, lines: int) -> Scan:
        """What came of it."""
        for index, item in self.found.items():
            item.more = item.more or self.tired(index)
        order = sorted(self.found.items(), key=lambda pair: (pair[1].lines[0], pair[0]))
        return Scan(lines, tuple(item for _index, item in order), tuple(self.odd))


class Matcher:
    """The known messages, ready to be looked for."""

    def __init__(self, rows: Iterable[KnownError]) -> None:
        self._rows = tuple(rows)
        self._patterns = [re.compile(row.pattern, re.MULTILINE) for row in self._rows]
        self._lines_begin = [row.span > 1 or re.search(r"(?<!\[)\^", row.pattern) is not None for row in self._rows]
        self._everything = _Words(self._rows, range(len(self._rows)), odd=True)

    def scan(self, blocks: Iterable[Block]) -> Scan:
        """Look through a log."""
        look = _Look()
        lines = 0
        words = self._everything
        for number, (block, last) in enumerate(_with_last(blocks)):
            lines = block.first_line - 1 + block.lines + (block.text[block.own - 1 : block.own] != b"\n")
            sample = number % SAMPLED == SAMPLED - 1
            words = self._everything if last else self._wanted(words, look, sample)
            self._look_at(block, words, look, sample, lines - LAST_LINES if last else None)
        return look.result(lines)

    def _look_at(self, block: Block, words: _Words, look: _Look, sample: bool, whole_after: Optional[int]) -> None:
        """Look through a block; after the line `whole_after` for everything, before it for what is still wanted."""
        for number, start, end, rows in words.candidates(block):
            whole = whole_after is not None and number > whole_after
            known = False
            for index in rows:
                if whole or look.wants(index, sample):
                    known = self._try(index, block, number, start, end, look) or known
                else:
                    known = known or look.enough(index)
            if not known and look.wants_odd(sample or whole):
                look.note_odd(number, _text(block.text, start, end))

    def _wanted(self, words: _Words, look: _Look, sample: bool) -> _Words:
        """The words for the next block: without those of messages that were there often enough, or in vain."""
        rows = tuple(i for i in range(len(self._rows)) if look.wants(i, sample))
        odd = look.wants_odd(sample)
        return words if (rows, odd) == (words.rows, words.odd) else _Words(self._rows, rows, odd=odd)

    def _try(self, index: int, block: Block, number: int, start: int, end: int, look: _Look) -> bool:
        row = self._rows[index]
        for _more in range(row.span - 1):
            following = block.text.find(b"\n", end + 1)
            end = following if following >= 0 else len(block.text)
        if end - start > _AFTER:
            start, end = self._window(row, block.text, start, end)
        text = _text(block.text, start, end)
        match = self._match(index, text)
        if match is None or (self._rows[index].role != "fact" and _denied(match)):
            look.vain[index] = look.vain.get(index, 0) + 1
            return False
        if index not in look.found:
            look.found[index] = Found(row, text.partition("\n")[0] if row.span == 1 else text.strip())
        look.found[index].add(number, _values(match))
        return True

    def _match(self, index: int, text: str) -> Optional[re.Match[str]]:
        """A row's pattern in some lines. Where it tells how a line begins, what others wrote before it is left out."""
        match = self._patterns[index].search(text)
        if match is None and self._lines_begin[index]:
            bare = PREFIX.sub("", text)
            match = self._patterns[index].search(bare) if bare != text else None
        return match

    @staticmethod
    def _window(row: KnownError, text: bytes, start: int, end: int) -> tuple[int, int]:
        """The part of a very long line around the row's words."""
        places = [p for p in (text.find(w.encode(), start, end) for w in row.words) if p >= 0]
        place = min(places, default=start)
        return max(start, place - _BEFORE), min(end, place + _AFTER)


def _denied(match: re.Match[str]) -> bool:
    """Whether somebody's own words around a message say that it is not there."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
    after = match.string[match.end() : match.end() + _NEAR].partition("\n")[0]
    return _DENIED.search(before) is not None or _GONE.match(after) is not None


def _text(block: bytes, start: int, end: int) -> str:
    """A line as text, at most _BEFORE + _AFTER characters of it, without its line end."""
    return block[start : min(end, start + _BEFORE + _AFTER)].decode("utf-8", errors="replace").rstrip("\r\n")


def _with_last(blocks: Iterable[Block]) -> Iterator[tuple[Block, bool]]:
    """Each block, and whether it is the last one."""
    before: Optional[Block] = None
    for block in blocks:
        if before is not None:
            yield before, False
        before = block
    if before is not None:
        yield before, True


def _values(match: re.Match[str]) -> dict[str, str]:
    """What a message states. An expression can have a name only once: gpu2 is another place where it has gpu."""
    return {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value}
