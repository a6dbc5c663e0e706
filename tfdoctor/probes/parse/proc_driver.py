"""/proc/driver/nvidia/version, /proc/driver/nvidia/params and /proc/modules."""

from __future__ import annotations

import re

# "390.48", "525.60.11"; also a Tegra release ("35.4.1") and a branch's beta. "x86_64" and the compiler's version
# must not be taken for it: it is a word of its own, after the words "Kernel Module".
_VERSION = re.compile(r"Kernel\s+Module\b(?:\s+for\s+\S+)?\D*?\s(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?![\w.])")


def version(text: str) -> tuple[str, str]:
    """(version, "open" | "proprietary"); ("", "") when there is no NVRM line of a known form.

    `NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.48  Thu Mar 22 …` and
    `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  525.60.11  Release Build  (…)`; the date's language
    and presence do not matter."""
    line = next((row for row in text.splitlines() if "NVRM version" in row), "")
    found = _VERSION.search(line)
    if found is None:
        return "", ""
    return found.group(1), "open" if re.search(r"\bOpen\s+Kernel\s+Module", line) else "proprietary"


def machine(text: str) -> str:
    """The architecture that the NVRM line names ("x86_64", "aarch64"); "" when it names none."""
    line = next((row for row in text.splitlines() if "NVRM version" in row), "")
    found = re.search(r"UNIX\s+(?:Open\s+Kernel\s+Module\s+for\s+)?(?!Open\b)([A-Za-z]\w+)", line)
    return found.group(1) if found else ""


def params(text: str) -> dict[str, str]:
    """`EnableMSI: 1` -> {"EnableMSI": "1"}."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}


def modules(text: str) -> frozenset[str]:
    """The names of the loaded modules, with underscores."""
    return frozenset(line.split()[0].replace("-", "_") for line in text.splitlines() if line.split())
