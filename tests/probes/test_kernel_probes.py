"""The probes of the kernel's side and of the surroundings, over trees of files and over recordings."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trees
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdoctor.engine import Facts, all_probes
from tfdoctor.host import LiveHost, RecordedHost
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes import environment
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.environment import Environment, reduced
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile, KernelSettings
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.parse import cloud_init
from tfdoctor.probes.pci import Link, Pci
from tfdoctor.probes.platform import Cpu, Limits, Memory, Platform, Shm
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.surroundings import Cloud, Container, Jetson, Job, Wsl
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.tables import Tables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No program on PATH, no library path, and none of the variables that the probes read."""
    empty = tmp_path / "programs"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("tfdoctor.host.live.SYSTEM_FOLDERS", (str(empty),))
    for name in (
        "container",
        "KUBERNETES_SERVICE_HOST",
        "CUDA_VISIBLE_DEVICES",
        *(n for n in os.environ if n.startswith(("SLURM_", "NVIDIA_"))),
    ):
        monkeypatch.delenv(name, raising=False)


def live(tmp_path: Path, changes: dict[str, Any] | None = None) -> Facts:
    return Facts([LiveHost(root=str(trees.build(tmp_path / "root", changes or {}))), Tables()], all_probes())


def recorded(tmp_path: Path, files: dict[str, str | bytes]) -> Facts:
    folder = tmp_path / "recording"
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return Facts([RecordedHost(str(folder)), Tables()], all_probes())


def program(tmp_path: Path, name: str, script: str) -> None:
    place = tmp_path / "programs" / name
    place.write_text(f"#!{sys.executable}\n{script}\n")
    place.chmod(0o755)


# The operating system


def test_platform_of_a_tree(tmp_path):
    found = live(tmp_path).get(Platform)
    assert (found.system, found.machine, found.kernel, found.distro, found.distro_version) == (
        "linux",
        "x86_64",
        trees.KERNEL,
        "ubuntu",
        "22.04",
    )
    assert found.distro_like == ("debian",)
    assert found.libc in ("glibc", "musl")
    assert found.wsl == 0


def test_platform_of_recordings(tmp_path):
    told = {"executable": "python", "python": {"version": "3.11.7", "platform": "win32", "machine": "AMD64"}}
    found = recorded(tmp_path, {"target.json": json.dumps(told)}).get(Platform)
    assert (found.system, found.machine, found.libc) == ("windows", "x86_64", "")


def test_a_lone_report_does_not_tell_the_system(tmp_path):
    with pytest.raises(Unavailable):
        recorded(tmp_path, {"nvidia-smi-q.xml": "<nvidia_smi_log/>"}).get(Platform)


def test_processor_memory_limits_shm(tmp_path):
    facts = live(tmp_path)
    assert {"avx", "avx2", "fma"} <= facts.get(Cpu).flags
    assert facts.get(Cpu).cores == 2
    assert facts.get(Memory).total == 65536000 * 1024
    assert facts.get(Limits).memlock == 8388608
    with pytest.raises(NotApplicable):
        facts.get(Shm)  # this tree has no /dev/shm


def test_segments_that_nobody_has_mapped_are_stale(tmp_path):
    facts = live(
        tmp_path,
        {
            "/dev/shm/nccl-Aa1": "12345678",
            "/dev/shm/nccl-Bb2": "1234",
            "/dev/shm/other": "x",
            "/proc/77/maps": "7f00-7f01 rw-s 00000000 00:1a 5 /dev/shm/nccl-Bb2\n",
        },
    )
    found = facts.get(Shm)
    assert (found.stale, found.stale_bytes) == (("/dev/shm/nccl-Aa1",), 8)


def test_missing_files_are_not_zeros(tmp_path):
    facts = live(tmp_path, {"/proc/cpuinfo": None, "/proc/meminfo": None, "/proc/self/limits": None})
    for kind in (Cpu, Memory, Limits):
        with pytest.raises(Unavailable):
            facts.get(kind)


# Container, cloud, job, Jetson, WSL


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"/proc/self/cgroup": "0::/kubepods/pod1/abc\n"}, "kubernetes"),
        ({"/proc/1/cgroup": "1:name=systemd:/lxc/box\n"}, "lxc"),
        (
            {
                "/proc/self/mountinfo": "1 0 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/containers/storage/overlay/l/X\n"
            },
            "podman",
        ),
    ],
)
def test_containers(tmp_path, changes, kind):
    files = {f"root{k}": v for k, v in changes.items()}
    assert recorded(tmp_path, files).get(Container).kind == kind


