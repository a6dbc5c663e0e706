"""TFD219 docker-nvidia-toolkit-missing: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.driver.tfd219_docker_nvidia_toolkit_missing import docker_nvidia_toolkit_missing as rule

LOG = facts.log_match("docker-nvidia-toolkit-missing", "could not select device driver", (1,))


def test_sick() -> None:
    diagnosis = facts.found(rule, LOG, facts.platform())
    assert "container toolkit" in diagnosis.message
    assert diagnosis.fixes[0].commands[0] == ("apt-get", "install", "nvidia-container-toolkit")


def test_by_distribution() -> None:
    rocky = facts.platform(distro="rocky", distro_like=("rhel", "fedora"))
    assert facts.found(rule, LOG, rocky).fixes[0].commands[0][0] == "dnf"


def test_not_in_a_check() -> None:
    assert rule.log_only
