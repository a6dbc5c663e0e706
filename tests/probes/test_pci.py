"""The PCI bus, from sysfs and from lspci."""

from __future__ import annotations

import sys

import pytest
import trees
from observed import live, recorded

from tfdoctor.model import Unavailable
from tfdoctor.probes.pci import Link, Pci

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


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
