"""What `explain` prints back from a log, without what names a person or a machine."""

from __future__ import annotations

import os
import platform
import re
from typing import Optional

from tfdoctor.host import Host
from tfdoctor.scrub import Scrubber

#: Where TensorFlow and container engines print a host's name, beyond what the scrubber knows of every text.
_HOST_NAMES = (
    re.compile(r"(on this host \()[^)\n]{1,255}(\))"),
    re.compile(r"((?:\] |for )(?:hostname|host(?: name)?): )[^\s,;]{1,255}()"),
    re.compile(r"(/job:\w+/[^\n]{0,80}grpc://)[^\s/:]{1,255}()"),
)


def scrubber(host: Optional[Host]) -> Scrubber:
    """A scrubber that also knows this machine's own names: logs are mostly from the machine they are read on."""
    if host is not None:
        return Scrubber.of(host)
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
    homes = {os.environ.get(name, "") for name in ("HOME", "USERPROFILE")}
    node = platform.node()
    return Scrubber(users, {node, node.partition(".")[0]}, homes)


def redact(text: str, scrub: Scrubber) -> str:
    """One line of a log as it may be shown."""
    for pattern in _HOST_NAMES:
        text = pattern.sub(r"\1host\2", text)
    return scrub.text(text)
