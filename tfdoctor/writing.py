"""Writes a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tfdoctor.i18n import _
from tfdoctor.model import BadInput


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader, a crash or a full disk sees the old content or the new, never half."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def write_for_a_person(path: str, text: str) -> None:
    """Write what somebody named on the command line. Raises BadInput when it cannot be written."""
    place = Path(path)
    if place.is_dir():
        raise BadInput(_("{path} is a folder; a file is wanted.").format(path=path))
    try:
        if place.exists() and not place.is_file():  # /dev/stdout, a pipe
            place.write_text(text, encoding="utf-8")
        else:
            write_atomically(Path(os.path.realpath(path)), text)  # a link stays, and leads to the new content
    except OSError as error:
        why = error.strerror or error
        raise BadInput(_("{path} cannot be written ({why}).").format(path=path, why=why)) from error
