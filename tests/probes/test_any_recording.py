"""Whatever a recording holds, no probe of the kernel's side crashes."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest
import trees
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import recorded

from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.kernel_driver import InstalledDriver, KernelDriver, KernelModuleFile, KernelSettings
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.platform import Cpu, Limits, Memory, Platform, Shm
from tfdoctor.probes.rocm import Rocm
from tfdoctor.probes.surroundings import Cloud, Container, Jetson, Job, Wsl

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


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
