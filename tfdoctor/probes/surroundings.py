"""What surrounds the operating system: container, WSL, virtual machine, cloud, job scheduler, Jetson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Container:
    """`kind` is "docker", "podman", "lxc", "kubernetes", "singularity", another name, or "" (not in a container).

    `image_tensorflow` is the TensorFlow version that the image announces (TENSORFLOW_VERSION, NVIDIA_TENSORFLOW_VERSION…), or "".
    `vendor` is "nvidia" in an NGC image, "tensorflow" in a tensorflow/tensorflow one, or "".
    """

    kind: str
    vendor: str
    image_tensorflow: str
    source: str


@dataclass(frozen=True)
class Wsl:
    """WSL's side of the GPU. Probe raises NotApplicable outside WSL.

    `dxg`: /dev/dxg exists. `libcuda`: the libcuda files under /usr/lib/wsl/lib. `linux_driver`: Linux driver packages
    installed inside (names), which must not be there. `linux_libcuda`: libcuda files elsewhere (paths).
    """

    version: int
    kernel: str
    dxg: bool
    libcuda: tuple[str, ...]
    linux_driver: tuple[str, ...]
    linux_libcuda: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Cloud:
    """From DMI: `provider` ("aws", "gcp", "azure"…, "" none known), `instance_type` ("p4d.24xlarge", "" not stated),
    `virtual`: a virtual machine (None: cannot tell), `product`: DMI product name."""

    provider: str
    instance_type: str
    virtual: Optional[bool]
    product: str
    source: str


@dataclass(frozen=True)
class Job:
    """A job scheduler's job. `scheduler` is "slurm", "kubernetes" or "" (none); `gpus` is what the job was given as the
    scheduler states it ("0,1", "" none given, None not stated)."""

    scheduler: str
    gpus: Optional[str]
    source: str


@dataclass(frozen=True)
class Jetson:
    """An NVIDIA Jetson board (NotApplicable elsewhere): L4T release as in /etc/nv_tegra_release."""

    l4t: str
    model: str
    source: str
