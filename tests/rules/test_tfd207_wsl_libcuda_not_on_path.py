"""TFD207 wsl-libcuda-not-on-path: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd207_wsl_libcuda_not_on_path import wsl_libcuda_not_on_path as rule


def test_another_file() -> None:
    other = facts.library_file("/usr/local/cuda/lib64/stubs/libcuda.so.1", "", origin="stub")
    env = facts.environment(LD_LIBRARY_PATH="/usr/local/cuda/lib64/stubs")
    diagnosis = facts.WSL_LAPTOP.but(facts.driver_library(picked=other), env).found(rule)
    assert other.path in diagnosis.message and "/usr/lib/wsl/lib" in diagnosis.message
    assert diagnosis.fixes[0].environment == (("LD_LIBRARY_PATH", "/usr/lib/wsl/lib:/usr/local/cuda/lib64/stubs"),)


def test_no_file() -> None:
    assert "no file" in facts.WSL_LAPTOP.but(facts.driver_library(picked=None, how="")).found(rule).message


def test_folds_under_the_linux_driver() -> None:
    from tfdoctor.rules.driver.tfd206_wsl_linux_driver_installed import wsl_linux_driver_installed

    linux = facts.library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "535.183.01", origin="system")
    machine = facts.WSL_LAPTOP.but(facts.wsl(linux_driver=("nvidia-driver-535",)), facts.driver_library(picked=linux))
    assert machine.codes(rule, wsl_linux_driver_installed) == {"TFD206": None, "TFD207": "TFD206"}


def test_without_windows_s_library_it_is_another_fault() -> None:
    assert facts.WSL_LAPTOP.but(facts.wsl(libcuda=()), facts.driver_library(picked=None)).silent(rule)


def test_healthy() -> None:
    assert facts.WSL_LAPTOP.silent(rule)


def test_cuda_that_starts_has_a_fitting_libcuda() -> None:
    own = facts.driver_library(picked=facts.library_file("/opt/libcuda.so.1", "", origin="other"))
    assert facts.WSL_LAPTOP.but(own).found(rule)
    assert facts.WSL_LAPTOP.but(own, facts.cuda_driver()).silent(rule)
