"""Every release compared with what was asked: fits, does not, or cannot be promised, and how it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Optional

from tfdoctor.fitting import checks
from tfdoctor.fitting.asked import Asked
from tfdoctor.fitting.install import commands, plugin_for, vendor_build
from tfdoctor.fitting.reasons import Reason, Says, against
from tfdoctor.i18n import _
from tfdoctor.tables import Tables, fits
from tfdoctor.tables.hardware_rows import OtherGpu
from tfdoctor.tables.tf_rows import Distribution, TfRelease


@dataclass(frozen=True)
class Fit:
    """One release: ``fits`` is "yes", "no" or "unknown"; ``install`` is empty where it does not fit."""

    release: TfRelease
    fits: str
    because: tuple[Reason, ...]
    install: tuple[tuple[str, ...], ...]

    @property
    def against(self) -> tuple[Reason, ...]:
        """The reasons why it does not fit, or cannot be promised to."""
        wanted = Says.NO if self.fits == "no" else Says.OPEN
        return tuple(reason for reason in self.because if reason.outcome is wanted)


def answer(tables: Tables, asked: Asked) -> tuple[Fit, ...]:
    """The releases that were asked about, newest first."""
    rows = (row for row in tables.releases() if asked.names(row.version))
    return tuple(_fit(tables, row, asked) for row in rows)


def best(fits: tuple[Fit, ...]) -> Optional[Fit]:
    """The newest release that fits."""
    return next((fit for fit in fits if fit.fits == "yes"), None)


def perhaps(fits: tuple[Fit, ...]) -> Optional[Fit]:
    """The best guess: of the releases that may fit the newest with the fewest doubts."""
    return min((fit for fit in fits if fit.fits == "unknown"), key=lambda fit: len(fit.against), default=None)


def _fit(tables: Tables, release: TfRelease, asked: Asked) -> Fit:
    if asked.other is not None:
        reasons = _plugin_reasons(tables, release, asked, asked.other)
    else:
        reasons = tuple(reason for check in checks.ALL for reason in check(tables, release, asked))
    outcomes = {reason.outcome for reason in reasons}
    fits = "no" if Says.NO in outcomes else "unknown" if Says.OPEN in outcomes else "yes"
    install = () if fits == "no" else commands(tables, release, asked, reasons)
    return Fit(release, fits, reasons or (_built_with(release),), install)


def _built_with(release: TfRelease) -> Reason:
    text = _("It was built with CUDA {cuda} and cuDNN {cudnn}.").format(cuda=release.cuda, cudnn=release.cudnn)
    return Reason(Says.NOTE, text, release.source)


def _plugin_reasons(tables: Tables, release: TfRelease, asked: Asked, other: OtherGpu) -> tuple[Reason, ...]:
    """The comparisons for a GPU that TensorFlow reaches through a plug-in or a vendor's build."""
    plugin = other.plugin
    kind = tables.distribution(plugin)
    if kind is not None and asked.wheels_for not in kind.systems:
        text = _("{plugin} is for {systems}.").format(plugin=plugin, systems=", ".join(kind.systems))
        return (against(kind, text),)
    if asked.system == "macos" and asked.machine == "x86_64":
        support = tables.system_support("macos", "x86_64", release.version)
        if support is not None:
            return (against(support, _("No GPU: {what}.").format(what=support.what)),)
    reasons = [] if other.host is None else [*_host(tables, release, asked)]
    row = plugin_for(tables, plugin, release, asked)
    if row is None:
        reasons.append(_no_plugin(tables, plugin, kind, release, asked))
        return tuple(reasons)
    text = _("{plugin} {version} goes with it.").format(plugin=plugin, version=row.version)
    if row.note:
        text = _("{plugin} {version} goes with it; {note}.").format(plugin=plugin, version=row.version, note=row.note)
    if asked.system != "macos":
        text += _(" Whether this GPU and its driver are supported is not in the tables.")
        reasons.append(Reason(Says.OPEN, text, row.source))
    else:
        reasons.append(Reason(Says.FITS if row.solid else Says.NOTE, text, row.source))
    return (*reasons, *(fault for fault in checks.defects(tables, release, asked) if fault.pins))


def _host(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """The TensorFlow that the plug-in is loaded into: its wheels, or Apple's own build of the release."""
    if checks.wheel_platform(release, asked) is not None:
        yield from checks.python(tables, release, asked)
        return
    where = f"{asked.system} {asked.machine}"
    own = vendor_build(tables, release, asked)
    if own is None:
        yield Reason(Says.NO, _("There are no wheels for {where}.").format(where=where), release.source)
        return
    text = _("For {where} this release is the distribution {name}.").format(where=where, name=own.name)
    yield Reason(Says.NOTE, text, own.source)
    yield from checks.python_among(own.pythons, asked, own.source)


def _no_plugin(tables: Tables, plugin: str, kind: Optional[Distribution], release: TfRelease, asked: Asked) -> Reason:
    """Why there is none: its Python wheels, or the TensorFlow releases it is for."""
    other = plugin_for(tables, plugin, release, replace(asked, python=None))
    if other is not None:
        text = _("{plugin} {version}, which goes with it, has no wheel for Python {have}: it has {pythons}.")
        pythons = ", ".join(map(checks.python_text, other.pythons))
        text = text.format(plugin=plugin, version=other.version, have=asked.python, pythons=pythons)
        return against(other, text)
    text = _("No release of {plugin} goes with it.").format(plugin=plugin)
    rows = tables.plugins(plugin)
    if kind is not None and kind.solid and not fits(release.version, kind.tensorflow):
        return against(kind, text + _ended(kind))
    return against(next((row for row in rows if not row.solid), rows[0]), text + _ended(kind))


def _ended(row: Optional[Distribution]) -> str:
    """Which TensorFlow the releases of a plug-in are for, and what there is instead of one that has ended."""
    if row is None:
        return ""
    text = _(" Its releases {first} to {last} are for TensorFlow {range}.")
    if row.ended:
        text = _(" It has ended: its releases {first} to {last} are for TensorFlow {range}.")
    text = text.format(first=row.first, last=row.last, range=row.tensorflow or f"<={row.last}")
    return text + (_(" Instead: {instead}.").format(instead=row.instead) if row.instead else "")
