"""TFD243 driver-not-for-this-gpu: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.parse import dmesg
from tfdoctor.rules.driver.tfd243_driver_not_for_this_gpu import driver_not_for_this_gpu as rule

DOWN = facts.nvml(state="no-devices", code=6, error="No devices were found")
OPEN_ON_PASCAL = """\
[ 1157.046099] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b82)
               NVRM: installed in this system is not supported by open
               NVRM: nvidia.ko because it does not include the required GPU
               NVRM: System Processor (GSP).
"""
CLOSED_ON_BLACKWELL = """\
[    5.559842] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)
               NVRM: installed in this system requires use of the NVIDIA open kernel modules.
[    5.559858] NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x22:0x56:884)
"""
DROPPED = """\
NVRM: The NVIDIA GeForce 940MX GPU installed in this system is
NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please
NVRM:  The 610.43 NVIDIA driver will ignore this GPU.  Continuing probe...
"""
NOT_YET = """\
NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:25a0)
NVRM: installed in this system is not supported by the
NVRM: NVIDIA 520.56.06 driver release.
"""


def log(text: str) -> KernelLog:
    return facts.kernel_log(lines=dmesg.parse(text).lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OPEN_ON_PASCAL, "needs the proprietary kind"),
        (CLOSED_ON_BLACKWELL, "needs the open kind"),
        (DROPPED, "branch 580 is the last"),
        (NOT_YET, "does not know this GPU"),
    ],
)
def test_sick(text: str, says: str) -> None:
    assert says in facts.WORKSTATION.but(DOWN, log(text), without=(Gpus,)).found(rule).message


def test_the_driver_came_up_all_the_same() -> None:
    assert facts.WORKSTATION.but(log(OPEN_ON_PASCAL)).silent(rule)


def test_a_driver_that_is_down_for_another_reason() -> None:
    assert facts.WORKSTATION.but(DOWN, without=(Gpus,)).silent(rule)


@pytest.mark.parametrize("state", ["no-devices", "driver-not-loaded"])
def test_nothing_more_general_is_said_beside_it(state: str) -> None:
    """TFD242 where the module is loaded, TFD238 where it is not."""
    loaded = state == "no-devices"
    out = facts.kernel_driver() if loaded else facts.kernel_driver(loaded_version="", modules=frozenset(), flavour="")
    machine = facts.WORKSTATION.but(facts.nvml(state=state, code=9), out, without=(Gpus,))
    assert {"TFD238", "TFD242"} & set(machine.codes())
    assert set(machine.but(log(OPEN_ON_PASCAL)).codes()) == {"TFD243"}
