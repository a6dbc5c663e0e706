"""Types of command-line options that more than one command has."""

from __future__ import annotations

import math
from typing import Any, Optional

import click

from tfdoctor.i18n import _


class Seconds(click.FloatRange):
    """A time from `min` to `max` seconds. "nan" is a float that no range rejects."""

    name = "seconds"

    def convert(self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(_("{value} is no number of seconds.").format(value=value), param, ctx)
        return found
