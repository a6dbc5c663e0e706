"""Environment variables in the environment's own activation, never in a shell's start-up file.

A conda environment has folders for this; a virtual environment has only its activate scripts, which get a marked
block at their end. The scripts are replaced, not written into.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

from tfdoctor.writing import write_atomically

BEGIN = "# >>> tfdoctor >>>"
END = "# <<< tfdoctor <<<"
Variables = Sequence[tuple[str, Optional[str]]]


def write(prefix: str, kind: str, variables: Variables) -> tuple[str, ...]:
    """Set `variables` whenever the environment is activated; returns the files that were written."""
    root = Path(prefix)
    if kind == "conda":
        return _conda(root, variables)
    written = []
    for name, line in (("activate", _posix), ("activate.fish", _fish), ("activate.csh", _csh)):
        script = root / "bin" / name
        if script.is_file():
            mode = script.stat().st_mode
            write_atomically(script, with_block(script.read_text(), [line(n, v) for n, v in variables]))
            script.chmod(mode)
            written.append(str(script))
    return tuple(written)


def with_block(text: str, lines: Iterable[str]) -> str:
    """`text` with our block replaced, or added at the end."""
    before, found, rest = text.partition(BEGIN)
    after = rest.partition(END)[2].lstrip("\n") if found else ""
    block = "\n".join([BEGIN, *lines, END])
    return f"{before.rstrip()}\n\n{block}\n{after}"


def _posix(name: str, value: Optional[str]) -> str:
    return f"unset {name}" if value is None else f"export {name}={_quoted(value)}"


def _fish(name: str, value: Optional[str]) -> str:
    return f"set -e {name}" if value is None else f"set -gx {name} {_quoted(value)}"


def _csh(name: str, value: Optional[str]) -> str:
    return f"unsetenv {name}" if value is None else f"setenv {name} {_quoted(value)}"


def _quoted(value: str) -> str:
    """Quoted for every shell; a trailing `$NAME` or `${NAME}` that a fix appends to a path list stays a reference."""
    for reference in ("$LD_LIBRARY_PATH", "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", "$PATH"):
        if value.endswith(reference):
            return shlex.quote(value[: -len(reference)]) + f'"{reference}"'
    return shlex.quote(value)


def _conda(root: Path, variables: Variables) -> tuple[str, ...]:
    written = []
    for folder, lines in (
        ("activate.d", [_posix(n, v) for n, v in variables]),
        ("deactivate.d", [f"unset {n}" for n, v in variables if v is not None]),
    ):
        script = root / "etc" / "conda" / folder / "tfdoctor.sh"
        script.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(script, "\n".join([BEGIN, *lines, END, ""]))
        written.append(str(script))
    return tuple(written)
