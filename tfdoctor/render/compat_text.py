"""The answer of `compat` for people."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from itertools import groupby
from typing import Optional

from tfdoctor.fitting.answer import Fit, best, perhaps
from tfdoctor.fitting.asked import Asked
from tfdoctor.i18n import _
from tfdoctor.render import compat_about
from tfdoctor.tables import Tables
from tfdoctor.tables.tf_rows import TfRelease

_COLOURS = {"yes": "32", "unknown": "33", "no": "31"}


def render(tables: Tables, asked: Asked, fits: tuple[Fit, ...], *, width: int, colour: bool) -> str:
    """Nothing asked: the matrix. Releases named: each in full. Else: the best, what else fits, what does not."""
    lines = [_asked_line(asked)]
    lines += [part for line in compat_about.lines(tables, asked) for part in textwrap.wrap(line, width)] + [""]
    if asked.tensorflow is not None:
        lines += _in_full(tables, asked, fits, width, colour)
    elif not _constrained(asked):
        lines += _matrix(tables, asked, fits)
    else:
        lines += [*_best(fits, width), *_list(fits, width, colour)]
    return "\n".join(lines).rstrip() + "\n"


def _constrained(asked: Asked) -> bool:
    said = (asked.python, asked.driver, asked.gpu, asked.capability, asked.cuda, asked.glibc, asked.other)
    return any(value is not None for value in said) or not {"system", "machine"} <= set(asked.assumed)


def _asked_line(asked: Asked) -> str:
    """ "GeForce RTX 5090 (compute capability 12.0) · driver 570.86.10 · Python 3.12 · linux x86_64 (assumed)"."""
    parts = []
    if asked.capability is not None:
        value = _("compute capability {value}").format(value=asked.capability.compute_capability)
        parts.append(f"{asked.gpu} ({value})" if asked.gpu and asked.gpu[0].isalpha() else value)
    elif asked.gpu is not None:
        parts.append(asked.gpu)
    named = {
        _("driver {value}"): asked.driver,
        _("CUDA toolkit {value}"): asked.cuda,
        _("Python {value}"): asked.python,
        _("glibc {value}"): asked.glibc,
    }
    parts += [text.format(value=value) for text, value in named.items() if value is not None]
    place = f"{asked.system} {asked.machine}"
    parts.append(_("{place} (assumed)").format(place=place) if asked.assumed else place)
    return " · ".join(parts)


def _best(fits: tuple[Fit, ...], width: int) -> list[str]:
    found, maybe = best(fits), perhaps(fits)
    if found is not None:
        head = _("Best: TensorFlow {version}").format(version=found.release.version)
    elif maybe is not None:
        head = _(
            "No release is known to fit; the best guess is TensorFlow {version}, and whether it works is not known."
        )
        head = head.format(version=maybe.release.version)
    else:
        return [_("No release is known to fit."), ""]
    shown = found or maybe
    assert shown is not None
    reasons = [line for reason in shown.because for line in _wrapped(reason.text, width)]
    return [head, *_commands(shown), "", *reasons, ""]


def _commands(fit: Fit) -> list[str]:
    return ["    " + shlex.join(command) for command in fit.install]


def _list(fits: tuple[Fit, ...], width: int, colour: bool) -> Iterator[str]:
    """One line for neighbouring releases with the same outcome and reasons."""

    def key(fit: Fit) -> tuple[str, tuple[str, ...]]:
        return fit.fits, tuple(reason.text for reason in fit.against)

    for (outcome, against), group in groupby(fits, key):
        versions = [fit.release.version for fit in group]
        named = versions[0] if len(versions) == 1 else f"{versions[-1]} – {versions[0]}"
        yield f"{_painted(outcome, colour)}  {named}"
        for text in against:
            yield from _wrapped(text, width)


def _in_full(tables: Tables, asked: Asked, fits: tuple[Fit, ...], width: int, colour: bool) -> Iterator[str]:
    for fit in fits:
        yield f"TensorFlow {fit.release.version}: {_painted(fit.fits, colour, pad=False)}"
        yield from (f"    {name}: {value}" for name, value in facts(tables, asked, fit.release).items())
        yield from (f"    {name}: {value}" for name, value in _more_facts(fit.release).items())
        yield ""
        for reason in fit.because:
            yield from _wrapped(reason.text, width)
            yield from textwrap.wrap(f"[{reason.source}]", width, initial_indent="      ", subsequent_indent="      ")
        if fit.install:
            yield from ["", *_commands(fit)]
        yield ""


def _matrix(tables: Tables, asked: Asked, fits: tuple[Fit, ...]) -> list[str]:
    """What each release was built for, newest first."""
    from tabulate import tabulate

    rows = [{"TensorFlow": fit.release.version, **facts(tables, asked, fit.release)} for fit in fits]
    return str(tabulate(rows, headers="keys", tablefmt="plain", disable_numparse=True)).splitlines()


def facts(tables: Tables, asked: Asked, release: TfRelease) -> dict[str, str]:
    """A release in short: the columns of the matrix."""
    floor = None if release.cuda is None else tables.driver_floor(release.cuda, asked.system)
    platform = release.platform(asked.wheels_for, asked.machine)
    pythons = platform.pythons if platform else ()
    return {
        "Python": _span([f"{tag[2]}.{tag[3:]}" for tag in pythons]),
        "CUDA": release.cuda or "-",
        "cuDNN": release.cudnn or "-",
        _("driver"): f">={floor.minimum}" if floor else "-",
        _("GPU code"): " ".join(_short(code) for code in release.compute_capabilities) or "?",
        "glibc": f">={release.glibc_floor}" if asked.system in ("linux", "wsl2") else "-",
        _("pip extra"): "and-cuda" if release.and_cuda is not None else "-",
    }


def _more_facts(release: TfRelease) -> dict[str, str]:
    """What the full view says beyond the matrix."""
    size = _("{download} MiB to download, {installed} MiB installed").format(
        download=release.download_mib, installed=release.installed_mib
    )
    if release.and_cuda_download_mib is not None:
        size += _(", {extra} MiB more to download with and-cuda").format(extra=release.and_cuda_download_mib)
    more = {
        _("released"): release.released,
        "Requires-Python": release.requires_python or "-",
        _("size"): size,
        "NCCL": _("{version} ({how})").format(version=release.nccl, how=release.nccl_linkage) if release.nccl else "?",
        "TensorRT": {True: _("yes"), False: _("no"), None: "?"}[release.tensorrt],
        _("cuDNN version from"): release.cudnn_from or "?",
    }
    if release.and_cuda_missing:
        more[_("not on the package index")] = ", ".join(release.and_cuda_missing)
    if release.disagreements:
        more[_("sources differ")] = "; ".join(release.disagreements)
    return more


def _short(code: str) -> str:
    """ "60" of sm_60, "90+PTX" of compute_90."""
    kind, _separator, number = code.partition("_")
    return f"{number}+PTX" if kind == "compute" else number


def _span(values: list[str]) -> str:
    return "-" if not values else values[0] if len(values) == 1 else f"{values[0]}-{values[-1]}"


def _wrapped(text: str, width: int, bullet: Optional[str] = "- ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=f"    {bullet}", subsequent_indent="      ")


def _painted(outcome: str, colour: bool, pad: bool = True) -> str:
    words = {"yes": _("fits"), "unknown": _("unknown"), "no": _("does not fit")}
    text = words[outcome].ljust(max(map(len, words.values()))) if pad else words[outcome]
    return f"\033[{_COLOURS[outcome]}m{text}\033[0m" if colour else text
