"""Requirements that a healthy machine meets, as lines for a person to edit (`tfdoctor expect`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from packaging.version import InvalidVersion, Version

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Report, Unavailable
from tfdoctor.preflight.judge import GIB, value_of

MARGIN = 0.9  # of the memory that is free now: what other programs take changes from one start to the next


@dataclass(frozen=True)
class Line:
    """A requirement with a comment; without one (`text` empty) only the comment, which says why."""

    text: str
    comment: str

    def __str__(self) -> str:
        return f"{self.text:<34} # {self.comment}" if self.text else f"# {self.comment}"


def propose(report: Report, facts: Facts) -> Iterator[Line]:
    """One line for each subject, in the order of _PROPOSALS."""
    for subject, (write, comment) in _PROPOSALS.items():
        yield _line(subject, write, comment, report, facts)


def _line(subject: str, write: Callable[[Any], str], comment: str, report: Report, facts: Facts) -> Line:
    try:
        value = value_of(subject, report, facts)
    except Unavailable as why:
        return Line("", _("{subject}: could not be looked at ({why})").format(subject=subject, why=why))
    except NotApplicable as why:
        return Line("", f"{subject}: {why}")
    if value is None:
        return Line("", _("{subject}: is not told").format(subject=subject))
    wanted = write(value)
    shown = f"{value / GIB:.1f} GiB" if subject in ("free-memory", "shm") else value
    said = comment.format(value=shown)
    return Line(f"{subject}{wanted}", said) if wanted is not _NOT else Line("", f"{subject}: {said}")


_NOT = "not proposed"


def _flag(value: bool) -> str:
    return "" if value else _NOT


def _count(value: int) -> str:
    return f">={value}"


def _model(value: str) -> str:
    return _NOT if "," in value else f"={value}"


def _minor(value: str) -> str:
    """ "12.5.82" -> ">=12.5"."""
    version = _version(value)
    return _NOT if version is None else f">={version.major}.{version.minor}"


def _major(value: str) -> str:
    version = _version(value)
    return _NOT if version is None else f">={version.major}"


def _within_minor(value: str) -> str:
    """ "2.20.0" -> ">=2.20,<2.21"."""
    version = _version(value)
    return _NOT if version is None else f">={version.major}.{version.minor},<{version.major}.{version.minor + 1}"


def _whole_gib(value: int) -> str:
    return f">={int(value * MARGIN / GIB)}GiB" if value >= 2 * GIB else f">={int(value / 2**20)}MiB"


def _size(value: int) -> str:
    return f">={value // 2**20}MiB"


def _nvlink(value: str) -> str:
    return "=full" if value == "full" else _NOT


def _ecc(value: str) -> str:
    return "=clean" if value == "on, clean" else _NOT


def _version(text: str) -> Optional[Version]:
    try:
        return Version(text)
    except InvalidVersion:
        return None


# Subject -> (what is written after it for a value, comment with the value seen).
_PROPOSALS: Mapping[str, tuple[Callable[[Any], str], str]] = {
    "gpu": (_flag, _("TensorFlow uses a GPU")),
    "gpus": (_count, _("here {value}")),
    "gpu-model": (_model, _("here {value}")),
    "compute-capability": (lambda v: f">={v}", _("here {value}")),
    "driver": (_major, _("here {value}")),
    "tensorflow": (_within_minor, _("here {value}")),
    "python": (_within_minor, _("here {value}")),
    "cuda": (_minor, _("runtime library, here {value}")),
    "cudnn": (_minor, _("here {value}")),
    "nccl": (_minor, _("here {value}")),
    "pcie-width": (_count, _("lanes of the narrowest GPU, here {value}")),
    "nvlink": (_nvlink, _("here {value}")),
    "free-memory": (_whole_gib, _("of the fullest GPU, here {value}")),
    "shm": (_size, _("/dev/shm, here {value}")),
    "ecc": (_ecc, _("here {value}")),
    "instance": (lambda v: f"={v}", _("the cloud's type, and the GPUs that it comes with")),
    "no-processes": (_flag, _("nobody else computes on these GPUs")),
}
