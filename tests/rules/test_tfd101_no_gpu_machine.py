"""TFD101 no-gpu-machine: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.pci import Pci
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.hardware.tfd101_no_gpu_machine import no_gpu_machine as rule

AMD = facts.pci_device(vendor="1002", device="74a1", device_class="1200", name="AMD Instinct MI300X", driver="amdgpu")


def test_sick() -> None:
    diagnosis = facts.CPU_ONLY.found(rule)
    assert "no NVIDIA GPU" in diagnosis.message
    assert diagnosis.severity is None and rule.severity is Severity.WARNING


def test_advice_about_packages_only_where_tensorflow_is_installed() -> None:
    assert "uninstall" in str(facts.CPU_ONLY.found(rule).fixes)
    bare = facts.CPU_ONLY.but(
        facts.distributions({"tensorflow": None}), rests={TensorFlow: "TensorFlow is not installed"}
    )
    diagnosis = bare.found(rule)
    assert diagnosis.fixes == () and "TensorFlow" not in diagnosis.message


def test_amd_is_named() -> None:
    diagnosis = facts.CPU_ONLY.but(Pci((AMD,), "lspci")).found(rule)
    assert "AMD Instinct MI300X" in diagnosis.message


def test_rocm_build_on_amd_is_fine() -> None:
    rocm = facts.tensorflow(distribution="tensorflow-rocm", cuda_build=False, rocm_build=True)
    assert facts.CPU_ONLY.but(Pci((AMD,), "lspci"), rocm).silent(rule)


@pytest.mark.parametrize("machine", facts.HEALTHY, ids=lambda m: m.name)
def test_healthy(machine: facts.Machine) -> None:
    assert machine.silent(rule)


def test_a_gpu_that_fell_off_the_bus_is_a_gpu() -> None:
    assert facts.CPU_ONLY.but(facts.kernel_log(facts.xid(79))).silent(rule)


def test_wsl_without_dxg() -> None:
    machine = facts.WSL_LAPTOP.but(facts.wsl(dxg=False, libcuda=()), without=(GpuMachine,))
    assert "/dev/dxg" in machine.found(rule).message


def test_wsl_with_the_gpu_of_another_vendor() -> None:
    machine = facts.WSL_LAPTOP.but(facts.wsl(libcuda=()), facts.driver_library(picked=None))
    assert "libcuda.so.1" in machine.found(rule).message


def test_wsl_whose_libcuda_lies_elsewhere() -> None:
    assert facts.WSL_LAPTOP.but(facts.wsl(libcuda=())).silent(rule)


def test_wsl1_cannot_tell() -> None:
    wsl1 = facts.platform(wsl=1, kernel="4.4.0-19041-Microsoft")
    assert facts.WSL_LAPTOP.but(wsl1, facts.wsl(version=1, dxg=False, libcuda=()), without=(GpuMachine,)).silent(rule)


def test_container_under_wsl_may_only_lack_its_gpu() -> None:
    assert facts.WSL_LAPTOP.but(facts.wsl(dxg=False), facts.container(kind="docker"), without=(GpuMachine,)).silent(
        rule
    )


def test_mac_with_and_without_metal() -> None:
    mac = facts.CPU_ONLY.but(facts.macos(), without=(Pci,))
    assert "macOS" in mac.found(rule).message
    assert mac.but(facts.distributions({"tensorflow-metal": "1.1.0"})).silent(rule)
