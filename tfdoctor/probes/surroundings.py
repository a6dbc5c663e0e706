"""What surrounds the operating system: container, WSL, virtual machine, cloud, job scheduler, Jetson."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.kernel_driver import InstalledDriver
from tfdoctor.probes.looking import first_text, globbed, if_told, text
from tfdoctor.probes.parse import cgroup, cloud_init
from tfdoctor.probes.platform import Cpu, Platform

DMI = "/sys/class/dmi/id/"
AZURE_TAG = "7783-7084-3265-9085-8269-3286-77"  # chassis asset tag of every Azure machine; cloud-init's ds-identify
ASSET_TAGS = (AZURE_TAG, "OracleCloud.com", "HUAWEICLOUD")  # those that name a cloud; any other is its owner's own
CLOUD_INIT = "/run/cloud-init/instance-data.json"
WSL_LIBRARIES = "/usr/lib/wsl/lib"
# Where a Linux driver puts the libcuda that WSL must not have.
LINUX_LIBCUDA = (
    "/usr/lib/x86_64-linux-gnu/libcuda.so*",
    "/usr/lib/aarch64-linux-gnu/libcuda.so*",
    "/usr/lib64/libcuda.so*",
)


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
    """From DMI and what cloud-init kept: `provider` ("aws", "gcp", "azure"…, "" none known), `instance_type` ("p4d.24xlarge", "" not stated),
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


@probe
def look_at_container(host: Host) -> Container:
    """Marker files, the environment, cgroups and mounts; Unavailable when none of the files could be looked at."""
    environment = if_told(host.env) or {}
    kind, source = _container_kind(host, environment)
    version = environment.get("TENSORFLOW_VERSION", "")
    return Container(kind, _image_vendor(host, environment), version, source)


def _container_kind(host: Host, environment: Mapping[str, str]) -> tuple[str, str]:
    """(kind, where it was seen)."""
    named = environment.get("container", "") or text(host, "/run/systemd/container")
    signs = (
        ("singularity", bool({"SINGULARITY_CONTAINER", "APPTAINER_CONTAINER"} & set(environment)), "environment"),
        ("kubernetes", "KUBERNETES_SERVICE_HOST" in environment, "environment"),
        ("podman", named == "podman" or _exists(host, "/run/.containerenv"), "/run/.containerenv"),
        ("docker", _exists(host, "/.dockerenv"), "/.dockerenv"),
        ("lxc", named.startswith("lxc"), "environment"),
        (named, bool(named) and named != "wsl", "environment"),
    )
    for kind, seen, where in signs:
        if seen:
            return kind, where
    looked, reason = [], None
    for path in ("/proc/1/cgroup", "/proc/self/cgroup", "/proc/self/mountinfo", "/.dockerenv"):
        try:
            found = host.read(path)
        except Unavailable as why:
            reason = why
            continue
        looked.append(path)
        kind = cgroup.kind(cgroup.inside_mounts(found) if path.endswith("mountinfo") else found) if found else ""
        if kind:
            return kind, path
    if not looked:
        raise reason or Unavailable(_("nothing tells whether this is a container"))
    return "", ", ".join(looked)


def _exists(host: Host, path: str) -> bool:
    return if_told(host.stat, path) is not None


def _image_vendor(host: Host, environment: Mapping[str, str]) -> str:
    """NGC images set NVIDIA_PRODUCT_NAME and NVIDIA_BUILD_ID; TensorFlow's own name their prompt tf-docker."""
    if "NVIDIA_TENSORFLOW_VERSION" in environment or {"NVIDIA_PRODUCT_NAME", "NVIDIA_BUILD_ID"} <= set(environment):
        return "nvidia"
    return "tensorflow" if "tf-docker" in text(host, "/etc/bash.bashrc") else ""


@probe
def look_at_wsl(host: Host, platform: Platform, installed: Optional[InstalledDriver]) -> Wsl:
    """WSL's GPU device and libraries, and the Linux driver that must not be beside them."""
    if not platform.wsl:
        raise NotApplicable(_("this is not WSL"))
    names = installed.packages if installed is not None else {}
    driver = re.compile(r"nvidia-driver|nvidia-dkms|nvidia-kernel|libnvidia-compute|libcuda1|cuda-drivers")
    elsewhere = if_told(globbed, host, LINUX_LIBCUDA)
    return Wsl(
        version=platform.wsl,
        kernel=platform.kernel,
        dxg=host.stat("/dev/dxg") is not None,
        libcuda=if_told(host.glob, f"{WSL_LIBRARIES}/libcuda.so*") or (),
        linux_driver=tuple(sorted(n for n in names if driver.match(n))),
        linux_libcuda=tuple(p for p in elsewhere or () if not host.realpath(p).startswith("/usr/lib/wsl/")),
        source=f"{WSL_LIBRARIES}, /dev/dxg",
    )


