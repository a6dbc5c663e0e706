"""Standard output as it is: its width, its encoding, and whether it wants colours."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
import textwrap
from typing import Optional

WIDE = 100  # columns where no terminal tells its own, as in a pipe or the log of a CI server
# What a terminal that only knows some of Unicode gets instead.
PLAINER = {
    "…": "...",
    "→": "->",
    "×": "x",
    "°": " deg ",
    "–": "-",
    "—": "-",
    "“": "'",  # no double one, which would end a JSON text
    "”": "'",
    "’": "'",
    "≥": ">=",
    "≤": "<=",
}
HANDLER = "tfdoctor-plainer"
ASCII = "tfdoctor-ascii"  # under its own name click takes ASCII for a mistake and writes UTF-8


def prepare() -> None:
    """Let no stream that is closed (`>&-`) and no character that it cannot encode (LC_ALL=C) end the program."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  for the life of the process
    codecs.register_error(HANDLER, _stand_in)
    codecs.register(_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=ASCII if plain else stream.encoding, errors=HANDLER)


def colour() -> bool:
    """Colours on a terminal only, and not with NO_COLOR (set and not empty, as no-color.org has it), CI or TERM=dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and _watched()


def lively() -> bool:
    """May a line on standard error be written again and again? On a terminal only, and not with CI or TERM=dumb."""
    return sys.stderr.isatty() and _watched()


def _watched() -> bool:
    """A person looks on, through a terminal that knows more than the next line."""
    return not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns to write for: those of the terminal, or what COLUMNS says."""
    return shutil.get_terminal_size((WIDE, 24)).columns


def wrapped(text: str, width: int, indent: str, hanging: str = "") -> list[str]:
    """`text` in lines of `width` columns; paths and options stay whole, so a line may be longer."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _ascii(name: str) -> Optional[codecs.CodecInfo]:
    """The codec ASCII."""
    if name.replace("_", "-") != ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode, known.decode, known.streamreader, known.streamwriter, known.incrementalencoder,
        known.incrementaldecoder, name=ASCII,
    )  # fmt: skip


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """A plainer sign, or JSON's own escape, so that JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = (PLAINER.get(c) or _escape(c) for c in error.object[error.start : error.end])
    return "".join(signs), error.end


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
