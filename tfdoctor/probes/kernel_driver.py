"""The kernel's side of the NVIDIA driver: what is loaded, what lies on disk, what keeps it out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.looking import first_text, globbed, if_told, is_there, text
from tfdoctor.probes.parse import command_line, dpkg_status, modinfo, pcie, proc_driver, rpm_list
from tfdoctor.probes.pci import SYSFS, Pci, bridges_above, listed_above
from tfdoctor.probes.platform import Platform

PROC = "/proc/driver/nvidia"
KNOWN = frozenset(("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nouveau", "amdgpu", "bbswitch"))
# Debian calls its module nvidia-current.ko (or …-open) and gives it the alias nvidia.
MODULE = re.compile(r"/lib/modules/([^/]+)/.*/nvidia(?:-current|-legacy|-tesla)?[\w.-]*?\.ko(?:\.(?:xz|zst|gz))?")
NOT_IT = re.compile(r"/nvidia-(?:current-|legacy-|tesla-)?[\w.-]*?(?:drm|modeset|uvm|peermem|fs|vgpu)[\w.-]*\.ko")
# Where DKMS, distributions and NVIDIA's installer put modules, below /lib/modules/KERNEL.
MODULE_FOLDERS = (
    "updates/dkms", "updates", "updates/*", "extra", "extra/*", "weak-updates", "weak-updates/*", "misc", "extramodules",
    "kernel/drivers/video", "kernel/drivers/video/*", "kernel/drivers/char", "kernel/nvidia-*", "nvidia", "video",
)  # fmt: skip
MOST_MODULE = 96 * 1024 * 1024  # bytes; the proprietary nvidia.ko of driver 580 has about 70 MB
# Where the loader or a container tool finds the driver's libraries.
LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia/current", "/usr/lib/powerpc64le-linux-gnu", "/usr/lib64", "/usr/lib64/nvidia", "/usr/lib",
    "/usr/lib/nvidia", "/usr/lib/nvidia-*", "/usr/local/nvidia/lib64", "/usr/local/lib", "/home/kubernetes/bin/nvidia/lib64",
    "/run/opengl-driver/lib", "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
)  # fmt: skip
DRIVER_FILE = re.compile(r"/lib(?:cuda|nvidia-ml)\.so\.(\d{2,4}\.\d{1,4}(?:\.\d{1,4})?)$", re.A)
FABRIC_MANAGER = ("/usr/bin/nv-fabricmanager", "/usr/bin/nvidia-fabricmanager")
MODPROBE = "/usr/bin/nvidia-modprobe"
SETUID = 0o4000
EFI = "/sys/firmware/efi"


@dataclass(frozen=True)
class KernelDriver:
    """`loaded_version` is from /proc/driver/nvidia/version ("" : not loaded). `flavour` is "open", "proprietary" or "".

    `modules`: which of nvidia, nvidia_uvm, nvidia_modeset, nvidia_drm, nouveau, amdgpu, bbswitch are loaded.
    `params`: /proc/driver/nvidia/params, as printed. `modules_seen` False: the list of modules could not be looked at,
    so a name that is not in `modules` may be loaded all the same. "nvidia" in `modules` with an empty `loaded_version`:
    loaded, but its version is not told here (a container without the GPU).
    """

    loaded_version: str
    flavour: str
    modules: frozenset[str]
    params: Mapping[str, str]
    source: str
    modules_seen: bool = True


@dataclass(frozen=True)
class KernelModuleFile:
    """nvidia.ko on disk. `path` and `version` for the running kernel ("" : none there; `version` "" with a path: not
    told); `other_kernels` have one.

    `headers`: the running kernel's headers are installed. `signer`: who signed the module ("" : nobody, or not told)."""

    path: str
    version: str
    signer: str
    other_kernels: tuple[str, ...]
    headers: bool
    source: str


@dataclass(frozen=True)
class KernelSettings:
    """`secure_boot`: None where the firmware does not tell. `command_line`: words of /proc/cmdline that bear on GPUs.

    `iommu_groups`: how many IOMMU groups are populated (0: IOMMU off); None: not told.
    `acs_redirects`: PCI bridges with ACS request redirect on, where lspci could tell; None: could not."""

    secure_boot: Optional[bool]
    command_line: tuple[str, ...]
    iommu_groups: Optional[int]
    acs_redirects: Optional[int]
    source: str


@dataclass(frozen=True)
class InstalledDriver:
    """The user-space driver on disk: distribution packages (name -> version) and the versioned library files
    (libcuda.so.VERSION, libnvidia-ml.so.VERSION) found in the loader's folders. Empty: seen, none there.

    `fabric_manager`: version of the nvidia-fabricmanager package, "" none, None could not look. `packages_seen` False:
    the packages could not be listed (RPM), `packages` says nothing then. `unfinished`: packages whose installation
    stopped half-way. `modprobe`: the setuid program nvidia-modprobe is there, which makes device nodes when CUDA starts; None
    not told."""

    packages: Mapping[str, str]
    libraries: tuple[str, ...]
    library_versions: frozenset[str]
    fabric_manager: Optional[str]
    source: str
    packages_seen: bool = True
    unfinished: tuple[str, ...] = ()
    modprobe: Optional[bool] = None


