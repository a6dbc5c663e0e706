"""What the rules about measured rates say in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence
from tfdoctor.smoke.expectation import Shortfall


def below(shortfalls: Iterable[Shortfall], reasons: Iterable[str], source: str) -> Iterator[Diagnosis]:
    """A diagnosis for each rate below its limit. `reasons` is what was seen while `source` measured."""
    why = "; ".join(reasons)
    for short in shortfalls:
        message = _(
            "{what}: {measured:.3g} {unit} where {expected:.3g} are expected, {share:.0%} of it (limit {limit:.0%})."
        )
        yield Diagnosis(
            message.format(**vars(short)),
            (
                Evidence(why or _("nothing unusual was sampled"), source),
                Evidence(_("the rate expected"), short.source),
            ),
        )
