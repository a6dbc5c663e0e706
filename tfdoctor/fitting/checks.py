"""The comparisons of one release with a machine: one function each, in the order in which people fix things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tfdoctor.fitting.asked import Asked
from tfdoctor.fitting.install import extra_installs
from tfdoctor.fitting.reasons import Reason, Says, against
from tfdoctor.i18n import _
from tfdoctor.tables import Tables, driver_branch_of, fits, has_wheel
from tfdoctor.tables.cuda_rows import CudnnSupport, DriverBranch
from tfdoctor.tables.gpu_code import as_text, runs_on
from tfdoctor.tables.hardware_rows import ComputeCapability
from tfdoctor.tables.tf_rows import TfDefect, TfPlatform, TfRelease

#: RTX 50 with 2.16 to 2.20; https://github.com/tensorflow/tensorflow/issues/101746 and 90291 tell the same.
NEWER_GPU_FAILS = "https://github.com/tensorflow/tensorflow/issues/99592"


def wheel_platform(release: TfRelease, asked: Asked) -> Optional[TfPlatform]:
    """The wheels a machine would install."""
    return release.platform(asked.wheels_for, asked.machine)


def system(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether there are wheels with GPU support for this operating system and machine."""
    where = f"{asked.system} {asked.machine}"
    platform = wheel_platform(release, asked)
    if platform is None:
        text = _("There are no wheels for {where}.").format(where=where)
        yield Reason(Says.NO, text, release.source)
        return
    support = tables.system_support(asked.system, asked.machine, release.version)
    if support is None or support.gpu == "no":
        what = support.what if support else _("no GPU support is known")
        text = _("No GPU on {where}: {what}.").format(where=where, what=what)
        instead = _(" Instead: {instead}.").format(instead=support.instead) if support and support.instead else ""
        yield against(support or release, text + instead)