def test_container_from_the_environment_and_its_image(tmp_path):
    environment = (
        "KUBERNETES_SERVICE_HOST=set\nNVIDIA_PRODUCT_NAME=TensorFlow\nNVIDIA_BUILD_ID=1\nTENSORFLOW_VERSION=2.15.0\n"
    )
    found = recorded(tmp_path, {"env.txt": environment}).get(Container)
    assert (found.kind, found.vendor, found.image_tensorflow) == ("kubernetes", "nvidia", "2.15.0")


def test_container_of_a_lone_report_is_unknown(tmp_path):
    with pytest.raises(Unavailable):
        recorded(tmp_path, {"env.txt": "PATH=/usr/bin\n"}).get(Container)


def test_no_container(tmp_path):
    files = {"root/proc/1/cgroup": "0::/init.scope\n", "absent.txt": "/.dockerenv\n"}
    assert recorded(tmp_path, files).get(Container).kind == ""


DMI = "/sys/class/dmi/id/"


@pytest.mark.parametrize(
    ("dmi", "provider", "instance", "virtual"),
    [
        ({"sys_vendor": "Amazon EC2", "product_name": "g5.xlarge"}, "aws", "g5.xlarge", None),
        ({"sys_vendor": "Amazon EC2", "product_name": "p4d.metal"}, "aws", "p4d.metal", False),
        ({"sys_vendor": "Xen", "product_name": "HVM domU", "bios_version": "4.11.amazon"}, "aws", "", True),
        ({"sys_vendor": "Google", "product_name": "Google Compute Engine"}, "gcp", "", True),
        ({"sys_vendor": "Google", "product_name": "Some Laptop"}, "", "", None),
        (
            {
                "sys_vendor": "Microsoft Corporation",
                "product_name": "Virtual Machine",
                "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77",
            },
            "azure",
            "",
            True,
        ),
        (
            {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": "No-match"},
            "",
            "",
            True,
        ),
        ({"sys_vendor": "QEMU", "chassis_asset_tag": "OracleCloud.com"}, "oracle", "", True),
        (
            {"sys_vendor": "Dell Inc.", "product_name": "PowerEdge XE9680", "chassis_asset_tag": "ACME-0042"},
            "",
            "",
            None,
        ),
    ],
)
def test_clouds(tmp_path, dmi, provider, instance, virtual):
    found = recorded(tmp_path, {f"root{DMI}{k}": f"{v}\n" for k, v in dmi.items()}).get(Cloud)
    assert (found.provider, found.instance_type, found.virtual) == (provider, instance, virtual)


AZURE = {
    f"root{DMI}sys_vendor": "Microsoft Corporation\n",
    f"root{DMI}product_name": "Virtual Machine\n",
    f"root{DMI}chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n",
}
KEPT = {
    "ds": {"meta_data": {"imds": {"compute": {"vmSize": "Standard_ND96asr_v4", "name": "falconbox"}}}},
    "v1": {"region": "x"},
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (json.dumps(KEPT), "Standard_ND96asr_v4"),
        ("{}", ""),
        ("[1]", ""),
        ("no JSON", ""),
        ('{"ds": {"meta_data": 3}}', ""),
    ],
)
def test_the_type_that_cloud_init_kept(tmp_path, text, wanted):
    found = recorded(tmp_path, {**AZURE, "root/run/cloud-init/instance-data.json": text}).get(Cloud)
    assert (found.provider, found.instance_type) == ("azure", wanted)
    assert cloud_init.instance_type(cloud_init.relevant(text)) == wanted and "falconbox" not in cloud_init.relevant(
        text
    )


@given(
    st.text()
    | st.recursive(st.none() | st.text(), lambda v: st.dictionaries(st.sampled_from(cloud_init.AZURE_SIZE), v)).map(
        json.dumps
    )
)
def test_no_text_of_cloud_init_makes_it_raise(text):
    assert cloud_init.instance_type(cloud_init.relevant(text)) == cloud_init.instance_type(text)


def test_hypervisor_flag_decides(tmp_path):
    assert live(tmp_path / "a").get(Cloud).virtual is False
    guest = "processor : 0\nflags : lm lahf_lm hypervisor\n"
    assert live(tmp_path / "b", {"/proc/cpuinfo": guest}).get(Cloud).virtual is True


