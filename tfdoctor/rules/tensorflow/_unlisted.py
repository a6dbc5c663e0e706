"""What a build that does not state its compute capabilities can be taken to run: what its neighbours do."""

from __future__ import annotations

from packaging.version import InvalidVersion

from tfdoctor.i18n import _
from tfdoctor.model import Unavailable
from tfdoctor.probes.nvml import Gpu, Gpus
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._arch import Fit, fit, neighbours, newer_than_toolkit, readable
from tfdoctor.tables import Tables


def capabilities(tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> tuple[str, ...]:
    """The list of the build; empty when it has none and the releases around it run every GPU here.

    Raises Unavailable when that is open: a rule must not say that such a GPU is fine.
    """
    own = readable(tensorflow.compute_capabilities)
    if own or not tensorflow.cuda_build:
        return own
    around = neighbours(tensorflow.version, tables)
    known = [gpu for gpu in gpus if gpu.compute_capability]
    runs = [fit(gpu.compute_capability or "", one) in (Fit.BINARY, Fit.PTX) for gpu in known for one in around]
    if around and all(runs):
        return ()
    raise Unavailable(
        _("TensorFlow {version} does not state which compute capabilities it was built for").format(
            version=tensorflow.version
        )
    )


def of_kind(kind: Fit, gpus: Gpus, listed: tuple[str, ...]) -> tuple[Gpu, ...]:
    """The GPUs that find `kind` in a build with this list."""
    known = [gpu for gpu in gpus if gpu.compute_capability]
    return tuple(gpu for gpu in known if listed and fit(gpu.compute_capability or "", listed) is kind)


def all_told(gpus: Gpus) -> None:
    """Raises Unavailable for a GPU whose compute capability nobody told: a rule must not pass over it."""
    untold = next((gpu for gpu in gpus if not gpu.lost and not gpu.compute_capability), None)
    if untold is not None:
        raise Unavailable(_("the compute capability of {gpu} is not known").format(gpu=untold.label))


def unknown_to_toolkit(tensorflow: TensorFlow, gpus: Gpus, tables: Tables) -> tuple[Gpu, ...]:
    """The GPUs that run only PTX of this build and are newer than the CUDA that it was built with.

    Raises Unavailable where there is such a GPU and the build does not tell its CUDA."""
    if tensorflow.cuda_build is False:
        return ()
    own = readable(tensorflow.compute_capabilities)
    lists = (own,) if own else neighbours(tensorflow.version, tables)
    hit = [gpu for gpu in gpus if any(of_kind(Fit.PTX, Gpus((gpu,), ""), listed) for listed in lists)]
    if hit and not tensorflow.cuda:
        raise Unavailable(_("with which CUDA this TensorFlow was built is not known"))
    try:
        return tuple(g for g in hit if newer_than_toolkit(g.compute_capability or "", tensorflow.cuda or "", tables))
    except InvalidVersion:
        raise Unavailable(_("with which CUDA this TensorFlow was built is not known")) from None


def named(gpus: tuple[Gpu, ...]) -> str:
    """The GPUs with their compute capabilities, for a message."""
    return ", ".join(f"{gpu.label}: {gpu.compute_capability}" for gpu in gpus)


def only(hit: tuple[Gpu, ...], gpus: Gpus) -> tuple[int, ...]:
    """The indices concerned; empty when all are."""
    return () if len(hit) == len(gpus) else tuple(gpu.index for gpu in hit)
