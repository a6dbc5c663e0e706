"""What Python would find where TensorFlow imports other distributions when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.loose import mapping, text, texts
from tfdoctor.model import Unavailable


@dataclass(frozen=True)
class Imports:
    """Distribution -> the package or module that its import would take, for those that TensorFlow imports when it starts
    (which of them depends on its release). "": none, so the import fails. "/…/numpy/": a folder that is no package any more,
    from which nothing but its name can be imported. `shadows`: files and folders that hide modules of the standard library."""

    found: Mapping[str, str]
    source: str
    shadows: tuple[str, ...] = ()

    @property
    def missing(self) -> frozenset[str]:
        """The distributions whose import would find nothing."""
        return frozenset(name for name, place in self.found.items() if not place)

    @property
    def hollow(self) -> frozenset[str]:
        """The distributions of which an import would find a bare folder."""
        return frozenset(name for name, place in self.found.items() if place.endswith(("/", "\\")))


@probe
def imports(host: Host) -> Imports:
    """From the target interpreter; a recording of an older tfdoctor does not tell."""
    answer = host.target_answer()
    found = {name: text(place) for name, place in mapping(answer.get("imports")).items()}
    if not found:
        raise Unavailable(_("the target interpreter did not tell what TensorFlow's imports would find"))
    return Imports(found, text(answer.get("executable")) or host.target, texts(answer.get("shadows")))
