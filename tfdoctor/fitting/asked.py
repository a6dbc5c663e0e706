"""What somebody says of a machine, checked against the tables before anything is compared with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Union

from packaging.version import InvalidVersion, Version

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables
from tfdoctor.tables.cuda_rows import Toolkit
from tfdoctor.tables.hardware_rows import ComputeCapability, Gpu, Instance, OtherGpu

SYSTEMS = ("linux", "windows", "wsl2", "macos")
MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Asked:
    """A machine in words; None where nothing was said. ``python`` is major.minor, ``cuda`` a fixed toolkit.

    ``gpu`` is the name to show, ``card`` its row, ``capability`` what it comes to;
    ``instance`` is the cloud instance type that was named instead of it. ``other``: how a GPU of another vendor
    is reached. ``assumed`` names what nobody said ("system", "machine").
    """

    system: str
    machine: str
    tensorflow: Optional[str] = None
    python: Optional[str] = None
    driver: Optional[str] = None
    gpu: Optional[str] = None
    card: Optional[Gpu] = None
    instance: Optional[Instance] = None
    capability: Optional[ComputeCapability] = None
    other: Optional[OtherGpu] = None
    cuda: Optional[str] = None
    glibc: Optional[str] = None
    assumed: tuple[str, ...] = ()

    @property
    def wheels_for(self) -> str:
        """The system whose wheels are installed: WSL 2 takes those for Linux."""
        return "linux" if self.system == "wsl2" else self.system

    def names(self, version: str) -> bool:
        """Whether a release was asked about: any without a question, all patches of "2.16", "2.15.0" alone."""
        return self.tensorflow is None or _names(self.tensorflow, version)


def _names(asked: str, version: str) -> bool:
    return version == asked or (asked.count(".") < 2 and version.startswith(asked + "."))


def understand(
    tables: Tables,
    *,
    tensorflow: Optional[str] = None,
    python: Optional[str] = None,
    driver: Optional[str] = None,
    gpu: Optional[str] = None,
    cuda: Optional[str] = None,
    system: Optional[str] = None,
    machine: Optional[str] = None,
    glibc: Optional[str] = None,
) -> Asked:
    """The question in terms of the tables. Raises BadInput for a GPU or version that they do not know."""
    card = None if gpu is None else _gpu(tables, gpu)
    other = None
    if gpu is not None and card is None:
        other = tables.other_gpu(gpu, "linux" if system == "wsl2" else system)
    elif gpu is None and system == "macos":
        other = next((row for row in tables.rows(OtherGpu) if row.system == "macos"), None)
    implied = (other.system, other.machine) if other else (None, card.host if isinstance(card, Gpu) else None)
    assumed = [
        name for name, said in (("system", system or implied[0]), ("machine", machine or implied[1])) if not said
    ]
    return Asked(
        system=system or implied[0] or "linux",
        machine=machine or implied[1] or ("aarch64" if system == "macos" else "x86_64"),
        tensorflow=None if tensorflow is None else _tensorflow(tables, tensorflow),
        python=None if python is None else _python(python),
        driver=None if driver is None else _driver(driver),
        gpu=card.name if isinstance(card, Gpu) else gpu,
        capability=_capability(tables, card),
        card=card if isinstance(card, Gpu) else None,
        instance=None if gpu is None else tables.instance(gpu),
        other=other,
        cuda=None if cuda is None else _cuda(tables, cuda),
        glibc=None if glibc is None else _version(glibc, "--glibc", "2.31"),
        assumed=tuple(assumed),
    )


def _gpu(tables: Tables, name: str) -> Union[Gpu, ComputeCapability, None]:
    """A Gpu, a ComputeCapability, or None for a GPU of another vendor."""
    if re.fullmatch(r"(sm_|compute_)?[0-9]{1,3}(\.[0-9])?[af]?", name.strip()):
        row = tables.compute_capability(name.strip())
        if row is None:
            known = [r.compute_capability for r in tables.rows(ComputeCapability)]
            raise BadInput(
                _("There is no compute capability {name} in the tables; nearest: {near}.").format(
                    name=name, near=", ".join(_nearest_capabilities(name, known))
                )
            )
        return row
    _refuse_architecture(tables, name)
    instance = tables.instance(name)
    found = tables.gpu(instance.gpu if instance else name)
    if found is None and tables.other_gpu(name) is None:
        hint = ", ".join(tables.gpu_near(name))
        text = _("There is no GPU “{name}” in the tables.").format(name=name)
        text += " " + (_("Near it are: {near}.").format(near=hint) if hint else "")
        raise BadInput(text.rstrip() + " " + _("A compute capability such as 8.6 can be given instead."))
    return found


def _nearest_capabilities(text: str, known: Sequence[str], count: int = 2) -> tuple[str, ...]:
    """The numerically nearest compute capabilities to "9.1" or "sm_91", in order."""
    digits = text.strip().rpartition("_")[2].rstrip("af")
    wanted = float(digits) if "." in digits or len(digits) < 2 else float(digits[:-1] + "." + digits[-1])
    near = sorted(known, key=lambda value: abs(float(value) - wanted))[:count]
    return tuple(sorted(near, key=Version))


def _refuse_architecture(tables: Tables, name: str) -> None:
    """ "Blackwell" is several compute capabilities: ask for one."""
    rows = tables.rows(ComputeCapability)
    same = [row for row in rows if row.architecture.lower() == name.strip().lower() and not row.tegra]
    if same:
        raise BadInput(
            _(
                "{name} is an architecture; --gpu wants a GPU's name or one of its compute capabilities: {values}."
            ).format(name=name, values=", ".join(row.compute_capability for row in same))
        )


def _capability(tables: Tables, card: Union[Gpu, ComputeCapability, None]) -> Optional[ComputeCapability]:
    if isinstance(card, Gpu):
        row = tables.compute_capability(card.compute_capability)
        if row is None:
            text = _("{gpu} has compute capability {value}, which has no row in compute_capabilities.json.")
            raise BadInput(text.format(gpu=card.name, value=card.compute_capability))
        return row
    return card if isinstance(card, ComputeCapability) else None


def _tensorflow(tables: Tables, text: str) -> str:
    known = [row.version for row in tables.releases()]
    version = _version(text.removeprefix("v"), "--tensorflow", "2.16")
    if any(_names(version, v) for v in known):
        return version
    if tables.newer_than_table(version):
        day = max(row.checked for row in tables.releases())
        raise BadInput(
            _("TensorFlow {version} is newer than the tables, which end with {last} ({day}).").format(
                version=text, last=known[0], day=day
            )
        )
    raise BadInput(
        _("There is no TensorFlow {version} in the tables; nearest: {near}.").format(
            version=text, near=", ".join(_nearest(version, known))
        )
    )


def _python(text: str) -> str:
    version = Version(_version(text, "--python", "3.12"))
    if version.major not in (2, 3) or len(version.release) < 2:
        raise BadInput(_("--python {text} is not a Python version such as 3.12.").format(text=text))
    return f"{version.major}.{version.minor}"


def _driver(text: str) -> str:
    of_windows = re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]*([0-9])\.([0-9]{2})([0-9]{2})", text.strip())
    if of_windows:  # what Windows calls 31.0.15.3713 is NVIDIA's 537.13
        text = "{}{}.{}".format(*of_windows.groups())
    if re.fullmatch(r"[0-9]{1,2}\.[0-9]+(\.[0-9]+)?", text.strip()):
        words = _(
            "--driver {text} looks like a CUDA version: “Driver Version” of nvidia-smi is wanted, such as 535.183.01."
        )
        raise BadInput(words.format(text=text))
    if not re.fullmatch(r"[0-9]{3}(\.[0-9]+){0,2}", text.strip()):
        raise BadInput(_("--driver {text} is not a driver version such as 535.183.01.").format(text=text))
    return text.strip()


def _cuda(tables: Tables, text: str) -> str:
    version = _version(text, "--cuda", "12.5")
    parts = version.split(".")
    known = list(dict.fromkeys(row.cuda for row in tables.rows(Toolkit)))
    if len(parts) == 1:
        newest = [minor for minor in known if minor.split(".")[0] == parts[0]]
        if newest:
            return newest[-1]
    minor = ".".join(parts[:2])
    if minor not in known:
        raise BadInput(
            _("There is no CUDA toolkit {version} in the tables; nearest: {near}.").format(
                version=text, near=", ".join(_nearest(minor, known))
            )
        )
    return minor


def _version(text: str, option: str, example: str) -> str:
    try:
        Version(text)
    except InvalidVersion:
        raise BadInput(
            _("{option} {text} is not a version such as {example}.").format(option=option, text=text, example=example)
        ) from None
    return text.strip()


def _nearest(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """The known versions just below and just above."""
    wanted = Version(text)
    ordered = sorted(known, key=Version)
    below = [v for v in ordered if Version(v) < wanted]
    above = [v for v in ordered if Version(v) > wanted]
    return (*below[-1:], *above[:1])
