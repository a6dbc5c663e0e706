"""Rules that only a log can show, for their tests: `check` leaves them out, `explain` runs them."""

from __future__ import annotations

from typing import Any

import facts

from tfdoctor.model import Diagnosis, Rule


def explained(rule: Rule, *given: Any, **values: str) -> Diagnosis:
    """What the rule makes of a match in lines 17 and 23 whose pattern took `values`."""
    return facts.found(rule, facts.log_match(rule.name, "text of the log", (17, 23), **values), *given)


def only_in_a_log(rule: Rule) -> bool:
    """`check` leaves the rule out, and the verdict does not wait for it."""
    return rule.log_only and not rule.blocks
