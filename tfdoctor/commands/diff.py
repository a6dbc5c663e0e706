"""`tfdoctor diff`."""

from __future__ import annotations

import sys

import click

from tfdoctor.i18n import _


@click.command("diff")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--verbose", "-v", is_flag=True, help=_("List also what differs without mattering."))
def command(a: str, b: str, form: str, verbose: bool) -> None:
    """Compare two recordings (folders) or reports of `check --format json`: what differs, what of it matters.

    What matters: the verdict, diagnoses of one side, the fields that these diagnoses speak of, and versions, GPUs, links
    and variables. Temperatures, clocks and the like are left out.

    \b
    Examples:
      tfdoctor record good/        on the machine that works; record bad/ on the other
      tfdoctor diff good/ bad/
      tfdoctor diff yesterday.json today.json

    Exit codes: 0 nothing differs that matters, 1 something does, 2 wrong usage.
    """
    from tfdoctor.comparison import compare, load
    from tfdoctor.render import diff_json, diff_text
    from tfdoctor.terminal import width

    found = compare(load(a), load(b))
    if form == "json":
        click.echo(diff_json.render((a, b), found), nl=False)
    else:
        click.echo(diff_text.render((a, b), found, width=width(), verbose=verbose), nl=False)
    sys.exit(int(found.found))
