"""`tfdoctor expect`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

import click

from tfdoctor.i18n import _
from tfdoctor.writing import write_for_a_person

if TYPE_CHECKING:
    from tfdoctor.checkup import Examination
    from tfdoctor.scrub import Scrubber

INSTANCE = "TFD126"


@click.command("expect")
@click.option("--python", metavar="PATH", help=_("The interpreter with the TensorFlow (default: this one)."))
@click.option("--host", metavar="DIR", help=_("From a machine recorded by `tfdoctor record` instead."))
@click.option("--output", metavar="FILE", help=_("Write to a file instead of standard output."))
def command(python: Optional[str], host: Optional[str], output: Optional[str]) -> None:
    """Write requirements that this healthy machine meets, one a line, for a person to edit.

    On a cloud instance of a known type the GPUs are also compared with what the type comes with.

    \b
    Examples:
      tfdoctor expect --output gpu-node.txt      then edit it
      tfdoctor check --expect gpu-node.txt       on every other machine

    Exit codes: 0 written from a healthy machine, 1 written, but something is wrong here, 2 wrong usage.
    """
    from tfdoctor.checkup import examine
    from tfdoctor.opening import open_host
    from tfdoctor.progress import Progress
    from tfdoctor.render.outgoing import knowing
    from tfdoctor.scrub import Scrubber

    machine = open_host(python, host)
    try:
        with Progress(machine.waiting_for):
            seen = examine(machine)
        scrub = knowing(seen.report, Scrubber.of(machine))
    finally:
        machine.close()
    faults = [scrub.text(fault) for fault in wrong(seen)]
    text = "".join(f"{line}\n" for line in written(seen, faults, scrub))
    if output:
        write_for_a_person(output, text)
    else:
        click.echo(text, nl=False)
    for fault in faults:
        click.echo(f"tfdoctor: {fault}", err=True)
    sys.exit(1 if faults else 0)


def wrong(seen: Examination) -> Iterator[str]:
    """What makes this machine a bad model for others, one sentence each."""
    from tfdoctor.model import Severity

    verdict = seen.report.verdict
    if verdict.gpu != "yes":
        yield _("This is not a healthy machine: {summary}").format(summary=verdict.summary)
    for outcome in seen.report.found:
        for diagnosis in outcome.diagnoses:
            severity = diagnosis.severity or outcome.rule.severity
            if outcome.rule.name != verdict.because and (severity is Severity.ERROR or outcome.rule.code == INSTANCE):
                yield f"{outcome.rule.code} {outcome.rule.name}: {diagnosis.message}"


def written(seen: Examination, faults: list[str], scrub: Scrubber) -> Iterator[str]:
    """The file, line by line. Values seen stay (a version with four parts looks like an address), reasons are scrubbed."""
    from tfdoctor import __version__
    from tfdoctor.preflight.proposal import propose

    yield _("# Requirements for `tfdoctor check --expect FILE`, written by tfdoctor {version}.").format(
        version=__version__
    )
    yield _("# Edit it: take out what does not matter, loosen what may differ.")
    yield from (f"# {_('Wrong here')}: {fault}" for fault in faults)
    yield from _instance(seen)
    yield ""
    for line in propose(seen.report, seen.facts):
        yield str(line) if line.text else scrub.text(str(line))
    yield ""
    yield _("# With `tfdoctor check --smoke`: share of the model's dense peak, and busbw in GB/s.")
    yield "# smoke.matmul>=0.4"
    yield "# smoke.allreduce>=10"


def _instance(seen: Examination) -> Iterator[str]:
    """What the table knows of this instance type."""
    from tfdoctor.tables import Tables

    cloud = seen.report.facts.get("cloud")
    kind = cloud.instance_type if cloud is not None else ""
    row = Tables().instance(kind) if kind else None
    if row is not None:
        counts = ", ".join(map(str, row.gpu_counts)) or "?"
        text = _("# {type}: the table has {counts} × {gpu} ({link}; {grade}).")
        yield text.format(type=kind, counts=counts, gpu=row.gpu, link=row.link, grade=row.grade)
    elif kind:
        yield _("# {type}: this instance type is not in the table.").format(type=kind)