@pytest.mark.parametrize(
    ("environment", "scheduler", "gpus"),
    [
        ("SLURM_JOB_ID=7\nSLURM_JOB_GPUS=0,1\n", "slurm", "0,1"),
        ("SLURM_JOB_ID=7\nCUDA_VISIBLE_DEVICES=NoDevFiles\n", "slurm", ""),
        ("SLURM_JOB_ID=7\n", "slurm", None),
        ("KUBERNETES_SERVICE_HOST=set\nNVIDIA_VISIBLE_DEVICES=void\n", "kubernetes", "void"),
        ("PATH=/usr/bin\n", "", None),
    ],
)
def test_jobs(tmp_path, environment, scheduler, gpus):
    found = recorded(tmp_path, {"env.txt": environment}).get(Job)
    assert (found.scheduler, found.gpus) == (scheduler, gpus)


def test_jetson(tmp_path):
    files = {
        "root/etc/nv_tegra_release": "# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64\n",
        "root/proc/device-tree/model": "NVIDIA Jetson AGX Orin\0",
        "root/proc/cpuinfo": "processor : 0\nCPU implementer : 0x41\nCPU architecture: 8\n",
        "root/sys/bus/pci/devices/.keep": "",
    }
    facts = recorded(tmp_path, files)
    assert (facts.get(Jetson).l4t, facts.get(Jetson).model) == ("35.4.1", "NVIDIA Jetson AGX Orin")
    assert facts.get(GpuMachine).evidence == "NVIDIA Jetson AGX Orin"
    with pytest.raises(NotApplicable):
        live(tmp_path).get(Jetson)


WSL = {
    "/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x) (gcc 11)",
    "/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n",
    "/proc/driver": None,
    "/dev/nvidia0": None,
    "/dev/nvidiactl": None,
    "/dev/nvidia-uvm": None,
    "/sys/devices": None,
    "/proc/modules": "",
}


def test_wsl(tmp_path):
    facts = live(tmp_path, {**WSL, "/dev/dxg": "", "/sys/bus/pci/devices/none": ""})
    found = facts.get(Wsl)
    assert (found.version, found.dxg) == (2, True)
    assert facts.get(GpuMachine).evidence == "/dev/dxg"


def test_wsl_with_a_kernel_of_ones_own(tmp_path):
    own = {"/proc/version": "Linux version 6.9.0-mine (a@b)", "/proc/sys/kernel/osrelease": "6.9.0-mine\n"}
    assert live(tmp_path, {**WSL, **own, "/dev/dxg": ""}).get(Wsl).version == 2


def test_wsl_without_its_device_is_no_proof_of_no_gpu(tmp_path):
    facts = live(tmp_path, {**WSL, "/sys/bus/pci/devices/none": ""})
    assert facts.get(Wsl).dxg is False
    with pytest.raises(Unavailable):
        facts.get(GpuMachine)


def test_no_wsl(tmp_path):
    with pytest.raises(NotApplicable):
        live(tmp_path).get(Wsl)


# The PCI bus


def test_pci_from_sysfs(tmp_path):
    (card,) = live(tmp_path).get(Pci).nvidia_gpus
    assert (card.address, card.device, card.device_class, card.driver, card.numa_node) == (
        trees.CARD,
        "2204",
        "0300",
        "nvidia",
        -1,
    )
    assert card.link == Link(1, 8, 4, 16)
    assert card.upstream == (Link(4, 8, 5, 16),)
    assert card.bars == (16 * 2**20,)
    assert not card.dead


def test_dead_card(tmp_path):
    facts = live(tmp_path, {f"{trees.PCI}/{trees.PORT}/{trees.CARD}/config": b"\xff" * 64})
    assert facts.get(Pci).nvidia_gpus[0].dead


def test_pci_from_lspci(tmp_path):
    listing = (
        "00:01.0 PCI bridge: Some Root Port\n\tBus: primary=00, secondary=01, subordinate=01\n\t\tLnkCap: Port #2, Speed 32GT/s, Width x16\n\t\tLnkSta: Speed 8GT/s, Width x4\n\n"
        "01:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n\t\tLnkCap: Port #0, Speed 32GT/s, Width x16\n\t\tLnkSta: Speed 8GT/s (downgraded), Width x4 (downgraded)\n\n"
        "05:00.0 Bridge: NVIDIA Corporation Device 22a3 (rev a1)\n"
    )
    found = recorded(tmp_path, {"lspci-vvv.txt": listing}).get(Pci)
    assert [d.link for d in found.nvidia_gpus] == [Link(3, 4, 5, 16)]
    assert found.nvidia_gpus[0].upstream == (Link(3, 4, 5, 16),)
    assert len(found.nvswitches) == 1


