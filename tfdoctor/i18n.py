"""Texts for people: `_()` marks and translates one. English is the source; catalogues are optional."""

from __future__ import annotations

import gettext
from pathlib import Path

_catalogue = gettext.translation("tfdoctor", Path(__file__).with_name("locale"), fallback=True)
_ = _catalogue.gettext
ngettext = _catalogue.ngettext
