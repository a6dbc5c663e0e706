"""Every release compared with what was asked: fits, does not, or cannot be promised, and how it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.fitting import checks
from tfdoctor.fitting.asked import Asked
from tfdoctor.fitting.install import commands, plugin_for
from tfdoctor.fitting.reasons import Reason, Says
from tfdoctor.i18n import _
from tfdoctor.tables import Tables
from tfdoctor.tables.rows import TfRelease


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
    wanted = asked.tensorflow
    rows = (row for row in tables.releases() if wanted is None or _same(row.version, wanted))
    return tuple(_fit(tables, row, asked) for row in rows)


def best(fits: tuple[Fit, ...]) -> Optional[Fit]:
    """The newest release that fits."""
    return next((fit for fit in fits if fit.fits == "yes"), None)


def perhaps(fits: tuple[Fit, ...]) -> Optional[Fit]:
    """The best guess: of the releases that may fit the newest with the fewest doubts."""
    return min((fit for fit in fits if fit.fits == "unknown"), key=lambda fit: len(fit.against), default=None)


def _same(version: str, wanted: str) -> bool:
    return version == wanted or version.startswith(wanted + ".")


def _fit(tables: Tables, release: TfRelease, asked: Asked) -> Fit:
    if asked.plugin is not None or asked.system == "macos":
        reasons = _plugin_reasons(tables, release, asked)
    else:
        reasons = tuple(reason for check in checks.ALL for reason in check(tables, release, asked))
    outcomes = {reason.outcome for reason in reasons}
    fits = "no" if Says.NO in outcomes else "unknown" if Says.OPEN in outcomes else "yes"
    install = () if fits == "no" else commands(tables, release, asked, reasons)
    return Fit(release, fits, reasons or (_built_with(release),), install)


def _built_with(release: TfRelease) -> Reason:
    text = _("It was built with CUDA {cuda} and cuDNN {cudnn}.").format(cuda=release.cuda, cudnn=release.cudnn)
    return Reason(Says.NOTE, text, release.source)


def _plugin_reasons(tables: Tables, release: TfRelease, asked: Asked) -> tuple[Reason, ...]:
    """The comparisons for a GPU that TensorFlow reaches through a plug-in or a vendor's build."""
    plugin = asked.plugin or "tensorflow-metal"
    reasons = [*checks.python(tables, release, asked)] if plugin != "tensorflow-rocm" else []
    if plugin != "tensorflow-rocm" and checks.wheel_platform(release, asked) is None:
        where = f"{asked.system} {asked.machine}"
        reasons.append(Reason(Says.NO, _("There are no wheels for {where}.").format(where=where), release.source))
    if asked.system == "macos" and asked.machine == "x86_64":
        support = tables.system_support("macos", "x86_64", release.version)
        if support is not None:
            reasons.append(Reason(Says.NO, _("No GPU: {what}.").format(what=support.what), support.source))
            return tuple(reasons)
    row = plugin_for(tables, plugin, release, asked)
    if row is None:
        text = _("No release of {plugin} goes with it.").format(plugin=plugin) + _last(tables, plugin)
        reasons.append(Reason(Says.NO, text, tables.plugins(plugin)[0].source))
        return tuple(reasons)
    text = _("{plugin} {version} goes with it.").format(plugin=plugin, version=row.version)
    if plugin != "tensorflow-metal":
        text += _(" Whether this GPU and its driver are supported is not in the tables.")
        reasons.append(Reason(Says.OPEN, text, row.source))
    else:
        reasons.append(Reason(Says.FITS if row.solid else Says.NOTE, text, row.source))
    return tuple(reasons)


def _last(tables: Tables, plugin: str) -> str:
    """Where a plug-in has ended: its last release, and what there is instead."""
    row = tables.distribution(plugin)
    if row is None:
        return ""
    text = _(" Its last release is {last}.") if row.ended else _(" Its newest release is {last}.")
    instead = _(" Instead: {instead}.").format(instead=row.instead) if row.instead else ""
    return text.format(last=row.last) + instead
