"""Names, hosts, addresses, serial numbers, UUIDs and tokens planted in every source of a machine: none of them leaves it.

One table of sources, one of outputs. Every planted word carries the number of its source, so a leak names it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import fake_nvml
import pytest
import trees
import whole_machine
from site_build import distribution

from tfdoctor.commands.smoke import rendered
from tfdoctor.model import Report, Verdict
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.scrub import Scrubber
from tfdoctor.smoke.results import SmokeResult

HOST = "falconbox"
USER = "quentinharp"
MACHINE_ID = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
# What is planted; {n} is the number of the source. Beside each the word that must not be seen again.
SECRETS = (
    ("/home/zelda{n}/run.py", "zelda{n}"),
    (f"/data/people/{USER}/venv{{n}}", USER),
    (f"{HOST}.corp.example", HOST),
    ("by zelda{n}@corp.example", "zelda{n}"),
    ("10.77.{n}.9", "10.77.{n}.9"),
    ("http://10.78.{n}.9:8080/x", "10.78.{n}.9"),
    ("2a02:8109:12{n}::7", "8109:12{n}"),
    ("a4:bf:01:22:33:{n}", "22:33:{n}"),
    ("Serial Number: 13245200{n}887", "13245200{n}887"),
    ("GPU-8f3a1b{n}-1111-4222-8333-444455556666", "8f3a1b{n}"),
    ("token=s3cr3t{n}word", "s3cr3t{n}"),
    ("hf_{n}abcdefghijklmnop", "hf_{n}abc"),
    ("AKIAABCDEFGHIJKLMN{n}", "KLMN{n}"),
    ("https://zelda{n}:hunter{n}@packages.corp.example/simple", "hunter{n}"),
    ("https://oauth2.corp.example/wheel.whl?X-Amz-Signature=5igna{n}ture&Expires=3", "5igna{n}"),
)
SOURCES = (
    "dmesg", "nvidia-smi", "lspci", "modinfo", "rocm-smi", "pip metadata", "installer", "direct url", "pip configuration", "serial",
    "uuid", "board part", "process name", "dmi", "kernel command line", "library path", "allowed variable", "cgroup", "mounts", "builder",
    "information of the GPU", "shared memory", "cluster of the job", "driver parameters", "log", "smoke results", "kernel module", "nccl",
    "conda", "device tree", "pip environment", "dead interpreter", "failing driver", "cloud-init",
)  # fmt: skip


def number(source: str) -> str:
    return str(SOURCES.index(source) + 11)


def line(source: str) -> str:
    """Everything private in one line."""
    return ", ".join(text for text, _word in SECRETS).replace("{n}", number(source))


def words(source: str) -> set[str]:
    return {word.replace("{n}", number(source)) for _text, word in SECRETS if "{n}" in word}


PERSONAL = {HOST, USER, MACHINE_ID, "PF0SERIAL9X", "people", "s3cr3t99", "hf_99"}
# What an unscrubbed run shows. Of the other sources nothing private is read in the first place.
REACHING = {
    "allowed variable", "cgroup", "cluster of the job", "conda", "dead interpreter", "dmesg", "dmi", "driver parameters",
    "failing driver", "installer", "kernel module", "library path", "log", "lspci", "modinfo", "nccl", "nvidia-smi", "pip metadata",
    "rocm-smi", "shared memory", "smoke results", "uuid",
}  # fmt: skip


def gpu() -> fake_nvml.Profile:
    """NVML's answers name the board, who uses it and from where."""
    own = {
        "gpu.0.serial": f"13245200{number('serial')}887",
        "gpu.0.uuid": f"GPU-8f3a1b{number('uuid')}-1111-4222-8333-444455556666",
        "gpu.0.board_part_number": f"Serial Number: 13245200{number('board part')}887",
        "gpu.0.compute_processes": "4242:100",
        "process.4242": f"/home/zelda{number('process name')}/env/bin/python --token=s3cr3t{number('process name')}word",
    }
    return fake_nvml.gtx1080().but(own)


