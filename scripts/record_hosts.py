#!/usr/bin/env python3
"""Record the stand-in machines of tests/hosts anew.

    python scripts/record_hosts.py --environments FOLDER [NAME …]

Each is a tree of files below TFDOCTOR_ROOT, a stand-in libnvidia-ml.so.1, and a real environment with a TensorFlow
release (FOLDER/rc-2200/bin/python is one with `tensorflow[and-cuda]==2.20.0`), looked at by `tfdoctor record`. Paths of
the machine that runs this, and what it has installed itself (a toolkit, say), are taken out afterwards. What the tests
expect of each machine is written by hand in its expected.txt and is never touched here.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))
import fake_cuda  # noqa: E402
import fake_nvml  # noqa: E402
import trees  # noqa: E402

HOSTS = REPOSITORY / "tests" / "hosts"
ENVIRONMENT = "/home/user/venv"  # what the recorded interpreter's environment is called
OWN = ("/usr/local/cuda", "/opt/", "/var/lib/dpkg", "/var/lib/rpm")  # of the machine that runs this
STAND_IN = "/tmp/stand-in"  # what the folder of the stand-in libraries is called
INTEL = "/sys/bus/pci/devices/0000:00:02.0"
Change = Callable[[Path], None]


@dataclass(frozen=True)
class Stand:
    """One stand-in machine: NVML's profile (None: no libnvidia-ml), changes to the tree, the environment, variables, and
    what of libcuda's profile differs."""

    profile: Optional[Any]
    environment: str
    tree: Mapping[str, Optional[str]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=lambda: trees.LINKS)
    cuda: Mapping[str, Any] = field(default_factory=dict)


def driver(version: str) -> dict[str, str]:
    """The loaded kernel module's version file."""
    text = (
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Mon Jan  1 00:00:00 UTC 2024\nGCC version:  gcc\n"
    )
    return {"/proc/driver/nvidia/version": text}


def wide(
    *addresses: str, device: str, device_class: str = "0x030200", first: int = 2
) -> tuple[dict[str, str], dict[str, str]]:
    """(files, links) of devices at full width behind ports of their own (`first` and on), in place of the workstation's card."""
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for number, address in enumerate(addresses):
        port = f"{trees.PCI}/0000:00:{number + first:02x}.0"
        card = f"{port}/{address}"
        for place, kind, vendor, what in (
            (port, "0x060400", "0x8086", "0xa70d"),
            (card, device_class, "0x10de", device),
        ):
            link = {"current_link_speed": "16.0 GT/s PCIe", "max_link_speed": "16.0 GT/s PCIe"}
            link |= {"current_link_width": "16", "max_link_width": "16"}
            values = {"class": kind, "vendor": vendor, "device": what, "numa_node": "0", **link}
            files |= {f"{place}/{name}": f"{value}\n" for name, value in values.items()}
            links[f"/sys/bus/pci/devices/{place.rpartition('/')[2]}"] = place
        links[f"{card}/driver"] = "/sys/bus/pci/drivers/nvidia"
    return files, links


def empty_bus() -> dict[str, Optional[str]]:
    """The workstation with another maker's display controller in place of its card."""
    card = f"{trees.PCI}/0000:00:02.0"
    values = {"class": "0x030000", "vendor": "0x8086", "device": "0x4680"}
    return {**bare(), **{f"{card}/{name}": f"{value}\n" for name, value in values.items()}}


def bare() -> dict[str, Optional[str]]:
    """The workstation without its card."""
    return {f"{trees.PCI}/{trees.PORT}": None}


def unloaded() -> dict[str, Optional[str]]:
    """The workstation without a loaded NVIDIA module."""
    return {
        "/proc/driver": None,
        "/proc/modules": "snd 1 0 - Live 0x0\n",
        "/dev/nvidia0": None,
        "/dev/nvidiactl": None,
        "/dev/nvidia-uvm": None,
        f"{trees.PCI}/{trees.PORT}/{trees.CARD}/driver": None,
    }


def one(device: str, **more: Any) -> dict[str, Any]:
    """The tree of one card of another model, at full width."""
    files, links = wide(trees.CARD, device=device)
    return {"tree": {**bare(), **files, **more}, "links": links}


def stands() -> dict[str, Stand]:
    """Every stand-in machine by name; the name tells system, card, TensorFlow and what is wrong."""
    return {**one_card(), **several_cards(), **without_driver()}


