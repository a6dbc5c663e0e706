"""The record of one `fix` on disk: what was, what was planned, how far it came. Written after every step.

It lies in the environment itself (PREFIX/.tfdoctor/RUN), so that it is on the same file system as what it keeps and goes
when the environment goes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

from tfdoctor.fixes.snapshot import OWN
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.writing import write_atomically

SCHEMA = 1
KEPT_RUNS = 3  # older ones are forgotten when a new one begins: each holds the replaced files


@dataclass(frozen=True)
class Entry:
    """One step in the journal. `state`: "pending", "running", "done", "failed", "declined"."""

    title: str
    codes: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, Optional[str]], ...] = ()
    deletes: tuple[str, ...] = ()
    kind: str = "packages"
    state: str = "pending"
    detail: str = ""


@dataclass(frozen=True)
class Journal:
    """One run. `freeze` is what was installed before. `state`: "recording", "applying", "done", "failed", "undoing",
    "undone"."""

    run: str
    prefix: str
    python: str
    started: str
    state: str
    freeze: tuple[str, ...]
    entries: tuple[Entry, ...]
    before: tuple[str, ...] = ()
    folder: Path = field(default=Path(), compare=False)

    def having(self, **changes: Any) -> Journal:
        """This journal with changes, written to disk."""
        changed = replace(self, **changes)
        write(changed)
        return changed

    def step(self, index: int, **changes: Any) -> Journal:
        """This journal with one entry changed, written to disk."""
        entries = list(self.entries)
        entries[index] = replace(entries[index], **changes)
        return self.having(entries=tuple(entries))


def begin(prefix: str, python: str, freeze: Sequence[str], entries: Sequence[Entry], before: Sequence[str]) -> Journal:
    """Make the run's folder and its first journal. Raises OSError when the environment cannot be written to."""
    now = datetime.now(timezone.utc)
    run = now.strftime("%Y%m%d-%H%M%S")
    parent = Path(prefix) / OWN
    parent.mkdir(parents=True, exist_ok=True)
    folder, number = parent / run, 1
    while folder.exists():
        number += 1
        folder = parent / f"{run}-{number}"
    folder.mkdir()
    journal = Journal(
        folder.name,
        prefix,
        python,
        now.isoformat(timespec="seconds"),
        "recording",
        tuple(freeze),
        tuple(entries),
        tuple(before),
        folder,
    )
    write(journal)
    return journal


def write(journal: Journal) -> None:
    """Put the journal on disk, whole or not at all."""
    content = {"schema": SCHEMA, **{k: v for k, v in asdict(journal).items() if k != "folder"}}
    write_atomically(journal.folder / "journal.json", json.dumps(content, indent=1))


def read(folder: Path) -> Journal:
    """The journal in a run's folder. Raises BadInput when it is none of ours."""
    path = folder / "journal.json"
    try:
        content: Mapping[str, Any] = json.loads(path.read_text())
        if content["schema"] != SCHEMA:
            text = _("{path} is a journal of schema {found}; this tfdoctor reads schema {known}.")
            raise BadInput(text.format(path=path, found=content["schema"], known=SCHEMA))
        entries = tuple(_entry(e) for e in content["entries"])
        plain = {k: v for k, v in content.items() if k not in ("schema", "entries", "freeze", "before")}
        return Journal(
            entries=entries,
            freeze=tuple(content["freeze"]),
            before=tuple(content["before"]),
            folder=folder,
            **plain,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(_("{path} is not a readable journal ({error}).").format(path=path, error=error)) from error


def _entry(content: Mapping[str, Any]) -> Entry:
    return Entry(
        **{
            **content,
            "codes": tuple(content["codes"]),
            "commands": tuple(tuple(c) for c in content["commands"]),
            "environment": tuple((n, v) for n, v in content["environment"]),
            "deletes": tuple(content["deletes"]),
        }
    )


def runs(prefix: str) -> tuple[Path, ...]:
    """The folders of the runs in this environment, oldest first."""
    parent = Path(prefix) / OWN
    return tuple(sorted(p for p in parent.glob("*") if (p / "journal.json").is_file()))


def find(prefix: str, run: Optional[str]) -> Journal:
    """The run called `run`, or the newest one that is not undone. Raises BadInput when there is none."""
    there = runs(prefix)
    if run:
        folder = Path(prefix) / OWN / os.path.basename(run)
        if folder not in there:
            known = ", ".join(p.name for p in there) or _("none")
            raise BadInput(
                _("There is no run {run} in {prefix}; known: {known}.").format(run=run, prefix=prefix, known=known)
            )
        return read(folder)
    for folder in reversed(there):
        journal = read(folder)
        if journal.state != "undone":
            return journal
    raise BadInput(_("{prefix} has no run of `tfdoctor fix` that is not undone.").format(prefix=prefix))


def forget_old(prefix: str) -> None:
    """Delete all but the newest runs, with the files that they keep."""
    for folder in runs(prefix)[:-KEPT_RUNS]:
        shutil.rmtree(folder)
