"""Fixes that many rules share, so that each is worded and judged (safe, ask, manual) in one place."""

from __future__ import annotations

from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import Fix, Safety
from tfdoctor.probes.interpreter import Interpreter


def pip(interpreter: Optional[Interpreter], *arguments: str) -> tuple[str, ...]:
    """The target interpreter's own pip as an argument list; `python` where the interpreter is not known."""
    return (interpreter.path if interpreter else "python", "-m", "pip", *arguments)


def install(interpreter: Optional[Interpreter], *requirements: str, title: str = "", note: str = "") -> Fix:
    """Install `requirements` into the target. Safe only inside a virtual or conda environment."""
    return Fix(
        title or _("Install {what}").format(what=" ".join(requirements)),
        commands=(pip(interpreter, "install", *requirements),),
        safety=_safety(interpreter),
        note=note,
        requirements=requirements,
    )


def reinstall(interpreter: Optional[Interpreter], requirement: str, *, removes: tuple[str, ...] = ()) -> Fix:
    """Remove `removes`, then install `requirement` again without touching what it depends on."""
    commands = [pip(interpreter, "uninstall", "-y", *removes)] if removes else []
    commands.append(pip(interpreter, "install", "--force-reinstall", "--no-deps", requirement))
    return Fix(
        _("Install {what} afresh").format(what=requirement),
        commands=tuple(commands),
        safety=Safety.ASK if removes else _safety(interpreter),
        requirements=(requirement,),
        removes=removes,
    )


def variable(name: str, value: Optional[str], *, title: str = "", note: str = "") -> Fix:
    """Set (or with None: unset) an environment variable before the program starts."""
    wording = _("Unset {name}") if value is None else _("Set {name}={value}")
    return Fix(
        title or wording.format(name=name, value=value),
        safety=Safety.ASK,
        note=note,
        environment=((name, value),),
    )


def by_hand(title: str, *commands: tuple[str, ...], note: str = "", needs: tuple[str, ...] = ()) -> Fix:
    """Something only a person may do: `commands` are printed, never run."""
    return Fix(title, commands=commands, safety=Safety.MANUAL, note=note, needs=frozenset(needs))


def _safety(interpreter: Optional[Interpreter]) -> Safety:
    own = interpreter is not None and interpreter.kind in ("venv", "conda", "uv")
    return Safety.SAFE if own else Safety.ASK
