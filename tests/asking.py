"""Asks `tfdoctor explain`: what a log is explained as, and the command itself."""

from __future__ import annotations

import io

from click.testing import CliRunner, Result

from tfdoctor.commands.explain import command
from tfdoctor.known_errors import Catalogue, Explanation, explain
from tfdoctor.logs.given import understand

CATALOGUE = Catalogue.load()
OOM = "OOM when allocating tensor with shape[64,256,56,56] and type float on /job:localhost/device:GPU:0 by allocator GPU_0_bfc"


def ask(log: str, *given: str) -> Explanation:
    """What a log is explained as; `given` are "key=value"."""
    return explain(io.BytesIO(log.encode()), CATALOGUE, given=understand(given, CATALOGUE.tables))


def first_cause(log: str, *given: str) -> str:
    """The cause that is put first, "" where none is."""
    return next((a.name for a in ask(log, *given).answers if a.role == "cause"), "")


def cli(*arguments: str, stdin: bytes = b"") -> Result:
    """`tfdoctor explain ARGUMENTS`."""
    return CliRunner().invoke(command, arguments, input=stdin, catch_exceptions=False)
