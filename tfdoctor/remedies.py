"""Fixes that many rules share, so that each is worded and judged (safe, ask, manual) in one place."""

from __future__ import annotations

from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.model import Fix, Safety
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.platform import Platform
from tfdoctor.probes.tensorflow import TensorFlow

#: distribution family -> the commands that install NVIDIA's driver there from packages, as root.
_DRIVER_PACKAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "ubuntu": (("ubuntu-drivers", "install"),),
    "debian": (("apt-get", "install", "linux-headers-amd64", "nvidia-driver", "firmware-misc-nonfree"),),
    "fedora": (("dnf", "install", "akmod-nvidia", "xorg-x11-drv-nvidia-cuda"),),
    "rhel": (("dnf", "install", "kernel-devel-matched", "kernel-headers"), ("dnf", "install", "nvidia-open")),
    "suse": (("zypper", "install", "nvidia-open-driver-G06-signed-kmp-meta", "nvidia-compute-utils-G06"),),
    "arch": (("pacman", "-S", "nvidia-open", "nvidia-utils"),),
}

#: distribution family -> the commands that build NVIDIA's kernel module for the running kernel.
_DRIVER_REBUILD: dict[str, tuple[tuple[str, ...], ...]] = {
    "ubuntu": (("apt-get", "install", "linux-headers-{kernel}"), ("dkms", "autoinstall", "-k", "{kernel}")),
    "debian": (("apt-get", "install", "linux-headers-{kernel}"), ("dkms", "autoinstall", "-k", "{kernel}")),
    "fedora": (("dnf", "install", "kernel-devel-{kernel}"), ("akmods", "--force", "--kernels", "{kernel}")),
    "rhel": (("dnf", "install", "kernel-devel-{kernel}"), ("dkms", "autoinstall", "-k", "{kernel}")),
    "suse": (("zypper", "install", "kernel-default-devel"), ("dkms", "autoinstall", "-k", "{kernel}")),
    "arch": (("pacman", "-S", "linux-headers", "nvidia-open-dkms"),),
}

_DRIVER_NOTES: dict[str, str] = {
    "debian": _("The package is in the non-free component of the archive."),
    "fedora": _("The packages are in RPM Fusion's nonfree repository. Wait until akmods has built the module."),
    "rhel": _("The packages are in NVIDIA's own repository, which its installation guide tells how to add."),
}

_CONTAINER_STARTS: dict[str, tuple[str, ...]] = {
    "docker": ("docker", "run", "--gpus", "all", "IMAGE"),
    "podman": ("podman", "run", "--device", "nvidia.com/gpu=all", "IMAGE"),
    "singularity": ("singularity", "exec", "--nv", "IMAGE", "COMMAND"),
    "apptainer": ("apptainer", "exec", "--nv", "IMAGE", "COMMAND"),
    "lxc": ("lxc", "config", "device", "add", "NAME", "gpu", "gpu"),
}


def pip(interpreter: Optional[Interpreter], *arguments: str) -> tuple[str, ...]:
    """The target interpreter's own pip as an argument list; `python` where the interpreter is not known."""
    return (interpreter.path if interpreter else "python", "-m", "pip", *arguments)


def install(interpreter: Optional[Interpreter], *requirements: str, title: str = "", note: str = "") -> Fix:
    """Install `requirements` into the target. Safe only inside a virtual or conda environment."""
    return Fix(
        title or _("Install {what}").format(what=" ".join(requirements)),
        commands=(pip(interpreter, "install", *requirements),),
        safety=_safety(interpreter),
        note=note,
        requirements=requirements,
    )


def another_release(installed: TensorFlow, bounds: str) -> str:
    """Another release of the TensorFlow that is there; `tensorflow` over `tensorflow-cpu` would be two in one folder."""
    name = installed.distribution if installed.distribution == "tensorflow-cpu" else "tensorflow"
    return f"{name}{bounds}"


def reinstall(interpreter: Optional[Interpreter], requirement: str, *, removes: tuple[str, ...] = ()) -> Fix:
    """Remove `removes`, then install `requirement` again without touching what it depends on."""
    commands = [pip(interpreter, "uninstall", "-y", *removes)] if removes else []
    commands.append(pip(interpreter, "install", "--force-reinstall", "--no-deps", requirement))
    return Fix(
        _("Install {what} afresh").format(what=requirement),
        commands=tuple(commands),
        safety=Safety.ASK if removes else _safety(interpreter),
        requirements=(requirement,),
        removes=removes,
    )


