"""compat/*.json -> frozen rows, strictly: what does not fit the dataclass is an error naming the place."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Optional, TypeVar, Union, get_args, get_origin, get_type_hints

from tfdoctor.model import BadInput
from tfdoctor.tables.rows import GRADES, Grade, Range, Row, Version

R = TypeVar("R", bound=Row)

_CLAUSE = r"(===|==|~=|!=|<=|>=|<|>)\s*v?[0-9][0-9A-Za-z.*+!-]*"
_RANGE = re.compile(rf"({_CLAUSE}(\s*,\s*{_CLAUSE})*)?")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*([a-z]+[0-9]*)?(\.(post|dev)[0-9]+)?(\.dev[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class TableError(BadInput):
    """A table that cannot be used; the text names the file, the row and the key."""


def compat_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the tables: TFDOCTOR_COMPAT_DIR, else inside the package, else beside it.

    Raises TableError when there is no such folder.
    """
    chosen = environ.get("TFDOCTOR_COMPAT_DIR")
    package = Path(__file__).resolve().parent.parent
    candidates = [Path(chosen)] if chosen else [package / "compat", package.parent / "compat"]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    where = "TFDOCTOR_COMPAT_DIR names" if chosen else "the compatibility tables should be in"
    raise TableError(f"{where} {candidates[0]}, which is not a folder.")


def read_rows(file: Path, row_type: type[R], key: tuple[str, ...], extra: Optional[Path] = None) -> tuple[R, ...]:
    """The rows of one file in their order; rows of ``extra`` with the same key take the place of the file's.

    Raises TableError when a file cannot be read or does not fit ``row_type``.
    """
    rows = {_identity(row, key): row for row in _unique(file, row_type, key)}
    if extra is not None and extra.exists():
        rows.update({_identity(row, key): row for row in _unique(extra, row_type, key)})
    return tuple(rows.values())


def _identity(row: Row, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in key)


def _unique(file: Path, row_type: type[R], key: tuple[str, ...]) -> list[R]:
    seen: set[tuple[Any, ...]] = set()
    rows = []
    for number, raw in enumerate(_raw_rows(file)):
        row: R = _build(row_type, raw, f"{file.name}: row {_label(raw, key, number)}")
        identity = _identity(row, key)
        if identity in seen:
            raise TableError(f"{file.name}: row {_label(raw, key, number)} is there twice.")
        seen.add(identity)
        rows.append(row)
    return rows


def _raw_rows(file: Path) -> list[Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TableError(f"{file.name} is missing from {file.parent}.") from None
    except OSError as error:
        raise TableError(f"{file.name} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise TableError(f"{file.name} is not valid JSON: {error}.") from None
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise TableError(f'{file.name} must be an object with a list "rows".')
    unknown = sorted(set(content) - {"about", "rows"})
    if unknown:
        raise TableError(f'{file.name} has an unknown key "{unknown[0]}" beside "about" and "rows".')
    rows: list[Any] = content["rows"]
    return rows


def _label(raw: Any, key: tuple[str, ...], number: int) -> str:
    if isinstance(raw, dict) and all(name in raw for name in key):
        return " ".join(str(raw[name]) for name in key)
    return f"number {number + 1}"


@cache
def _schema(row_type: Any) -> Mapping[str, Any]:
    hints = get_type_hints(row_type)
    return {field.name: hints[field.name] for field in fields(row_type)}


def _build(row_type: Any, raw: Any, where: str) -> Any:
    if not isinstance(raw, dict):
        raise TableError(f"{where} must be an object, not {type(raw).__name__}.")
    schema = _schema(row_type)
    if raw.keys() != schema.keys():
        missing, unknown = sorted(schema.keys() - raw.keys()), sorted(raw.keys() - schema.keys())
        fault = f'lacks the key "{missing[0]}"' if missing else f'has an unknown key "{unknown[0]}"'
        raise TableError(f"{where} {fault}.")
    return row_type(**{name: _value(kind, raw[name], where, name) for name, kind in schema.items()})


def _value(kind: Any, raw: Any, where: str, key: str) -> Any:
    """``raw`` as ``kind``, one of the types that rows use."""
    if kind in _SCALARS:
        return _scalar(kind, raw, where, key)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union:
        return None if raw is None else _value(arguments[0], raw, where, key)
    if origin is tuple:
        if not isinstance(raw, list):
            raise TableError(f'{where}: key "{key}" must be a list.')
        return tuple([_value(arguments[0], item, where, key) for item in raw])
    if is_dataclass(kind):
        return _build(kind, raw, f'{where}, key "{key}"')
    if not isinstance(raw, dict):
        raise TableError(f'{where}: key "{key}" must be an object.')
    return {name: _value(arguments[1], item, where, f"{key}.{name}") for name, item in raw.items()}


_SCALARS: Mapping[Any, tuple[str, Any]] = {
    str: ("text", lambda raw: isinstance(raw, str)),
    bool: ("true or false", lambda raw: isinstance(raw, bool)),
    int: ("a whole number", lambda raw: isinstance(raw, int) and not isinstance(raw, bool)),
    float: ("a number", lambda raw: isinstance(raw, (int, float)) and not isinstance(raw, bool)),
    Version: ("a version", lambda raw: isinstance(raw, str) and _VERSION.fullmatch(raw)),
    Range: ("a version range (PEP 440)", lambda raw: isinstance(raw, str) and _RANGE.fullmatch(raw)),
    Grade: (f"one of {', '.join(GRADES)}", lambda raw: raw in GRADES),
}


def _scalar(kind: Any, raw: Any, where: str, key: str) -> Any:
    name, fits = _SCALARS[kind]
    if not fits(raw) or (key == "checked" and not _DATE.fullmatch(raw)):
        wanted = "a date like 2026-11-30" if key == "checked" else name
        raise TableError(f'{where}: key "{key}" must be {wanted}, not {raw!r}.')
    return raw
