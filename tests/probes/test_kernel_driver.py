"""The kernel driver: loaded, on disk, its settings, and what is installed of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
import trees
from observed import live, recorded

from tfdoctor.model import Unavailable
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile, KernelSettings

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


def test_kernel_driver(tmp_path):
    found = live(tmp_path).get(KernelDriver)
    assert (found.loaded_version, found.flavour, found.modules_seen) == ("535.183.01", "proprietary", True)
    assert found.modules == {"nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"}
    assert found.params["PreserveVideoMemoryAllocations"] == "0"


def test_no_kernel_driver_is_seen_as_absent(tmp_path):
    found = live(tmp_path, {"/proc/driver": None, "/proc/modules": "nouveau 1 0 - Live 0x0\n"}).get(KernelDriver)
    assert (found.loaded_version, found.modules) == ("", {"nouveau"})


def test_container_without_the_gpu_sees_the_hosts_module(tmp_path):
    found = live(tmp_path, {"/proc/driver": None, "/sys/module/nvidia/version": "550.54.14\n"}).get(KernelDriver)
    assert found.loaded_version == "550.54.14"
    assert "nvidia" in found.modules


def test_version_alone_does_not_tell_the_other_modules(tmp_path):
    found = recorded(
        tmp_path, {"root/proc/driver/nvidia/version": trees.WORKSTATION["/proc/driver/nvidia/version"]}
    ).get(KernelDriver)
    assert (found.loaded_version, found.modules, found.modules_seen) == ("535.183.01", {"nvidia"}, False)


def test_kernel_driver_could_not_be_looked_at(tmp_path):
    with pytest.raises(Unavailable):
        recorded(tmp_path, {"env.txt": ""}).get(KernelDriver)


def test_unknown_form_of_the_version_is_no_absence(tmp_path):
    with pytest.raises(Unavailable):
        live(tmp_path, {"/proc/driver/nvidia/version": "something new\n"}).get(KernelDriver)


def test_module_file(tmp_path):
    files: dict[str, str | bytes] = {
        "root/proc/sys/kernel/osrelease": f"{trees.KERNEL}\n",
        f"root/lib/modules/{trees.KERNEL}/updates/dkms/nvidia.ko.zst": "",
        f"root/lib/modules/{trees.KERNEL}/updates/dkms/nvidia-drm.ko.zst": "",
        f"root/lib/modules/{trees.KERNEL}/build/.keep": "",
        "root/lib/modules/5.4.0-1-generic/kernel/drivers/video/nvidia.ko": "",
        f"root/var/lib/dkms/nvidia/550.54.14/{trees.KERNEL}/.keep": "",
        "modinfo.txt": "filename: x\nversion: 550.54.14\nsigner: Some Key\n",
    }
    found = recorded(tmp_path, files).get(KernelModuleFile)
    assert found.path == f"/lib/modules/{trees.KERNEL}/updates/dkms/nvidia.ko.zst"
    assert (found.version, found.signer, found.other_kernels, found.headers) == (
        "550.54.14",
        "Some Key",
        ("5.4.0-1-generic",),
        True,
    )


def test_module_file_that_no_program_reads(tmp_path):
    compiler = shutil.which("gcc", path=os.defpath + ":/usr/bin:/usr/local/bin")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "module.c"
    source.write_text(
        '__attribute__((section(".modinfo"), used)) static const char said[] = "version=535.54.03\\0license=NVIDIA";\n'
    )
    subprocess.run(
        [compiler, "-c", str(source), "-o", str(tmp_path / "nvidia.ko")],
        check=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin"},
    )
    module = (tmp_path / "nvidia.ko").read_bytes()
    files: dict[str, str | bytes] = {
        "root/proc/sys/kernel/osrelease": f"{trees.KERNEL}\n",
        f"root/lib/modules/{trees.KERNEL}/kernel/drivers/video/nvidia.ko": module + b"~Module signature appended~\n",
    }
    found = recorded(tmp_path, files).get(KernelModuleFile)
    assert found.version == "535.54.03"
    assert found.signer


def test_module_file_missing_for_this_kernel(tmp_path):
    files = {
        "root/proc/sys/kernel/osrelease": f"{trees.KERNEL}\n",
        "root/lib/modules/5.4.0-1-generic/updates/dkms/nvidia-current.ko": "",
        "root/lib/modules/5.4.0-1-generic/updates/dkms/nvidia-current-uvm.ko": "",
        "absent.txt": f"/lib/modules/{trees.KERNEL}/build\n",
    }
    found = recorded(tmp_path, files).get(KernelModuleFile)
    assert (found.path, found.version, found.other_kernels, found.headers) == ("", "", ("5.4.0-1-generic",), False)


def test_kernel_settings(tmp_path):
    facts = live(
        tmp_path, {"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": b"\x06\0\0\0\x01"}
    )
    found = facts.get(KernelSettings)
    assert (found.secure_boot, found.command_line, found.iommu_groups, found.acs_redirects) == (
        True,
        ("iommu=pt",),
        2,
        None,
    )


def test_secure_boot_without_efi(tmp_path):
    assert live(tmp_path / "a").get(KernelSettings).secure_boot is False
    assert (
        live(tmp_path / "b", {"/sys/firmware": None, "/sys/firmware/memmap/0/type": "x"})
        .get(KernelSettings)
        .secure_boot
        is None
    )
    bios = {"/sys/firmware/efi": None, "/sys/firmware/acpi/x": ""}
    assert live(tmp_path / "c", bios).get(KernelSettings).secure_boot is False


def test_access_control_of_the_ports_above(tmp_path):
    space = bytearray(4096)
    space[0x100:0x108] = bytes.fromhex("0d00010000001d00")
    facts = live(tmp_path, {f"{trees.PCI}/{trees.PORT}/config": bytes(space)})
    assert facts.get(KernelSettings).acs_redirects == 1


def test_installed_driver(tmp_path):
    files = {
        "root/var/lib/dpkg/status": (
            "Package: nvidia-driver-535\nStatus: install ok installed\nVersion: 535.183.01-0ubuntu0.22.04.1\n\n"
            "Package: nvidia-dkms-535\nStatus: install ok half-configured\nVersion: 535.183.01-0ubuntu0.22.04.1\n\n"
            "Package: nvidia-fabricmanager-535\nStatus: install ok installed\nVersion: 535.183.01-1\n"
        ),
        "root/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01": "",
        "root/usr/lib/x86_64-linux-gnu/libcuda.so.1": "",
        "root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14": "",
    }
    found = recorded(tmp_path, files).get(InstalledDriver)
    assert set(found.packages) == {"nvidia-driver-535", "nvidia-fabricmanager-535"}
    assert found.unfinished == ("nvidia-dkms-535",)
    assert found.library_versions == {"535.183.01", "550.54.14"}
    assert found.fabric_manager == "535.183.01"


def test_packages_of_an_rpm_system_are_not_none(tmp_path):
    files = {"root/usr/lib64/libcuda.so.535.54.03": "", "absent.txt": "/var/lib/dpkg/status\n/var/lib/pacman/local\n"}
    found = recorded(tmp_path, files).get(InstalledDriver)
    assert (found.packages, found.packages_seen, found.library_versions) == ({}, False, {"535.54.03"})
    assert found.fabric_manager is None


NO_OTHER_LIST = {
    "root/usr/lib64/libcuda.so.535.54.03": "",
    "absent.txt": "/var/lib/dpkg/status\n/var/lib/pacman/local\n",
}


@pytest.mark.parametrize(
    ("listed", "packages", "manager"),
    [
        (
            "glibc 2.34-1.el9\nkmod-nvidia-latest-dkms 550.54.14-1.el9\nnvidia-fabric-manager 550.54.14-1\n",
            {"kmod-nvidia-latest-dkms", "nvidia-fabric-manager"},
            "550.54.14",
        ),
        ("glibc 2.34-1.el9\n", set(), None),
    ],
)
def test_packages_that_rpm_lists(tmp_path, listed, packages, manager):
    files = {"rpm-qa.txt": listed, **NO_OTHER_LIST}
    found = recorded(tmp_path, files).get(InstalledDriver)
    assert (set(found.packages), found.packages_seen, found.fabric_manager) == (packages, True, manager)
    assert found.source.startswith("rpm -qa")


@pytest.mark.parametrize("listed", ["", "error: cannot open Packages database\n", "nvidia-driver 550\n"])
def test_a_database_that_is_not_the_system_s_tells_nothing(tmp_path, listed):
    files = {"rpm-qa.txt": listed, **NO_OTHER_LIST}
    assert not recorded(tmp_path, files).get(InstalledDriver).packages_seen
