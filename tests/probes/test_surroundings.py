"""Container, cloud instance, job, Jetson, WSL."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from observed import live, recorded

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.parse import cloud_init
from tfdoctor.probes.surroundings import Cloud, Container, Jetson, Job, Wsl

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


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
