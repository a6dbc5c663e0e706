"""action.yml, the examples and the set-up script: read by real parsers and linters, and run as far as a machine without a GPU goes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import click
import composite
import published_schemas
import pytest
import whole_machine
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tfdoctor.cli import root
from tfdoctor.preflight.requirement import parse
from tfdoctor.target.imports import IMPORTS

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLES = REPOSITORY / "examples"
ACTION = REPOSITORY / "action.yml"
SETUP = REPOSITORY / "scripts" / "setup_tf_gpu.sh"
DOCTOR = "/opt/tfdoctor/bin/tfdoctor"


def tool(name: str) -> str:
    """A linter of the test extra, beside the interpreter that runs the tests."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    assert found, f"{name} is missing: pip install -e '.[test]'"
    return found


def lint(*argv: str, stdin: str = "") -> None:
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def takes(argv: list[str]) -> None:
    """The command line is one that tfdoctor takes, down to its requirements."""
    name, *rest = argv
    command = root.get_command(click.Context(root), name)
    assert command is not None, argv
    with command.make_context(name, rest) as context:
        for text in context.params.get("require", ()):
            parse(text)


# GitHub ---------------------------------------------------------------------------------------------------------------


def test_action_fits_its_schema() -> None:
    published_schemas.validator("github-action.json").validate(yaml.safe_load(ACTION.read_text()))


def test_actions_shell_lines_are_clean() -> None:
    for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"], "an input would become code"
            lint(tool("shellcheck"), "--shell=bash", "-", stdin=step["run"])


def test_workflow_is_clean(tmp_path: Path) -> None:
    """With the action where the workflow says that it is, so that its inputs are checked too."""
    workflow = tmp_path / ".github" / "workflows" / "train.yml"
    workflow.parent.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    action = tmp_path / "vendor" / "tfdoctor" / "action.yml"
    action.parent.mkdir(parents=True)
    shutil.copy(ACTION, action)
    text = (EXAMPLES / "github" / "workflow.yml").read_text()
    workflow.write_text(text)
    (tmp_path / ".github" / "actionlint.yaml").write_text("self-hosted-runner: {labels: [gpu]}\n")
    argv = [tool("actionlint"), "-no-color", "-shellcheck=" + tool("shellcheck")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    workflow.write_text(text.replace("python: .venv", "pyhton: .venv"))
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, timeout=120).returncode != 0


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> whole_machine.Whole:
    return whole_machine.build(tmp_path_factory.mktemp("machine"))


def act(machine: whole_machine.Whole, place: Path, **inputs: str) -> composite.Ran:
    """The action on that machine, with tfdoctor installed already where the action looks for it."""
    program = place / "runner-temp" / "tfdoctor" / "bin" / "tfdoctor"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tfdoctor "$@"\n')
    program.chmod(0o755)
    values = {name.replace("_", "-"): value for name, value in {"python": sys.executable, **inputs}.items()}
    return composite.run(ACTION, place, values, **machine.variables)


def test_action_on_a_healthy_machine(machine: whole_machine.Whole, tmp_path: Path) -> None:
    ran = act(machine, tmp_path, require="gpu\ngpus>=1\n\n")
    assert ran.code == 0, ran.output
    assert ran.outputs == {"verdict": "yes", "exit-code": "0", "sarif": "tfdoctor-results/tfdoctor.sarif"}
    assert "::notice title=TensorFlow and the GPUs::yes" in ran.output
    assert "Will TensorFlow use the GPUs: yes" in ran.summary and "| gpus\\>=1 | met | 1 |" in ran.summary
    results = tmp_path / "tfdoctor-results"
    assert {p.name for p in results.iterdir()} == {"tfdoctor.json", "tfdoctor.xml", "tfdoctor.sarif", "tfdoctor.md"}
    assert ran.uses == [("actions/upload-artifact@v6", {"name": "tfdoctor", "path": "tfdoctor-results"})]


