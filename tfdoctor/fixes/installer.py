"""How packages are put into the target: its own pip, uv for an environment without pip, conda for conda's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable, Optional

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from tfdoctor.i18n import _
from tfdoctor.probes.interpreter import Distributions, Interpreter

Which = Callable[[str], Optional[str]]
#: The first pip with `install --dry-run`. https://pip.pypa.io/en/stable/news/#v22-2
FIRST_DRY_RUN = "22.2"


@dataclass(frozen=True)
class Installer:
    """`tool` is "pip", "uv" or "conda". `refusal` tells why nothing may be installed here, "" when it may.
    `version` is that of pip, "" for another tool."""

    tool: str
    python: str
    prefix: str
    refusal: str = ""
    program: str = ""
    version: str = ""

    @property
    def can_ask(self) -> bool:
        """Whether the tool can tell if requirements can be met without installing them."""
        return self.tool != "pip" or at_least(self.version, FIRST_DRY_RUN)

    def install(self, requirements: Sequence[str], *, no_deps: bool = False, force: bool = False) -> tuple[str, ...]:
        """The argument list that installs `requirements`."""
        if self.tool == "conda":
            flags = [*(["--no-deps"] if no_deps else []), *(["--force-reinstall"] if force else [])]
            named = [conda_spec(r) for r in requirements]
            return (self.program, "install", "--yes", *flags, "--prefix", self.prefix, *named)
        again = {"pip": "--force-reinstall", "uv": "--reinstall"}[self.tool]
        flags = [*(["--no-deps"] if no_deps else []), *([again] if force else [])]
        return (*self._pip("install"), *flags, *requirements)

    def uninstall(self, names: Sequence[str]) -> tuple[str, ...]:
        """The argument list that removes the distributions `names`, and nothing else."""
        if self.tool == "conda":
            return (self.program, "remove", "--yes", "--force", "--prefix", self.prefix, *names)
        return (*self._pip("uninstall"), *(["-y"] if self.tool == "pip" else []), *names)

    def resolve(self, requirements: Sequence[str]) -> tuple[str, ...]:
        """The argument list that only finds out whether `requirements` can be met; changes nothing."""
        return (*self.install(requirements), "--dry-run")

    def freeze(self) -> tuple[str, ...]:
        """The argument list that lists what is installed."""
        if self.tool == "uv":
            return (self.program, "pip", "freeze", "--python", self.python)
        if self.tool == "conda":
            return (self.program, "list", "--prefix", self.prefix, "--export")
        return (*self._pip("freeze", asks=False), "--all")

    def _pip(self, command: str, *, asks: bool = True) -> tuple[str, ...]:
        if self.tool == "uv":
            return (self.program, "pip", command, "--python", self.python)
        quiet = ["--disable-pip-version-check", *(["--no-input"] if asks else [])]
        return (self.python, "-m", "pip", command, *quiet)


def conda_spec(requirement: str) -> str:
    """A requirement as conda writes it: `keras=2.15` for "keras==2.15.*"; the extra and-cuda is the build with CUDA."""
    wish = Requirement(requirement)
    parts = []
    for one in sorted(wish.specifier, key=str):
        series = one.operator == "==" and one.version.endswith(".*")
        parts.append(f"={one.version[:-2]}" if series else str(one))
    version = ",".join(parts)
    if "and-cuda" not in wish.extras:
        return f"{wish.name}{version}"
    return f"{wish.name}={version.lstrip('=') or '*'}=*cuda*"


def installer_of(
    interpreter: Optional[Interpreter], distributions: Optional[Distributions], which: Which = shutil.which
) -> Installer:
    """The tool that this environment is to be addressed with. `which` finds programs (on another machine: none)."""
    if interpreter is None:  # a list of packages is all that is known: whoever reads the plan knows which Python it is
        return Installer("pip", "python", "")
    path, prefix = interpreter.path, interpreter.prefix
    if interpreter.kind == "conda" and _conda_owns_tensorflow(distributions):
        program = _conda(prefix, which)
        refusal = (
            "" if program else _("TensorFlow was installed by conda here, and neither mamba nor conda is to be found")
        )
        return Installer("conda", path, prefix, refusal, program or "conda")
    if interpreter.externally_managed and interpreter.kind not in ("venv", "uv"):
        text = _(
            "{path} belongs to the operating system (PEP 668), and nothing is installed there: make an environment with "
            "`{path} -m venv ENV` and give it with --python ENV/bin/python"
        )
        return Installer("pip", path, prefix, text.format(path=path))
    if interpreter.pip:
        return Installer("pip", path, prefix, version=interpreter.pip)
    uv = which("uv")
    if uv is not None:
        return Installer("uv", path, prefix, program=uv)
    text = _("{path} has no pip, and no uv is on PATH; `{path} -m ensurepip` gives it one")
    return Installer("pip", path, prefix, text.format(path=path))


def elsewhere(program: str) -> Optional[str]:
    """`which` for a recorded machine: what was on its PATH is not known, so the name stands for itself."""
    return program if program in ("uv", "conda") else None


def _conda(prefix: str, which: Which) -> Optional[str]:
    """mamba or conda on PATH, or the one that the environment belongs to (BASE/envs/NAME)."""
    found = which("mamba") or which("conda") or which("micromamba")
    if found or which is elsewhere:
        return found
    bases = (prefix, os.path.dirname(os.path.dirname(prefix)))
    beside = (os.path.join(base, "bin", name) for base in bases for name in ("mamba", "conda"))
    return next((path for path in beside if os.access(path, os.X_OK)), None)


def _conda_owns_tensorflow(distributions: Optional[Distributions]) -> bool:
    by_name = distributions.by_name if distributions else {}
    return any(
        d.installer == "conda" for n, d in by_name.items() if n in ("tensorflow", "tensorflow-base", "tensorflow-cpu")
    )


def at_least(version: str, least: str) -> bool:
    """Whether a version is `least` or newer; one that cannot be read is not."""
    try:
        return Version(version) >= Version(least)
    except InvalidVersion:
        return False
