"""The commands that install a release for a machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from tfdoctor.fitting.asked import Asked
from tfdoctor.fitting.reasons import Reason
from tfdoctor.tables import Tables, fits, has_wheel
from tfdoctor.tables.tf_rows import Plugin, TfRelease


def commands(
    tables: Tables, release: TfRelease, asked: Asked, reasons: Iterable[Reason]
) -> tuple[tuple[str, ...], ...]:
    """One pip command; the pins of the comparisons are part of it. ``python`` is the interpreter to install into."""
    pins = list(dict.fromkeys(pin for reason in reasons for pin in reason.pins))
    return (("python", "-m", "pip", "install", *_requirements(tables, release, asked), *pins),)


def _requirements(tables: Tables, release: TfRelease, asked: Asked) -> tuple[str, ...]:
    if asked.other is not None:
        row = plugin_for(tables, asked.other.plugin, release, asked)
        plugin = asked.other.plugin if row is None else f"{asked.other.plugin}=={row.version}"
        own = vendor_build(tables, release, asked)
        host = asked.other.host if own is None else own.name
        return (plugin,) if host is None else (f"{host}=={release.version}", plugin)
    name = release.gpu_distribution
    by_pip = extra_installs(tables, release, asked) and asked.cuda is None
    return (f"{name}[and-cuda]=={release.version}" if by_pip else f"{name}=={release.version}",)


def extra_installs(tables: Tables, release: TfRelease, asked: Asked) -> bool:
    """Whether the release has an extra and-cuda that pip can install on the system and Python that were asked about."""
    return asked.system in ("linux", "wsl2") and tables.extra_installs(release, asked.python or "")


def plugin_for(tables: Tables, plugin: str, release: TfRelease, asked: Asked) -> Optional[Plugin]:
    """The newest release of a plug-in that goes with a TensorFlow release, on this Python when it was given."""
    for row in tables.plugins(plugin):
        fitting = fits(release.version, row.tensorflow) and asked.wheels_for in row.systems
        if fitting and (asked.python is None or has_wheel(row.pythons, asked.python)):
            return row
    return None


def vendor_build(tables: Tables, release: TfRelease, asked: Asked) -> Optional[Plugin]:
    """Apple's build of a release that has no wheels of its own for Apple silicon; None where it has or there is none."""
    if (asked.system, asked.machine) != ("macos", "aarch64") or release.platform(asked.system, asked.machine):
        return None
    return next((row for row in tables.plugins("tensorflow-macos") if row.version == release.version), None)