def test_action_fails_after_the_upload(machine: whole_machine.Whole, tmp_path: Path) -> None:
    ran = act(machine, tmp_path, require="gpus>=4", folder="here")
    assert (ran.code, ran.outputs["exit-code"], ran.outputs["verdict"]) == (1, "1", "yes")
    assert "::error title=requirement gpus>=4::" in ran.output
    assert ran.uses[0][1]["path"] == "here" and (tmp_path / "here" / "tfdoctor.xml").is_file()


def test_action_says_when_tfdoctor_is_used_wrongly(machine: whole_machine.Whole, tmp_path: Path) -> None:
    ran = act(machine, tmp_path, require='gpuz>=4"; touch pwned; "', upload="false")
    assert (ran.code, ran.outputs["exit-code"]) == (2, "2")
    assert ran.uses == [] and "is not a requirement" in ran.output
    assert not (tmp_path / "pwned").exists()


# GitLab, Jenkins --------------------------------------------------------------------------------------------------------


def commands_in(text: str) -> list[list[str]]:
    """The arguments of each call of tfdoctor in a shell text, with the shell's variables filled in."""
    found = []
    filled = re.sub(r"\$\{\w+:-(\w+)\}", r"\1", re.sub(r"\"\$\(command -v (\w+)\)\"", r"\1", text))
    for line in filled.splitlines():
        match = re.search(r"tfdoctor/bin/tfdoctor (check\b.*)", line)
        if match and not line.lstrip().startswith(("#", "//")):
            found.append(shlex.split(match.group(1)))
    return found


def test_gitlab() -> None:
    text = (EXAMPLES / "gitlab" / "gitlab-ci.yml").read_text()
    pipeline = yaml.safe_load(text)
    published_schemas.validator("schema/ci.json").validate(pipeline)
    job = pipeline["train"]
    line, training = job["script"]
    (words,) = commands_in(line)
    takes(words)
    assert training == ".venv/bin/python train.py", "the same job, and so the same machine, as the check"
    assert job["artifacts"]["reports"]["junit"] == "tfdoctor.xml" and "junit=tfdoctor.xml" in words
    for script in (job["before_script"], job["script"]):
        lint(tool("shellcheck"), "--shell=sh", "-", stdin="\n".join(script))


def test_jenkins() -> None:
    """Its shell lines and its brackets; a parser of Groovy where there is one."""
    text = (EXAMPLES / "jenkins" / "Jenkinsfile").read_text()
    (words,) = commands_in(text)
    takes(words)
    assert "junit=tfdoctor.xml" in words and "junit 'tfdoctor.xml'" in text
    (script,) = re.findall(r"sh '''(.*?)'''", text, re.S)
    lint(tool("shellcheck"), "--shell=sh", "-", stdin=script)
    code = re.sub(r"'''.*?'''|'[^']*'", "", text, flags=re.S)
    assert code.count("{") == code.count("}") and code.count("(") == code.count(")")
    if shutil.which("npm-groovy-lint"):
        lint("npm-groovy-lint", "--path", str(EXAMPLES / "jenkins"), "--files", "Jenkinsfile", "--failon", "error")


# Containers -------------------------------------------------------------------------------------------------------------


def test_dockerfile() -> None:
    path = EXAMPLES / "docker" / "Dockerfile"
    lint(tool("hadolint"), "--failure-threshold", "info", str(path))
    text = path.read_text().replace("\\\n", " ")
    lines = [json.loads(m) for m in re.findall(r"^(?:RUN|.*\bCMD) (\[.*\])$", text, re.M)]
    checks = [words[1:] for words in lines if words[0] == DOCTOR]
    assert len(checks) == 2
    for words in checks:
        takes(words)


def manifests() -> list[tuple[str, Any]]:
    paths = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
    return [(f"{p.name} {m['kind']}", m) for p in paths for m in yaml.safe_load_all(p.read_text())]


@pytest.mark.parametrize(("name", "manifest"), manifests(), ids=[n for n, _m in manifests()])
def test_kubernetes(name: str, manifest: Any) -> None:
    import kubernetes_validate

    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    for container in containers(manifest):
        if container["command"][0] == DOCTOR:
            takes(container["command"][1:])


