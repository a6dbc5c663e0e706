"""/proc/cmdline: the words that bear on GPUs. The rest (disks, addresses, passwords) is nobody's business."""

from __future__ import annotations

import re

_OURS = re.compile(
    r"(?:(?:intel_|amd_)?iommu(?:\.\w+)?|nouveau\.\w+|nvidia[\w-]*\.\w+|amdgpu\.\w+|rd\.driver\.(?:blacklist|pre)|rdblacklist|modprobe\.blacklist"
    r"|module_blacklist|pci|pcie_\w+|pcie_aspm|nomodeset|lockdown|module\.sig_enforce|init_on_alloc|swiotlb|numa|isolcpus|nosmt|mem|hugepages"
    r"|vfio-pci\.ids|acpi_osi|mitigations|nogpumanager|video)(?:=.*)?"
)


def relevant(text: str) -> tuple[str, ...]:
    """The words of the kernel's command line that bear on GPUs, in order."""
    return tuple(word for word in text.split() if _OURS.fullmatch(word))
