"""Texts that a regular expression matches: what the programs print whose messages it is for."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as parser
else:
    import sre_constants as sre
    import sre_parse as parser

ANY = "\0"  # stands for a character that the pattern leaves open


def texts(pattern: str, count: int) -> Iterator[str]:
    """`count` texts, always the same ones, that take every way through the pattern's alternatives and optional parts."""
    tree = parser.parse(pattern)
    for number in range(count):
        yield _Printer(number).text(tree)


class _Printer:
    def __init__(self, number: int) -> None:
        self._pick = random.Random(number)
        self._upper = number % 2  # one way of writing for the whole text: nobody prints "XiD"

    def text(self, tokens: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._of(what, argument) for what, argument in tokens)

    def _of(self, what: Any, argument: Any) -> str:
        if what is sre.LITERAL:
            return chr(argument)
        if what is sre.IN:
            return self._one_of(argument)
        if what is sre.BRANCH:
            return self.text(self._pick.choice(argument[1]))
        if what is sre.SUBPATTERN:
            return self.text(argument[-1])
        if what in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, inner = argument
            return "".join(self.text(inner) for _ in range(self._pick.choice((least, min(least + 1, most)))))
        return ANY if what in (sre.ANY, sre.NOT_LITERAL, sre.GROUPREF) else ""  # positions and looks take no room

    def _one_of(self, members: list[tuple[Any, Any]]) -> str:
        letters = [chr(argument) for what, argument in members if what is sre.LITERAL]
        if len(letters) < len(members):
            return " " if (sre.CATEGORY, sre.CATEGORY_SPACE) in members else ANY
        if len(letters) == 2 and letters[0].lower() == letters[1].lower():
            return sorted(letters)[1 - self._upper]
        return self._pick.choice(letters)
