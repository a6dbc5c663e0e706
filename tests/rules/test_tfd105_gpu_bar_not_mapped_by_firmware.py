"""TFD105 gpu-bar-not-mapped-by-firmware: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.hardware.tfd105_gpu_bar_not_mapped_by_firmware import gpu_bar_not_mapped_by_firmware as rule

DEVICE = facts.pci_device(bars=(16 * facts.MIB, 0, 32 * facts.MIB))


def test_sick() -> None:
    diagnosis = facts.found(rule, facts.gpu_machine(), facts.pci(DEVICE), facts.gpus(facts.gpu(lost=True)))
    assert "0000:01:00.0" in diagnosis.message and "16, 0, 32" in diagnosis.message


def test_the_kernel_says_so() -> None:
    line = ("bar", "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)")
    device = facts.pci_device(bars=())
    assert (
        "0000:01:00.0"
        in facts.found(rule, facts.gpu_machine(), facts.pci(device), facts.kernel_log(lines=(line,))).message
    )


def test_a_gpu_that_works_has_what_it_needs() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.pci(DEVICE), facts.gpus())


def test_not_told_is_not_unassigned() -> None:
    assert facts.silent(rule, facts.gpu_machine(), facts.pci(facts.pci_device(bars=())))
