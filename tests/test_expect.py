"""`tfdoctor expect`: what it writes of a healthy machine holds there, and a cloud instance is compared with its type."""

from __future__ import annotations

from pathlib import Path

import facts
import pytest
from click.testing import CliRunner

from tfdoctor.checkup import Examination, examine
from tfdoctor.cli import root
from tfdoctor.commands.expect import written, wrong
from tfdoctor.engine import run_rules
from tfdoctor.host import RecordedHost
from tfdoctor.model import Report, Verdict
from tfdoctor.preflight.judge import judge_all
from tfdoctor.preflight.sources import from_file
from tfdoctor.rules.hardware.tfd126_cloud_gpus_differ_from_instance_type import (
    cloud_gpus_differ_from_instance_type as rule,
)
from tfdoctor.scrub import Scrubber

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
SAID = {h: (h / "expected.txt").read_text() for h in HOSTS}
HEALTHY = [h for h, said in SAID.items() if said.startswith("yes") and " error" not in said]


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_what_is_written_holds_here(host: Path, tmp_path: Path) -> None:
    path = tmp_path / "expected.txt"
    done = CliRunner().invoke(root, ["expect", "--host", str(host), "--output", str(path)])
    assert done.exit_code == (0 if host in HEALTHY else 1), done.output
    if "Wrong here" in path.read_text() and not any(line and line[0] != "#" for line in path.read_text().splitlines()):
        return  # nothing could be looked at
    seen = examine(RecordedHost(str(host)))
    judged = judge_all(from_file(str(path)), seen.report, seen.facts)
    assert [j.why for j in judged if not j.met] == []


def test_a_healthy_machine_has_a_line_for_everything_that_matters() -> None:
    host = next(h for h in HOSTS if h.name == "ubuntu-rtx3090-tf2.20-healthy")
    done = CliRunner().invoke(root, ["expect", "--host", str(host)])
    subjects = {line.partition("#")[0].strip() for line in done.stdout.splitlines()}
    assert {
        "gpu",
        "gpus>=1",
        "gpu-model=NVIDIA GeForce RTX 3090",
        "tensorflow>=2.20,<2.21",
        "pcie-width>=16",
    } <= subjects


def test_a_machine_without_gpu_is_no_model() -> None:
    host = next(h for h in HOSTS if "cpu-only" in h.name)
    done = CliRunner().invoke(root, ["expect", "--host", str(host)])
    assert done.exit_code == 1
    assert "not a healthy machine" in done.output


def examination(count: int) -> Examination:
    cards = tuple(facts.gpu(i, name="NVIDIA A100-SXM4-40GB") for i in range(count))
    machine = facts.WORKSTATION.but(
        facts.gpu_machine(count=count), facts.gpus(*cards), facts.cloud(provider="aws", instance_type="p4d.24xlarge")
    )
    known = machine.facts()
    seen = {"cloud": known.get(type(facts.cloud()))}
    return Examination(Report("python", seen, {}, run_rules([rule], known), (), Verdict("yes", None, "fine.")), known)


def test_a_cloud_instance_is_compared_with_its_type() -> None:
    seven = examination(7)
    (fault,) = wrong(seven)
    assert "p4d.24xlarge should show 8 NVIDIA A100 SXM4 40GB, 7 are here." in fault
    text = "\n".join(written(seven, [fault], Scrubber()))
    assert fault in text and "the table has 8 × NVIDIA A100 SXM4 40GB" in text
    assert list(wrong(examination(8))) == []
