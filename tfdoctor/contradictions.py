"""What was seen and does not go together: each is a reason against "yes", because one of the sources must be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional, TypeVar

from tfdoctor.engine import Facts
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.cuda_driver import CudaDriver
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.kernel_driver import KernelDriver
from tfdoctor.probes.libraries import DriverLibrary, Libraries
from tfdoctor.probes.nvml import Driver, Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.surroundings import Jetson
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules._hints import no_gpu_nodes, older, on_wsl, same_driver, starts
from tfdoctor.rules._selection import selection
from tfdoctor.tables import Tables

MIB = 1024**2
T = TypeVar("T")


def contradictions(facts: Facts) -> list[str]:
    """Everything could be looked at and no rule objects, but what was seen does not add up to a GPU in use."""
    reasons = [*_gpus(facts.get(Gpus)), *_build(facts.get(TensorFlow)), *_libraries(facts), *_memory(facts)]
    reasons += _variables(_told(facts, Environment))
    if not starts(_told(facts, CudaDriver)):  # CUDA that was seen to start settles what the driver is worth
        reasons += [*_versions(facts), *_cuda_of_branch(facts), *_nodes(facts)]
    return reasons


def _told(facts: Facts, kind: type[T]) -> Optional[T]:
    try:
        return facts.get(kind)
    except (Unavailable, NotApplicable):
        return None


def _gpus(gpus: Gpus) -> Iterator[str]:
    usable = [gpu for gpu in gpus if not gpu.lost]
    if not usable:
        yield _("the driver lists no GPU")
    for gpu in usable:
        if not gpu.compute_capability:
            yield _("the compute capability of {gpu} is not known").format(gpu=gpu.label)


def _build(tensorflow: TensorFlow) -> Iterator[str]:
    if tensorflow.cuda_build is not True:
        yield _("it is not known whether this TensorFlow was built with CUDA")


def _variables(environment: Optional[Environment]) -> Iterator[str]:
    """Settings whose effect depends on what is not known here: a GPU's multiprocessors, the flags of one release."""
    count = environment.get("TF_MIN_GPU_MULTIPROCESSOR_COUNT") if environment else ""
    if count:
        yield _("TF_MIN_GPU_MULTIPROCESSOR_COUNT={count} leaves smaller GPUs out").format(count=count)
    flags = environment.get("TF_XLA_FLAGS") if environment else ""
    odd = [word for word in flags.split() if not word.startswith("--tf_xla_")]
    if odd:  # an unknown flag ends the process: seen with 2.20.0
        yield _("TensorFlow may not know {flag} in TF_XLA_FLAGS").format(flag=odd[0])


def _libraries(facts: Facts) -> Iterator[str]:
    for library in facts.get(Libraries).missing:
        yield _("{library} would not be found").format(library=library.soname)
    if facts.get(DriverLibrary).picked is None:
        yield _("libcuda.so.1 would not be found")


def _versions(facts: Facts) -> Iterator[str]:
    """The kernel module and NVML are parts of one driver."""
    driver, kernel = facts.get(Driver), _told(facts, KernelDriver)
    loaded = kernel.loaded_version if kernel is not None else ""
    if loaded and not on_wsl(_told(facts, Platform)) and not same_driver(loaded, driver.version):
        yield _("the loaded kernel driver is {loaded} and {source} says {told}").format(
            loaded=loaded, source=driver.source, told=driver.version
        )


def _cuda_of_branch(facts: Facts) -> Iterator[str]:
    """A driver of a Linux branch has at least the CUDA driver API version of that branch."""
    driver, platform = facts.get(Driver), _told(facts, Platform)
    if platform is None or platform.system != "linux" or platform.wsl or not driver.cuda:
        return
    branch = facts.get(Tables).driver_branch(driver.version)
    if branch is not None and older(driver.cuda, branch.cuda):
        yield _("driver {version} says that it knows CUDA {cuda}, and its branch knows {need}").format(
            version=driver.version, cuda=driver.cuda, need=branch.cuda
        )


def _nodes(facts: Facts) -> Iterator[str]:
    """On Linux a driver is reached through /dev/nvidia0 and on; WSL and Jetsons have others."""
    platform = _told(facts, Platform)
    if platform is None or platform.system != "linux" or platform.wsl or _told(facts, Jetson) is not None:
        return
    if no_gpu_nodes(_told(facts, DeviceNodes)):
        yield _("the driver lists a GPU, and /dev has no node of one")


def _memory(facts: Facts) -> Iterator[str]:
    """Without room for a CUDA context on any GPU TensorFlow lists none."""
    least = facts.get(Tables).threshold("gpu-memory-for-context")
    selected = selection(facts.get(Gpus), _told(facts, Environment), _told(facts, CudaDriver))
    free = [f for f in map(_free, selected.gpus) if f is not None and f < least.value]
    if free and not selected.surely(lambda gpu: (f := _free(gpu)) is None or f >= least.value):
        yield _("only {free} MiB of GPU memory are free, and a CUDA context needs about {need} MiB").format(
            free=max(0, max(free)) // MIB, need=int(least.value) // MIB
        )


def _free(gpu: Gpu) -> Optional[int]:
    """The free memory of a GPU in bytes; None where it is not told, or belongs to MIG instances."""
    if gpu.memory_total is None or gpu.memory_used is None or gpu.mig:
        return None
    return gpu.memory_total - gpu.memory_used
