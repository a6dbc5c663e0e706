"""`report`: the fields of TensorFlow's issue form, and nothing private in anything that leaves the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import whole_machine
from click.testing import CliRunner

from tfdoctor.cli import root
from tfdoctor.render import FORMATS

HOSTS = sorted(p for p in Path(__file__).with_name("hosts").iterdir() if p.is_dir())
# The labels of tensorflow_issue_template.yaml, in its order, as an issue shows them.
FORM = [
    "Issue type", "Have you reproduced the bug with TensorFlow Nightly?", "Source", "TensorFlow version", "Custom code",
    "OS platform and distribution", "Mobile device", "Python version", "Bazel version", "GCC/compiler version", "CUDA/cuDNN version",
    "GPU model and memory", "Current behavior?", "Standalone code to reproduce the issue", "Relevant log output",
]  # fmt: skip


def report(*arguments: str) -> str:
    done = CliRunner().invoke(root, ["report", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.name)
def test_the_form_and_markdown(host: Path) -> None:
    from markdown_it import MarkdownIt

    text = report("--host", str(host))
    assert re.findall(r"^### (.+)$", text, re.M) == FORM
    values = re.split(r"^### .+$", text, flags=re.M)[1:]
    assert all(value.strip() for value in values)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    html = [t.content.strip() for t in tokens if t.type == "html_block"]
    assert all(h.startswith(("<details>", "</details>", "<!-- please fill in -->")) for h in html)


def test_what_it_says_of_a_machine() -> None:
    text = report("--host", str(next(h for h in HOSTS if "driver470" in h.name)))
    assert "tensorflow 2.17.1" in text
    assert "built for CUDA 12.3" in text and "driver 470.82.01, CUDA driver API 11.4" in text
    assert "`TFD203 driver-too-old`" in text and "Tesla T4" in text


def test_a_log_goes_in_and_cannot_close_its_fence(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n}\n" for n in range(500)) + "```\n### not a heading\n")
    text = report("--host", str(HOSTS[0]), "--log", str(log))
    assert "step 499" in text and "step 100\n" not in text
    assert "````shell" in text


# Planted: source -> the private text. Each stands in one place of the machine.
SECRET = {
    "user": "zaphodb",
    "host": "heartofgold7",
    "home": "/home/zaphodb/magrathea",
    "address": "10.11.12.13",
    "ipv6": "fd12:3456:789a::42",
    "mac": "de:ad:be:ef:00:17",
    "serial": "0324517098761",
    "uuid": "1f2e3d4c-5b6a-7988-a0b1-c2d3e4f50617",
    "token": "ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp",
    "password": "hunter2hunter2",
    "mail": "ford.prefect@betelgeuse.example.org",
    "aws": "AKIAZAPHODBEEBLEBROX",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> whole_machine.Whole:
    """A whole machine with private texts in its files, its environment and what its programs print."""
    s = SECRET
    tree = {
        "/etc/hostname": f"{s['host']}\n",
        "/etc/passwd": f"root:x:0:0::/root:/bin/sh\n{s['user']}:x:1000:1000:Zaphod:/home/{s['user']}:/bin/sh\n",
        "/proc/sys/kernel/hostname": f"{s['host']}\n",
        "/sys/class/dmi/id/product_serial": f"{s['serial']}\n",
        "/sys/class/dmi/id/product_uuid": f"{s['uuid']}\n",
        "/proc/cmdline": f"BOOT_IMAGE=/vmlinuz root=UUID={s['uuid']} ip={s['address']} password={s['password']}\n",
    }
    machine = whole_machine.build(tmp_path_factory.mktemp("planted"), tree=tree)
    private = {
        "USER": s["user"], "LOGNAME": s["user"], "HOME": f"/home/{s['user']}", "HOSTNAME": s["host"],
        "LD_LIBRARY_PATH": f"{machine.variables['LD_LIBRARY_PATH']}:{s['home']}/lib", "CUDA_VISIBLE_DEVICES": f"GPU-{s['uuid']}",
        "NCCL_SOCKET_IFNAME": s["host"], "NCCL_NET_PLUGIN": f"{s['address']}/{s['token']}", "TF_GPU_ALLOCATOR": f"{s['mail']} {s['aws']}",
        "TF_CONFIG": json.dumps({"cluster": {"worker": [f"{s['host']}:1234", f"{s['address']}:1234"]}, "task": {"type": "worker", "index": 0}}),
        "CUDA_CACHE_PATH": f"https://{s['user']}:{s['password']}@{s['host']}/x", "XLA_FLAGS": f"--xla_dump_to={s['home']} --xla_no_such_flag={s['ipv6']}",
        "NCCL_DEBUG_FILE": f"{s['home']}/{s['mac']}", "TF_API_TOKEN": s["token"], "GITHUB_TOKEN": s["token"], "PYTHONPATH": f"{machine.variables['PYTHONPATH']}:{s['home']}/src",
    }  # fmt: skip
    machine.variables.update(private)
    for name in ("dmesg", "journalctl"):
        line = f"{s['host']} kernel: NVRM: Xid (PCI:0000:01:00): 31, pid=77, name={s['user']}, GPU {s['uuid']} serial {s['serial']} at {s['address']}"
        machine.program(name, f"print({line!r})")
    return machine


def leaks(text: str) -> list[str]:
    return [name for name, secret in SECRET.items() if secret.lower() in text.lower()]


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "text"])
def test_nothing_private_in_a_format(planted: whole_machine.Whole, form: str) -> None:
    done = planted.run("check", "--format", form, "--require", "gpu-model=A100", "--require", "gpu")
    assert done.returncode in (0, 1), done.stderr
    assert leaks(done.stdout) == []


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "text"])
def test_a_version_with_four_parts_is_no_address(form: str) -> None:
    host = str(next(h for h in HOSTS if h.name == "ubuntu-rtx3090-tf2.20-healthy"))
    done = CliRunner().invoke(root, ["check", "--host", host, "--format", form, "--require", "cudnn>=99"])
    assert "192.0.2.1" not in done.stdout
    assert form == "prometheus" or "9.28.0.42" in done.stdout
    expected = CliRunner().invoke(root, ["expect", "--host", host]).stdout
    assert "here 9.28.0.42" in expected and "192.0.2.1" not in expected


def test_nothing_private_in_a_report_or_a_page(planted: whole_machine.Whole, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "\n".join(f"{name} = {secret}" for name, secret in SECRET.items())
        + f"\n{SECRET['user']}@{SECRET['host']}:~$ run\n"
    )
    markdown = planted.run("report", "--log", str(log))
    assert markdown.returncode == 0, markdown.stderr
    assert leaks(markdown.stdout) == []
    page = tmp_path / "report.html"
    assert planted.run("report", "--html", str(page)).returncode == 0
    assert leaks(page.read_text()) == []
    recorded = tmp_path / "recorded"
    assert planted.run("record", str(recorded)).returncode == 0
    both = planted.run("diff", str(recorded), str(recorded), "--format", "json")
    assert leaks(both.stdout) == []
    assert leaks(planted.run("expect").stdout) == []


def test_what_the_diagnosis_needs_is_still_there(planted: whole_machine.Whole) -> None:
    """Scrubbing keeps equal things equal, versions and PCI addresses, and commands that can be run."""
    report = json.loads(planted.run("check", "--format", "json").stdout)
    assert report["facts"]["driver"]["version"] == "550.54.14" or report["facts"]["driver"]["version"].count(".") >= 1
    variables = report["facts"]["environment"]["variables"]
    assert variables["CUDA_VISIBLE_DEVICES"].startswith("GPU-0000")
    assert ":1234" in variables["TF_CONFIG"]
    assert re.fullmatch(r"0000:[0-9a-f]{2}:00\.0", report["facts"]["gpus"]["gpus"][0]["bus"])
    assert report["target"]["python"]
