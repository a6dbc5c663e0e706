"""How packages are put into the target: its own pip, uv for an environment without pip, conda for conda's own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.probes.interpreter import Distributions, Interpreter


@dataclass(frozen=True)
class Installer:
    """`tool` is "pip", "uv" or "conda". `refusal` tells why nothing may be installed here, "" when it may."""

    tool: str
    python: str
    prefix: str
    refusal: str = ""
    program: str = ""

    def install(self, requirements: Sequence[str], *, no_deps: bool = False, force: bool = False) -> tuple[str, ...]:
        """The argument list that installs `requirements`."""
        if self.tool == "conda":
            return (self.program, "install", "--yes", "--prefix", self.prefix, *requirements)
        flags = [*(["--no-deps"] if no_deps else []), *(["--force-reinstall"] if force and self.tool == "pip" else [])]
        flags += ["--reinstall"] if force and self.tool == "uv" else []
        return (*self._pip("install"), *flags, *requirements)

    def uninstall(self, names: Sequence[str]) -> tuple[str, ...]:
        """The argument list that removes the distributions `names`."""
        if self.tool == "conda":
            return (self.program, "remove", "--yes", "--force", "--prefix", self.prefix, *names)
        return (*self._pip("uninstall"), *(["-y"] if self.tool == "pip" else []), *names)

    def resolve(self, requirements: Sequence[str]) -> tuple[str, ...]:
        """The argument list that only finds out whether `requirements` can be met; changes nothing."""
        return (*self.install(requirements), "--dry-run")

    def _pip(self, command: str) -> tuple[str, ...]:
        if self.tool == "uv":
            return (self.program, "pip", command, "--python", self.python)
        return (self.python, "-m", "pip", command, "--disable-pip-version-check", "--no-input")


def installer_of(interpreter: Interpreter, distributions: Optional[Distributions]) -> Installer:
    """The tool that this environment is to be addressed with."""
    conda = shutil.which("mamba") or shutil.which("conda")
    if interpreter.kind == "conda" and _conda_owns_tensorflow(distributions):
        refusal = "" if conda else _("TensorFlow was installed by conda here, and no conda or mamba is on PATH")
        return Installer("conda", interpreter.path, interpreter.prefix, refusal, conda or "conda")
    if interpreter.externally_managed and interpreter.kind not in ("venv", "conda", "uv"):
        text = _("{path} belongs to the operating system (PEP 668); make an environment first: {path} -m venv ENV")
        return Installer("pip", interpreter.path, interpreter.prefix, text.format(path=interpreter.path))
    if interpreter.pip:
        return Installer("pip", interpreter.path, interpreter.prefix)
    uv = shutil.which("uv")
    if uv is not None:
        return Installer("uv", interpreter.path, interpreter.prefix, program=uv)
    text = _("{path} has no pip, and no uv is on PATH; `{path} -m ensurepip` gives it one")
    return Installer("pip", interpreter.path, interpreter.prefix, text.format(path=interpreter.path))


def _conda_owns_tensorflow(distributions: Optional[Distributions]) -> bool:
    owned = (distributions.by_name if distributions else {}).get("tensorflow")
    return owned is not None and owned.installer == "conda"
