#!/usr/bin/env python3
"""Rebuild what follows from package metadata and wheels in the rows of compat/, and show what would change.

    python scripts/refresh_tables.py                     shows the differences
    python scripts/refresh_tables.py --write             writes them
    python scripts/refresh_tables.py --check             exit 1 when rows of the two newest releases differ

It reads through the index that pip is configured for, single members of wheels over HTTP ranges, and keeps what
it read by the wheel's hash in --cache. --check reads without the cache and leaves the libraries alone; when the
index cannot be reached it says so and exits 0. Needs the packages of the extra "tables".
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY)]

from packaging.version import Version  # noqa: E402
from refresh import codes, companions, cudnn, libraries, nccl, plugins, ptxas, tensorflow  # noqa: E402
from refresh.index import Index  # noqa: E402

COMPAT = REPOSITORY / "compat"
#: Reading these means reading whole libraries; --check leaves them alone.
DEEP_COLUMNS = ("gpu_code", "runpath_dirs")


def canonical(about: str, rows: list[dict[str, Any]]) -> str:
    """The one form of a table file."""
    return json.dumps({"about": about, "rows": rows}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def load(name: str) -> dict[str, Any]:
    """A committed table as plain JSON."""
    table: dict[str, Any] = json.loads((COMPAT / f"{name}.json").read_text(encoding="utf-8"))
    return table


def rebuild_tensorflow(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """All rows of tensorflow.json."""
    by_version = {row["version"]: row for row in old}
    return [tensorflow.row(index, v, by_version.get(v), today) for v in tensorflow.releases(index)]


def rebuild_companions(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """All rows of companions.json."""
    found: list[dict[str, Any]] = []
    for name in companions.NAMES:
        by_version = {row["version"]: row for row in old if row["name"] == name}
        found += companions.rows(index, name, by_version, today)
    return sorted(found, key=companions.order)


def rebuild_nccl(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """All rows of nccl.json."""
    found = nccl.rows(index, {(row["version"], row["cuda_major"]): row for row in old}, today)
    return sorted(found, key=lambda row: (Version(row["version"]), row["cuda_major"]))


def rebuild_plugins(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """All rows of plugins.json."""
    found: list[dict[str, Any]] = []
    for name in plugins.NAMES:
        found += plugins.rows(index, name, {row["version"]: row for row in old if row["name"] == name}, today)
    return sorted(found, key=companions.order)


def rebuild_distributions(index: Index, old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """All rows of distributions.json."""
    return plugins.distributions(index, old)


Rebuild = Callable[[Index, list[dict[str, Any]], str], list[dict[str, Any]]]
TABLES: dict[str, Rebuild] = {
    "companions": rebuild_companions,
    "compute_capabilities": ptxas.rows,
    "cuda_libraries": libraries.rows,
    "cudnn": cudnn.rows,
    "distributions": rebuild_distributions,
    "error_codes": codes.rows,
    "nccl": rebuild_nccl,
    "plugins": rebuild_plugins,
    "tensorflow": rebuild_tensorflow,
}


def dated(new: list[dict[str, Any]], old: list[dict[str, Any]], today: str) -> list[dict[str, Any]]:
    """Rows that changed get today's date; the others keep theirs."""
    known = [{**row, "checked": ""} for row in old]
    return [row if {**row, "checked": ""} in known else {**row, "checked": today} for row in new]


def differences(name: str, old: str, new: str) -> str:
    """A unified diff of two forms of a table; empty when they are the same."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"compat/{name}.json", f"compat/{name}.json (index)", lineterm="", n=2
    )
    return "\n".join(lines)


def refresh(index: Index, names: Iterable[str], write: bool) -> int:
    """Rebuild tables, print what changed, write when asked; the number of tables that changed."""
    today, changed = datetime.date.today().isoformat(), 0
    for name in names:
        old = load(name)
        rows = dated(TABLES[name](index, old["rows"], today), old["rows"], today)
        diff = differences(name, canonical(old["about"], old["rows"]), canonical(old["about"], rows))
        changed += bool(diff)
        print(diff or f"compat/{name}.json: nothing changed")
        if write and diff:
            (COMPAT / f"{name}.json").write_text(canonical(old["about"], rows), encoding="utf-8")
    return changed


def check(index: Index, count: int = 2) -> list[str]:
    """Where the committed rows of the newest releases differ from the index, column by column."""
    old = {row["version"]: row for row in load("tensorflow")["rows"]}
    found = []
    for version in tensorflow.releases(index)[-count:]:
        if version not in old:
            found.append(f"tensorflow {version} is not in compat/tensorflow.json")
            continue
        new = tensorflow.row(index, version, old[version], "", libraries=False)
        wrong = [column for column in new if column not in DEEP_COLUMNS and new[column] != old[version][column]]
        found += [f"tensorflow {version}: {column} is {old[version][column]!r}, the index says {new[column]!r}"
                  for column in wrong]  # fmt: skip
    return found


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"one of {', '.join(TABLES)}; default: all")
    parser.add_argument("--write", action="store_true", help="write what changed")
    parser.add_argument("--check", action="store_true", help="compare the two newest releases without the cache")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "tfdoctor-tables")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.tables) - set(TABLES))
    if unknown:
        parser.error(f"no table {unknown[0]} can be rebuilt; {', '.join(TABLES)} can")
    index = Index(None if given.check else given.cache)
    if not index.reachable():
        print("the package index cannot be reached: nothing was compared", file=sys.stderr)
        return 0 if given.check else 2
    if given.check:
        found = check(index)
        print("\n".join(found) or "compat/tensorflow.json agrees with the index")
        return 1 if found else 0
    refresh(index, given.tables or list(TABLES), given.write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
