"""`tfdoctor run`."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, BinaryIO, Optional

import click

from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.tables import TableError
from tfdoctor.terminal import width

if TYPE_CHECKING:
    from tfdoctor.known_errors import Explanation
    from tfdoctor.logs.matcher import Scan


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--no-host", is_flag=True, help=_("Explain from the log alone: look at no machine."))
@click.option("--given", metavar="KEY=VALUE", multiple=True, help=_("As for `tfdoctor explain`."))
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGUMENTS]...")
def command(no_host: bool, given: tuple[str, ...], program: tuple[str, ...]) -> None:
    """Run a program and explain what it printed, when it failed or TensorFlow used no GPU.

    \b
    Examples:
      tfdoctor run -- python train.py
      tfdoctor run --no-host -- ssh node7 python train.py    the log of another machine

    The program's output and exit code pass through untouched; the explanation comes after it, on standard error.
    """
    from tfdoctor.commands.explain import doubt
    from tfdoctor.known_errors import Catalogue, explain_scan
    from tfdoctor.logs.given import understand
    from tfdoctor.logs.reader import blocks
    from tfdoctor.logs.running import run_along

    if not program:
        raise BadInput(_("run wants a program: tfdoctor run -- python train.py"))
    try:
        catalogue = Catalogue.load()
    except TableError as wrong:
        raise BadInput(str(wrong)) from None
    said = understand(given, catalogue.tables, doubt)
    scans: list[Scan] = []

    def read(stream: BinaryIO) -> None:
        scans.append(catalogue.matcher.scan(blocks(stream)))

    ended = run_along(program, read)
    code = ended.code
    if ended.cut_off:  # whoever read us has seen enough: that is no failure to explain
        sys.exit(code)
    if scans and code and not scans[0].lines:
        silent = _("tfdoctor: {program} ended with exit code {code} and printed nothing.")
        click.echo(silent.format(program=os.path.basename(program[0]), code=code), err=True)
    elif scans and (code or _no_gpu_used(scans[0])):
        host = None if no_host else _host(program)
        try:
            explanation = explain_scan(scans[0], catalogue, given=said, host=host)
            if explanation.answers or (code and explanation.odd):
                _show(explanation, program[0], code, host)
        finally:
            if host is not None:
                host.close()
    sys.exit(code)


def _no_gpu_used(scan: Scan) -> bool:
    """Whether TensorFlow spoke and named no GPU that it uses."""
    return bool(scan.found) and not any("gpu_listed" in item.row.states for item in scan.found)


def _host(program: tuple[str, ...]) -> Host:
    """This machine, with the program's own interpreter as the target where the program is one."""
    from tfdoctor.opening import open_host

    path = shutil.which(program[0])
    python = path if path and os.path.basename(path).startswith("python") else None
    return open_host(python, None)


def _show(explanation: Explanation, name: str, code: int, host: Optional[Host]) -> None:
    from tfdoctor.logs.redact import scrubber
    from tfdoctor.render.explain_text import render_log

    title = _("tfdoctor: {program} ended with exit code {code}").format(program=os.path.basename(name), code=code)
    click.echo("\n" + title, err=True)
    text = render_log(
        _("what it printed"), explanation, scrubber(host), width=width(), paint=lambda words, _colour: words
    )
    click.echo(text, nl=False, err=True)
