"""`tfdoctor explain`."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Callable, Optional, cast

import click

from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.tables import TableError, Tables
from tfdoctor.terminal import colour, lively, width

if TYPE_CHECKING:
    from tfdoctor.pages import Page

#: A log smaller than this (bytes) is read before a progress bar could be seen.
BAR_FROM = 32 * 1024 * 1024
#: First bytes -> what they say: RFC 1952, PKWARE APPNOTE 4.3.7, the .xz file format 2.1.1.1, RFC 8878, bzip2's header.
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
}
_LONGEST_MAGIC = max(map(len, _COMPRESSED))


@click.command("explain")
@click.argument("what", nargs=-1, metavar="[LOG|-|CODE|NAME]...")
@click.option("--all", "everything", is_flag=True, help=_("The page of every diagnosis."))
@click.option("--list", "listing", is_flag=True, help=_("Code and title of every diagnosis."))
@click.option("--host", metavar="DIR", help=_("The log is of a machine recorded by `tfdoctor record`."))
@click.option("--no-host", is_flag=True, help=_("The log alone: look at no machine."))
@click.option(
    "--given",
    metavar="KEY=VALUE",
    multiple=True,
    help=_(
        "What somebody says of the machine: os, python, tensorflow, driver, cuda, cudnn, nccl, gpu, gpus, container, install."
    ),
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    what: tuple[str, ...],
    everything: bool,
    listing: bool,
    host: Optional[str],
    no_host: bool,
    given: tuple[str, ...],
    form: str,
) -> None:
    """Explain a log, the page of a diagnosis, or an error code.

    \b
    Examples:
      tfdoctor explain train.log                   the root cause in a log, with this machine's facts
      python train.py 2>&1 | tfdoctor explain -    the same from a pipe
      tfdoctor explain --no-host --given os=WSL2 --given gpu="RTX 3090" report.txt
      tfdoctor explain driver-too-old              what a diagnosis means (or TFD203)
      tfdoctor explain CUDA_ERROR_NO_DEVICE        an error code (or 719, cudnn:3007, xid:79)

    Exit code 0 whatever a log says; 2 for a log that cannot be read.
    """
    tables = Tables()
    try:
        if everything or listing:
            if what:
                raise BadInput(_("--all and --list are of every diagnosis: give no names with them."))
            click.echo(_catalogue(tables, listing, form), nl=False)
            return
        if not what:
            raise BadInput(_("explain wants a log file, - for standard input, a diagnosis or an error code."))
        logs = [name for name in what if name == "-" or os.path.exists(name)]
        pages = [name for name in what if name not in logs]
        if pages:
            click.echo(_pages(pages, tables, form), nl=False)
        if logs:
            click.echo(_logs(logs, tables, host, no_host, given, form), nl=False)
    except TableError as wrong:
        raise BadInput(str(wrong)) from None


def _catalogue(tables: Tables, listing: bool, form: str) -> str:
    from tfdoctor.pages import all_pages

    pages = all_pages(tables)
    if form == "json":
        from tfdoctor.render.explain_json import render_pages

        return render_pages(pages, ())
    from tfdoctor.render.explain_text import render_list, render_page

    return render_list(pages) if listing else "\n".join(render_page(p, paint=painter()) for p in pages)


def _pages(names: list[str], tables: Tables, form: str) -> str:
    """The pages of diagnoses and codes. Raises BadInput for a name that is neither."""
    from tfdoctor.logs import codes
    from tfdoctor.pages import page, unknown

    found: list[Page] = []
    numbers: list[codes.CodePage] = []
    for name in names:
        one = page(name, tables)
        known = () if one is not None else codes.pages(name, tables)
        if one is not None:
            found.append(one)
        elif known:
            numbers.extend(known)
        elif os.sep in name or "/" in name or name.endswith((".log", ".txt", ".out", ".err")):
            raise BadInput(_("{path} does not exist; explain wants a log file.").format(path=name))
        else:
            raise unknown(name, codes.names(tables), tables)
    if form == "json":
        from tfdoctor.render.explain_json import render_pages

        return render_pages(found, numbers)
    from tfdoctor.render.explain_text import render_codes, render_page

    texts = [render_page(p, paint=painter()) for p in found]
    return "\n".join([*texts, *([render_codes(numbers, width=width(), paint=painter())] if numbers else [])])


def _logs(
    names: list[str], tables: Tables, recorded: Optional[str], no_host: bool, given: tuple[str, ...], form: str
) -> str:
    from tfdoctor.known_errors import Catalogue, explain
    from tfdoctor.logs.given import understand
    from tfdoctor.logs.redact import scrubber

    if no_host and recorded is not None:
        raise BadInput(_("--host and --no-host do not go together."))
    said = understand(given, tables, doubt)
    for name in names:
        readable(name)
    catalogue = Catalogue.load(tables)
    host = None if no_host else _open_host(recorded)
    explained = []
    try:
        for name in names:
            with _opened(name) as (stream, progress):
                result = explain(stream, catalogue, given=said, host=host, progress=progress)
            if not result.lines:
                raise BadInput(_("{log} is empty; explain wants a log with lines in it.").format(log=_called(name)))
            explained.append((_called(name), result))
        scrub = scrubber(host)
    finally:
        if host is not None:
            host.close()
    if form == "json":
        from tfdoctor.render.explain_json import render_logs

        return render_logs(explained, scrub)
    from tfdoctor.render.explain_text import render_log

    return "\n".join(render_log(n, e, scrub, width=width(), paint=painter()) for n, e in explained)


def doubt(sentence: str) -> None:
    """What --given says in vain."""
    click.echo(f"tfdoctor: {sentence}", err=True)


def readable(name: str) -> None:
    """Raises BadInput for what is no log: a folder, a file that cannot be read, an empty one."""
    if name == "-":
        return
    path = Path(name)
    if path.is_dir():
        raise BadInput(_("{path} is a folder; explain wants a log file.").format(path=name))
    if path.is_file() and path.stat().st_size == 0:
        raise BadInput(_("{log} is empty; explain wants a log with lines in it.").format(log=name))
    try:
        with path.open("rb") as stream:
            if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not stream.isatty():
                raise BadInput(_("{path} is a device; explain wants a log file.").format(path=name))
    except OSError as error:
        raise BadInput(_("{path} cannot be read: {why}.").format(path=name, why=error.strerror or error)) from None


def _open_host(recorded: Optional[str]) -> Host:
    from tfdoctor.opening import open_host

    return open_host(None, recorded)


def _called(name: str) -> str:
    return _("standard input") if name == "-" else name


@contextlib.contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, Optional[Callable[[int], None]]]]:
    """A log's bytes, and what to tell how many were read (a bar on a terminal, for a large one)."""
    if name == "-":
        waiting = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
        try:
            _not_compressed(waiting.peek(_LONGEST_MAGIC), name)
            yield waiting, None
        finally:
            waiting.detach()
        return
    size = Path(name).stat().st_size
    with open(name, "rb") as stream:
        _not_compressed(stream.peek(_LONGEST_MAGIC), name)
        if size < BAR_FROM or not lively():
            yield stream, None
            return
        with click.progressbar(length=size, label=os.path.basename(name), file=sys.stderr) as bar:
            yield stream, bar.update


def _not_compressed(head: bytes, name: str) -> None:
    """Raises BadInput for a compressed log, by its first bytes."""
    kind = next((kind for magic, kind in _COMPRESSED.items() if head.startswith(magic)), None)
    if kind is not None:
        raise BadInput(
            _("{log} is compressed ({kind}); explain wants the log itself: decompress it first.").format(
                log=_called(name), kind=kind
            )
        )


def painter() -> Callable[[str, str], str]:
    """Colours a text, where standard output is a terminal that may have colours."""
    if not colour():
        return lambda text, _colour: text
    return lambda text, name: click.style(text, bold=True) if name == "bold" else click.style(text, fg=name, bold=True)