def test_bus_that_nobody_could_see(tmp_path):
    with pytest.raises(Unavailable):
        live(tmp_path, {"/sys/bus": None, "/sys/devices": None}).get(Pci)


# The kernel driver


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


# Device nodes, log, environment, AMD, and whether there is a GPU at all


def test_device_nodes(tmp_path):
    facts = live(tmp_path)
    (tmp_path / "root/dev/nvidia0").chmod(0o660)
    found = facts.get(DeviceNodes)
    assert [n.path for n in found.nodes] == ["/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"]
    assert [n.path for n in found.gpus] == ["/dev/nvidia0"]
    node = found.get("/dev/nvidia0")
    assert node is not None
    assert (node.mode, node.error) == (0o660, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_device_node_that_may_not_be_opened(tmp_path):
    facts = live(tmp_path)
    (tmp_path / "root/dev/nvidia0").chmod(0)
    node = facts.get(DeviceNodes).get("/dev/nvidia0")
    assert node is not None and node.error == "Permission denied"


def test_what_opening_came_to(tmp_path):
    host = LiveHost(root=str(trees.build(tmp_path / "root")))
    assert host.can_open("/dev/nvidia0") == ""
    assert host.can_open("/dev/nvidia7") == "No such file or directory"


def test_opening_that_never_ends_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr("tfdoctor.host.live.OPEN_EACH", "import time; print(flush=True); time.sleep(600)")
    monkeypatch.setattr("tfdoctor.host.live.OPEN_LIMIT", 1.0)
    facts = live(tmp_path)
    assert [n.error for n in facts.get(DeviceNodes).nodes] == [None, None, None]


def test_device_nodes_of_a_listing(tmp_path):
    listing = "crw-rw---- 1 root video 195, 0 May  1 10:00 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 May 1 10:00 /dev/nvidiactl\n"
    found = recorded(tmp_path, {"dev.txt": listing}).get(DeviceNodes)
    node = found.get("/dev/nvidia0")
    assert node is not None
    assert (node.mode, node.group, node.error) == (0o660, "video", None)
    assert found.get("/dev/nvidia-uvm") is None


def test_kernel_log(tmp_path):
    program(
        tmp_path, "dmesg", "print('[ 1.0] NVRM: Xid (PCI:0000:01:00): 79, pid=1, name=x, GPU has fallen off the bus.')"
    )
    found = live(tmp_path).get(KernelLog)
    assert [x.code for x in found.xids] == [79]
    assert found.of("fallen-off-bus")


def test_kernel_log_that_may_not_be_read(tmp_path):
    program(
        tmp_path,
        "dmesg",
        "import sys; sys.stderr.write('dmesg: read kernel buffer failed: Operation not permitted\\n'); sys.exit(1)",
    )
    with pytest.raises(Unavailable, match="Operation not permitted"):
        live(tmp_path).get(KernelLog)


def test_journal_where_dmesg_is_not_allowed(tmp_path):
    program(tmp_path, "dmesg", "import sys; sys.exit(1)")
    program(tmp_path, "journalctl", "print('NVRM: Xid (PCI:0000:01:00): 48, pid=1, name=x, DBE')")
    found = live(tmp_path).get(KernelLog)
    assert ([x.code for x in found.xids], found.source) == ([48], "journalctl -k -b")


def test_an_empty_journal_is_one_that_may_not_be_read(tmp_path):
    program(tmp_path, "dmesg", "import sys; sys.exit(1)")
    program(tmp_path, "journalctl", "")
    with pytest.raises(Unavailable):
        live(tmp_path).get(KernelLog)


def test_environment_is_an_allow_list():
    given = {
        "CUDA_VISIBLE_DEVICES": "0",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "TF_VAR_db_password": "x",
        "TF_TOKEN_app": "x",
        "NVIDIA_API_KEY": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "HOME": "/home/alice",
        "NCCL_SOCKET_IFNAME": "eth0",
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "XLA_FLAGS": "",
    }
    assert reduced(given) == {
        "CUDA_VISIBLE_DEVICES": "0",
        "KUBERNETES_SERVICE_HOST": "set",
        "NCCL_SOCKET_IFNAME": "eth0",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "XLA_FLAGS": "",
    }


def test_hosts_in_tf_config_are_numbered():
    config = {
        "cluster": {"worker": ["box-a.lab:2222", "box-b.lab:2222"], "ps": ["box-a.lab:3333"], "chief": ["localhost:1"]},
        "task": {"type": "worker", "index": 0},
    }
    shown = json.loads(reduced({"TF_CONFIG": json.dumps(config)})["TF_CONFIG"])
    assert shown["cluster"] == {"worker": ["host1:2222", "host2:2222"], "ps": ["host1:3333"], "chief": ["localhost:1"]}
    assert shown["task"] == config["task"]
    assert reduced({"TF_CONFIG": "{broken"}) == {"TF_CONFIG": "not JSON"}


def test_set_but_empty(tmp_path):
    found = recorded(tmp_path, {"env.txt": "CUDA_VISIBLE_DEVICES=\n"}).get(Environment)
    assert "CUDA_VISIBLE_DEVICES" in found.variables
    assert found.get("XLA_FLAGS") == ""


def test_gpu_on_the_bus(tmp_path):
    found = live(tmp_path).get(GpuMachine)
    assert (found.count, found.evidence) == (1, f"{trees.CARD} on the PCI bus")


NO_CARD = {
    "/proc/driver": None,
    f"{trees.PCI}/{trees.PORT}/{trees.CARD}": None,
    "/dev/nvidia0": None,
    "/dev/nvidiactl": None,
    "/dev/nvidia-uvm": None,
}


@pytest.fixture
def no_nvml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A libnvidia-ml.so.1 that is no library, wherever the machine that runs the tests has a real one."""
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


@pytest.mark.usefixtures("no_nvml")
def test_no_gpu_only_when_the_bus_was_seen(tmp_path):
    with pytest.raises(NotApplicable):
        live(tmp_path / "a", NO_CARD).get(GpuMachine)
    hidden = {**NO_CARD, "/sys/bus": None, "/sys/devices": None}
    with pytest.raises(Unavailable):
        live(tmp_path / "b", hidden).get(GpuMachine)


@pytest.mark.usefixtures("no_nvml")
def test_other_signs_of_a_gpu(tmp_path):
    hidden = {**NO_CARD, "/sys/bus": None, "/sys/devices": None}
    nodes = {**hidden, "/dev/nvidia0": ""}
    assert live(tmp_path / "a", nodes).get(GpuMachine).evidence == "/dev/nvidia0"
    folders = {path: change for path, change in hidden.items() if path != "/proc/driver"}
    assert live(tmp_path / "b", folders).get(GpuMachine).count == 1


def test_stale_node_beside_a_visible_bus_is_no_gpu(tmp_path, no_nvml):
    with pytest.raises(NotApplicable):
        live(tmp_path, {**NO_CARD, "/dev/nvidia0": ""}).get(GpuMachine)


LOADED = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n"


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"dmesg.txt": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"}, "0000:3b:00 fell off the bus"),
        ({"dmesg.txt": "NVRM: GPU at 0000:3b:00.0 has fallen off the bus.\n"}, "a GPU fell off the bus"),
        ({"dmesg.txt": "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=python\n"}, "NVIDIA's driver reports on 0000:3b:00"),
        ({"root/proc/driver/nvidia/version": LOADED}, "NVIDIA's driver 580.65.06 is loaded"),
        ({"nvidia-smi.txt": "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.\n"}, "the driver has lost a GPU"),
        ({"nvidia-smi.txt": "Unable to determine the device handle for GPU 0000:0A:00.0: Unknown Error\n"}, "nvidia-smi names the GPU at 0000:0a:00.0"),
    ],
)  # fmt: skip
def test_few_files_show_a_gpu_too(tmp_path, files, evidence):
    found = recorded(tmp_path, files).get(GpuMachine)
    assert (found.evidence, found.count) == (evidence, None)


def test_a_loaded_driver_is_no_gpu_where_the_bus_shows_none(tmp_path):
    """Virtual machines that only serve NVSwitches, a card that was unplugged."""
    bus = {
        f"root/sys/bus/pci/devices/0000:00:02.0/{n}": v
        for n, v in (("class", "0x030000"), ("vendor", "0x8086"), ("device", "0x4680"))
    }
    with pytest.raises(NotApplicable):
        recorded(tmp_path, {**bus, "root/proc/driver/nvidia/version": LOADED}).get(GpuMachine)


def test_the_loaded_driver_tells_the_architecture(tmp_path):
    found = recorded(tmp_path, {"root/proc/driver/nvidia/version": LOADED}).get(Platform)
    assert (found.system, found.machine) == ("linux", "aarch64")


def test_a_driver_file_and_a_pip_freeze_tell_the_build(tmp_path):
    loaded = LOADED.replace("Open Kernel Module for aarch64", "x86_64 Kernel Module")
    files = {"root/proc/driver/nvidia/version": loaded, "pip-freeze.txt": "tensorflow==2.20.0\n"}
    assert recorded(tmp_path, files).get(TensorFlow).cuda_build is True


def test_rocm(tmp_path):
    files = {
        "root/sys/bus/pci/devices/0000:03:00.0/class": "0x120000",
        "root/sys/bus/pci/devices/0000:03:00.0/vendor": "0x1002",
        "root/sys/bus/pci/devices/0000:03:00.0/device": "0x74a1",
        "root/sys/class/kfd/kfd/topology/nodes/0/properties": "gfx_target_version 0\n",
        "root/sys/class/kfd/kfd/topology/nodes/1/properties": "gfx_target_version 90402\n",
        "root/opt/rocm/.info/version": "6.2.0-66\n",
        "root/opt/rocm/lib/libamdhip64.so.6": "",
    }
    found = recorded(tmp_path, files).get(Rocm)
    assert (found.version, found.gpus, found.libraries_found) == ("6.2.0", (("", "gfx942"),), True)
    with pytest.raises(NotApplicable):
        live(tmp_path).get(Rocm)


def test_a_char_device_is_told_from_a_folder():
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    node = LiveHost().stat("/dev/null")
    assert node is not None and node.kind == "char"


def test_the_documented_allow_list_is_the_real_one():
    documented = (Path(__file__).parents[2] / "docs/recordings.md").read_text()
    named = set(re.findall(r"`([A-Za-z_0-9]+)`", documented.partition("## Environment variables")[2]))
    assert named - {"container"} == (environment.NAMES | set(environment.PREFIXES)) - {"container"}


OURS = (Platform, Cpu, Memory, Shm, Limits, Container, Wsl, Cloud, Job, Jetson, Pci, KernelDriver, KernelModuleFile, KernelSettings, InstalledDriver, DeviceNodes, KernelLog, Environment, GpuMachine, Rocm)  # fmt: skip
PARTS = (
    *(f"root{path}" for path in trees.WORKSTATION if not path.startswith("/dev/")),
    "root/var/lib/dpkg/status", "root/etc/nv_tegra_release", "root/proc/device-tree/model", "root/run/systemd/container", "root/etc/bash.bashrc",
    "root/sys/class/kfd/kfd/topology/nodes/1/properties", "root/opt/rocm/.info/version", "root/sys/bus/pci/devices/0000:01:00.0/class",
    "root/sys/bus/pci/devices/0000:01:00.0/vendor", "root/sys/bus/pci/devices/0000:01:00.0/resource", "root/sys/bus/pci/devices/0000:01:00.0/config",
    "dev.txt", "env.txt", "lspci-vvv.txt", "dmesg.txt", "modinfo.txt", "rocm-smi.json",
)  # fmt: skip
STATED = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["system", "machine", "stale", "stale_bytes", "/dev/nvidia0", "x"]), inner, max_size=3
        )
    ),
)


@settings(max_examples=40, deadline=None)
@given(
    parts=st.dictionaries(
        st.sampled_from(PARTS),
        st.binary(max_size=80)
        | st.sampled_from([c if isinstance(c, bytes) else c.encode() for c in trees.WORKSTATION.values()]),
        max_size=25,
    ),
    stated=st.dictionaries(st.sampled_from(["platform", "shm", "can_open", "links", "exit_codes"]), STATED, max_size=3),
)
def test_no_recording_crashes_a_probe(parts, stated):
    with tempfile.TemporaryDirectory() as folder:
        about = json.dumps({"schema": 1, "stated": stated})
        facts = recorded(
            Path(folder), {**parts, "recording.json": about, "space.json": '{"/dev/shm": {"total": 1, "free": 0}}'}
        )
        for kind in OURS:
            try:
                facts.get(kind)
            except (Unavailable, NotApplicable):
                continue
        assert not facts.crashes
