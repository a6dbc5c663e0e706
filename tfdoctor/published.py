"""The JSON Schemas of the JSON outputs: written by hand in schemas/, with the facts derived from their dataclasses."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from tfdoctor.render.plain import PRIVATE

FOLDER = Path(__file__).with_name("schemas")
SIMPLE: Mapping[Any, Any] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: True,
}


def names() -> tuple[str, ...]:
    """The commands whose JSON has a schema."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the command `name`."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if "facts" in found["$defs"]:
        found["$defs"].update(_facts())
    return found


def _facts() -> dict[str, Any]:
    """`facts`, and a definition for each dataclass in them."""
    from tfdoctor.engine import all_probes, fact_name

    defs: dict[str, Any] = {}
    rows = {fact_name(probe.makes): _fact(probe.makes, defs) for probe in all_probes()}
    what = "Fact by name. One that nobody could look at says why in `unavailable`, one that does not arise in `not_applicable`."
    whole = {"description": what, "type": "object", "required": sorted(rows), "properties": dict(sorted(rows.items()))}
    return {"facts": whole, **dict(sorted(defs.items()))}


def _fact(kind: type, defs: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [_of(kind, defs), _only("unavailable"), _only("not_applicable")]}


def _only(key: str) -> dict[str, Any]:
    return {"type": "object", "required": [key], "properties": {key: {"type": "string"}}, "additionalProperties": False}


def _of(hint: Any, defs: dict[str, Any]) -> Any:
    """The schema of what render.plain makes of a value of this type. Raises TypeError for one that it does not know."""
    if hint in SIMPLE:
        return SIMPLE[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Union or origin is getattr(types, "UnionType", Union):
        return {"anyOf": [_of(a, defs) for a in arguments]}
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not ...):
        return {"type": "array", "prefixItems": [_of(a, defs) for a in arguments], "minItems": len(arguments)}
    if origin in (tuple, list, frozenset, set) or (isinstance(origin, type) and issubclass(origin, Set)):
        return {"type": "array", "items": _of(arguments[0], defs)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], defs)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [str(member) for member in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint, defs)
    raise TypeError(f"no JSON Schema for {hint!r}")


def _dataclass(kind: type, defs: dict[str, Any]) -> dict[str, Any]:
    name = f"fact.{kind.__name__}"
    if name not in defs:
        defs[name] = {}  # so that a class that holds itself ends here
        hints = get_type_hints(kind)
        fields = {f.name: _of(hints[f.name], defs) for f in dataclasses.fields(kind) if f.name not in PRIVATE}
        about = " ".join((kind.__doc__ or "").split())
        defs[name] = {"description": about, "type": "object", "required": list(fields), "properties": fields}
    return {"$ref": f"#/$defs/{name}"}
