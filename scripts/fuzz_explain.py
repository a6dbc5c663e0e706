"""A coverage-guided fuzzer over the log reader: no input may raise, none may take long.

    pip install atheris
    python scripts/fuzz_explain.py -max_total_time=600 [CORPUS]

The corpus may be a folder of logs, for example tests/logs. The known messages' own words are the dictionary.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["tfdoctor"]):
    from tfdoctor.known_errors import Catalogue, explain
    from tfdoctor.logs.redact import redact, scrubber

CATALOGUE = Catalogue.load()
SCRUB = scrubber(None)
#: Seconds for one input of at most 64 KiB; a linear reader needs some hundredths.
LIMIT = 5.0


def one(data: bytes) -> None:
    """Explain some bytes, as `explain --no-host -` would, and redact what it would print."""
    started = time.process_time()
    result = explain(io.BytesIO(data), CATALOGUE, given={})
    for answer in result.answers:
        for _line, text in answer.quotes:
            redact(text, SCRUB)
    assert all(1 <= line <= result.lines for answer in result.answers for line in answer.lines)
    assert time.process_time() - started < LIMIT


def dictionary(folder: str) -> str:
    """The known words in libFuzzer's form."""
    from tfdoctor.tables.log_rows import KnownError

    words = {word for row in CATALOGUE.tables.rows(KnownError) for word in row.words}
    path = Path(folder) / "words.dict"
    quoted = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in sorted(words))
    path.write_text("".join(f'"{word}"\n' for word in quoted), encoding="ascii")
    return str(path)


def main() -> None:
    """Run until told to stop."""
    with tempfile.TemporaryDirectory() as folder:
        atheris.Setup([*sys.argv, "-max_len=65536", f"-dict={dictionary(folder)}"], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
