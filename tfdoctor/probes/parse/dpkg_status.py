"""/var/lib/dpkg/status, as far as the NVIDIA driver is concerned."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Packages that carry the driver, its libraries, the fabric manager, or what hands GPUs to containers.
_OUR_LINE = re.compile(
    r"\nPackage: *(?:nvidia-|libnvidia-|libcuda1\n|libxnvctrl|xserver-xorg-video-nvidia|linux-(modules|objects|signatures)-nvidia|cuda-drivers|cuda-compat"
    r"|datacenter-gpu-manager|firmware-nvidia|docker(-ce|\.io|-desktop)?\n|bumblebee|bbswitch|nouveau-firmware)"
)


@dataclass(frozen=True)
class Package:
    """One package. `state` is the third word of its Status: "installed", "half-configured", "config-files"…"""

    name: str
    version: str
    state: str


def _fields(paragraph: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in paragraph.splitlines() if line and not line[0].isspace())
    return {name: value.strip() for name, colon, value in pairs if colon}


def parse(text: str) -> tuple[Package, ...]:
    """The packages that matter here, in the file's order."""
    found = []
    for fields in map(_fields, _paragraphs(text)):
        state = (fields.get("Status", "").split() or [""])[-1]
        found.append(Package(fields.get("Package", ""), fields.get("Version", ""), state))
    return tuple(found)


def relevant(text: str) -> str:
    """The same file with nothing but what `parse` reads of it: a recording need not list everything else."""
    keep = ("Package", "Status", "Version")
    rows = ({k: v for k, v in _fields(p).items() if k in keep} for p in _paragraphs(text))
    return "\n".join("".join(f"{k}: {v}\n" for k, v in row.items()) for row in rows)


def _paragraphs(text: str) -> list[str]:
    """Paragraphs whose Package line names one of ours; found by that line, since the file holds thousands."""
    text = "\n" + text
    starts = [m.start() for m in _OUR_LINE.finditer(text)]
    return [text[max(text.rfind("\n\n", 0, at + 1), 0) : _end(text, at + 1)] for at in starts]


def _end(text: str, at: int) -> int:
    end = text.find("\n\n", at)
    return len(text) if end < 0 else end
