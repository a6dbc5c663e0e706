"""TFD517 tensorflow-metal-mismatch: sick, healthy, and at the boundary."""

from __future__ import annotations

import shutil
from pathlib import Path

import facts

from tfdoctor.model import Severity
from tfdoctor.rules.tensorflow.tfd517_tensorflow_metal_mismatch import tensorflow_metal_mismatch as rule
from tfdoctor.tables import Tables

MAC = facts.macos()


def test_made_for_another_release() -> None:
    plugin = facts.distributions({"tensorflow-metal": "1.2.0"})
    found = facts.found(rule, MAC, facts.tensorflow(cuda_build=False), plugin)
    assert "1.2.0" in found.message and "2.20.0" in found.message and "<2.20" in found.message
    assert found.severity is None  # the rule's own: Apple's table and the wheels' symbols say so


def test_a_second_hand_row_alone_makes_no_error(tmp_path: Path) -> None:
    folder = shutil.copytree(Tables().folder, tmp_path / "compat")
    (folder / "plugins.json").write_text((folder / "plugins.json").read_text().replace("official", "second-hand"))
    plugin = facts.distributions({"tensorflow-metal": "1.2.0"})
    found = facts.found(rule, MAC, facts.tensorflow(cuda_build=False), plugin, Tables(folder))
    assert found.severity is Severity.WARNING


def test_the_fitting_plugin_is_named() -> None:
    plugin = facts.distributions({"tensorflow-metal": "1.2.0"})
    found = facts.found(rule, MAC, facts.tensorflow_release("2.15.1", cuda_build=False), plugin)
    assert found.fixes[0].requirements == ("tensorflow-metal==1.1.0",)


def test_healthy() -> None:
    plugin = facts.distributions({"tensorflow-metal": "1.2.0"})
    assert facts.silent(rule, MAC, facts.tensorflow_release("2.18.0", cuda_build=False), plugin)
    assert facts.silent(rule, MAC, facts.tensorflow(cuda_build=False), facts.distributions())


def test_rests_elsewhere() -> None:
    assert facts.silent(rule, facts.platform(), facts.tensorflow(), facts.distributions({"tensorflow-metal": "1.2.0"}))