def one_card() -> dict[str, Stand]:
    """Machines with one GPU and a loaded driver."""
    loaded = driver("550.54.14")
    ampere = one("0x2204", **loaded)
    volta = one("0x1db1", **loaded)
    a100 = one("0x20b2", **loaded)
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    old = one("0x2204", **driver("470.82.01"))
    return {
        "ubuntu-rtx3090-tf2.20-healthy": Stand(fake_nvml.rtx3090(), "rc-2200", **ampere),
        "ubuntu-rtx3090-tf2.21-library-path": Stand(fake_nvml.rtx3090(), "rc-2210", **ampere),
        "ubuntu-rtx3090-tf2.21-no-cuda-wheels": Stand(fake_nvml.rtx3090(), "tf221", **ampere),
        "ubuntu-rtx3090-tf2.20-hidden": Stand(fake_nvml.rtx3090(), "rc-2200", variables=hidden, **ampere),
        "ubuntu-t4-driver470-tf2.17": Stand(fake_nvml.old_driver(), "rc-2171", **old),
        "ubuntu-rtx3090-library-kernel-mismatch": Stand(
            fake_nvml.init_fails(18), "rc-2200", cuda={"init": 803}, **ampere
        ),
        "ubuntu-v100-tf2.20-cudnn-dropped": Stand(fake_nvml.v100(), "rc-2200", **volta),
        "ubuntu-v100-tf2.21-cudnn-dropped": Stand(fake_nvml.v100(), "rc-2210", **volta),
        "ubuntu-gtx1080-tf2.17-healthy": Stand(fake_nvml.gtx1080(), "rc-2171", **one("0x1b80", **loaded)),
        "ubuntu-a100-mig-tf2.20": Stand(fake_nvml.a100_mig(), "rc-2200", **a100),
        "ubuntu-a100-ecc-errors": Stand(fake_nvml.ecc_errors(), "rc-2200", **a100),
        "ubuntu-a100-row-remap-pending": Stand(fake_nvml.row_remap_pending(), "rc-2200", **a100),
        "cloud-t4-tf2.20": Stand(fake_nvml.t4(), "rc-2200", **one("0x1eb8", **loaded)),
    }


def several_cards() -> dict[str, Stand]:
    """Machines with two GPUs, and with eight behind NVSwitch."""
    files, links = wide("0000:01:00.0", "0000:02:00.0", device="0x2204", device_class="0x030000")
    two = {**bare(), **files, **driver("550.54.14"), "/dev/nvidia1": ""}
    buses = ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")
    eight_files, eight_links = wide(*(f"0000:{b}:00.0" for b in buses), device="0x2330")
    switch_files, switch_links = wide(
        *(f"0000:{b:02x}:00.0" for b in range(5, 9)), device="0x22a3", device_class="0x068000", first=10
    )
    eight = {**bare(), **eight_files, **{f"/dev/nvidia{n}": "" for n in range(8)}}
    waiting = {f"gpu.{n}.fabric": "1 0 0" for n in range(8)}
    return {
        "ubuntu-2xrtx3090-tf2.16.1-library-path": Stand(fake_nvml.rtx3090_pair(), "rc-2161", two, links=links),
        "ubuntu-2xa100-one-lost": Stand(fake_nvml.lost_gpu(), "rc-2200", two, links=links, cuda={"count": 1}),
        "ubuntu-8xh100-tf2.20-driver550": Stand(
            fake_nvml.h100x8(), "rc-2200", {**eight, **driver("550.54.14")}, links=eight_links
        ),
        "ubuntu-8xh100-tf2.20-no-fabric-manager": Stand(
            fake_nvml.h100x8().but({"driver": "570.133.20", "cuda_driver": 12080, **waiting}),
            "rc-2200",
            {**eight, **switch_files, **driver("570.133.20"), "/proc/1/comm": "systemd\n"},
            links={**eight_links, **switch_links},
            cuda={"init": 802},
        ),
    }


def without_driver() -> dict[str, Stand]:
    """Machines in which no NVIDIA driver can be reached."""
    card = one("0x2204")
    here = {**unloaded(), **card["tree"], "/proc/driver": None}
    docker = {
        "/.dockerenv": "",
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": "25 1 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A\n",
        "/proc/modules": str(trees.WORKSTATION["/proc/modules"]),
    }
    no_driver = {k: v for k, v in card["links"].items() if not k.endswith("/driver")}
    return {
        "ubuntu-rtx3090-nouveau": Stand(
            None, "rc-2200", {**here, "/proc/modules": "nouveau 1 1 - Live 0x0\n"}, links=no_driver
        ),
        "docker-rtx3090-without-gpus": Stand(None, "rc-2200", {**here, **docker}, links=card["links"]),
        "ubuntu-cpu-only-tf2.21": Stand(
            None, "tf221", {**unloaded(), **empty_bus()}, links={INTEL: f"{trees.PCI}/0000:00:02.0"}
        ),
    }


