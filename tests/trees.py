"""Trees of files as TFDOCTOR_ROOT reads them: a workstation with one GPU behind a root port, and changes to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional, Union

Content = Union[str, bytes]

KERNEL = "6.5.0-41-generic"
CARD, PORT = "0000:01:00.0", "0000:00:01.0"
PCI = "/sys/devices/pci0000:00"

WORKSTATION: dict[str, Content] = {
    "/proc/version": f"Linux version {KERNEL} (builder@maker) (gcc 12.3.0) #41 SMP",
    "/proc/sys/kernel/osrelease": f"{KERNEL}\n",
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu lm lahf_lm avx avx2 fma\n\nprocessor\t: 1\nmodel name\t: Some CPU\n\n",
    "/proc/meminfo": "MemTotal:       65536000 kB\nMemAvailable:   60000000 kB\n",
    "/proc/self/limits": "Max locked memory         8388608              8388608              bytes     \n",
    "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
    "/proc/1/cgroup": "0::/init.scope\n",
    "/proc/self/mountinfo": "25 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=6a1b2c3d-0000-4111-8222-933344445555 iommu=pt quiet\n",
    "/proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia_drm 1 0 - Live 0x0\nnvidia_modeset 1 1 - Live 0x0\nnvidia 1 5 - Live 0x0\nsnd 1 0 - Live 0x0\n",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc version 12.3.0\n",
    "/proc/driver/nvidia/params": "EnableMSI: 1\nPreserveVideoMemoryAllocations: 0\n",
    f"/proc/driver/nvidia/gpus/{CARD}/information": "Model: \t\t NVIDIA GeForce RTX 3090\n",
    "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\n',
    "/etc/group": "root:x:0:\nvideo:x:44:\n",
    "/sys/class/dmi/id/sys_vendor": "Some Maker\n",
    "/sys/class/dmi/id/product_name": "Some Board\n",
    "/sys/kernel/iommu_groups/0/type": "identity\n",
    "/sys/kernel/iommu_groups/1/type": "identity\n",
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": b"\x06\0\0\0\0",
    "/dev/nvidia0": "",
    "/dev/nvidiactl": "",
    "/dev/nvidia-uvm": "",
    "/dev/null": "",
    f"{PCI}/{PORT}/class": "0x060400\n",
    f"{PCI}/{PORT}/vendor": "0x8086\n",
    f"{PCI}/{PORT}/device": "0xa70d\n",
    f"{PCI}/{PORT}/current_link_speed": "16.0 GT/s PCIe\n",
    f"{PCI}/{PORT}/current_link_width": "8\n",
    f"{PCI}/{PORT}/max_link_speed": "32.0 GT/s PCIe\n",
    f"{PCI}/{PORT}/max_link_width": "16\n",
    f"{PCI}/{PORT}/{CARD}/class": "0x030000\n",
    f"{PCI}/{PORT}/{CARD}/vendor": "0x10de\n",
    f"{PCI}/{PORT}/{CARD}/device": "0x2204\n",
    f"{PCI}/{PORT}/{CARD}/numa_node": "-1\n",
    f"{PCI}/{PORT}/{CARD}/current_link_speed": "2.5 GT/s PCIe\n",
    f"{PCI}/{PORT}/{CARD}/current_link_width": "8\n",
    f"{PCI}/{PORT}/{CARD}/max_link_speed": "16.0 GT/s PCIe\n",
    f"{PCI}/{PORT}/{CARD}/max_link_width": "16\n",
    f"{PCI}/{PORT}/{CARD}/resource": "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n",
    f"{PCI}/{PORT}/{CARD}/config": bytes.fromhex("de100422") + b"\0" * 60,
    "/sys/bus/pci/drivers/nvidia/module": "",
}
LINKS = {
    f"/sys/bus/pci/devices/{PORT}": f"{PCI}/{PORT}",
    f"/sys/bus/pci/devices/{CARD}": f"{PCI}/{PORT}/{CARD}",
    f"{PCI}/{PORT}/{CARD}/driver": "/sys/bus/pci/drivers/nvidia",
}


def build(root: Path, changes: Mapping[str, Optional[Content]] = {}, links: Mapping[str, str] = LINKS) -> Path:
    """Write the workstation below `root`, with `changes` (None: without this file, or without this folder)."""
    files = {**WORKSTATION, **{k: v for k, v in changes.items() if v is not None}}
    gone = [k for k, v in changes.items() if v is None]
    for path, content in files.items():
        if not any(path == g or path.startswith(f"{g}/") for g in gone):
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
    for path, target in links.items():
        place = root / path.lstrip("/")
        if (root / target.lstrip("/")).exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(root / target.lstrip("/"))
    return root
