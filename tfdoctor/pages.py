"""The page of every diagnosis: what `explain CODE` prints and docs/diagnoses/ holds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import BadInput, Rule
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownCause, KnownError


@dataclass(frozen=True)
class Page:
    """One diagnosis for people: `text` is Markdown without the heading. `severity` is "harmless" for a harmless one."""

    code: str
    name: str
    severity: str
    title: str
    text: str
    formerly: tuple[str, ...]


def all_pages(tables: Tables) -> tuple[Page, ...]:
    """Every page, by code."""
    from tfdoctor.engine import all_rules

    rules = {rule.code: rule for rule in all_rules()}
    causes = {cause.code: cause for cause in tables.rows(KnownCause)}
    codes = sorted(rules.keys() | {code for code, cause in causes.items() if cause.harmless})
    return tuple(_page(rules.get(code), causes.get(code), tables) for code in codes)


def page(asked: str, tables: Tables) -> Optional[Page]:
    """The page of a code or a name, also a retired one; None when there is no such diagnosis."""
    from tfdoctor.known_errors import rules_of

    wanted = asked.strip().lower().replace("_", "-")
    causes = {cause.code: cause for cause in tables.rows(KnownCause)}
    code = _names(tables).get(wanted)
    if code is None:
        return None
    rule, cause = rules_of([code]).get(code), causes.get(code)
    return _page(rule, cause, tables) if rule is not None or (cause is not None and cause.harmless) else None


def unknown(asked: str, others: Iterable[str], tables: Tables) -> BadInput:
    """What to say of a name that nobody knows: the nearest ones."""
    names = {name: name if code.lower() != name else code for name, code in _names(tables).items()}
    names = {**names, **{other.lower(): other for other in others}}
    near = [names[found] for found in difflib.get_close_matches(asked.lower(), names, n=3, cutoff=0.55)]
    near += [name for key, name in names.items() if len(asked) > 3 and asked.lower() in key and name not in near]
    if near:
        hint = _("Did you mean {near}?").format(near=", ".join(near[:3]))
    else:
        hint = _("`tfdoctor explain --list` shows all of them.")
    return BadInput(_("There is no log, diagnosis or error code {asked}. {hint}").format(asked=asked, hint=hint))


def _names(tables: Tables) -> dict[str, str]:
    """Everything that a diagnosis can be asked for by, in lower case, to its code."""
    from tfdoctor.known_errors import rule_files

    names: dict[str, str] = {}
    for code, module in rule_files().items():
        names[code.lower()] = code
        names[module.rpartition(".")[2].partition("_")[2].replace("_", "-")] = code
    for cause in tables.rows(KnownCause):
        for name in (cause.code.lower(), cause.name, *cause.formerly):
            names[name] = cause.code
    return names


def _page(rule: Optional[Rule], cause: Optional[KnownCause], tables: Tables) -> Page:
    formerly = cause.formerly if cause is not None else ()
    if rule is not None:
        rest = rule.explanation.partition("\n")[2].strip()
        return Page(rule.code, rule.name, str(rule.severity), rule.title, rest, formerly)
    if cause is None:
        raise LookupError("a page needs a rule or a row")
    return Page(cause.code, cause.name, _("harmless"), _(cause.says or cause.name), _harmless(cause, tables), formerly)


def _harmless(cause: KnownCause, tables: Tables) -> str:
    """The page of a harmless message: made of its rows."""
    rows = [r for r in tables.rows(KnownError) if any(m.cause == cause.name for m in r.means[:1])]
    shown = "\n".join(f"- `{row.example.splitlines()[0]}`{_printed_by(row)}" for row in rows)
    parts = [f"## {_('What it is')}\n{_(cause.says or '')}"]
    if shown:
        parts.append(f"## {_('How it shows')}\n{shown}")
    if cause.look:
        parts.append(f"## {_('How to be sure')}\n{cause.look}")
    parts.append(f"## {_('What to do')}\n{_('Nothing.')}")
    return "\n\n".join(parts)


def _printed_by(row: KnownError) -> str:
    return _(" (TensorFlow {range})").format(range=row.tensorflow) if row.tensorflow else ""
