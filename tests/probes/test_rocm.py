"""AMD's GPUs and ROCm."""

from __future__ import annotations

import sys

import pytest
from observed import live, recorded

from tfdoctor.model import NotApplicable
from tfdoctor.probes.rocm import Rocm

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


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
