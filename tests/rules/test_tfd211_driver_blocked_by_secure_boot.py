"""TFD211 driver-blocked-by-secure-boot: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.rules.driver.tfd211_driver_blocked_by_secure_boot import driver_blocked_by_secure_boot as rule

DOWN = facts.nvml(state="driver-not-loaded", code=9)
OUT = facts.kernel_driver(loaded_version="", modules=frozenset(), flavour="")
ON = facts.kernel_settings(secure_boot=True)
REFUSED = facts.kernel_log(lines=(("key-rejected", "Loading of module with unavailable key is rejected"),))


def test_sick() -> None:
    diagnosis = facts.WORKSTATION.but(DOWN, OUT, ON, REFUSED).found(rule)
    assert "nvidia.ko" in diagnosis.message and "host Secure Boot Module Signature key" in diagnosis.message


def test_log_not_readable() -> None:
    assert facts.WORKSTATION.but(DOWN, OUT, ON, without=(KernelLog,)).found(rule)


def test_a_readable_log_without_a_refusal_speaks_against_it() -> None:
    assert facts.WORKSTATION.but(DOWN, OUT, ON).silent(rule)


def test_secure_boot_off_or_not_told() -> None:
    assert facts.WORKSTATION.but(DOWN, OUT, without=(KernelLog,)).silent(rule)
    assert facts.WORKSTATION.but(DOWN, OUT, facts.kernel_settings(secure_boot=None), without=(KernelLog,)).silent(rule)


def test_healthy_with_secure_boot() -> None:
    assert facts.WORKSTATION.but(ON).silent(rule)
