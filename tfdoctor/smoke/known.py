"""What the tests printed, looked through for known errors, and what their figures and experiments say in the same way.

Some diagnoses can only be seen in a log (`LogMatch`). A smoke test makes such a log: here its messages, an experiment
that helped, and a scaling that does not pay become the matches that those rules read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.known_errors import Catalogue
from tfdoctor.logs.decide import decide
from tfdoctor.logs.machine import situation_of
from tfdoctor.logs.reader import blocks
from tfdoctor.logs.redact import redact, scrubber
from tfdoctor.logs.situation import derived, stated_by_log
from tfdoctor.model import LogMatch
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.smoke import expectation
from tfdoctor.smoke.nccl import interface
from tfdoctor.smoke.results import KnownMessage, SmokeResult
from tfdoctor.tables import Tables

SCALING = "communication-bound-scaling"


def with_known(smoke: SmokeResults, facts: Facts) -> SmokeResults:
    """`smoke` with the known messages of every test that did not pass."""
    failed = [r for r in smoke.results if r.log and not r.passed and r.state != "not-run"]
    if not failed:
        return smoke
    catalogue = Catalogue.load(facts.get(Tables))
    known = [message for result in failed for message in _messages(result, catalogue, facts)]
    return replace(smoke, known=tuple(known))


def _messages(result: SmokeResult, catalogue: Catalogue, facts: Facts) -> Iterator[KnownMessage]:
    scan = catalogue.matcher.scan(blocks(io.BytesIO(f"{result.log}\n{result.detail}\n".encode())))
    said = {**situation_of(facts), **stated_by_log(scan, catalogue.tables)}
    scrub = scrubber(None)
    for answer in decide(scan.found, derived(said, catalogue.tables), catalogue.causes, {}):
        if answer.role == "cause":
            text = redact(answer.found[0].text, scrub)
            yield KnownMessage(result.test, answer.cause.name, answer.cause.code, text, answer.values)


def matches(smoke: SmokeResults, tables: Tables) -> tuple[LogMatch, ...]:
    """One match for each cause that a message, an experiment or the scaling shows; the first that shows it counts."""
    found: dict[str, LogMatch] = {}
    for match in (*_by_experiment(smoke), *_by_message(smoke), *_by_scaling(smoke, tables)):
        found.setdefault(match.cause, match)
    return tuple(found.values())


def _by_experiment(smoke: SmokeResults) -> Iterator[LogMatch]:
    for experiment in smoke.experiments:
        if experiment.helped:
            chosen = interface(r.log for r in (smoke.get(experiment.test), experiment.result) if r is not None)
            values = {"interface": chosen} if chosen else {}
            text = _("{test} works with {what}, and not without").format(test=experiment.test, what=experiment.what)
            yield from (LogMatch(name, (), text, values) for name in experiment.confirms)


def _by_message(smoke: SmokeResults) -> Iterator[LogMatch]:
    for message in smoke.known:
        text = _("smoke test {test} printed: {text}").format(test=message.test, text=message.text)
        yield LogMatch(message.name, (), text, message.values)


def _by_scaling(smoke: SmokeResults, tables: Tables) -> Iterator[LogMatch]:
    for short in expectation.scaling(smoke, tables):
        text = _("{what}: {share:.0%} of {expected:.3g} {unit}").format(**vars(short))
        yield LogMatch(SCALING, (), text, {})
