"""`tfdoctor record`: what it writes, that --host then says the same, and that nothing personal is in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import fake_nvml
import pytest
import trees
from click.testing import CliRunner

from tfdoctor import record as recorder
from tfdoctor.checkup import check, facts_of
from tfdoctor.cli import main
from tfdoctor.commands.record import command
from tfdoctor.host import CAPTURES, Host, LiveHost, RecordedHost
from tfdoctor.loader_cache import CacheEntry, parse_cache
from tfdoctor.model import BadInput, Unavailable
from tfdoctor.probes.device_nodes import DeviceNodes
from tfdoctor.probes.kernel_log import KernelLog
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.pci import Pci
from tfdoctor.record import record
from tfdoctor.recorded_files import build_cache

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files")

# Facts that change between two looks, and those that a recording cannot hold.
FLEETING = {"memory", "shm"}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Builds a live machine of files, programs and environment variables."""
    home_of_programs = tmp_path / "programs"
    home_of_programs.mkdir()
    monkeypatch.setenv("PATH", str(home_of_programs))
    monkeypatch.setattr("tfdoctor.host.live.SYSTEM_FOLDERS", (str(home_of_programs),))

    def make(
        changes: dict[str, Any] | None = None, programs: dict[str, str] | None = None, env: dict[str, str] | None = None
    ) -> LiveHost:
        for name, script in (programs or {}).items():
            place = home_of_programs / name
            place.write_text(f"#!{sys.executable}\n{script}\n")
            place.chmod(0o755)
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        return LiveHost(root=str(trees.build(tmp_path / "root", changes or {})))

    return make


def same(live: Host, folder: Path) -> None:
    """A recording gives the facts and the diagnoses of the machine that it was made of."""
    one, two = check(live), check(RecordedHost(str(folder)))
    for name in set(one.facts) | set(two.facts) | set(one.missing) | set(two.missing):
        if name not in FLEETING:
            assert one.facts.get(name) == two.facts.get(name), name
    assert [(o.rule.code, o.status) for o in one.outcomes] == [(o.rule.code, o.status) for o in two.outcomes]
    assert one.verdict == two.verdict
    assert not one.crashes and not two.crashes


def test_a_workstation_recorded_says_the_same(machine, tmp_path):
    live = machine(programs={"dmesg": "print('[ 1.0] NVRM: Xid (PCI:0000:01:00): 31, pid=5, name=python, MMU Fault')"})
    record(live, str(tmp_path / "out"))
    same(live, tmp_path / "out")
    facts = facts_of(RecordedHost(str(tmp_path / "out")))
    (card,) = facts.get(Pci).nvidia_gpus
    assert (card.driver, len(card.upstream)) == ("nvidia", 1)
    assert [n.error for n in facts.get(DeviceNodes).nodes] == ["", "", ""]


@pytest.mark.parametrize(
    "changes",
    [
        {"/proc/driver": None, "/proc/modules": "nouveau 1 0 - Live 0x0\n"},
        {"/proc/modules": None, "/sys/module/nvidia/version": "535.183.01\n", "/sys/module/nvidia_uvm/x": ""},
        {"/sys/bus": None, "/sys/devices": None, "/dev/nvidia-uvm": None},
        {"/proc/self/cgroup": "0::/kubepods/pod8f3a1b2c-1111-4222-8333-444455556666/x\n", "/proc/self/limits": None},
        {
            "/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (a@b)",
            "/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n",
            "/dev/dxg": "",
        },
        {"/proc": None, "/sys": None, "/dev": None, "/etc": None},
    ],
)
def test_other_machines_recorded_say_the_same(machine, tmp_path, changes):
    live = machine(changes)
    record(live, str(tmp_path / "out"))
    same(live, tmp_path / "out")


def test_programs_and_their_exit_codes(machine, tmp_path):
    live = machine(
        programs={
            "nvidia-smi": 'import sys; print("NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver."); sys.exit(9)'
        }
    )
    record(live, str(tmp_path / "out"))
    done = RecordedHost(str(tmp_path / "out")).capture("nvidia-smi.txt")
    assert done is not None
    assert done.code == 9
    assert done.stdout.startswith("NVIDIA-SMI has failed")
    assert RecordedHost(str(tmp_path / "out")).capture("lspci-vvv.txt") is None
    same(live, tmp_path / "out")


def test_a_log_that_may_not_be_read_is_not_an_empty_one(machine, tmp_path):
    live = machine(programs={"dmesg": "import sys; sys.stderr.write('dmesg: Operation not permitted\\n'); sys.exit(1)"})
    record(live, str(tmp_path / "out"))
    with pytest.raises(Unavailable):
        RecordedHost(str(tmp_path / "out")).capture("dmesg.txt")


def test_packages_that_nobody_could_list_are_not_an_empty_list(machine, tmp_path):
    live = machine(programs={"silent": "import time; time.sleep(100)"})
    live.target = str(tmp_path / "programs" / "silent")
    live._timeout = 1.0
    record(live, str(tmp_path / "out"))
    assert not (tmp_path / "out" / "pip-freeze.txt").exists()
    assert "TFD502" not in [o.rule.code for o in check(RecordedHost(str(tmp_path / "out"))).found]


