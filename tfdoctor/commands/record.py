"""`tfdoctor record`."""

from __future__ import annotations

from typing import Optional

import click

from tfdoctor.i18n import _, ngettext


@click.command("record")
@click.argument("folder", metavar="DIR")
@click.option("--python", metavar="PATH", help=_("Record the TensorFlow of this interpreter (default: this one)."))
def command(folder: str, python: Optional[str]) -> None:
    """Write a scrubbed recording of this machine to DIR, a new or an empty folder.

    `tfdoctor check --host DIR` examines it anywhere. User names, host names, home folders, addresses, serial numbers,
    UUIDs, tokens and e-mail are replaced; look through it all the same before you give it away.

    \b
    Examples:
      tfdoctor record machine/                              this machine, this Python
      tfdoctor record machine/ --python venv/bin/python     with the TensorFlow of another environment
      tar czf machine.tgz machine/                          to send it; then, elsewhere:
      tfdoctor check --host machine/

    Exit codes: 0 recorded, whatever is wrong with the machine; 2 wrong usage or tfdoctor itself failed.
    """
    from tfdoctor.host import LiveHost
    from tfdoctor.opening import open_host
    from tfdoctor.progress import Progress
    from tfdoctor.record import check_folder, record

    check_folder(folder)
    live = open_host(python, None)
    assert isinstance(live, LiveHost)
    try:
        with Progress(live.waiting_for):
            parts = record(live, folder)
    finally:
        live.close()
    said = ngettext("Recorded {count} part in {folder}.", "Recorded {count} parts in {folder}.", len(parts))
    click.echo(said.format(count=len(parts), folder=folder))
    click.echo(
        _("Names, addresses, serial numbers and secrets were replaced; look through it before you give it away."),
        err=True,
    )