def containers(manifest: Any) -> list[Any]:
    spec = manifest.get("spec", {})
    pod = spec.get("template", {}).get("spec", spec)
    return [*pod.get("initContainers", ()), *pod.get("containers", ())]


def test_the_kubernetes_linter_finds_what_is_wrong() -> None:
    import kubernetes_validate

    _name, pod = next((n, m) for n, m in manifests() if m["kind"] == "Pod")
    wrong = {**pod, "spec": {**pod["spec"], "restartPolicies": "Never"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_the_job_expects_what_can_be_required(tmp_path: Path) -> None:
    _name, config = next((n, m) for n, m in manifests() if m["kind"] == "ConfigMap")
    from tfdoctor.preflight.sources import from_file

    path = tmp_path / "expect.txt"
    path.write_text(config["data"]["expect.txt"])
    assert len(from_file(str(path))) == 7


def test_the_init_containers_command_under_an_empty_environment(machine: whole_machine.Whole, tmp_path: Path) -> None:
    """A container may have no PATH, no HOME, no locale. It ends with an answer: here not met, since nothing is to be seen."""
    _name, pod = next((n, m) for n, m in manifests() if m["kind"] == "Pod")
    command = containers(pod)[0]["command"]
    at = command.index("--python") + 1
    argv = [sys.executable, "-m", "tfdoctor", *command[1:at], sys.executable, *command[at + 1 :]]
    done = subprocess.run(argv, env={}, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and "not-met  gpus>=2" in done.stdout
    root_only = {
        name: value
        for name, value in machine.variables.items()
        if name in ("TFDOCTOR_ROOT", "LD_LIBRARY_PATH", "PYTHONPATH") or name.startswith(("FAKE", "TFDOCTOR"))
    }
    met = [w.replace("gpus>=2", "gpus>=1") for w in argv if w != "shm>=1GiB"]
    del met[len(met) - 1 - met[::-1].index("--require")]
    done = subprocess.run(met, env=root_only, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# Clusters and services --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [SETUP, *sorted((EXAMPLES / "slurm").glob("*.sh"))], ids=lambda p: p.name)
def test_scripts_are_clean(path: Path) -> None:
    lint(tool("shellcheck"), str(path))
    assert os.access(path, os.X_OK)


@pytest.mark.parametrize(("code", "gpus", "wanted"), [(0, "0,1", 0), (1, "0,1", 1), (2, "0,1", 0), (1, "", 0)])
def test_slurm_prolog_drains_only_for_what_does_not_hold(code: int, gpus: str, wanted: int, tmp_path: Path) -> None:
    program = tmp_path / "tfdoctor"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nexit {code}\n')
    program.chmod(0o755)
    env = {"PATH": os.environ["PATH"], "TFDOCTOR": str(program), "SLURM_JOB_GPUS": gpus}
    done = subprocess.run(["bash", str(EXAMPLES / "slurm" / "prolog.sh")], env=env, capture_output=True, timeout=60)
    assert done.returncode == wanted
    if gpus:
        takes((tmp_path / "asked").read_text().split())


def test_srun_one_liner() -> None:
    (words,) = commands_in((EXAMPLES / "slurm" / "train.sh").read_text())
    takes(words)


def test_prolog_lets_a_job_start_whatever_else_is_found(machine: whole_machine.Whole, tmp_path: Path) -> None:
    """tfdoctor's own environment on a node has no TensorFlow, which is an error for `check` and no fault of the node."""
    program = tmp_path / "tfdoctor"
    call = f"exec {shlex.quote(sys.executable)} -m tfdoctor"
    program.write_text(f'#!/bin/sh\n{call} "$@" --python {shlex.quote(str(bare_interpreter(tmp_path)))}\n')
    program.chmod(0o755)
    expect = tmp_path / "expect.txt"
    env = {k: v for k, v in machine.variables.items() if k != "PYTHONPATH"}
    env |= {"TFDOCTOR": str(program), "TFDOCTOR_EXPECT": str(expect), "SLURM_JOB_GPUS": "0"}
    for wanted, code in (("gpus>=1", 0), ("gpus>=2", 1)):
        expect.write_text(wanted)
        argv = ["bash", str(EXAMPLES / "slurm" / "prolog.sh")]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
        assert "TFD502" in done.stdout and done.returncode == code, done.stdout


def bare_interpreter(folder: Path) -> Path:
    """A Python without any package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "bare")], check=True, timeout=60)
    return folder / "bare" / "bin" / "python"


def test_systemd_unit(machine: whole_machine.Whole, tmp_path: Path) -> None:
    text = (EXAMPLES / "systemd" / "tfdoctor.service").read_text()
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.M)
    program, *words = shlex.split(line)
    assert program == DOCTOR
    takes(words)
    if shutil.which("systemd-analyze"):
        for name in ("tfdoctor.service", "tfdoctor.timer"):
            unit = (EXAMPLES / "systemd" / name).read_text().replace(DOCTOR, "/bin/true")
            (tmp_path / name).write_text(unit)
        lint(
            "systemd-analyze",
            "verify",
            "--man=no",
            str(tmp_path / "tfdoctor.timer"),
            str(tmp_path / "tfdoctor.service"),
        )
    # What it would write, on a machine with a GPU.
    expect, metrics = tmp_path / "expect.txt", tmp_path / "tfdoctor.prom"
    expect.write_text("gpu\ngpus>=2\n")
    moved = {"/etc/tfdoctor/expect.txt": str(expect), "/usr/bin/python3": sys.executable,
             "prometheus=/var/lib/node_exporter/textfile_collector/tfdoctor.prom": f"prometheus={metrics}"}  # fmt: skip
    done = machine.run(*[moved.get(w, w) for w in words])
    assert done.returncode == 0, done.stderr
    met = {
        s.labels["requirement"]: s.value
        for f in text_string_to_metric_families(metrics.read_text())
        if f.name == "tfdoctor_requirement_met"
        for s in f.samples
    }
    assert met == {"gpu": 1.0, "gpus>=2": 0.0}
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".tfdoctor")] == [], "no half-written file is left"


@pytest.mark.skipif(shutil.which("prometheus-node-exporter") is None, reason="node_exporter is not installed")
def test_node_exporter_reads_what_is_written(machine: whole_machine.Whole, tmp_path: Path) -> None:
    done = machine.run("check", "--require", "gpu", "--output", f"prometheus={tmp_path}/tfdoctor.prom")
    assert done.returncode == 0, done.stderr
    port = free_port()
    argv = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile"]
    argv += [f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}"]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as exporter:
        try:
            said = fetched(f"http://127.0.0.1:{port}/metrics")
        finally:
            exporter.terminate()
    assert "\nnode_textfile_scrape_error 0\n" in said
    assert 'tfdoctor_requirement_met{requirement="gpu",state="met"} 1' in said


def test_alerts(machine: whole_machine.Whole) -> None:
    path = EXAMPLES / "prometheus" / "alerts.yml"
    (group,) = yaml.safe_load(path.read_text())["groups"]
    asked = {name for rule in group["rules"] for name in re.findall(r"tfdoctor_\w+", rule["expr"])}
    said = machine.run("check", "--format", "prometheus", "--require", "gpu").stdout
    assert asked and asked <= {family.name for family in text_string_to_metric_families(said)}
    if shutil.which("promtool"):
        lint("promtool", "check", "rules", str(path))


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def fetched(url: str) -> str:
    """What a server that is just starting answers."""
    for _attempt in range(100):
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=30) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{url} does not answer")


# The set-up script ------------------------------------------------------------------------------------------------------


def wheel(folder: Path, version: str) -> None:
    """A wheel named tensorflow that holds nothing but what TensorFlow imports of others, for pip to install."""
    info = f"tensorflow-{version}.dist-info"
    files = {
        "tensorflow/__init__.py": "",
        **{f"{module.replace('.', '/')}/__init__.py": "" for module in IMPORTS.values()},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"tensorflow-{version}-py3-none-any.whl", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


class Setup:
    """Runs the script in a home of its own, with an index that holds only stand-in wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.wheels = folder, folder / "wheels"
        self.wheels.mkdir()
        program = folder / "tfdoctor"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tfdoctor "$@"\n')
        program.chmod(0o755)
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "TFDOCTOR"))}
        self.env = {
            **keep,
            "HOME": str(folder),
            "TFDOCTOR": str(program),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        argv = ["bash", str(SETUP), "--python", sys.executable, *arguments]
        done = subprocess.run(
            argv, env={**self.env, **variables}, cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        return done.returncode, done.stdout + done.stderr

    def files(self) -> dict[str, int]:
        """Everything below the folder that it makes, with the time of its last change."""
        home = self.folder / "tf-gpu"
        return {str(p): p.lstat().st_mtime_ns for p in home.rglob("*") if "__pycache__" not in p.parts}


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_a_dry_run_changes_nothing(setup: Setup) -> None:
    code, said = setup.run("--dry-run")
    assert code == 0, said
    assert (
        re.search(r"^\+ .*/tensorflow/bin/python -m pip install tensorflow==\d", said, re.M)
        and "nothing was changed" in said
    )
    assert not (setup.folder / "tf-gpu").exists()


def test_run_twice(setup: Setup) -> None:
    release = re.findall(r"TensorFlow (\S+): fits", setup.run("--dry-run")[1])[0]
    wheel(setup.wheels, release)
    code, said = setup.run()
    assert code == 0, said
    assert (
        f"Successfully installed tensorflow-{release}" in said
        and "no NVIDIA GPU here" in said
        and "== ready: source" in said
    )
    before = setup.files()
    code, again = setup.run()
    assert code == 0, again
    assert f"TensorFlow {release} is installed" in again and "+ " not in again.replace("C++ ", "")
    assert setup.files() == before


def test_another_release_on_demand(setup: Setup) -> None:
    assert "pip install tensorflow==2.19." in setup.run("--dry-run", "--tensorflow", "2.19")[1]
    code, said = setup.run("--tensorflow", "1.15")
    assert code == 1 and "1.15" in said and "Traceback" not in said


def test_a_machine_with_a_gpu_gets_the_cuda_libraries(setup: Setup, machine: whole_machine.Whole) -> None:
    variables = {
        k: v for k, v in machine.variables.items() if k not in ("PATH", "HOME", "PYTHONPATH") and k not in setup.env
    }
    code, said = setup.run("--dry-run", **variables)
    assert code == 0, said
    assert re.search(r"pip install (?:tensorflow\\\[and-cuda\\\]==|nvidia-)", said), said
    assert all(install[1] == "-m" for install in re.findall(r"^\+ (\S+python) (-m) pip install", said, re.M))


@pytest.mark.parametrize(
    ("variables", "code", "says"),
    [
        ({"HOME": ""}, 2, "HOME is not set; --dir DIR says where"),
        ({"TFDOCTOR": "/no/such"}, 2, "there is no /no/such"),
        ({"PYTHONPATH": "{here}/lacking"}, 1, "cannot make environments; an administrator installs: "),
        ({}, 1, "pip could not install tensorflow=="),  # no index, and no wheel beside it
    ],
)
def test_what_is_missing_is_said_in_one_sentence(setup: Setup, variables: dict[str, str], code: int, says: str) -> None:
    (setup.folder / "lacking").mkdir()
    (setup.folder / "lacking" / "ensurepip.py").write_text("raise ImportError('a package of its own on this system')\n")
    given = {name: value.format(here=setup.folder) for name, value in variables.items()}
    ended, said = setup.run(**given)
    assert ended == code and says in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--nonsense"], 2, "there is no option --nonsense"),
        (["--dir"], 2, "--dir wants a value"),
        (["--python", "/no/such/python"], 1, "there is no /no/such/python"),
        (["--help"], 0, "setup_tf_gpu.sh [--dry-run]"),
    ],
)
def test_wrong_usage_says_what_would_be_right(setup: Setup, arguments: list[str], code: int, says: str) -> None:
    ended, said = setup.run(*arguments)
    assert ended == code and says in said