def cuda_profile(stand: Stand) -> fake_cuda.Profile:
    """libcuda's view of the GPUs that NVML's profile has."""
    told: Mapping[str, Any] = stand.profile.values if stand.profile is not None else {}
    count = int(told.get("count", 1))
    same = {
        f"gpu.{i}.{key}": told.get(f"gpu.{i}.{key}") for i in range(count) for key in ("name", "compute_capability")
    }
    known = {key: value for key, value in same.items() if value is not None}
    version = {"driver_version": told["cuda_driver"]} if "cuda_driver" in told else {}
    return fake_cuda.profile(count=count).but({**known, **version, **stand.cuda})


def renamed(stand_in: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The stand-in with its library in `folder`, a name that does not change from one recording to the next."""
    folder.mkdir()
    for place in stand_in["LD_LIBRARY_PATH"].split(":")[:1]:
        for library in Path(place).glob("lib*.so.1"):
            shutil.copy(library, folder)
    return {**stand_in, "LD_LIBRARY_PATH": str(folder)}


def record(name: str, stand: Stand, environments: Path) -> None:
    """Look at one stand-in machine and put the recording in its place."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        root = trees.build(work / "root", dict(stand.tree), stand.links)
        env: dict[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user"}
        if stand.profile is not None:
            cuda = cuda_profile(stand)
            stand_ins = {"nvml": fake_nvml.environment(stand.profile, work), "cuda": fake_cuda.environment(cuda, work)}
            env |= fake_nvml.merge(*(renamed(own, work / name) for name, own in stand_ins.items()))
        env |= {"TFDOCTOR_ROOT": str(root), **stand.variables}
        python = environments / stand.environment / "bin" / "python"
        into = work / "recording"
        argv = [sys.executable, "-m", "tfdoctor", "record", str(into), "--python", str(python)]
        subprocess.run(argv, env=env, check=True, cwd=work, stdout=subprocess.DEVNULL)
        base = subprocess.run(
            [str(python), "-c", "import sys; print(sys.base_prefix)"], check=True, capture_output=True
        )
        paths = {str(environments / stand.environment): ENVIRONMENT, base.stdout.decode().strip(): "/usr"}
        neutral(into, {**paths, str(work): STAND_IN})
        place = HOSTS / name
        kept = {p.name: p.read_bytes() for p in place.glob("expected.txt")}
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(into, place)
        for other, content in kept.items():
            (place / other).write_bytes(content)


def neutral(folder: Path, paths: Mapping[str, str]) -> None:
    """Take out of a recording what belongs to the machine that made it."""
    for own in OWN:
        for path in folder.glob("root" + own.rstrip("/") + "*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for old, new in paths.items():
        moved(folder / "root", old, new)
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in (".json", ".txt"):
            text = path.read_text()
            for old, new in paths.items():
                text = text.replace(old, new)
            path.write_text(_without_own(path, text))
    absent = folder / "absent.txt"
    lines = set(absent.read_text().splitlines()) | {
        "/opt/cuda",
        "/usr/local/cuda",
        "/usr/local/cuda*",
        "/usr/local/cuda-*",
    }
    absent.write_text("".join(f"{line}\n" for line in sorted(lines)))


def moved(root: Path, old: str, new: str) -> None:
    """Put what lies below `old` where `new` is, and leave no folder that tells where it was."""
    source, target = root / old.lstrip("/"), root / new.lstrip("/")
    if not source.is_dir():
        return
    shutil.copytree(source, target, dirs_exist_ok=True)
    shutil.rmtree(source)
    for parent in source.parents:
        if parent == root or any(parent.iterdir()):
            break
        parent.rmdir()


def _without_own(path: Path, text: str) -> str:
    if path.suffix != ".json":
        return "".join(line for line in text.splitlines(True) if not any(own in line for own in OWN))
    return json.dumps(_pruned(json.loads(text)), indent=1, sort_keys=True) + "\n"


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _pruned(v) for k, v in value.items() if not k.startswith(OWN)}
    if isinstance(value, list):
        return [_pruned(v) for v in value if not (isinstance(v, str) and v.startswith(OWN))]
    return value


def main() -> None:
    """Record the named machines, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for name, stand in stands().items():
        if not arguments.names or name in arguments.names:
            record(name, stand, arguments.environments.resolve())
            print(name, flush=True)


if __name__ == "__main__":
    main()
