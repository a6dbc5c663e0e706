"""The JSON Schemas of the JSON outputs: written by hand in schemas/, with the facts derived from their dataclasses."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
from collections.abc import Collection, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from tfdoctor.i18n import _
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


def misfit(name: str, value: Any, needs: Collection[str]) -> str:
    """Where `value` is not as the command `name` prints it, and why: "diagnoses[0].code is missing"; "" where it is.

    Of the fields that it always prints only `needs` may not lack: an earlier version printed fewer. What is in `facts` is
    left alone: it changes with the probes, and no reader counts on it.
    """
    whole: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    whole["$defs"]["facts"] = {"type": "object"}
    return next(_misfits(value, whole, whole["$defs"], needs, ""), "")


def _misfits(value: Any, schema: Any, defs: Mapping[str, Any], needs: Collection[str], place: str) -> Iterator[str]:
    """As far as the keywords go that schemas/ uses; patterns and formats are left to real validators."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    here = place or _("the whole")
    kinds = schema.get("type", ())
    if kinds and not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield _("{place} is no {kind}").format(place=here, kind=kinds if isinstance(kinds, str) else "/".join(kinds))
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else [value])
    if value not in allowed:
        known = ", ".join(map(str, allowed))
        yield _("{place} is {value}, not {known}").format(place=here, value=str(value)[:40], known=known)
    if "anyOf" in schema and all(any(_misfits(value, one, defs, needs, place)) for one in schema["anyOf"]):
        yield _("{place} is none of what it may be").format(place=here)
    if isinstance(value, dict):
        lacking = [k for k in schema.get("required", ()) if k in needs and k not in value]
        yield from (_("{place} is missing").format(place=_below(place, k)) for k in lacking)
        known, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        for key, inner in value.items():
            yield from _misfits(inner, known.get(key, others), defs, needs, _below(place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _misfits(inner, schema.get("items", {}), defs, needs, f"{place}[{number}]")


def _is(value: Any, kind: str) -> bool:
    """Is this JSON value of that JSON type?"""
    types_of = {
        "object": dict,
        "array": list,
        "string": str,
        "null": type(None),
        "boolean": bool,
        "number": (int, float),
    }
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, int) if kind == "integer" else isinstance(value, types_of[kind])  # type: ignore[arg-type]


def _below(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


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