def test_the_journal_stands_in_for_a_log_that_may_not_be_read(machine, tmp_path):
    refused = "import sys; sys.exit(1)"
    live = machine(
        programs={"dmesg": refused, "journalctl": "print('NVRM: Xid (PCI:0000:01:00): 48, pid=1, name=x, DBE')"}
    )
    record(live, str(tmp_path / "out"))
    (xid,) = facts_of(RecordedHost(str(tmp_path / "out"))).get(KernelLog).xids
    assert xid.code == 48


def test_every_part_of_the_contract(machine, tmp_path):
    programs = dict.fromkeys(("nvidia-smi", "lspci", "dmesg", "rocm-smi", "modinfo", "rpm"), "print('something')")
    parts = record(machine(programs=programs), str(tmp_path / "out"))
    own = {
        "root",
        "nvml.json",
        "target.json",
        "env.txt",
        "dev.txt",
        "space.json",
        "elf.json",
        "pip-freeze.txt",
        "absent.txt",
        "recording.json",
    }
    assert set(parts) == own | set(CAPTURES) - {"journal.txt"}
    about = json.loads((tmp_path / "out/recording.json").read_text())
    assert about["schema"] == 1
    assert about["tfdoctor"]
    assert about["created"].endswith("+00:00")


def test_gpus_with_a_stand_in_nvml(machine, tmp_path, monkeypatch):
    programs = os.environ["PATH"]
    monkeypatch.undo()
    fake_nvml.need_compiler()
    environment = fake_nvml.environment(fake_nvml.rtx3090_pair(), tmp_path)
    monkeypatch.setenv("PATH", programs)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    live = LiveHost(root=str(trees.build(tmp_path / "root")))
    uuid = live.nvml()["gpus"][1]["uuid"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", uuid)
    record(live, str(tmp_path / "out"))
    recorded = facts_of(RecordedHost(str(tmp_path / "out")))
    one, two = facts_of(live).get(Gpus), recorded.get(Gpus)
    assert [(g.name, g.bus, g.memory_total, g.nvlinks) for g in one.gpus] == [
        (g.name, g.bus, g.memory_total, g.nvlinks) for g in two.gpus
    ]
    assert uuid not in everything(tmp_path / "out")
    assert RecordedHost(str(tmp_path / "out")).env()["CUDA_VISIBLE_DEVICES"] == two.gpus[1].uuid


def everything(folder: Path) -> str:
    """Every name and every byte of a recording."""
    names = [str(p.relative_to(folder)) for p in folder.rglob("*")]
    return "\n".join([*names, *(p.read_bytes().decode("latin-1") for p in folder.rglob("*") if p.is_file())])


SECRETS = {
    "user": "carolina", "host": "deepbox9", "other": "bertrand", "mail": "joe.doe@corp.example.org", "ipv4": "10.21.33.44", "ipv6": "2a02:8109:1::77",
    "mac": "a4:bf:01:5e:6f:7a", "serial": "1324520019999", "uuid": "7f3a1b2c-1111-4222-8333-444455557777", "token": "hf_abcdefghijABCDEFGHIJ1234",
    "password": "hunter2hunter", "asset": "ACME-00427", "device serial": "b4-96-91-ff-ff-12-34-56",
}  # fmt: skip


def test_planted_secrets_are_in_no_part(machine, tmp_path):
    s = SECRETS
    line = " ".join(
        (
            f"/home/{s['other']}/x",
            s["mail"],
            s["ipv4"],
            s["ipv6"],
            s["mac"],
            f"Serial Number: {s['serial']}",
            f"GPU-{s['uuid']}",
            s["token"],
            f"password={s['password']}",
            s["user"],
            s["host"],
        )
    )
    changes = {
        "/etc/hostname": f"{s['host']}\n",
        "/proc/sys/kernel/hostname": f"{s['host']}\n",
        "/etc/passwd": f"root:x:0:0::/root:/bin/sh\n{s['user']}:x:1000:1000:{s['mail']}:/home/{s['user']}:/bin/sh\n",
        "/etc/group": f"root:x:0:\nvideo:x:44:{s['user']}\n{s['user']}:x:1000:\n",
        "/etc/bash.bashrc": f"{line}\n",
        "/etc/os-release": f"ID=ubuntu\nNAME='{line}'\n",
        "/proc/version": f"Linux version {trees.KERNEL} ({s['user']}@{s['host']}) (gcc 12)",
        "/proc/cmdline": f"root=UUID={s['uuid']} ip={s['ipv4']} rd.password={s['password']} iommu=pt nvidia.NVreg_RegistryDwords={s['user']}\n",
        "/proc/cpuinfo": f"processor : 0\nmodel name : X\nflags : lm avx\nSerial : {s['serial']}\n",
        "/proc/modules": f"nvidia 1 0 - Live 0x0\n{s['host']} 1 0 - Live 0x0\n",
        "/proc/self/cgroup": f"0::/user.slice/{s['user']}.slice\n",
        "/proc/self/mountinfo": f"25 1 8:2 / / rw - nfs {s['host']}:/home/{s['other']} rw\n30 25 0:9 / /data rw - cifs //{s['ipv4']}/x rw,username={s['user']},password={s['password']}\n",
        "/proc/driver/nvidia/params": f"RegistryDwords: \"{line}\"\n",
        "/sys/class/dmi/id/chassis_asset_tag": f"{s['asset']}\n",
        "/sys/class/dmi/id/product_name": f"Board of {s['user']}\n",
        "/sys/class/dmi/id/product_serial": f"{s['serial']}\n",
        "/sys/class/dmi/id/product_uuid": f"{s['uuid']}\n",
        f"{trees.PCI}/{trees.PORT}/config": b"\0" * 256 + s["serial"].encode() * 20,
    }  # fmt: skip
    listing = f"01:00.0 VGA compatible controller: NVIDIA Corporation X [10de:2204]\\n\\tCapabilities: Device Serial Number {s['device serial']}\\n02:00.0 Ethernet controller: {line}\\n"
    programs = {
        "nvidia-smi": f"print({line!r})",
        "dmesg": f"print('Mar 12 10:00:00 {s['host']} kernel: NVRM: Xid (PCI:0000:01:00): 31, pid=5, name=/home/{s['other']}/a.out, {line}')\nprint({line!r})",
        "lspci": f"print('{listing}')",
        "rocm-smi": f"import json; print(json.dumps({{'card0': {{'Serial Number': '{s['serial']}', 'Unique ID': '0x{s['serial']}', 'x': {line!r}}}}}))",
        "modinfo": f"print('filename: /home/{s['other']}/nvidia.ko\\nversion: 535.183.01\\nauthor: {s['mail']}\\nsigner: {s['host']} key')",
    }
    env = {
        "HOME": f"/home/{s['user']}",
        "USER": s["user"],
        "LD_LIBRARY_PATH": f"/home/{s['other']}/lib:/data/{s['user']}/lib",
        "PYTHONPATH": f"/home/{s['other']}/py",
        "CUDA_VISIBLE_DEVICES": f"GPU-{s['uuid']}",
        "HF_TOKEN": s["token"],
        "NVIDIA_API_KEY": s["password"],
        "TF_CONFIG": json.dumps({"cluster": {"worker": [f"{s['host']}:1", f"{s['ipv4']}:2"]}}),
        "NCCL_SOCKET_IFNAME": "eth0",
        "XLA_FLAGS": f"--xla_dump_to=/home/{s['other']}/dump",
        "KUBERNETES_SERVICE_HOST": s["ipv4"],
        "NCCL_COMM_ID": f"{s['ipv4']}:5555",
    }
    live = machine(changes, programs, env)
    record(live, str(tmp_path / "out"))
    kept = everything(tmp_path / "out")
    assert {name: secret for name, secret in s.items() if secret.lower() in kept.lower()} == {}
    assert "NVRM: Xid (PCI:0000:01:00): 31, pid=5" in kept  # what a diagnosis needs is still there
    assert "NCCL_SOCKET_IFNAME=eth0" in kept


def test_only_a_new_or_an_empty_folder(machine, tmp_path):
    live = machine()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for bad in ("full", "file", "nowhere/out"):
        with pytest.raises(BadInput):
            record(live, str(tmp_path / bad))
    assert (tmp_path / "full/x").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    record(live, str(tmp_path / "empty"))
    assert (tmp_path / "empty/recording.json").is_file()


def test_an_interruption_leaves_nothing(machine, tmp_path, monkeypatch):
    live = machine()
    before = set(os.listdir(tmp_path))

    def interrupted(*_arguments: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "_json", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record(live, str(tmp_path / "out"))
    assert set(os.listdir(tmp_path)) == before


def test_command(machine, tmp_path, monkeypatch, capsys):
    machine()
    monkeypatch.setenv("TFDOCTOR_ROOT", str(tmp_path / "root"))
    done = CliRunner().invoke(command, [str(tmp_path / "out")])
    assert done.exit_code == 0
    assert (tmp_path / "out/recording.json").is_file()
    with pytest.raises(SystemExit) as ended:
        main(["record", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert "not empty" in capsys.readouterr().err


def test_loader_cache_is_written_as_it_is_read():
    entries = [
        CacheEntry("libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", 0x0303, ""),
        CacheEntry("libz.so.1", "/usr/lib/glibc-hwcaps/x86-64-v3/libz.so.1", 0x0303, "x86-64-v3"),
        CacheEntry("libz.so.1", "/usr/lib/libz.so.1", 0x0303, ""),
    ]
    assert list(parse_cache(build_cache(entries))) == entries
    assert parse_cache(build_cache([])) == ()