def variable(name: str, value: Optional[str], *, title: str = "", note: str = "") -> Fix:
    """Set (or with None: unset) an environment variable before the program starts."""
    wording = _("Unset {name}") if value is None else _("Set {name}={value}")
    return Fix(
        title or wording.format(name=name, value=value),
        safety=Safety.ASK,
        note=note,
        environment=((name, value),),
    )


def by_hand(title: str, *commands: tuple[str, ...], note: str = "", needs: tuple[str, ...] = ()) -> Fix:
    """Something only a person may do: `commands` are printed, never run."""
    return Fix(title, commands=commands, safety=Safety.MANUAL, note=note, needs=frozenset(needs))


def distro_family(platform: Optional[Platform]) -> str:
    """ "ubuntu", "debian", "fedora", "rhel", "suse" or "arch" by os-release's ID and ID_LIKE; "" for another."""
    if platform is None:
        return ""
    named = (platform.distro, *platform.distro_like)
    for family, members in (
        ("ubuntu", {"ubuntu", "linuxmint", "pop"}),
        ("debian", {"debian"}),
        ("rhel", {"rhel", "centos", "rocky", "almalinux", "ol", "amzn"}),
        ("fedora", {"fedora"}),
        ("suse", {"suse", "sles", "opensuse", "opensuse-leap", "opensuse-tumbleweed"}),
        ("arch", {"arch", "manjaro"}),
    ):
        if members.intersection(named):
            return family
    return ""


def install_driver(platform: Optional[Platform], at_least: str = "") -> Fix:
    """Install or update NVIDIA's driver, in the way of this operating system."""
    title = (
        _("Install NVIDIA driver {version} or newer").format(version=at_least)
        if at_least
        else _("Install NVIDIA's driver")
    )
    if platform is not None and platform.wsl:
        note = _("The driver belongs to Windows; install none inside WSL. Afterwards restart WSL from Windows.")
        return by_hand(title + _(" on Windows"), ("wsl.exe", "--shutdown"), note=note, needs=("new shell",))
    if platform is not None and platform.system == "windows":
        return by_hand(title, note=_("NVIDIA's driver page has the installer. Restart afterwards."), needs=("reboot",))
    family = distro_family(platform)
    note = _DRIVER_NOTES.get(family, "")
    if not family:
        note = _("Use the packages of this distribution, or NVIDIA's driver installation guide.")
    return by_hand(title, *_DRIVER_PACKAGES.get(family, ()), note=note, needs=("root", "reboot"))


def rebuild_driver(platform: Optional[Platform]) -> Fix:
    """Build the kernel module of the installed driver for the running kernel."""
    kernel = platform.kernel if platform else "$(uname -r)"
    commands = _DRIVER_REBUILD.get(distro_family(platform), (("dkms", "autoinstall", "-k", "{kernel}"),))
    filled = tuple(tuple(word.format(kernel=kernel) for word in command) for command in commands)
    title = _("Build the kernel module for kernel {kernel}").format(kernel=kernel)
    return by_hand(title, *filled, ("modprobe", "nvidia"), note=_("Or reboot instead of modprobe."), needs=("root",))


def reboot(note: str = "") -> Fix:
    """Restart the machine."""
    return by_hand(_("Reboot"), ("systemctl", "reboot"), note=note, needs=("root", "reboot"))


def container_with_gpus(kind: str) -> Fix:
    """Start the container again, with the host's GPUs in it."""
    if kind == "kubernetes":
        note = _("Add the limit nvidia.com/gpu: 1 to the container's resources; the node needs NVIDIA's device plugin.")
        return by_hand(_("Ask for a GPU in the pod"), note=note)
    start = _CONTAINER_STARTS.get(kind, _CONTAINER_STARTS["docker"])
    note = _("The host needs NVIDIA's container toolkit. In a compose file: deploy.resources.reservations.devices.")
    return by_hand(
        _("Start the container with the host's GPUs"), start, note=note if kind in ("", "docker", "podman") else ""
    )


def reset_gpu(bus: str = "") -> Fix:
    """Reset one GPU once nothing uses it."""
    command = ("nvidia-smi", "--gpu-reset", "-i", bus) if bus else ("nvidia-smi", "--gpu-reset")
    note = _(
        "Stop everything that uses the GPU first. Where GPUs are joined by NVSwitch all are reset together; a reboot does the same."
    )
    return by_hand(_("Reset the GPU"), command, note=note, needs=("root",))


def replace_hardware(what: str) -> Fix:
    """Have a part looked at or exchanged by whoever services the machine."""
    return by_hand(_("Have {what} serviced or exchanged").format(what=what))


def _safety(interpreter: Optional[Interpreter]) -> Safety:
    own = interpreter is not None and interpreter.kind in ("venv", "conda", "uv")
    return Safety.SAFE if own else Safety.ASK