def _only_on_linux(platform: Optional[Platform]) -> None:
    if platform is not None and platform.system != "linux":
        raise NotApplicable(_("only Linux has a kernel driver that can be looked at"))


@probe
def look_at_kernel_driver(host: Host, platform: Optional[Platform]) -> KernelDriver:
    """/proc/driver/nvidia/version, else /sys/module/nvidia/version (a container without the GPU sees that one), and
    the loaded modules."""
    _only_on_linux(platform)
    modules = _loaded_modules(host)
    try:
        found = host.read(f"{PROC}/version")
    except Unavailable:
        if modules is None:
            raise
        found = None
    version, flavour = proc_driver.version(found or "")
    source = f"{PROC}/version"
    if found is not None and not version:
        raise Unavailable(_("{path} has a form that tfdoctor does not know").format(path=source))
    if not version and modules is not None and "nvidia" in modules:
        version, source = text(host, "/sys/module/nvidia/version"), "/sys/module/nvidia/version"
    elif not version:
        source = f"{PROC}/version, /proc/modules"
    return KernelDriver(
        loaded_version=version,
        flavour=flavour,
        modules=(modules or frozenset()) | ({"nvidia"} if version else set()),
        params=proc_driver.params(text(host, f"{PROC}/params")),
        source=source,
        modules_seen=modules is not None,
    )


def _loaded_modules(host: Host) -> Optional[frozenset[str]]:
    """Those of KNOWN that are loaded; None where that cannot be told."""
    listed = if_told(host.read, "/proc/modules")
    if listed is not None:
        return proc_driver.modules(listed) & KNOWN
    if if_told(host.stat, "/sys/module") is None:
        return None
    return frozenset(n for n in KNOWN if if_told(host.stat, f"/sys/module/{n}") is not None)


@probe
def look_at_module_file(host: Host, platform: Platform) -> KernelModuleFile:
    """nvidia.ko below /lib/modules; its version from modinfo, DKMS' folder or the file itself."""
    _only_on_linux(platform)
    kernel = platform.kernel
    files = [p for p in globbed(host, _module_patterns()) if MODULE.fullmatch(p) and not NOT_IT.search(p)]
    if not files and host.stat("/lib/modules") is None:
        raise Unavailable(_("there is no /lib/modules: kernel modules lie outside this container or elsewhere"))
    kernels = {match.group(1) for p in files if (match := MODULE.fullmatch(p))}
    path = next((p for p in files if p.startswith(f"/lib/modules/{kernel}/")), "")
    told = _modinfo(host, path) if path else {}
    headers = any(
        if_told(host.stat, p) is not None
        for p in (f"/lib/modules/{kernel}/build", f"/usr/src/linux-headers-{kernel}", f"/usr/src/kernels/{kernel}")
    )
    return KernelModuleFile(
        path=path,
        version=_dkms_version(host, kernel) or told.get("version", "") if path else "",
        signer=told.get("signer", ""),
        other_kernels=tuple(sorted(kernels - {kernel})),
        headers=headers,
        source=path or "/lib/modules",
    )


def _module_patterns() -> tuple[str, ...]:
    return tuple(f"/lib/modules/*/{folder}/nvidia*.ko*" for folder in MODULE_FOLDERS)


def _dkms_version(host: Host, kernel: str) -> str:
    """The version that DKMS built for this kernel: the highest name in /var/lib/dkms/nvidia*/VERSION/KERNEL."""
    folders = if_told(host.glob, f"/var/lib/dkms/nvidia*/*/{kernel}") or ()
    versions = [v for v in (f.split("/")[-2] for f in folders) if re.fullmatch(r"\d+(\.\d+)+", v, re.A)]
    return versions[0] if len(versions) == 1 else ""


def _modinfo(host: Host, path: str) -> dict[str, str]:
    """What the module says of itself: the program knows every compression; without it a plain file is read."""
    done = if_told(host.capture, "modinfo.txt")
    told = modinfo.parse(done.stdout) if done is not None else {}
    if told.get("version") or not path.endswith(".ko"):
        return told
    size = if_told(host.stat, path)
    if size is None or not 0 < size.size <= MOST_MODULE:
        return told
    data = if_told(host.read_bytes, path, MOST_MODULE) or b""
    signer = {"signer": _("somebody (the name was not read)")} if modinfo.signed(data) else {}
    return {**modinfo.section(data), **signer}


@probe
def look_at_kernel_settings(host: Host, platform: Optional[Platform], pci: Optional[Pci]) -> KernelSettings:
    """Secure Boot, the kernel's command line, IOMMU and PCI access control."""
    _only_on_linux(platform)
    _path, line = first_text(host, ("/proc/cmdline",))
    return KernelSettings(
        secure_boot=_secure_boot(host),
        command_line=command_line.relevant(line),
        iommu_groups=_iommu_groups(host),
        acs_redirects=_acs_redirects(host, pci),
        source="/proc/cmdline, efivars, /sys/kernel/iommu_groups",
    )