def python(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether there is a wheel for this Python."""
    platform = wheel_platform(release, asked)
    if platform is not None:
        yield from python_among(platform.pythons, asked, release.source)


def python_among(tags: Sequence[str], asked: Asked, source: str) -> Iterator[Reason]:
    """Whether the Python is among the wheels' tags, which are in order ("cp38", "cp310")."""
    if asked.python is None:
        return
    oldest, newest = (python_text(tags[edge]) for edge in (0, -1))
    outcome = Says.NO
    if has_wheel(tags, asked.python):
        text = _("There is a wheel for Python {have} ({oldest} to {newest}).")
        outcome = Says.FITS
    elif Version(asked.python) > Version(newest):
        text = _("There is no wheel for Python {have}; the newest it has is {newest}.")
    else:
        text = _("There is no wheel for Python {have}; the oldest it has is {oldest}.")
    yield Reason(outcome, text.format(have=asked.python, oldest=oldest, newest=newest), source)


def python_text(tag: str) -> str:
    """ "3.11" of the wheel tag "cp311"."""
    return f"{tag[2]}.{tag[3:]}"


def glibc(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the C library is new enough for the wheel."""
    if asked.glibc is None or asked.system not in ("linux", "wsl2"):
        return
    enough = Version(asked.glibc) >= Version(release.glibc_floor)
    words = _("glibc {have}; the wheel needs {need}.").format(have=asked.glibc, need=release.glibc_floor)
    yield Reason(Says.FITS if enough else Says.NO, words, release.source)


def driver(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the driver runs the CUDA version of the release."""
    cuda = asked.cuda or release.cuda_minor
    if asked.driver is None or cuda is None:
        return
    floor = tables.driver_floor(cuda, asked.system)
    if floor is None:
        text = _("The tables have no {system} driver for CUDA {cuda}.").format(system=asked.system, cuda=cuda)
        yield Reason(Says.OPEN, text, release.source)
        return
    if _older(asked.driver, floor.minimum):
        text = _("Driver {have} is older than {need}, which CUDA {cuda} needs.").format(
            have=asked.driver, need=floor.minimum, cuda=cuda
        )
        yield Reason(Says.NO if floor.solid else Says.OPEN, text + _forward(tables, cuda, asked), floor.source)
    else:
        text = _("Driver {have} runs CUDA {cuda}, which needs {need} or newer.").format(
            have=asked.driver, need=floor.minimum, cuda=cuda
        )
        yield Reason(Says.FITS, text, floor.source)


def _forward(tables: Tables, cuda: str, asked: Asked) -> str:
    package = tables.forward_compat(cuda, asked.driver or "")
    if package is None or asked.card is None or asked.card.kind != "data-centre" or asked.system != "linux":
        return ""
    text = _(" On this GPU the package {package} would bring it ({gpus}).")
    return text.format(package=package.package, gpus=package.gpus)


def _older(have: str, need: str) -> bool:
    """ "535" means the whole branch: it is not older than 535.54.03."""
    parts = have.split(".")
    return Version(have) < Version(".".join(need.split(".")[: len(parts)]))


def gpu_and_driver(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the driver knows the GPU at all: not yet, or no longer."""
    capability = asked.capability
    if capability is None or asked.driver is None:
        return
    first = _first_driver(tables, capability.first_cuda, asked.system)
    if first is not None and _older(asked.driver, first):
        text = _("Driver {have} does not know {gpu} yet; {need} is the first for CUDA {cuda}, which brought it.")
        text = text.format(have=asked.driver, gpu=_gpu_text(asked, capability), need=first, cuda=capability.first_cuda)
        yield Reason(_too_early(tables, asked, first), text, capability.source)
    branch, last = driver_branch_of(asked.driver), capability.last_driver_branch
    if asked.system == "linux" and last is not None and branch is not None and branch > last:
        text = _("Driver {have} no longer supports {gpu}; branch {need} is the last that does.").format(
            have=asked.driver, gpu=_gpu_text(asked, capability), need=last
        )
        yield Reason(Says.OPEN, text, capability.source)


def _first_driver(tables: Tables, cuda: str, system: str) -> Optional[str]:
    """The first driver that implements a CUDA release: the branch on Linux, the toolkit's driver on Windows."""
    if system == "linux":
        branch = tables.driver_for_cuda(cuda)
        return None if branch is None else str(branch.branch)
    floor = tables.driver_floor(cuda, system)
    return None if floor is None else floor.own


def _too_early(tables: Tables, asked: Asked, first: str) -> Says:
    """A GPU is sometimes known to the branch before that of its first toolkit: that one is left open."""
    before = [row.branch for row in tables.rows(DriverBranch) if row.branch < int(first.split(".")[0])]
    branch = driver_branch_of(asked.driver or "")
    return Says.OPEN if branch is None or branch >= max(before, default=0) else Says.NO


def gpu_code(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether TensorFlow's kernels have code for the GPU, and whether the driver can compile what is missing."""
    capability = asked.capability
    if capability is None or not release.has_gpu_build:
        return
    code = release.compute_capabilities or _code_of(release)
    if not code:
        yield Reason(Says.OPEN, _("The wheel does not say for which GPUs it was built."), release.source)
        return
    have, gpu = capability.compute_capability, _gpu_text(asked, capability)
    listed = ", ".join(code)
    oldest_ptx = min((as_text(c) for c in code if c.startswith("compute_")), key=Version, default=None)
    if runs_on(have, tuple(c for c in code if c.startswith("sm_"))):
        yield Reason(
            Says.FITS, _("It has machine code for {gpu} ({listed}).").format(gpu=gpu, listed=listed), release.source
        )
    elif oldest_ptx is None or Version(oldest_ptx) > Version(have):
        text = _("It has no code for {gpu}; it was built for {listed}.").format(gpu=gpu, listed=listed)
        yield Reason(Says.NO, text, release.source)
        return
    else:
        yield from _newer_than_build(release, capability, gpu)
    yield from _compiled_at_first_use(tables, release, asked, gpu)


def _newer_than_build(release: TfRelease, capability: ComputeCapability, gpu: str) -> Iterator[Reason]:
    """Only PTX, and from a CUDA that does not know the GPU: `check` says the same (gpu-arch-newer-than-build)."""
    if release.cuda_minor is None or Version(capability.first_cuda) <= Version(release.cuda_minor):
        return
    text = _(
        "It was built with CUDA {cuda}, and {first} is the first that knows {gpu}: the GPU is listed, and people report "
        "that operations fail on such GPUs with CUDA_ERROR_INVALID_PTX."
    )
    text = text.format(cuda=release.cuda_minor, first=capability.first_cuda, gpu=gpu)
    yield Reason(Says.OPEN, text, NEWER_GPU_FAILS)


def _code_of(release: TfRelease) -> tuple[str, ...]:
    machine = {c for code in release.gpu_code for c in code.machine_code}
    ptx = {code.ptx for code in release.gpu_code if code.ptx}
    return tuple(sorted(machine, key=lambda c: int(c[3:])) + sorted(ptx))


def _compiled_at_first_use(tables: Tables, release: TfRelease, asked: Asked, gpu: str) -> Iterator[Reason]:
    assert asked.capability is not None
    isa = release.jit_isa(asked.capability.compute_capability)
    if isa is None:
        return
    row = tables.ptx_driver(isa)
    need = None if row is None else _first_driver(tables, row.cuda, asked.system)
    text = _(
        "Kernels without machine code for {gpu} ({count} of {all} fat binaries) are compiled by the driver at first use "
        "from PTX {isa}"
    ).format(
        gpu=gpu,
        isa=isa,
        count=release.fat_binaries_without(asked.capability.compute_capability),
        all=sum(code.count for code in release.gpu_code),
    )
    if row is None or need is None or asked.driver is None:
        yield Reason(Says.NOTE, text + _(", which takes minutes once."), release.source)
    elif _older(asked.driver, need):
        text += _(", and driver {have} is older than {need}, the first that can. This was not tried on a GPU.")
        yield Reason(Says.OPEN, text.format(have=asked.driver, need=need), f"{release.source}; {row.source}")
    else:
        text += _(", which driver {have} can ({need} or newer) and which takes minutes once.")
        yield Reason(Says.NOTE, text.format(have=asked.driver, need=need), row.source)


def toolkit(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether a fixed CUDA toolkit has the libraries that the release asks for."""
    if asked.cuda is None or release.cuda_minor is None:
        return
    built = release.cuda_minor
    if asked.cuda == built:
        yield Reason(Says.FITS, _("It was built with CUDA {cuda}.").format(cuda=built), release.source)
    elif asked.cuda.split(".")[0] != built.split(".")[0]:
        text = _("It needs the libraries of CUDA {need}, and the toolkit is CUDA {have}.").format(
            need=built, have=asked.cuda
        )
        if release.and_cuda is not None and asked.system in ("linux", "wsl2"):
            text += _(" pip can install its own beside it: tensorflow[and-cuda].")
        yield Reason(Says.NO, text, release.source)
        return
    else:
        yield from _same_family(tables, release, asked.cuda, built)
    if release.cudnn is not None:
        text = _("cuDNN {cudnn} is wanted beside the toolkit, which does not bring it.").format(cudnn=release.cudnn)
        yield Reason(Says.NOTE, text, release.source)


def _same_family(tables: Tables, release: TfRelease, have: str, built: str) -> Iterator[Reason]:
    libraries = tables.cuda_libraries(have)
    names = {} if libraries is None else libraries.sonames
    missing = sorted(
        name for part, name in release.sonames.items() if part in names and part != "cupti" and names[part] != name
    )
    both = {"have": have, "need": built}
    if missing and libraries is not None:
        text = _("It asks for {missing}, which CUDA {have} does not have (it was built with {need}).")
        yield against(libraries, text.format(missing=", ".join(missing), **both))
    elif Version(have) < Version(built):
        text = _("It was built with CUDA {need}; the libraries of {have} have the same names and are older.")
        yield Reason(Says.OPEN, text.format(**both), release.source)
    else:
        text = _("The libraries of CUDA {have} have the names it asks for; it was built and tested with {need}.")
        yield Reason(Says.NOTE, text.format(**both), release.source)


def cuda_libraries_and_gpu(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the CUDA libraries that go with the release are new enough for the GPU."""
    capability = asked.capability
    cuda = asked.cuda or _resolved_cuda(release) or release.cuda_minor
    if capability is None or cuda is None or _covered(tables, capability, cuda):
        return
    text = _("The CUDA {cuda} libraries that go with it are older than {first}, the first for {gpu}.").format(
        cuda=cuda, first=capability.first_cuda, gpu=_gpu_text(asked, capability)
    )
    yield Reason(Says.OPEN, text, capability.source)


def _resolved_cuda(release: TfRelease) -> Optional[str]:
    """The CUDA minor whose runtime the extra and-cuda installs today."""
    for name, version in (release.and_cuda_resolved or {}).items():
        if name.startswith("nvidia-cuda-runtime"):
            return ".".join(version.split(".")[:2])
    return None


def _covered(tables: Tables, capability: ComputeCapability, cuda: str) -> bool:
    """A CUDA release runs on GPUs newer than itself when it has machine code of their major version."""
    if Version(cuda) >= Version(capability.first_cuda):
        return True
    wanted = Version(capability.compute_capability)
    family = (row for row in tables.rows(ComputeCapability) if Version(row.first_cuda) <= Version(cuda))
    return any(
        Version(row.compute_capability).major == wanted.major and Version(row.compute_capability) < wanted
        for row in family
        if not row.tegra
    )


def cudnn(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the cuDNN that would be installed has code for the GPU; where not, whether an older one may be."""
    package, version = _cudnn_installed(release, asked)
    if version is None or release.cuda is None:
        return
    support = next(iter(tables.cudnn_support(version, release.cuda)), None)
    if support is None:
        return
    yield from _cudnn_and_driver(tables, release, asked, support, version)
    capability = asked.capability
    if capability is None or support.has_code_for(capability.compute_capability) is not False:
        return
    text = _("cuDNN {version} has no code for {gpu}; it has code for {listed}").format(
        version=version,
        gpu=_gpu_text(asked, capability),
        listed=", ".join(support.machine_code)
        or _("compute capability {lowest} and newer").format(lowest=support.min_compute_capability),
    )
    text += f" ({support.note})." if support.note else "."
    older = _older_cudnn(tables, release, capability, package)
    if older is None:
        yield against(support, text)
        return
    pin = f"{package}{_upper(older)}"
    text += _(" {pin} does, and the release accepts it.").format(pin=pin)
    yield Reason(Says.NOTE, text, support.source, pins=(pin,))


def _cudnn_and_driver(
    tables: Tables, release: TfRelease, asked: Asked, support: CudnnSupport, version: str
) -> Iterator[Reason]:
    """A driver that runs the CUDA release and is too old for cuDNN."""
    need = support.linux_driver if asked.system == "linux" else support.windows_driver
    floor = tables.driver_floor(asked.cuda or str(release.cuda), asked.system)
    if asked.driver is None or need is None or floor is None or not _older(floor.minimum, need):
        return
    if _older(asked.driver, need):
        text = _("Driver {have} is older than {need}, which cuDNN {version} needs.")
        yield against(support, text.format(have=asked.driver, need=need, version=version))


def _cudnn_installed(release: TfRelease, asked: Asked) -> tuple[Optional[str], Optional[str]]:
    """The package and version that and-cuda installs; without it the version of the table."""
    if asked.cuda is None and asked.system in ("linux", "wsl2"):
        for name, version in (release.and_cuda_resolved or {}).items():
            if name.startswith("nvidia-cudnn"):
                return name, version
    return None, release.cudnn


def _older_cudnn(
    tables: Tables, release: TfRelease, capability: ComputeCapability, package: Optional[str]
) -> Optional[CudnnSupport]:
    """The newest range of cuDNN that supports the GPU and that the extra and-cuda accepts."""
    if package is None or release.and_cuda is None or release.cuda is None:
        return None
    accepted = SpecifierSet(release.and_cuda[package])
    major = release.cuda.split(".")[0]
    fitting = [
        row
        for row in tables.rows(CudnnSupport)
        if row.cuda_major == major
        and row.has_code_for(capability.compute_capability)
        and any(accepted.contains(edge) for edge in _edges(row, accepted))
    ]
    return max(fitting, key=lambda row: Version(_lower(row)), default=None)


def _edges(row: CudnnSupport, accepted: SpecifierSet) -> list[str]:
    """Versions in the row's range that decide whether it overlaps another range: both lower bounds."""
    bounds = [spec.version for spec in accepted if spec.operator in (">=", "==", "~=")]
    return [version for version in (*bounds, _lower(row)) if fits(version, row.versions)]


def _lower(row: CudnnSupport) -> str:
    return next(spec.version for spec in SpecifierSet(row.versions) if spec.operator == ">=")


def _upper(row: CudnnSupport) -> str:
    return next(str(spec) for spec in SpecifierSet(row.versions) if spec.operator == "<")


def nccl(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Whether the NCCL that comes with the release has code for the GPU: it decides about several GPUs, not about one."""
    version, capability = (release.and_cuda_resolved or {}).get("nvidia-nccl-cu12", release.nccl), asked.capability
    if version is None or capability is None or release.cuda is None or asked.system == "windows":
        return
    build = tables.nccl(version, release.cuda)
    value = capability.compute_capability
    if build is None or runs_on(value, build.machine_code):
        return
    text = _("Several GPUs: NCCL {version} has no machine code for {gpu}").format(
        version=version, gpu=_gpu_text(asked, capability)
    )
    if any(Version(as_text(code)) <= Version(value) for code in build.ptx):
        text += _(", and the driver must compile its PTX {isa}").format(isa=build.ptx_isa)
    first = tables.nccl_minimum(value, release.cuda)
    if first is not None:
        text += _("; the builds for CUDA {major} have it from {first} on").format(
            major=first.cuda_major, first=first.version
        )
    yield Reason(Says.NOTE, text + ".", build.source)


def by_hand(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """What pip does not bring: the CUDA libraries of releases without the extra and-cuda."""
    by_pip = extra_installs(tables, release, asked)
    if by_pip or asked.cuda is not None or release.cuda is None:
        return
    text = _("CUDA {cuda} and cuDNN {cudnn} must be on the system: pip does not bring them with this release.")
    yield Reason(Says.NOTE, text.format(cuda=release.cuda_minor, cudnn=release.cudnn), release.source)


def defects(tables: Tables, release: TfRelease, asked: Asked) -> Iterator[Reason]:
    """Known faults of the release that touch this machine."""
    for defect in tables.defects(release.version):
        if asked.wheels_for not in defect.systems:
            continue
        if defect.pythons:
            yield from _on_some_pythons(defect, asked)
        elif defect.stops_pip_libraries and asked.cuda is None:
            text = _("Known fault: {what}. With the NVIDIA libraries from pip: {effect}. Instead: {instead}.").format(
                what=defect.what, effect=defect.effect, instead=defect.instead
            )
            yield Reason(Says.OPEN, text, defect.source)
        elif defect.pins:
            text = _("{what}; {effect}.").format(what=defect.what[:1].upper() + defect.what[1:], effect=defect.effect)
            yield Reason(Says.NOTE, text, defect.source, pins=defect.pins)


def _on_some_pythons(defect: TfDefect, asked: Asked) -> Iterator[Reason]:
    """What the Python that was asked about does not share is not mentioned; the command leaves such an extra out."""
    if asked.python is None or "cp" + asked.python.replace(".", "") in defect.pythons:
        text = _("{what}; {effect}. Instead: {instead}.").format(
            what=defect.what[:1].upper() + defect.what[1:], effect=defect.effect, instead=defect.instead
        )
        yield Reason(Says.NOTE, text, defect.source, pins=defect.pins)


def _gpu_text(asked: Asked, capability: ComputeCapability) -> str:
    """ "GeForce RTX 5090 (compute capability 12.0)", or the capability alone."""
    value = _("compute capability {value}").format(value=capability.compute_capability)
    return value if asked.gpu is None else f"{asked.gpu} ({value})"


ALL = (
    system,
    python,
    glibc,
    driver,
    gpu_and_driver,
    gpu_code,
    toolkit,
    cuda_libraries_and_gpu,
    cudnn,
    nccl,
    by_hand,
    defects,
)
