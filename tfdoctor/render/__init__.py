"""One file per output format; no judgement. FORMATS is the one list of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdoctor.render.view import Checked

# Name of the format -> the module here whose `render(checked)` writes it. `text` also takes width, colour, verbose.
FORMATS: Mapping[str, str] = {
    "text": "text",
    "json": "json_report",
    "markdown": "markdown",
    "junit": "junit",
    "sarif": "sarif",
    "github": "github",
    "prometheus": "prometheus",
}


def renderer(form: str) -> Callable[[Checked], str]:
    """The `render` of a format, imported now."""
    render: Callable[[Checked], str] = importlib.import_module(f"tfdoctor.render.{FORMATS[form]}").render
    return render
