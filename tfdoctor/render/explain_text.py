"""`explain` for people: the cause, its consequences, what is harmless; the page of a diagnosis; what a code means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Callable

from tfdoctor.i18n import _, ngettext
from tfdoctor.known_errors import Explained, Explanation
from tfdoctor.logs.codes import CodePage
from tfdoctor.logs.redact import redact
from tfdoctor.model import Fix
from tfdoctor.pages import Page
from tfdoctor.render.shell import shell_lines
from tfdoctor.scrub import Scrubber
from tfdoctor.terminal import wrapped

Paint = Callable[[str, str], str]

#: Characters of a quoted line that are shown.
QUOTED = 240
#: Line numbers of one answer that are shown.
NUMBERS = 8
#: Lines that look like errors and that are shown when nothing is known.
ODD = 10


def render_log(name: str, explanation: Explanation, scrub: Scrubber, *, width: int, paint: Paint) -> str:
    """The explanation of one log, for a terminal of `width` columns."""
    return "\n".join(_log(name, explanation, scrub, min(max(width, 40), 120), paint)) + "\n"


def render_page(page: Page, *, paint: Paint) -> str:
    """The page of one diagnosis."""
    head = f"{paint(page.code, 'bold')} {page.name} ({page.severity})"
    before = [_("Formerly {names}.").format(names=", ".join(page.formerly))] if page.formerly else []
    return "\n".join([head, page.title, *before, "", page.text]) + "\n"


def render_codes(codes: Iterable[CodePage], *, width: int, paint: Paint) -> str:
    """What error codes mean. Those that mean the same (of CUDA's driver and its runtime) stand together."""
    alike: dict[tuple[str, ...], list[CodePage]] = {}
    for code in codes:
        alike.setdefault((code.meaning, code.advice, code.source, *code.causes), []).append(code)
    return "\n".join(_codes(group, width, paint) for group in alike.values())


def _codes(codes: Sequence[CodePage], width: int, paint: Paint) -> str:
    lines = [f"{paint(code.name, 'bold')} ({_label(code)})" for code in codes]
    lines += wrapped(_sentence(codes[0].meaning), width, "  ")
    lines += wrapped(_sentence(codes[0].advice), width, "  ")
    if codes[0].causes:
        lines += wrapped(_("Diagnoses that print it: {names}").format(names=", ".join(codes[0].causes)), width, "  ")
    return "\n".join([*lines, *wrapped(f"[{codes[0].source}]", width, "  ")]) + "\n"


def _label(code: CodePage) -> str:
    kind = "Xid" if code.api == "xid" else code.api
    return kind if code.value is None else f"{kind} {code.value}"


def _sentence(text: str) -> str:
    """A clause of the tables as a sentence; "" stays."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def render_list(pages: Sequence[Page]) -> str:
    """Code, name, severity and title of every diagnosis, one a line."""
    longest = max((len(p.name) for p in pages), default=0)
    return "".join(f"{p.code}  {p.name:<{longest}}  {p.severity:<8}  {p.title}\n" for p in pages)


def _log(name: str, explanation: Explanation, scrub: Scrubber, width: int, paint: Paint) -> Iterator[str]:
    head = ngettext("{name}: {n} line", "{name}: {n} lines", explanation.lines)
    yield head.format(name=redact(name, scrub), n=explanation.lines)
    if explanation.remark:
        yield from wrapped(explanation.remark, width, "  ")
    yield ""
    loud = [a for a in explanation.answers if a.role != "harmless"]
    quiet = [a for a in explanation.answers if a.role == "harmless"]
    for answer in loud:
        yield from _answer(answer, scrub, width, paint)
    if not loud:
        yield from _nothing(explanation, scrub, width, known=bool(quiet))
    if quiet:
        yield from _quiet(quiet, width, paint)
    for crash in explanation.crashes:
        yield from wrapped(
            _("tfdoctor failed in {what}: {error}").format(what=crash.what, error=crash.error), width, ""
        )


def _answer(answer: Explained, scrub: Scrubber, width: int, paint: Paint) -> Iterator[str]:
    label = paint(_("cause"), "red") if answer.role == "cause" else paint(_("consequence"), "yellow")
    yield f"{label}  {answer.code} {answer.name}  ({_numbers(answer)})"
    yield from wrapped(redact(answer.message, scrub), width, "  ")
    for line, text in answer.quotes:
        shown = redact(text.strip(), scrub)
        yield f"  {line:>6} | {shown[:QUOTED]}{'…' if len(shown) > QUOTED else ''}"
    if answer.alternatives:
        yield from wrapped(_("It can also be: {names}.").format(names=", ".join(answer.alternatives)), width, "  ")
    if answer.decide_by:
        yield from wrapped(_("To be sure: {look}").format(look=answer.decide_by), width, "  ")
    for fix in answer.fixes:
        yield from _fix(fix, width)
    yield from wrapped(_("More: tfdoctor explain {code}").format(code=answer.code), width, "  ")
    yield ""


def _numbers(answer: Explained) -> str:
    if not answer.lines:
        return _("by what is said of the machine")
    shown = ", ".join(map(str, answer.lines[:NUMBERS])) + (", …" if len(answer.lines) > NUMBERS else "")
    word = ngettext("line {lines}", "lines {lines}", len(answer.lines)).format(lines=shown)
    if answer.count > len(answer.lines) or answer.more:
        times = _("{n} times or more") if answer.more else _("{n} times")
        return f"{word}; {times.format(n=answer.count)}"
    return word


def _fix(fix: Fix, width: int) -> Iterator[str]:
    needs = f" ({', '.join(sorted(fix.needs))})" if fix.needs else ""
    yield from wrapped(_("To do: {title}{needs}").format(title=fix.title, needs=needs), width, "  ")
    yield from (f"      {line}" for line in shell_lines(fix))
    for paragraph in _paragraphs(fix.note):
        yield from wrapped(paragraph, width, "    ", "  " if paragraph.startswith("- ") else "")


def _paragraphs(text: str) -> list[str]:
    """The items of a list and the paragraphs of a text, each on one line."""
    joined: list[str] = []
    for line in text.splitlines():
        if joined and line.strip() and not line.lstrip().startswith("- "):
            joined[-1] = f"{joined[-1]} {line.strip()}".strip()
        else:
            joined.append(line.strip())
    return [paragraph for paragraph in joined if paragraph]


def _nothing(explanation: Explanation, scrub: Scrubber, width: int, *, known: bool) -> Iterator[str]:
    """No cause was found: what looks like an error all the same."""
    text = _("Only harmless messages are known here.") if known and not explanation.odd else nothing_known(explanation)
    yield from wrapped(f"{text} {_('These lines look like errors:')}" if explanation.odd else text, width, "")
    for line, text in explanation.odd[:ODD]:
        yield f"  {line:>6} | {redact(text.strip(), scrub)[:QUOTED]}"
    for code in explanation.codes:
        yield from wrapped(f"{code.name}: {code.meaning}.", width, "  ")
        yield from wrapped(_sentence(code.advice), width, "    ")
    yield ""


def nothing_known(explanation: Explanation) -> str:
    """The sentence for a log without a known error."""
    if explanation.odd:
        return _("tfdoctor knows no error in this log.")
    return _("Nothing here is an error that tfdoctor knows, and no line looks like one.")


def _quiet(answers: Iterable[Explained], width: int, paint: Paint) -> Iterator[str]:
    yield f"{paint(_('harmless'), 'green')}"
    for answer in answers:
        text = f"{answer.code} {answer.name} ({_numbers(answer)}): {answer.message}"
        yield from wrapped(text, width, "  ", "  ")
        if answer.alternatives:
            also = _("If something is wrong all the same: {names}. {look}")
            yield from wrapped(also.format(names=", ".join(answer.alternatives), look=answer.decide_by), width, "    ")
    yield ""
