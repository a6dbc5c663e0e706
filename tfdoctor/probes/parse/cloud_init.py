"""/run/cloud-init/instance-data.json: what cloud-init kept of the cloud's own answers, so nobody need ask the network."""

from __future__ import annotations

import json
from typing import Any

# Where Azure's datasource puts the type (cloudinit/sources/DataSourceAzure.py); Google's keeps none.
AZURE_SIZE = ("ds", "meta_data", "imds", "compute", "vmSize")


def instance_type(text: str) -> str:
    """ "Standard_ND96asr_v4", or "" where none is told."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    for key in AZURE_SIZE:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def relevant(text: str) -> str:
    """Only the type: the file names the machine, its owner and its addresses."""
    kept: Any = instance_type(text)
    for key in reversed(AZURE_SIZE):
        kept = {key: kept}
    return json.dumps(kept) + "\n"