def tree() -> dict[str, trees.Content]:
    """Files of the kernel, the firmware and the system."""
    gpu_folder = f"/proc/driver/nvidia/gpus/{trees.CARD}"
    return {
        "/etc/hostname": f"{HOST}.corp.example\n",
        "/proc/sys/kernel/hostname": f"{HOST}\n",
        "/etc/passwd": f"root:x:0:0::/root:/bin/sh\n{USER}:x:1001:1001:Quentin:/data/people/{USER}:/bin/sh\n",
        "/etc/machine-id": f"{MACHINE_ID}\n",
        "/sys/class/dmi/id/product_serial": "PF0SERIAL9X\n",
        "/sys/class/dmi/id/chassis_asset_tag": "PF0SERIAL9X\n",
        "/sys/class/dmi/id/product_uuid": f"8f3a1b{number('dmi')}-1111-4222-8333-444455556666\n",
        "/sys/class/dmi/id/product_name": line("dmi"),
        "/sys/class/dmi/id/bios_version": line("dmi"),
        "/proc/cmdline": f"BOOT_IMAGE=/vmlinuz iommu=pt {line('kernel command line')}\n",
        "/proc/self/cgroup": f"0::/kubepods/pod8f3a1b{number('cgroup')}_1111_4222_8333_444455556666/{line('cgroup')}\n",
        "/proc/1/cgroup": f"0::/{line('cgroup')}\n",
        "/proc/self/mountinfo": f"25 1 8:2 / / rw - nfs 10.77.{number('mounts')}.9:/home/zelda{number('mounts')} rw\n"
        f"26 25 0:9 /home/zelda{number('mounts')} /usr/local/cuda rw - nfs {line('mounts')} rw\n",
        "/proc/version": f"Linux version {trees.KERNEL} (zelda{number('builder')}@{HOST}) (gcc 12.3.0) #41 SMP",
        f"{gpu_folder}/information": f"Model: \t\t NVIDIA GeForce GTX 1080\nGPU UUID: \t GPU-8f3a1b{number('information of the GPU')}-1111-4222-8333-444455556666\n"
        f"Owner: {line('information of the GPU')}\n",
        "/proc/driver/nvidia/params": f'EnableMSI: 1\nRegistryDwords: "{line("driver parameters")}"\n',
        f"/dev/shm/nccl-{USER}-10.77.{number('shared memory')}.9": b"\0" * 64,
        "/proc/device-tree/model": line("device tree"),
    }


def on_azure() -> dict[str, trees.Content]:
    """cloud-init's file knows all about the machine and its owner."""
    compute = {"vmSize": "Standard_ND96asr_v4", "name": f"{HOST}.corp.example", "tags": line("cloud-init")}
    kept = {
        "ds": {"meta_data": {"imds": {"compute": compute}}},
        "v1": {"local_hostname": HOST, "note": line("cloud-init")},
    }
    return {
        "/sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n",
        "/run/cloud-init/instance-data.json": json.dumps(kept),
    }


def printing(text: str, code: int = 0, error: str = "") -> str:
    return f"import sys\nprint({text!r})\nprint({error!r}, file=sys.stderr)\nsys.exit({code})"


def variables() -> dict[str, str]:
    """The environment, those on the allow-list too."""
    job = {
        "cluster": {"worker": [f"{HOST}.corp.example:2222", f"10.77.{number('cluster of the job')}.9:2222"]},
        "by": line("cluster of the job"),
    }
    return {
        "USER": USER,
        "LOGNAME": USER,
        "HOSTNAME": f"{HOST}.corp.example",
        "HOME": f"/data/people/{USER}",
        "LD_LIBRARY_PATH": f"/home/zelda{number('library path')}/cuda/lib64:/data/people/{USER}/lib",
        "XLA_FLAGS": f"--xla_gpu_cuda_data_dir=/home/zelda{number('allowed variable')}/cuda --note={line('allowed variable')}",
        "TF_CONFIG": json.dumps(job),
        "TF_CPP_TOKEN": "s3cr3t99word",
        "CUDA_VISIBLE_DEVICES": f"GPU-8f3a1b{number('uuid')}-1111-4222-8333-444455556666",
        "NCCL_SOCKET_IFNAME": line("nccl"),
        "NCCL_COMM_ID": f"10.77.{number('nccl')}.9:5000",
        "CUDA_CACHE_PATH": line("nccl"),
        "CONDA_PREFIX": f"/home/zelda{number('conda')}/miniconda3/envs/tf",
        "CONDA_DEFAULT_ENV": f"/home/zelda{number('conda')}/tf",
        "PIP_INDEX_URL": f"https://zelda{number('pip configuration')}:hunter{number('pip configuration')}@packages.corp.example/simple",
        "PIP_EXTRA_INDEX_URL": line("pip environment"),
        "HF_TOKEN": "hf_99abcdefghijklmnop",
    }


LOG = """\
2024-05-01 10:00:00.000000: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
2024-05-01 10:00:00.000001: I external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:167] hostname: falconbox
Traceback (most recent call last):
  File "/home/zelda{n}/run.py", line 3, in <module>
RuntimeError: cannot reach {line}
ERROR: {line}
"""


