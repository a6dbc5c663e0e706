"""`tfdoctor schema`."""

from __future__ import annotations

import json

import click

from tfdoctor.published import names, schema


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", type=click.Choice(names()), default="check")
def command(name: str) -> None:
    """Print the JSON Schema of what COMMAND prints with --format json (default: check).

    COMMAND is check, compat, diff, explain, fix or smoke. The number in `schema` rises when a field goes or changes its
    meaning; new fields may come without, so a reader ignores what it does not know.

    \b
    Examples:
      tfdoctor schema > tfdoctor-check.json
      tfdoctor schema explain
    """
    click.echo(json.dumps(schema(name), indent=1, ensure_ascii=False))
