"""Where requirements are written: on the command line, in a file of lines, in pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.preflight.requirement import Requirement, parse
from tfdoctor.reading import text_of

PROJECT = "pyproject.toml"


def gather(texts: Iterable[str], files: Iterable[str]) -> tuple[Requirement, ...]:
    """Every requirement of the command line and of `files`; with neither, those of ./pyproject.toml.

    Raises BadInput that names the file and the line.
    """
    given = [parse(text) for text in texts]
    named = [r for file in files for r in from_file(file)]
    if not given and not list(files) and may_have_table(PROJECT):
        return tuple(from_file(PROJECT, required=False))
    return (*given, *named)


def may_have_table(path: str) -> bool:
    """Does this file name tfdoctor at all? Cheap: most projects do not, and then it need not be parsed."""
    try:
        return "tfdoctor" in Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def from_file(path: str, *, required: bool = True) -> list[Requirement]:
    """The requirements in a .toml file's [tool.tfdoctor] `require`, or one a line (`#` begins a comment).

    `required`: a file without any is bad input.
    """
    text = text_of(path, _("--expect wants a file of requirements, one a line, as `tfdoctor expect` writes it"))
    lines = _toml(path, text) if path.endswith(".toml") else list(enumerate(text.splitlines(), 1))
    found = []
    for number, line in lines:
        content = line.partition("#")[0].strip()
        if content:
            found.append(_named(path, number, content))
    if not found and required:
        raise BadInput(_("{path} holds no requirement; write one a line, such as gpus>=1.").format(path=path))
    return found


def _named(path: str, number: int, text: str) -> Requirement:
    try:
        return parse(text)
    except BadInput as wrong:
        raise BadInput(f"{path}:{number}: {wrong}") from wrong


def _toml(path: str, text: str) -> list[tuple[int, str]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        content: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(_("{path} is not TOML ({error}).").format(path=path, error=error)) from error
    table = content.get("tool", {}).get("tfdoctor", {})
    wanted = table.get("require", []) if isinstance(table, dict) else None
    unknown = sorted(set(table) - {"require"}) if isinstance(table, dict) else []
    if unknown or not isinstance(wanted, list) or not all(isinstance(w, str) for w in wanted):
        text = _('{path}: [tool.tfdoctor] holds only require = ["gpus>=1", …]{extra}.')
        extra = _(", and not {names}").format(names=", ".join(unknown)) if unknown else ""
        raise BadInput(text.format(path=path, extra=extra))
    return list(enumerate(wanted, 1))