class Planted:
    """The machine, and what is made of it."""

    def __init__(self, folder: Path) -> None:
        self.machine = machine = whole_machine.build(folder, nvml=gpu(), tree=tree())
        library_path = machine.variables["LD_LIBRARY_PATH"]
        machine.variables.update(variables())
        machine.variables["LD_LIBRARY_PATH"] += os.pathsep + library_path
        said = line("dmesg")
        machine.program("dmesg", printing(
            f"[    5.1] NVRM: Xid (PCI:0000:01:00): 13, pid=4242, name=/home/zelda{number('dmesg')}/x, {said}\n[    5.2] NVRM: {said}"
            f"\n[    5.3] nvidia: {said}"))  # fmt: skip
        machine.program("nvidia-smi", printing(line("nvidia-smi"), 9, f"Failed: {line('nvidia-smi')}"))
        machine.program("lspci", printing(
            f"01:00.0 VGA compatible controller [0300]: NVIDIA Corporation [10de:1b80]\n\tSubsystem: {line('lspci')}\n"
            f"\tCapabilities: [100] Device Serial Number a4-bf-01-22-33-{number('lspci')}-22-33\n"))  # fmt: skip
        machine.program("modinfo", printing(
            f"filename: /home/zelda{number('modinfo')}/nvidia.ko\nversion: 550.54.14\nauthor: {line('modinfo')}\nsigner: {line('kernel module')}\n"
        ))  # fmt: skip
        machine.program(
            "rocm-smi",
            printing(
                json.dumps({"card0": {"Serial Number": f"13245200{number('rocm-smi')}887", "Card": line("rocm-smi")}})
            ),
        )
        self._packages(machine.folder / "site-packages")
        self.log = folder / "train.log"
        self.log.write_text(LOG.format(n=number("log"), line=line("log")))
        self.smoke = folder / "smoke.json"
        self.smoke.write_text(json.dumps({"schema": 1, "rehearsal": False, "tests": [
            {"test": "devices", "state": "failed", "detail": line("smoke results"), "measured": {"tflops": {line("smoke results"): 3.0}}},
        ]}))  # fmt: skip

    def _packages(self, site: Path) -> None:
        info = distribution(
            site, "planted", "1.0", {"planted.py": ""}, [f"other @ {line('pip metadata')}", "protobuf<2; x"]
        )
        (info / "INSTALLER").write_text(line("installer"))
        (info / "direct_url.json").write_text(json.dumps({"url": line("direct url")}))
        (site / f"~lanted-{USER}.dist-info").mkdir()

    def sick(self) -> whole_machine.Whole:
        """The same machine, after its driver and an interpreter failed with messages that tell all."""
        failing = whole_machine.build(
            self.machine.folder / "sick", nvml=gpu().but({"init": 999}), tree={**tree(), **on_azure()}, tensorflow=False
        )
        failing.variables.update(variables())
        failing.program(
            "nvidia-smi", printing(line("failing driver"), 9, f"NVIDIA-SMI has failed: {line('failing driver')}")
        )
        failing.program(
            "python-that-dies",
            f"import os, sys\nprint({line('dead interpreter')!r}, file=sys.stderr, flush=True)\nos.abort()",
        )
        return failing


SHOW = "import sys; print(open(sys.argv[1]).read()); sys.exit(3)"
# tfdoctor with a scrubber that does nothing.
UNSCRUBBED = """
from tfdoctor.scrub import Scrubber
Scrubber.text = lambda self, text: text
Scrubber.value = lambda self, value, key="": value
from tfdoctor.cli import main
main()
"""