@probe
def look_at_cloud(host: Host, cpu: Optional[Cpu]) -> Cloud:
    """DMI strings; on Azure, whose firmware does not tell the type, cloud-init's file. Serial numbers, UUIDs and asset tags that name no cloud are not read into the fact."""
    dmi: dict[str, str] = {}
    reason: Optional[Unavailable] = None
    for name in ("sys_vendor", "product_name", "product_version", "bios_version", "chassis_asset_tag", "board_vendor"):
        try:
            dmi[name] = (host.read(DMI + name) or "").strip()
        except Unavailable as why:
            reason = why
    if not dmi:
        raise reason or Unavailable(_("the firmware's tables could not be looked at"))
    provider = _provider(dmi)
    product = dmi.get("product_name", "")
    instance = product if provider == "aws" and re.fullmatch(r"[\w-]+\.[\w-]+", product) else ""
    if provider == "alibaba" and product.startswith("ecs."):
        instance = product
    if provider == "azure":
        instance = cloud_init.instance_type(text(host, CLOUD_INIT))
    source = CLOUD_INIT if provider == "azure" and instance else DMI.rstrip("/")
    return Cloud(provider, instance, _virtual(dmi, product, cpu), product, source)


def _provider(dmi: Mapping[str, str]) -> str:
    """The cloud that these strings name, or "". Strings as cloud-init's ds-identify matches them."""
    vendor, product, tag = (dmi.get(k, "") for k in ("sys_vendor", "product_name", "chassis_asset_tag"))
    amazon = "amazon" in (dmi.get("bios_version", "") + dmi.get("product_version", "")).lower()
    names = (
        ("aws", vendor == "Amazon EC2" or (vendor == "Xen" and amazon)),
        ("gcp", product == "Google Compute Engine"),
        ("azure", tag == AZURE_TAG),
        ("oracle", tag == "OracleCloud.com"),
        ("huawei", tag == "HUAWEICLOUD" or vendor == "Huawei Cloud"),
        ("alibaba", product.startswith("Alibaba Cloud") or vendor == "Alibaba Cloud"),
        ("tencent", vendor == "Tencent Cloud"),
        ("hetzner", vendor == "Hetzner"),
        ("digitalocean", vendor == "DigitalOcean"),
        ("vultr", vendor == "Vultr"),
        ("akamai", vendor in ("Akamai", "Linode")),
        ("scaleway", vendor == "Scaleway"),
        ("openstack", product in ("OpenStack Nova", "OpenStack Compute") or vendor == "OpenStack Foundation"),
    )
    return next((name for name, fits in names if fits), "")


def _virtual(dmi: Mapping[str, str], product: str, cpu: Optional[Cpu]) -> Optional[bool]:
    """The processor's hypervisor flag decides on x86; elsewhere the names that hypervisors give their machines."""
    if product.endswith(".metal") or ".metal-" in product:
        return False
    if cpu is not None and "hypervisor" in cpu.flags:
        return True
    vendor = dmi.get("sys_vendor", "")
    if vendor in ("QEMU", "Xen", "innotek GmbH", "Parallels Software International Inc.") or vendor.startswith(
        "VMware"
    ):
        return True
    if product in ("Virtual Machine", "KVM", "Google Compute Engine", "OpenStack Nova", "OpenStack Compute"):
        return True
    return False if cpu is not None and "lahf_lm" in cpu.flags else None


@probe
def look_at_job(host: Host) -> Job:
    """What the scheduler says in the environment."""
    env = host.env()
    if "SLURM_JOB_ID" in env or "SLURM_JOBID" in env:
        return Job("slurm", _slurm_gpus(env), "environment")
    if "KUBERNETES_SERVICE_HOST" in env:
        return Job("kubernetes", env.get("NVIDIA_VISIBLE_DEVICES"), "environment")
    return Job("", None, "environment")


def _slurm_gpus(env: Mapping[str, str]) -> Optional[str]:
    for name in ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "GPU_DEVICE_ORDINAL"):
        if name in env:
            return env[name]
    if env.get("SLURM_GPUS_ON_NODE") == "0" or env.get("CUDA_VISIBLE_DEVICES") == "NoDevFiles":
        return ""
    return None


@probe
def look_at_jetson(host: Host, platform: Optional[Platform]) -> Jetson:
    """/etc/nv_tegra_release and the board's name in the device tree."""
    elsewhere = NotApplicable(_("this is not a Jetson"))
    if platform is not None and platform.machine not in ("aarch64", ""):
        raise elsewhere
    path, release = first_text(host, ("/etc/nv_tegra_release",))
    model = text(host, "/proc/device-tree/model") or text(host, "/sys/firmware/devicetree/base/model")
    board = "Jetson" in model or "nvidia,tegra" in text(host, "/proc/device-tree/compatible")
    if not path and not board:
        raise elsewhere
    found = re.search(r"# R(\d+) \(release\), REVISION: (\S+?),", release)
    return Jetson(f"{found.group(1)}.{found.group(2)}" if found else "", model, path or "/proc/device-tree/model")