def _secure_boot(host: Host) -> Optional[bool]:
    """The EFI variable's last byte. A machine whose sysfs shows firmware but no EFI starts without Secure Boot; an
    empty /sys/firmware is what containers show."""
    variables = if_told(host.glob, f"{EFI}/efivars/SecureBoot-*")
    for path in variables or ():
        value = if_told(host.read_bytes, path, 16)
        if value is not None and len(value) >= 5:
            return value[4] == 1
    other = if_told(host.glob, "/sys/firmware/*")
    return False if other and not any(p == EFI for p in other) else None


def _iommu_groups(host: Host) -> Optional[int]:
    groups = if_told(host.glob, "/sys/kernel/iommu_groups/*")
    if groups:
        return len(groups)
    return 0 if if_told(host.stat, "/sys/kernel") is not None else None


def _acs_redirects(host: Host, pci: Optional[Pci]) -> Optional[int]:
    """How many bridges above NVIDIA GPUs redirect peer-to-peer requests; None where no bridge could be asked."""
    if pci is None or not pci.nvidia_gpus:
        return None
    addresses = [gpu.address for gpu in pci.nvidia_gpus]
    if pci.source == SYSFS:
        bridges = {b for address in addresses for b in bridges_above(host, address)}
        spaces = (if_told(host.read_bytes, f"{b}/config", 4096) for b in sorted(bridges))
        told = [on for on in (pcie.acs_redirects(s or b"") for s in spaces) if on is not None]
    else:
        from tfdoctor.probes.parse import lspci

        listing = if_told(host.capture, "lspci-vvv.txt")
        listed = lspci.parse(listing.stdout if listing else "")
        above = {d.address: d for gpu in listed if gpu.address in addresses for d in listed_above(gpu, listed)}
        told = [d.acs_redirect for d in above.values() if d.acs_redirect is not None]
    return sum(told) if told else None


@probe
def look_at_installed_driver(host: Host, platform: Optional[Platform]) -> InstalledDriver:
    """Distribution packages (dpkg and pacman keep them as text, rpm is asked) and library files."""
    _only_on_linux(platform)
    packages, unfinished, told = _packages(host)
    files = [f for f in globbed(host, _library_patterns()) if DRIVER_FILE.search(f)]
    libraries = tuple(dict.fromkeys(host.realpath(f) for f in files))
    versions = frozenset(m.group(1) for m in map(DRIVER_FILE.search, libraries) if m)
    return InstalledDriver(
        packages=packages or {},
        libraries=libraries,
        library_versions=versions,
        fabric_manager=_fabric_manager(host, packages),
        source=_("{packages} and library folders").format(packages=told) if told else _("library folders"),
        packages_seen=packages is not None,
        unfinished=unfinished,
        modprobe=_has_modprobe(host),
    )


def _has_modprobe(host: Host) -> Optional[bool]:
    """A recording does not keep the setuid bit; packages install the program with it."""
    try:
        found = host.stat(MODPROBE)
    except Unavailable:
        return None
    return found is not None and (not host.live or bool(found.mode & SETUID))


def _library_patterns() -> tuple[str, ...]:
    return tuple(f"{folder}/lib{name}.so.*" for folder in LIBRARY_FOLDERS for name in ("cuda", "nvidia-ml"))


def _packages(host: Host) -> tuple[Optional[dict[str, str]], tuple[str, ...], str]:
    """(name -> version, packages whose installation did not end, what told); (None, (), "") where nothing tells."""
    status = if_told(host.read, "/var/lib/dpkg/status")
    if status is not None:
        found = dpkg_status.parse(status)
        whole = {p.name: p.version for p in found if p.state in ("installed", "triggers-pending", "triggers-awaited")}
        unfinished = tuple(p.name for p in found if p.state in ("half-installed", "half-configured", "unpacked"))
        return whole, unfinished, "/var/lib/dpkg/status"
    if if_told(host.stat, "/var/lib/pacman/local") is not None:
        folders = if_told(host.glob, "/var/lib/pacman/local/*nvidia*") or ()
        named = (re.fullmatch(r"(.+)-([^-]+-[^-]+)", f.rpartition("/")[2]) for f in folders)
        return {m.group(1): m.group(2) for m in named if m}, (), "/var/lib/pacman/local"
    done = if_told(host.capture, "rpm-qa.txt")
    by_rpm = rpm_list.parse(done.stdout) if done is not None and done.code in (0, None) else None
    return by_rpm, (), "" if by_rpm is None else "rpm -qa"


def _fabric_manager(host: Host, packages: Optional[Mapping[str, str]]) -> Optional[str]:
    """Debian's versions read `535.183.01-1`; the packaging's own number is cut off."""
    for name, version in (packages or {}).items():
        if re.match(r"(?:nvidia|cuda-drivers)-fabric-?manager", name):
            return re.split(r"[-~+]", version.rpartition(":")[2])[0]
    return "" if all(is_there(host, path) is False for path in FABRIC_MANAGER) else None
