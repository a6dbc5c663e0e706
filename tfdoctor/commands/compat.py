"""`tfdoctor compat`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

import click

from tfdoctor.fitting.answer import answer
from tfdoctor.fitting.asked import MACHINES, SYSTEMS, understand
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables
from tfdoctor.terminal import colour, width


@click.command("compat")
@click.option("--tensorflow", metavar="VERSION", help=_("Only these releases (2.16 or 2.16.1)."))
@click.option("--why-not", metavar="VERSION", help=_("Say of these releases why they do not fit."))
@click.option("--gpu", metavar="NAME", help=_("A GPU's name or compute capability (“RTX 5090”, 12.0)."))
@click.option("--driver", metavar="VERSION", help=_("The NVIDIA driver (535.183.01)."))
@click.option("--cuda", metavar="VERSION", help=_("A CUDA toolkit that is there and stays (11.8)."))
@click.option("--python", metavar="VERSION", help=_("The Python (3.12)."))
@click.option("--glibc", metavar="VERSION", help=_("The C library of the system (2.17)."))
@click.option("--os", "system", type=click.Choice(SYSTEMS), help=_("The operating system; default: linux."))
@click.option("--arch", type=click.Choice(MACHINES), help=_("The processor; default: x86_64."))
@click.option("--here", is_flag=True, help=_("Fill in what is not given from this machine."))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    tensorflow: Optional[str],
    why_not: Optional[str],
    gpu: Optional[str],
    driver: Optional[str],
    cuda: Optional[str],
    python: Optional[str],
    glibc: Optional[str],
    system: Optional[str],
    arch: Optional[str],
    here: bool,
    form: str,
) -> None:
    """Say which TensorFlow releases fit a GPU, driver, CUDA toolkit and Python, and why others do not.

    \b
    Examples:
      tfdoctor compat                                  what each release was built for
      tfdoctor compat --here                           what fits this machine
      tfdoctor compat --gpu "RTX 5090" --python 3.12   what fits that GPU
      tfdoctor compat --driver 470.82.01 --why-not 2.15

    Exit codes: 0 answered, 2 a GPU or version that is not known.
    """
    if tensorflow is not None and why_not is not None:
        raise BadInput(_("--tensorflow and --why-not both name releases: give one of them."))
    given = {"tensorflow": tensorflow, "why-not": why_not, "gpu": gpu, "driver": driver, "cuda": cuda, "python": python}
    for option, value in {**given, "glibc": glibc}.items():
        if value is not None and not value.strip():
            raise BadInput(_("--{option} is empty: give it a value or leave it out.").format(option=option))
    named = why_not if tensorflow is None else tensorflow
    tables = Tables()
    said = {"gpu": gpu, "driver": driver, "python": python, "glibc": glibc, "system": system, "machine": arch}
    if here:
        understand(tables, tensorflow=named, cuda=cuda, **said)  # a wrong option, before anything is looked at
        said = {**said, **{name: value for name, value in _here(tables).items() if said[name] is None}}
    asked = understand(tables, tensorflow=named, cuda=cuda, **said)
    fits = answer(tables, asked)
    if form == "json":
        from tfdoctor.render import compat_json

        click.echo(compat_json.render(asked, fits), nl=False)
        return
    from tfdoctor.render import compat_text

    click.echo(compat_text.render(tables, asked, fits, width=width(), colour=colour()), nl=False)


def _here(tables: Tables) -> Mapping[str, str]:
    """What this machine says of itself; what could not be looked at goes to standard error."""
    from tfdoctor.checkup import facts_of
    from tfdoctor.fitting.here import look
    from tfdoctor.opening import open_host

    host = open_host(None, None)
    try:
        seen = look(facts_of(host), tables)
    finally:
        host.close()
    for line in seen.unseen:
        click.echo(line, err=True)
    return seen.said
