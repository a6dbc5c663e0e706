"""TFD103 gpu-off-bus: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.hardware.tfd103_gpu_off_bus import gpu_off_bus as rule


def test_lost_by_the_driver() -> None:
    diagnosis = facts.found(rule, facts.gpus(facts.gpu(0), facts.gpu(1, lost=True)))
    assert "GPU 1" in diagnosis.message and "does not answer" in diagnosis.message
    assert diagnosis.gpus == (1,)


def test_lost_without_an_address() -> None:
    diagnosis = facts.found(rule, facts.gpus(facts.gpu(0), facts.gpu(1, name="", bus="", lost=True)))
    assert "GPU 1" in diagnosis.message and diagnosis.gpus == (1,)


def test_xid_79_and_gone() -> None:
    diagnosis = facts.found(rule, facts.kernel_log(facts.xid(79, bus="0000:91:00")))
    assert "0000:91:00" in diagnosis.message


def test_line_without_an_xid() -> None:
    line = ("fallen-off-bus", "NVRM: The NVIDIA GPU 0000:5e:00.0 (PCI ID: 10de:2330) has fallen off the bus")
    assert "0000:5e:00" in facts.found(rule, facts.kernel_log(lines=(line,))).message


def test_it_answers_again() -> None:
    diagnosis = facts.found(rule, facts.kernel_log(facts.xid(79)), facts.gpus())
    assert diagnosis.severity is Severity.WARNING


def test_dead_on_the_bus_while_the_driver_is_loaded() -> None:
    diagnosis = facts.found(
        rule, facts.pci(facts.pci_device(dead=True)), facts.kernel_driver(), facts.gpus(facts.gpu(lost=True))
    )
    assert "GPU 0" in diagnosis.message


def test_nvml_says_lost() -> None:
    assert "lost" in facts.found(rule, facts.nvml(state="gpu-lost", code=15, error="GPU is lost")).message


def test_switched_off_laptop_gpu_is_not_lost() -> None:
    intel = facts.pci_device(address="0000:00:02.0", vendor="8086", device="46a6", driver="i915")
    kernel = facts.kernel_driver(loaded_version="", modules=frozenset({"i915"}))
    assert facts.silent(rule, facts.pci(facts.pci_device(dead=True), intel), kernel, facts.kernel_log())


def test_healthy() -> None:
    assert facts.WORKSTATION.silent(rule)
