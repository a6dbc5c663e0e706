"""Which columns of the tables the program reads, by the types that mypy infers and not by names.

The module is a mypy plug-in too: mypy tells it of every attribute that is read and every function that is called.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Optional, get_args, get_type_hints

from mypy.plugin import Plugin

#: What every row has, for the people who read docs/tables.md.
EVERY_ROW = {"source", "checked", "grade"}
OUTSIDE = "outside the tables"
_TABLES = "tfdoctor.tables."
_OUTPUT = "COLUMN_READS"


def columns(kind: Any) -> Iterator[str]:
    """The columns of a row dataclass and of the dataclasses inside it: "tfdoctor.tables.hardware_rows.Gpu.note"."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in EVERY_ROW:
            yield f"{kind.__module__}.{kind.__qualname__}.{field.name}"
            for inner in _dataclasses(hints[field.name]):
                yield from columns(inner)


def _dataclasses(hint: Any) -> Iterator[Any]:
    if is_dataclass(hint):
        yield hint
    for inner in get_args(hint):
        yield from _dataclasses(inner)


def read(package: Path, scratch: Path) -> set[str]:
    """The full names of the columns and functions of the tables that code outside them reaches.

    A lookup or a property counts for what it reads only where somebody outside uses it.
    """
    uses: dict[str, set[str]] = {}
    inside = {path: list(_functions(path, package.parent)) for path in (package / "tables").glob("*.py")}
    for file, line, name in _told(package, scratch):
        functions = inside.get(file)
        user = OUTSIDE if functions is None else next((n for lines, n in functions if line in lines), "")
        uses.setdefault(user, set()).add(name)
    reached: set[str] = set()
    waiting = uses[OUTSIDE]
    while waiting:
        reached |= waiting
        waiting = {name for user in waiting for name in uses.get(user, ())} - reached
    return reached


def _functions(file: Path, root: Path) -> Iterator[tuple[range, str]]:
    """(lines, full name) of the functions of a module and of its classes."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    classes = [(node, f"{module}.{node.name}") for node in tree.body if isinstance(node, ast.ClassDef)]
    for owner, prefix in [(tree, module), *classes]:
        for node in owner.body:
            if isinstance(node, ast.FunctionDef):
                yield range(node.lineno, (node.end_lineno or node.lineno) + 1), f"{prefix}.{node.name}"


def _told(package: Path, scratch: Path) -> Iterator[tuple[Path, int, str]]:
    """(file, line, full name) of every use of something in the tables."""
    settings, output = scratch / "mypy.ini", scratch / "reads.txt"
    settings.write_text(f"[mypy]\nplugins = {__file__}\nignore_missing_imports = True\nincremental = False\n")
    output.touch()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", f"--config-file={settings}", "--exclude=smoke/inside/", package.name],
        cwd=package.parent,
        env={**os.environ, _OUTPUT: str(output)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), (
        done.stdout + done.stderr
    )  # 1: it found something wrong, which is not the question
    for line in output.read_text().splitlines():
        file, number, name = line.split("\t")
        yield package.parent / file, int(number), name


class Reads(Plugin):
    """Writes down what it is told of and changes no type."""

    def _noted(self, fullname: str, of: str) -> Optional[Callable[[Any], Any]]:
        if not fullname.startswith(_TABLES):
            return None

        def note(context: Any) -> Any:
            with open(os.environ[_OUTPUT], "a") as output:
                output.write(f"{context.api.path}\t{context.context.line}\t{fullname}\n")
            return getattr(context, of)

        return note

    def get_attribute_hook(self, fullname: str) -> Optional[Callable[[Any], Any]]:
        return self._noted(fullname, "default_attr_type")

    def get_method_hook(self, fullname: str) -> Optional[Callable[[Any], Any]]:
        return self._noted(fullname, "default_return_type")

    def get_function_hook(self, fullname: str) -> Optional[Callable[[Any], Any]]:
        return self._noted(fullname, "default_return_type")


def plugin(version: str) -> type[Plugin]:
    """What mypy asks a plug-in for."""
    return Reads
