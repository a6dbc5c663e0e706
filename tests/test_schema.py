"""The published JSON Schemas hold for every JSON output, and are schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import facts
import jsonschema
import pytest
from click.testing import CliRunner

from tfdoctor import published
from tfdoctor.checkup import examine
from tfdoctor.cli import root
from tfdoctor.commands.smoke import as_object
from tfdoctor.engine import all_probes, fact_name
from tfdoctor.host import RecordedHost
from tfdoctor.model import Report, Verdict
from tfdoctor.preflight.judge import judge_all
from tfdoctor.preflight.requirement import parse
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.render import renderer
from tfdoctor.render.outgoing import outgoing
from tfdoctor.render.view import Checked
from tfdoctor.scrub import Scrubber
from tfdoctor.smoke.results import Check, Experiment, Sample, SmokeResult

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
HOST = next(h for h in HOSTS if "8xh100" in h.name)
LOG = "E0000 00:00:1 cuda_executor.cc:1228] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries. GPU will not be used.\n"


def strict(name: str) -> Any:
    """The schema with every object closed, so that a field which it does not describe fails here."""

    def closed(value: Any) -> Any:
        if isinstance(value, list):
            return [closed(v) for v in value]
        if not isinstance(value, dict):
            return value
        out = {k: closed(v) for k, v in value.items()}
        if "properties" in out and out.get("type") == "object":
            out.setdefault("additionalProperties", False)
        return out

    schema = published.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema), format_checker=jsonschema.FormatChecker())


def printed(*arguments: str, stdin: str = "") -> Any:
    done = CliRunner().invoke(root, list(arguments), input=stdin)
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def of_check() -> Any:
    return strict("check")


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_check(host: Path, of_check: Any) -> None:
    recorded = RecordedHost(str(host))
    seen = examine(recorded)
    wanted = judge_all(map(parse, ("gpus>=1", "smoke.matmul>=1", "gpu")), seen.report, seen.facts)
    checked = outgoing(Checked(seen.report, wanted), Scrubber.of(recorded))
    of_check.validate(json.loads(renderer("json")(checked)))


@pytest.mark.parametrize("machine", facts.MACHINES, ids=lambda m: m.name)
def test_facts_of_machines_of_every_kind(machine: facts.Machine, of_check: Any) -> None:
    names = {fact_name(probe.makes) for probe in all_probes()}
    seen = {fact_name(type(fact)): fact for fact in machine.given}
    missing = dict.fromkeys(names - set(seen), "it was not looked at")
    resting = frozenset(fact_name(kind) for kind in machine.rests)
    report = Report("python", seen, missing, (), (), Verdict("yes", None, ""), resting)
    of_check.validate(json.loads(renderer("json")(Checked(report))))


def test_a_wrong_report_is_refused(of_check: Any) -> None:
    right = printed("check", "--host", str(HOST), "--format", "json")
    of_check.validate(right)
    for wrong in (
        {**right, "schema": 2},
        {**right, "verdict": {**right["verdict"], "gpu": "maybe"}},
        {**right, "facts": {**right["facts"], "gpus": {"unavailable": 3}}},
        {k: v for k, v in right.items() if k != "diagnoses"},
    ):
        assert not of_check.is_valid(wrong)


@pytest.mark.parametrize(
    "arguments",
    [("-",), ("TFD203", "CUDA_ERROR_NO_DEVICE"), ("--list",)],
    ids=["log", "pages", "list"],
)
def test_explain(arguments: tuple[str, ...]) -> None:
    strict("explain").validate(printed("explain", "--format", "json", *arguments, stdin=LOG))


def test_explain_several_logs(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(LOG)
    strict("explain").validate(printed("explain", "--format", "json", str(tmp_path / "a.log"), str(tmp_path / "b.log")))


@pytest.mark.parametrize("asked", [(), ("--tensorflow", "2.16", "--gpu", "RTX 5090", "--driver", "535.54.03")])
def test_compat(asked: tuple[str, ...]) -> None:
    strict("compat").validate(printed("compat", "--format", "json", *asked))


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_fix(host: Path) -> None:
    strict("fix").validate(printed("fix", "--dry-run", "--host", str(host), "--format", "json"))


@pytest.mark.parametrize("other", HOSTS[::3], ids=lambda h: h.name)
def test_diff(other: Path) -> None:
    strict("diff").validate(printed("diff", str(HOST), str(other), "--format", "json"))


def test_smoke() -> None:
    result = SmokeResult(
        "matmul", "passed", "fine", "timing", (Check("fp16", 1e-3, 1e-2, True),), {"tflops": {"GPU:0 fp16": 1.5}}
    )
    sample = Sample(0, 1410, 300.0, 60, 99, 4, 16, frozenset({"sw-power-cap"}))
    smoke = SmokeResults(
        (result,),
        (Experiment("matmul", "XLA off", ("x",), True, result),),
        (("matmul", (sample, Sample(1))),),
        "tfdoctor smoke",
    )
    diagnoses = printed("check", "--host", str(HOST), "--format", "json")["diagnoses"]
    strict("smoke").validate(json.loads(json.dumps(as_object(smoke, diagnoses))))


def test_the_command_prints_each() -> None:
    for name in published.names():
        assert printed("schema", name)["$id"] == f"urn:tfdoctor:schema:{name}:1"
    assert printed("schema") == printed("schema", "check")


def test_the_schemas_are_installed_with_the_package() -> None:
    """setup.cfg packs them; found through the package, from another folder."""
    code = "from tfdoctor import published; print(*published.names())"
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["check", "compat", "diff", "explain", "fix", "smoke"]
