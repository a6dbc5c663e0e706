"""How large the download of a step is, before anything is downloaded.

The environment's own package tool resolves the step's own commands (so that its index, its settings and what is already
installed count) and names the files that it would fetch; whoever serves a file tells its size. No file is fetched for it,
no cache is written, and where that cannot be had, or not at once, the size is not known.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Optional

from tfdoctor.children import Children
from tfdoctor.fixes.installer import Installer, at_least
from tfdoctor.fixes.plan import Plan

#: The first pip whose dry run fetches no whole wheels. https://pip.pypa.io/en/stable/news/#v25-3
FIRST_PIP = "25.3"
ASK_LIMIT = 15.0  # seconds for a resolution; that of TensorFlow takes five
SIZE_LIMIT = 3.0  # seconds for the size of a file
AT_ONCE = 8  # files whose size is asked for at the same time
MIB = 1024 * 1024
#: Neither a cache nor compiled files are written, and an index that does not answer is not asked again.
QUIETLY = {"PYTHONDONTWRITEBYTECODE": "1", "UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "5", "UV_NO_PROGRESS": "1"}
PIP = ("--dry-run", "--quiet", "--no-cache-dir", "--use-feature=fast-deps", "--retries=0", "--timeout=5", "--report=-")
UV = ("--quiet", "--no-cache", "--no-header")
#: A package in a lock file: name, version, and the address of its first wheel.
LOCKED = re.compile(
    r'^\[\[packages\]\]\nname = "(.*)"\nversion = "(.*)"\n(?:(?!\[).*\n)*?wheels = \[\s*\{ (?:url|path) = "([^"]+)"',
    re.M,
)


def measured(plan: Plan, installer: Installer, children: Children) -> Plan:
    """`plan` with the size of each package step's download, as far as it can be found out now."""
    steps = []
    for step in plan.steps:
        size = _size(step.commands, installer, children) if step.kind == "packages" else None
        steps.append(step if size is None else replace(step, download_mib=size))
    return replace(plan, steps=tuple(steps))


def _size(commands: Iterable[Sequence[str]], installer: Installer, children: Children) -> Optional[int]:
    """MiB, rounded up; None where a part of it cannot be found out."""
    urls: set[str] = set()
    try:
        for command in commands:
            if "install" in command:
                urls.update(_fetched(command, installer, children))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return -(-sum(pool.map(_length, urls)) // MIB)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _fetched(command: Sequence[str], installer: Installer, children: Children) -> Iterator[str]:
    """The addresses of the files that an install command would fetch. Raises ValueError or OSError when not told."""
    ask = {"pip": _by_pip, "uv": _by_uv}.get(installer.tool)
    if ask is None:  # conda's dry run writes to its cache
        raise ValueError(installer.tool)
    with tempfile.TemporaryDirectory(prefix="tfdoctor-") as scratch:
        yield from ask(command, installer, _Asked(children, scratch))


class _Asked:
    """A package tool that is asked: it writes to `scratch` alone, and has little time."""

    def __init__(self, children: Children, scratch: str) -> None:
        self.scratch = scratch
        self._children, self._variables = children, {**os.environ, **QUIETLY, "TMPDIR": scratch}

    def __call__(self, *command: str, stdin: str = "") -> str:
        """What it prints on standard output. Raises ValueError when it does not succeed."""
        done = self._children.run(command, timeout=ASK_LIMIT, env=self._variables, stdin=stdin.encode())
        if done is None or done.code != 0:
            raise ValueError(command)
        return done.stdout


def _by_pip(command: Sequence[str], installer: Installer, ask: _Asked) -> Iterator[str]:
    """By the target's pip, or by tfdoctor's own in the target, whichever is new enough."""
    python, _m, _pip, *arguments = command
    if not at_least(installer.version, FIRST_PIP):
        if not at_least(_own_pip(), FIRST_PIP):
            raise ValueError(FIRST_PIP)
        arguments = ["--python", python, *arguments]
        python = sys.executable
    report = json.loads(ask(python, "-m", "pip", *arguments, *PIP))
    for item in report["install"]:
        yield item["download_info"]["url"]


def _own_pip() -> str:
    try:
        return version("pip")
    except PackageNotFoundError:
        return ""


def _by_uv(command: Sequence[str], installer: Installer, ask: _Asked) -> Iterator[str]:
    """By uv's lock, which begins with what is installed; uv's dry run would leave a file in the environment."""
    lock = Path(ask.scratch, "pylock.toml")
    there = {tuple(line.split("==", 1)) for line in ask(*installer.freeze()).splitlines() if "==" in line}
    lock.write_text(_locked(there))
    requirements = [word for word in command[command.index(installer.python) + 1 :] if not word.startswith("-")]
    alone = [word for word in command if word == "--no-deps"]
    program, python = installer.program, installer.python
    ask(program, "pip", "compile", *UV, *alone, "--python", python, "-o", str(lock), "-", stdin="\n".join(requirements))
    text = lock.read_text()
    found = LOCKED.findall(text)
    if len(found) != text.count("[[packages]]"):
        raise ValueError(text)
    for name, version_, url in found:
        if (name, version_) not in there or "--reinstall" in command:
            yield url


def _locked(packages: Iterable[tuple[str, ...]]) -> str:
    """A lock file that only names versions: uv keeps to them where it can."""
    rows = [f'[[packages]]\nname = "{name}"\nversion = "{version_}"\n' for name, version_ in sorted(packages)]
    return "\n".join(['lock-version = "1.0"\ncreated-by = "tfdoctor"\n', *rows])


def _length(url: str) -> int:
    """The size of a file in bytes. Raises OSError or TypeError when it is not told."""
    if "://" not in url:
        return Path(url).stat().st_size
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SIZE_LIMIT) as answer:
        return int(answer.headers["Content-Length"])