def said(machine: whole_machine.Whole, *arguments: str, program: str = "") -> str:
    """What leaves by standard output and standard error."""
    argv = [sys.executable, *(["-c", program] if program else ["-m", "tfdoctor"]), *arguments]
    place = machine.folder / "elsewhere"
    done = subprocess.run(
        argv, env=machine.variables, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def text_below(folder: Path) -> str:
    """Every file's name and content."""
    files = list(folder.rglob("*"))
    return "\n".join(
        str(p.relative_to(folder)) + "\n" + (p.read_text(errors="replace") if p.is_file() else "") for p in files
    )


def smoked(form: str) -> str:
    """What `smoke` makes of a test that failed: TensorFlow's own message is its detail."""
    result = SmokeResult("matmul", "failed", line("smoke results"), log=line("smoke results"))
    known = Scrubber((USER,), (HOST,), (f"/data/people/{USER}",))
    report = Report("python", {}, {}, (), (), Verdict("yes", None, "it is so."))
    return rendered(SmokeResults((result,), (), (), "tfdoctor smoke"), report, (), form, known)


def public(text: str) -> str:
    """A JSON output without what a program may run on this machine, which stays as it is (docs/preflight.md)."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return json.dumps(without_commands(value))


def without_commands(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_commands(v) for k, v in value.items() if k not in ("commands", "target")}
    return [without_commands(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Output -> its text."""
    folder = tmp_path_factory.mktemp("planted")
    there = Planted(folder)
    sick = there.sick()
    dead = ("--python", str(sick.programs / "python-that-dies"))
    results = folder / "results"
    results.mkdir()
    forms = ("json", "junit", "sarif", "github", "markdown", "prometheus")
    require = ("--require", "gpus>=2", "--require", "gpu-model=A100", "--require", "cudnn>=99")
    outputs = [word for form in forms for word in ("--output", f"{form}={results / form}")]
    page, report = results / "page", results / "json"
    jobs: dict[str, Callable[[], str]] = {
        "check": lambda: said(there.machine, "check", "--format", "json", *require, *outputs),
        "record": lambda: said(there.machine, "record", str(folder / "recording")),
        "report": lambda: said(there.machine, "report", "--log", str(there.log), *require),
        "page": lambda: said(there.machine, "report", "--html", str(page), "--smoke", str(there.smoke), *require),
        "explain": lambda: said(there.machine, "explain", str(there.log)),
        "explain json": lambda: said(there.machine, "explain", "--format", "json", str(there.log)),
        "fix json": lambda: said(there.machine, "fix", "--dry-run", "--format", "json"),
        "expect": lambda: said(there.machine, "expect"),
        "compat here": lambda: said(there.machine, "compat", "--here", "--format", "json"),
        "sick check": lambda: said(sick, "check", "--format", "json", *dead),
        "sick record": lambda: said(sick, "record", str(folder / "sick recording"), *dead),
        "sick report": lambda: said(sick, "report", *dead),
        "run": lambda: there.machine.run("run", "--", sys.executable, "-c", SHOW, str(there.log)).stderr,
        "bare": lambda: said(there.machine, "check", "--format", "json", program=UNSCRUBBED),
        "bare record": lambda: said(there.machine, "record", str(folder / "bare"), program=UNSCRUBBED),
        "bare report": lambda: said(there.machine, "report", "--log", str(there.log), program=UNSCRUBBED),
        "bare page": lambda: said(
            there.machine, "report", "--html", "/dev/stdout", "--smoke", str(there.smoke), program=UNSCRUBBED
        ),
        "bare sick check": lambda: said(sick, "check", "--format", "json", *dead, program=UNSCRUBBED),
    }
    with ThreadPoolExecutor(4) as pool:
        made = dict(zip(jobs, pool.map(lambda job: job(), jobs.values())))
    made.update({form: (results / form).read_text() for form in forms})
    made.update({f"smoke {form}": smoked(form) for form in ("json", "markdown")})
    made["page"] += page.read_text()
    made["bare record"] = text_below(folder / "bare")
    made["recording"] = text_below(folder / "recording")
    made["sick recording"] = text_below(folder / "sick recording")
    made["diff"] = said(there.machine, "diff", "-v", str(report), str(folder / "recording"))
    made["diff json"] = said(there.machine, "diff", "--format", "json", str(folder / "recording"), str(report))
    return made


OUTPUTS = (
    "check", "record", "report", "page", "explain", "explain json", "fix json", "expect", "compat here", "sick check", "sick record",
    "sick report", "run", "smoke json", "smoke markdown", "json", "junit", "sarif", "github", "markdown", "prometheus", "recording", "sick recording", "diff", "diff json",
)  # fmt: skip


@pytest.mark.parametrize("output", OUTPUTS)
def test_nothing_private_leaves(output: str, made: dict[str, str]) -> None:
    text = public(made[output])
    assert len(text) > 100
    leaks = {source: found for source in SOURCES if (found := sorted(w for w in words(source) if w in text))}
    assert leaks == {} and [w for w in PERSONAL if w.lower() in text.lower()] == []


def test_the_planted_words_would_be_seen(made: dict[str, str]) -> None:
    """With a scrubber that does nothing they are."""
    bare = "".join(text for name, text in made.items() if name.startswith("bare"))
    assert {source for source in SOURCES if any(w in bare for w in words(source))} == REACHING
    assert {name for name in made if not name.startswith("bare")} == set(OUTPUTS)


def test_what_a_diagnosis_needs_is_still_there(made: dict[str, str]) -> None:
    """Equal things stay equal, versions, ports and PCI addresses stay what they are."""
    report = json.loads(made["json"])
    assert report["facts"]["driver"]["version"] == "550.54.14"
    variables = report["facts"]["environment"]["variables"]
    assert re.fullmatch(r"GPU-0{8}-0{4}-0{4}-0{4}-\d{12}", variables["CUDA_VISIBLE_DEVICES"])
    assert variables["TF_CONFIG"].count(":2222") == 2
    assert report["facts"]["gpus"]["gpus"][0]["bus"] == "0000:01:00.0"
    assert report["target"]["python"] == sys.executable
    assert (
        json.loads(made["sick check"].partition("\ntfdoctor:")[0])["facts"]["cloud"]["instance_type"]
        == "Standard_ND96asr_v4"
    )
