"""What somebody saved as nvidia-smi's output: its table, or `nvidia-smi -q`, or the XML after all."""

from __future__ import annotations

from typing import Optional

from tfdoctor.probes.parse import smi_q, smi_table, smi_xml
from tfdoctor.probes.parse.report import SmiReport


def parse(text: str) -> Optional[SmiReport]:
    """The report in whichever of the three formats it is; None when it is none of them."""
    return smi_xml.parse(text) or smi_q.parse(text) or smi_table.parse(text)
