"""TFD206 wsl-linux-driver-installed: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import pytest

from tfdoctor.model import Severity
from tfdoctor.probes.libraries import DriverLibrary
from tfdoctor.probes.nvidia_smi import NvidiaSmi
from tfdoctor.probes.nvml import Nvml
from tfdoctor.rules.driver.tfd206_wsl_linux_driver_installed import wsl_linux_driver_installed as rule

LINUX = facts.library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "535.183.01", origin="system")
SICK = facts.wsl(linux_driver=("libnvidia-compute-535",), linux_libcuda=(LINUX.path,))


def test_sick() -> None:
    diagnosis = facts.WSL_LAPTOP.but(SICK, facts.driver_library(picked=LINUX)).found(rule)
    assert "libnvidia-compute-535" in diagnosis.message and LINUX.path in diagnosis.message
    assert diagnosis.severity is None
    assert diagnosis.fixes[0].commands[0] == ("apt-get", "purge", "libnvidia-compute-535")


def test_installed_but_not_loaded_is_milder() -> None:
    assert facts.WSL_LAPTOP.but(SICK).found(rule).severity is Severity.WARNING


def test_the_loader_could_not_be_asked_but_the_driver_fails() -> None:
    down = facts.nvml(state="unknown", code=999, error="N/A")
    diagnosis = facts.WSL_LAPTOP.but(SICK, down, without=(DriverLibrary,)).found(rule)
    assert diagnosis.severity is None and "does not answer" in diagnosis.message


def test_container_has_the_files_elsewhere() -> None:
    assert facts.WSL_LAPTOP.but(SICK, facts.container(kind="docker")).silent(rule)


def test_healthy() -> None:
    assert facts.WSL_LAPTOP.silent(rule)
    assert facts.WORKSTATION.silent(rule)


@pytest.mark.parametrize(
    ("nvml", "smi", "severity"),
    [
        ("ok", "", Severity.WARNING),
        ("ok", "missing", Severity.WARNING),
        ("unknown", "", None),
        ("ok", "timed-out", None),
    ],
)
def test_where_the_loader_could_not_be_asked_one_that_fails_is_enough(nvml, smi, severity) -> None:
    asked = (facts.nvml(state=nvml), facts.nvidia_smi(problem=smi))
    machine = facts.WSL_LAPTOP.but(SICK, *asked, without=(DriverLibrary,))
    assert machine.found(rule).severity is severity
    assert machine.but(without=(Nvml, NvidiaSmi)).found(rule).severity is Severity.WARNING
