"""`tfdoctor report`."""

from __future__ import annotations

from typing import Optional

import click

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.reading import end_of, printed_by
from tfdoctor.writing import write_for_a_person

SMOKE_READ = frozenset(["schema", "tests", "test", "state", "detail"])
MOST_LOG = 256 * 1024  # bytes of a log's end; GitHub takes 65 536 characters in all


@click.command("report")
@click.option("--python", metavar="PATH", help=_("The interpreter with the TensorFlow (default: this one)."))
@click.option("--host", metavar="DIR", help=_("Of a machine recorded by `tfdoctor record` instead."))
@click.option("--log", metavar="FILE", help=_("A log whose end goes into the report."))
@click.option(
    "--smoke", "smoke", metavar="JSON", help=_("What `tfdoctor smoke --format json` printed; --html draws it.")
)
@click.option("--require", metavar="WHAT", multiple=True, help=_("Must hold, such as gpus>=2 (repeatable)."))
@click.option("--expect", metavar="FILE", multiple=True, help=_("A file of requirements (repeatable)."))
@click.option("--html", "page", metavar="FILE", help=_("Write one page that needs no network instead of Markdown."))
@click.option("--output", metavar="FILE", help=_("Write the Markdown to a file instead of standard output."))
def command(
    python: Optional[str],
    host: Optional[str],
    log: Optional[str],
    smoke: Optional[str],
    require: tuple[str, ...],
    expect: tuple[str, ...],
    page: Optional[str],
    output: Optional[str],
) -> None:
    """Write what to paste into a bug report: Markdown in the shape of TensorFlow's issue form, scrubbed.

    User names, host names, home folders, addresses, serial numbers, UUIDs, tokens and e-mail are replaced; look through
    it all the same before you give it away.

    \b
    Examples:
      tfdoctor report --log train.log > report.md
      tfdoctor smoke --format json > smoke.json
      tfdoctor report --html report.html --smoke smoke.json

    Exit codes: 0 written, whatever was found; 2 wrong usage or tfdoctor itself failed.
    """
    from tfdoctor.opening import open_host
    from tfdoctor.preflight.judge import judge_all
    from tfdoctor.preflight.sources import gather
    from tfdoctor.progress import Progress
    from tfdoctor.render.outgoing import outgoing
    from tfdoctor.render.view import Checked
    from tfdoctor.scrub import Scrubber

    if smoke is not None and page is None:
        raise BadInput(_("--smoke is drawn on the page that --html writes: give both."))
    wanted = gather(require, expect) if require or expect else ()
    results = None if smoke is None else printed_by("smoke", smoke, SMOKE_READ, _("--smoke wants that"))
    lines = "" if log is None else end_of(log, MOST_LOG, _("--log wants a log file"))
    machine = open_host(python, host)
    try:
        from tfdoctor.checkup import examine

        with Progress(machine.waiting_for):
            seen = examine(machine)
        scrub = Scrubber.of(machine)
    finally:
        machine.close()
    checked = outgoing(Checked(seen.report, judge_all(wanted, seen.report, seen.facts)), scrub)
    if page is not None:
        from tfdoctor.render import page as html

        write_for_a_person(page, html.render(checked, scrub, results))
        if output is None:
            return
    from tfdoctor.render import bug_report

    text = scrub.text(bug_report.render(checked, scrub.text(lines)))
    if output is not None:
        write_for_a_person(output, text)
    else:
        click.echo(text, nl=False)
