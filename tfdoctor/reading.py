"""Reads a file that somebody named on the command line: whole, or one sentence that says what is wrong with it."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import Any

from tfdoctor.i18n import _
from tfdoctor.model import BadInput

MOST = 64 * 1024 * 1024  # bytes; a JSON report of 16 GPUs has under 2 MB, so what is longer is another file


def text_of(path: str, wanted: str) -> str:
    """The text of a file, in UTF-8 or as Windows' `>` writes it. `wanted` says what would be right: "--expect wants a file of requirements".

    Raises BadInput for a folder, a file that is missing, cannot be read, is too long or is no text.
    """
    data = _first(path, MOST + 1, wanted)
    if len(data) > MOST:
        raise BadInput(
            _("{path} is longer than {most} MiB; {wanted}.").format(path=path, most=MOST >> 20, wanted=wanted)
        )
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        text = _("{path} is no text in UTF-8 (byte {number}); {wanted}.")
        raise BadInput(text.format(path=path, number=error.start, wanted=wanted)) from error


def end_of(path: str, most: int, wanted: str) -> str:
    """The text of the last `most` bytes of a file, whatever they are. Raises BadInput when it cannot be read."""
    _readable(path, wanted)
    try:
        with open(path, "rb") as file:
            if file.seekable():
                file.seek(max(file.seek(0, os.SEEK_END) - most, 0))
                data = file.read(most)
            else:
                data = b""
                while part := file.read(most):
                    data = (data + part)[-most:]
            return data.decode("utf-8", "replace")
    except OSError as error:
        raise _unreadable(path, error, wanted) from error


def json_of(path: str, wanted: str) -> Any:
    """The value in a JSON file. Raises BadInput as `text_of` does, and for what is not JSON."""
    try:
        return json.loads(text_of(path, wanted))
    except (ValueError, RecursionError) as error:
        raise BadInput(
            _("{path} is not JSON ({error}); {wanted}.").format(path=path, error=error, wanted=wanted)
        ) from error


def printed_by(command: str, path: str, needs: Collection[str], wanted: str) -> dict[str, Any]:
    """What `tfdoctor COMMAND --format json` printed into a file, with the fields `needs` wherever they belong.

    Raises BadInput as `json_of` does, and for other JSON.
    """
    from tfdoctor.published import misfit

    value: Any = json_of(path, wanted)
    try:
        why = misfit(command, value, needs)
    except RecursionError:
        why = _("it is too deep")
    if why:
        text = _("{path} is not what `tfdoctor {command} --format json` prints ({why}); {wanted}.")
        raise BadInput(text.format(path=path, command=command, why=why, wanted=wanted))
    return dict(value)


def _first(path: str, most: int, wanted: str) -> bytes:
    _readable(path, wanted)
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise _unreadable(path, error, wanted) from error


def _readable(path: str, wanted: str) -> None:
    if os.path.isdir(path):
        raise BadInput(_("{path} is a folder; {wanted}.").format(path=path, wanted=wanted))


def _unreadable(path: str, error: OSError, wanted: str) -> BadInput:
    if isinstance(error, FileNotFoundError):
        return BadInput(_("{path} does not exist; {wanted}.").format(path=path or "''", wanted=wanted))
    return BadInput(_("{path} cannot be read ({why}); {wanted}.").format(path=path, why=error.strerror, wanted=wanted))
