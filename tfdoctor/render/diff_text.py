"""`diff`: what differs between two machines, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfdoctor.comparison import ABSENT, PRESENT, Comparison, Difference
from tfdoctor.i18n import _, ngettext
from tfdoctor.terminal import wrapped


def render(names: tuple[str, str], found: Comparison, *, width: int = 100, verbose: bool = False) -> str:
    """Verdicts, diagnoses of one side, what matters, and how much else differs (all of it with `verbose`)."""
    return "\n".join(_lines(names, found, min(max(width, 40), 120), verbose)) + "\n"


def _lines(names: tuple[str, str], found: Comparison, width: int, verbose: bool) -> Iterator[str]:
    for letter, name, verdict in zip("AB", names, found.verdicts):
        yield f"{letter}  {name}"
        said = _("Will TensorFlow use the GPUs: {word}. {summary}")
        yield from wrapped(said.format(word=verdict["gpu"], summary=verdict["summary"]), width, "   ")
    yield ""
    yield from _diagnoses(_("Found only in A:"), found.only_a, width)
    yield from _diagnoses(_("Found only in B:"), found.only_b, width)
    mattering = found.mattering
    if mattering:
        yield _("Differs and matters:")
        yield from _rows(mattering, width)
        yield ""
    rest = [d for d in found.differences if not d.matters]
    if not found.found:
        yield _("Nothing differs that matters.")
    if rest and verbose:
        yield _("Differs as well:")
        yield from _rows(rest, width)
    elif rest:
        text = ngettext("{n} other field differs", "{n} other fields differ", len(rest)).format(n=len(rest))
        yield _("{text}; --verbose lists them.").format(text=text)


def _diagnoses(title: str, found: Iterable[Mapping[str, Any]], width: int) -> Iterator[str]:
    rows = list(found)
    if rows:
        yield title
    for row in rows:
        yield f"  {row['severity']}  {row['code']} {row['name']}"
        yield from wrapped(row["message"], width, "    ")
    if rows:
        yield ""


def _rows(differences: Iterable[Difference], width: int) -> Iterator[str]:
    for difference in differences:
        why = f"  ({', '.join(difference.because)})" if difference.because else ""
        yield f"  {difference.path}{why}"
        yield from _sides(difference, width)


def _sides(difference: Difference, width: int) -> Iterator[str]:
    """Of two lists only what one has and the other lacks."""
    a, b = difference.a, difference.b
    if isinstance(a, list) and isinstance(b, list):
        a, b = [v for v in a if v not in b], [v for v in b if v not in a]
    yield from wrapped(f"A: {shown(a)}", width, "    ", "   ")
    yield from wrapped(f"B: {shown(b)}", width, "    ", "   ")


def shown(value: Any) -> str:
    """A JSON value in words."""
    if isinstance(value, dict) and "unavailable" in value:
        return _("could not be looked at ({why})").format(why=value["unavailable"])
    if isinstance(value, dict) and "not_applicable" in value:
        return _("does not arise ({why})").format(why=value["not_applicable"])
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "-"
    if value is None:
        return _("not told")
    words = {ABSENT: _("not there"), PRESENT: _("there"), "": '""'}
    return words[value] if isinstance(value, str) and value in words else str(value)
