"""The device nodes and who may open them."""

from __future__ import annotations

import os
import stat
import sys

import pytest
import trees
from observed import live, recorded

from tfdoctor.host import LiveHost
from tfdoctor.probes.device_nodes import DeviceNodes

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


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


def test_a_char_device_is_told_from_a_folder():
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    node = LiveHost().stat("/dev/null")
    assert node is not None and node.kind == "char"
