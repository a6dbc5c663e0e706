"""Compare what `tfdoctor check` predicts with what TensorFlow really does, and write docs/reality.md.

    python scripts/reality_check.py                                   # all releases of RELEASES: gigabytes, an hour
    python scripts/reality_check.py --releases 2.21.0 --only plain    # one case
    python scripts/reality_check.py --table-only --raw reality.json   # write the table again from kept results

Each release is installed as `tensorflow[and-cuda]` in an environment that is deleted afterwards. There need be no
GPU: TensorFlow loads the stand-in libcuda.so.1 of tests/fake_cuda and tfdoctor asks the stand-in libnvidia-ml.so.1
of tests/fake_nvml. Which object called dlopen for which library, and where the loader found it, is read from glibc's
LD_DEBUG=libs,files. Not part of the tests: it downloads gigabytes. Linux, uv, gcc.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))
fake_cuda: Any = importlib.import_module("fake_cuda")
fake_nvml: Any = importlib.import_module("fake_nvml")

RELEASES = ("2.14.1", "2.15.1", "2.16.1", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0")
PYTHON = "3.11"
PYTHONS = {"2.14.1": "3.10"}  # its [and-cuda] pins tensorrt 8.5.3.1, which has no wheel for 3.11
GPUS = 2
OLD_DRIVER = "418.87.01"  # CUDA 10.1

LIST_GPUS = """
import json, os
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
print("REALITY " + json.dumps({"pid": os.getpid(), "gpus": len(gpus), "details": [str(d) for d in details]}))
"""


@dataclass(frozen=True)
class Case:
    """One way to set the scene around an installed release."""

    name: str
    says: str
    environment: Mapping[str, str] = field(default_factory=dict)
    wheels_on_path: bool = False  # every site-packages/nvidia/*/lib on LD_LIBRARY_PATH
    without: str = ""  # a folder or file of site-packages that is moved aside
    install: str = ""  # a requirement put in place of what is there, and taken back afterwards
    driver: bool = True  # is there a libcuda.so.1
    cuda: Mapping[str, object] = field(default_factory=dict)  # changes to the driver's profile
    unusable: bool = False  # listed, but nothing could be computed on such a machine: the right verdict is "no"
    if_plain: Optional[bool] = None  # only for releases whose plain case lists GPUs (True) or lists none (False)
    planted: tuple[str, str] = ("", "")  # a file and what it is (see plant): its folder comes first on LD_LIBRARY_PATH
    here: bool = False  # LD_LIBRARY_PATH names the planted folder as an empty entry: the working directory
    stub: bool = False  # a folder lib64/stubs with the toolkit's stub of the driver comes first
    links: bool = False  # every nvidia/*/lib/*.so* is linked into tensorflow/, as TensorFlow's guide says


WHEELS = (
    "cublas",
    "cuda_cupti",
    "cuda_nvcc",
    "cuda_nvrtc",
    "cuda_runtime",
    "cudnn",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "nccl",
    "nvjitlink",
    "nvshmem",
)

CASES = (
    Case("plain", "as installed, no LD_LIBRARY_PATH"),
    Case("ld-path", "every nvidia/*/lib on LD_LIBRARY_PATH", wheels_on_path=True),
    Case("no-driver", "no libcuda.so.1", wheels_on_path=True, driver=False),
    Case("cuinit-999", "cuInit returns 999", wheels_on_path=True, cuda={"init": 999}),
    Case("cuinit-803", "cuInit returns 803, driver mismatch", wheels_on_path=True, cuda={"init": 803}),
    Case("no-device", "cuInit returns 100", wheels_on_path=True, cuda={"init": 100}),
    *(
        Case(f"visible={value}", f"CUDA_VISIBLE_DEVICES={value!r}", {"CUDA_VISIBLE_DEVICES": value}, True)
        for value in ("", "-1", "1", "1,0", "0,7", "7,0", "0,0", "GPU-00000000-0000-4000-8000-000000000001", "none")
    ),
    *(
        Case(
            f"without-{w}",
            f"nvidia/{w} taken away, LD_LIBRARY_PATH set",
            wheels_on_path=True,
            without=f"nvidia/{w}",
            if_plain=False,
        )
        for w in WHEELS
    ),
    *(Case(f"plain-without-{w}", f"nvidia/{w} taken away", without=f"nvidia/{w}", if_plain=True) for w in WHEELS),
    Case("cudnn-8.9", "cuDNN 8.9.7.29", install="nvidia-cudnn-cu12==8.9.7.29", wheels_on_path=True),
    Case("cudnn-9.1", "cuDNN 9.1.0.70", install="nvidia-cudnn-cu12==9.1.0.70", wheels_on_path=True),
    Case("no-wheels", "no NVIDIA wheels at all", without="nvidia"),
    Case("links", "the libraries linked into tensorflow/", links=True),
    Case(
        "ld-path-cusolver",
        "only nvidia/cusolver/lib on LD_LIBRARY_PATH",
        if_plain=False,
        environment={"LD_LIBRARY_PATH": "<site-packages>/nvidia/cusolver/lib"},
    ),
    *(
        Case(
            f"{kind}-cublas",
            f"{says} named libcublas.so.12 first on LD_LIBRARY_PATH",
            wheels_on_path=True,
            planted=("libcublas.so.12", kind),
        )
        for kind, says in (
            ("rubbish", "a text file"),
            ("empty", "an empty file"),
            ("elf32", "a 32-bit library"),
            ("dangling", "a dangling link"),
            ("directory", "a folder"),
        )
    ),
    Case(
        "rubbish-here",
        "an empty entry first in LD_LIBRARY_PATH, a text file libcublas.so.12 in the working directory",
        wheels_on_path=True,
        planted=("libcublas.so.12", "rubbish"),
        here=True,
    ),
    Case(
        "rubbish-hwcaps",
        "a text file glibc-hwcaps/x86-64-v2/libcublas.so.12 below the first folder of LD_LIBRARY_PATH",
        wheels_on_path=True,
        planted=("glibc-hwcaps/x86-64-v2/libcublas.so.12", "rubbish"),
    ),
    Case(
        "preload-cusolver",
        "libcusolver.so.11 in LD_PRELOAD",
        if_plain=False,
        environment={"LD_PRELOAD": "<site-packages>/nvidia/cusolver/lib/libcusolver.so.11"},
    ),
    Case(
        "without-cudnn-graph",
        "libcudnn_graph.so.9 taken away",
        wheels_on_path=True,
        without="nvidia/cudnn/lib/libcudnn_graph.so.9",
    ),
    Case(
        "stub-first",
        "the toolkit's stub of libcuda.so.1 first on LD_LIBRARY_PATH",
        wheels_on_path=True,
        stub=True,
        cuda={"init": 34},
    ),
    Case(
        "old-gpu",
        "GPUs of compute capability 3.0",
        wheels_on_path=True,
        cuda={"gpu.0.compute_capability": "3.0", "gpu.1.compute_capability": "3.0"},
    ),
    Case(
        "old-driver",
        "driver 418.87.01, CUDA driver API 10.1",
        wheels_on_path=True,
        unusable=True,
        cuda={"driver_version": 10010},
    ),
)


# ---- environments ---------------------------------------------------------------------------------------------


def uv(*arguments: str) -> None:
    """Run uv; its own message is enough when it fails."""
    subprocess.run(["uv", *arguments], check=True, stdout=subprocess.DEVNULL)


def create(release: str, folder: Path) -> Path:
    """Install a release into a fresh environment; its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        uv("venv", "-q", "--python", PYTHONS.get(release, PYTHON), str(folder))
        uv("pip", "install", "-q", "--python", str(python), f"tensorflow[and-cuda]=={release}")
    return python


def site_packages(python: Path) -> Path:
    """The site-packages folder of an environment made by `create`."""
    return next((python.parent.parent / "lib").glob("python3*/site-packages"))


def installed_version(python: Path, name: str) -> Optional[str]:
    """The version of a distribution in that environment, None when it is not there."""
    found = list(site_packages(python).glob(f"{name.replace('-', '_')}-*.dist-info"))
    return found[0].name[: -len(".dist-info")].rpartition("-")[2] if found else None


def applies(case: Case, python: Path) -> bool:
    """Cases about a wheel that this release does not install, or has in that version anyway, are left out."""
    if case.without:
        return (site_packages(python) / case.without).exists()
    if case.install:
        name, _, version = case.install.partition("==")
        return installed_version(python, name) not in (None, version)
    return True


def plant(path: Path, kind: str) -> None:
    """Put something that is no library for this machine where the loader looks first."""
    path.parent.mkdir(parents=True)
    if kind == "rubbish":
        path.write_text("this is no library, only a line of text that is longer than a header of an ELF file\n")
    elif kind == "empty":
        path.touch()
    elif kind == "elf32":  # class 1 is 32 bits, machine 3 is the 80386
        path.write_bytes(b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x03\x00\x03\x00\x01" + bytes(4096))
    elif kind == "dangling":
        path.symlink_to("nowhere")
    else:
        path.mkdir()


@contextlib.contextmanager
def linked(site: Path, wanted: bool) -> Iterator[None]:
    """TensorFlow's guide: link the libraries of the wheels into tensorflow/, where $ORIGIN finds them."""
    made: list[Path] = []
    for library in site.glob("nvidia/*/lib/*.so*") if wanted else ():
        link = site / "tensorflow" / library.name
        if not link.exists():
            link.symlink_to(library)
            made.append(link)
    try:
        yield
    finally:
        for link in made:
            link.unlink()


@contextlib.contextmanager
def prepared(case: Case, python: Path) -> Iterator[None]:
    """The environment as the case wants it; as it was, afterwards."""
    folder = site_packages(python) / (case.without or "-")
    aside = python.parent.parent / "aside"
    name = case.install.partition("==")[0]
    before = installed_version(python, name) if name else None
    if case.without:
        folder.rename(aside)
    if case.install:
        uv("pip", "install", "-q", "--no-deps", "--python", str(python), case.install)
    try:
        with linked(site_packages(python), case.links):
            yield
    finally:
        if case.without:
            aside.rename(folder)
        if case.install:
            uv("pip", "install", "-q", "--no-deps", "--python", str(python), f"{name}=={before}")


def driver_profiles(case: Case) -> tuple[Any, Any]:
    """The same machine for both stand-ins: two A100."""
    cuda = fake_cuda.profile(count=GPUS).but(case.cuda)
    capability = str(case.cuda.get("gpu.0.compute_capability", "8.0"))
    cards = [fake_nvml.card_a100(i, compute_capability=capability) for i in range(GPUS)]
    nvml = fake_nvml.system(cards, cuda_driver=cuda.values["driver_version"])
    return cuda, nvml.but({"driver": OLD_DRIVER, "nvml": f"10.{OLD_DRIVER}"}) if "driver_version" in case.cuda else nvml


def surroundings(case: Case, python: Path, scratch: Path) -> dict[str, str]:
    """The environment variables of the case; both stand-in libraries are found unless it has no driver."""
    base = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")}
    base.pop("VIRTUAL_ENV", None)
    site = str(site_packages(python))
    given = {key: value.replace("<site-packages>", site) for key, value in case.environment.items()}
    folders: list[str] = []
    if case.planted[0]:
        plant(scratch / "planted" / case.planted[0], case.planted[1])
        folders.append("" if case.here else str(scratch / "planted"))
    joined: dict[str, str] = {}
    if case.driver:
        cuda, nvml = driver_profiles(case)
        joined = fake_nvml.merge(fake_cuda.environment(cuda, scratch), fake_nvml.environment(nvml, scratch))
        folders += joined["LD_LIBRARY_PATH"].split(":")
    if case.stub:
        stubs = scratch / "cuda-12.4" / "targets" / "x86_64-linux" / "lib" / "stubs"
        stubs.mkdir(parents=True)
        fake_cuda.build(stubs)
        folders.insert(0, str(stubs))
    folders += given.get("LD_LIBRARY_PATH", "").split()
    if case.wheels_on_path:
        folders += sorted(str(f) for f in site_packages(python).glob("nvidia/*/lib"))
    return {**base, **joined, **given, **({"LD_LIBRARY_PATH": ":".join(folders)} if folders else {})}


def working_directory(case: Case, scratch: Path) -> Path:
    """Where both are started."""
    return scratch / "planted" if case.here else scratch


# ---- what TensorFlow does -------------------------------------------------------------------------------------

LOADED_BY = re.compile(r"file=(\S+) \[\d+\];  dynamically loaded by (\S+) \[")
NEEDED_BY = re.compile(r"file=(\S+) \[\d+\];  needed by (\S+) \[\d+\]$")
SEARCH = re.compile(r" search (?:path=.*\((.*)\)|cache=(.*))$")
GOT = re.compile(r"file=(\S+) \[\d+\];  generating link map")


def read_loader_trace(text: str) -> list[dict[str, Any]]:
    """glibc's LD_DEBUG=libs,files -> every library that was looked for by name, in order, and where it was found."""
    seen: list[dict[str, Any]] = []
    tried = how = None
    for raw in text.splitlines():
        line = raw.partition("\t")[2]
        asked = LOADED_BY.match(line) or NEEDED_BY.match(line)
        if asked and "/" not in asked[1]:
            kind = "caller" if "dynamically" in line else "needed_by"
            seen.append({"library": asked[1], kind: asked[2], "found": None, "through": None})
            tried = how = None
        elif search := SEARCH.match(line):
            how = search[1] or search[2]
        elif line.startswith("  trying file="):
            tried = line.partition("=")[2]
        elif (got := GOT.match(line)) and seen and seen[-1]["library"] == got[1]:
            seen[-1].update(found=tried, through=how)
    return seen


def tensorflow_only(trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What TensorFlow dlopened, and what those libraries needed: interpreter and extension modules left out."""
    ours = [e for e in trace if "/tensorflow/" in e.get("caller", "") and "libpython" not in e["caller"]]
    vendor = re.compile(r"/nvidia/|libcu|libnv|tensorrt")
    return [e for e in trace if e in ours or ("needed_by" in e and vendor.search(e["needed_by"]))]


def shorten(value: Any, replace: Mapping[str, str]) -> Any:
    """Paths of this machine out of a result."""
    text = json.dumps(value)
    for path, short in replace.items():
        text = text.replace(json.dumps(path)[1:-1], short)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ", "", text)
    return json.loads(text)


def run_tensorflow(python: Path, env: Mapping[str, str], case: Case, scratch: Path) -> dict[str, Any]:
    """Start this TensorFlow and see what it lists, loads and prints."""
    traced = {**env, "LD_DEBUG": "libs,files", "LD_DEBUG_OUTPUT": str(scratch / "ld")}
    done = subprocess.run(
        [str(python), "-c", LIST_GPUS],
        env=traced,
        cwd=working_directory(case, scratch),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("REALITY ")]
    result: dict[str, Any] = {"exit": done.returncode, "gpus": None, "log": done.stderr.splitlines()[-60:]}
    if answers:
        result.update(json.loads(answers[0][len("REALITY ") :]))
        trace = (scratch / f"ld.{result.pop('pid')}").read_text(errors="replace")
        result["dlopen"] = tensorflow_only(read_loader_trace(trace))
        result["missing"] = [e["library"] for e in result["dlopen"] if not e["found"]]
        if env.get("TFDOCTOR_FAKE_CUDA_LOG"):
            result["driver_calls"] = sorted(set(fake_cuda.calls(env)))
    return result


# ---- what tfdoctor says ---------------------------------------------------------------------------------------


def driver_files(case: Case) -> dict[str, str]:
    """What a loaded driver shows under /proc and /dev."""
    version = OLD_DRIVER if "driver_version" in case.cuda else "550.54.14"
    nodes = [*(f"dev/nvidia{i}" for i in range(GPUS)), "dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools"]
    return {
        **dict.fromkeys(nodes, ""),
        "proc/modules": "nvidia_uvm 1527808 0 - Live 0x0\nnvidia 54566912 1 nvidia_uvm, Live 0x0\n",
        "proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue Jan  2 03:04:05 UTC 2024\n"
        "GCC version:  gcc version 12.3.0\n",
    }


def pci_files() -> dict[str, str]:
    """The GPUs on the PCI bus, at the addresses of the stand-ins' cards."""
    attributes = {
        "vendor": "0x10de",
        "device": "0x20b2",
        "class": "0x030200",
        "numa_node": "0",
        "current_link_width": "16",
        "max_link_width": "16",
        "current_link_speed": "16.0 GT/s PCIe",
        "max_link_speed": "16.0 GT/s PCIe",
    }
    return {
        f"sys/bus/pci/devices/0000:{1 + 0x10 * i:02x}:00.0/{key}": f"{value}\n"
        for i in range(GPUS)
        for key, value in attributes.items()
    }


def machine_root(root: Path, case: Case) -> Path:
    """The files under /proc, /sys, /dev and /etc that a machine with two A100 has; the rest is copied from this one."""
    files = {"proc/modules": "", "dev/null": "", **pci_files(), **(driver_files(case) if case.driver else {})}
    for here in ("/proc/cpuinfo", "/proc/meminfo", "/proc/cmdline", "/proc/version", "/etc/os-release"):
        with contextlib.suppress(OSError):
            files[here[1:]] = Path(here).read_text(errors="replace")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with contextlib.suppress(OSError):
        shutil.copy("/etc/ld.so.cache", root / "etc" / "ld.so.cache")
    return root


def run_tfdoctor(python: Path, env: Mapping[str, str], case: Case, scratch: Path) -> dict[str, Any]:
    """What `check` says of the same environment."""
    command = [sys.executable, "-m", "tfdoctor", "check", "--python", str(python), "--format", "json"]
    root = machine_root(scratch / "root", case)
    done = subprocess.run(
        command,
        env={**env, "TFDOCTOR_ROOT": str(root)},
        cwd=working_directory(case, scratch),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return {"exit": done.returncode, "error": (done.stderr or done.stdout)[-2000:]}
    keep = ("code", "name", "severity", "message", "evidence", "folded_under")
    diagnoses = [{key: d.get(key) for key in keep} for d in said["diagnoses"]]
    return {
        "exit": done.returncode,
        "verdict": said["verdict"],
        "diagnoses": diagnoses,
        "skipped": said.get("skipped"),
        "crashed": said.get("crashed"),
    }


# ---- comparing ------------------------------------------------------------------------------------------------


def is_named(said: Mapping[str, Any], library: str) -> bool:
    """Does an error or a warning name this library?"""
    text = json.dumps([d for d in said.get("diagnoses", []) if d["severity"] != "info"])
    return re.search(re.escape(library) + r"(?![0-9])", text) is not None


OPTIONAL = re.compile(r"libnvinfer|libnvidia-ml|libnccl")


def decisive(real: Mapping[str, Any]) -> list[str]:
    """The libraries not found that TensorFlow itself asked for, or that one of those needs; optional ones left out.

    What NVIDIA's libraries look for on their own (cuDNN libcudnn_graph.so.9.28.0, then .9.28, then .9) is not among them.
    """
    asked = [
        entry["library"]
        for entry in real.get("dlopen", [])
        if not entry["found"] and ("needed_by" in entry or not re.search(r"/lib(cu|nv)[^/]*$", entry["caller"]))
    ]
    return [name for name in dict.fromkeys(asked) if not OPTIONAL.match(name)]


def disagreements(row: Mapping[str, Any]) -> list[str]:
    """Where prediction and reality part; empty when they agree."""
    real, said = row["real"], row["said"]
    if "verdict" not in said:
        return ["check failed: " + " ".join(said.get("error", "").split())[-200:]]
    found = []
    works = bool(real["gpus"]) and not any(case.unusable for case in CASES if case.name == row["case"])
    verdict = said["verdict"]["gpu"]
    if verdict != ("yes" if works else "no"):
        found.append(f"TensorFlow {'uses' if works else 'uses none of'} its GPUs, verdict is {verdict}")
    if not works:
        # A machine without a driver has no libcuda.so.1 either: the driver is what is to be named, and is.
        wanted = [name for name in decisive(real) if name != "libcuda.so.1"]
        unnamed = [name for name in wanted if not is_named(said, name)]
        if unnamed:
            found.append(f"not named: {' '.join(unnamed)}")
    return found


FINDINGS = """\
## What the cases show

- One library that dlopen cannot load costs all GPUs: libcudart, libcublas, libcublasLt, libcufft, libcusolver,
  libcusparse, libcudnn, and what they need (libnvJitLink). NCCL, CUPTI, NVRTC, cuRAND, ptxas and TensorRT do not count
  for listing. At the default log level TensorFlow does not say which library it was.
- All are opened by libtensorflow_framework.so.2, so its RUNPATH counts. That of 2.16.1 names only cudart's folder, that
  of 2.21.0 lacks cusolver's.
- Links to the libraries in `tensorflow/`, as TensorFlow's guide once told people to make, help where that RUNPATH begins
  with `$ORIGIN/`: to 2.19. From 2.20 on it does not.
- A file of the right name that is no library ends the loader's search with an error; a 32-bit library and a dangling link
  are passed over.
- A missing part of cuDNN (libcudnn_graph.so.9) ends the process of 2.21.0 while it lists its GPUs (exit code -6); 2.18
  to 2.20 list them all the same.
- TensorFlow ignores GPUs below compute capability 3.5 when it lists; between that and what the build carries it lists
  them and cannot use them.
"""


def table(rows: list[dict[str, Any]]) -> str:
    """docs/reality.md."""
    known = {case.name: place for place, case in enumerate(CASES)}
    rows = sorted((row for row in rows if row["case"] in known), key=lambda row: known[row["case"]])
    agree = sum(not disagreements(row) for row in rows)
    releases = sorted({row["release"] for row in rows}, key=lambda r: [int(p) for p in r.split(".")])
    lines = [
        "# Prediction against reality",
        "",
        "Written by `scripts/reality_check.py`; do not edit.",
        "",
        f"Each release was installed as `tensorflow[and-cuda]` under Python {PYTHON} (2.14: 3.10) and started with a stand-in",
        f"driver (two A100, driver 550.54.14). `tfdoctor check` looked at the same environment. {agree} of {len(rows)} cases agree.",
        "",
        "*lists*: how many GPUs TensorFlow lists. *cannot load*: libraries that its dlopen does not find (TensorRT,",
        "which is optional, left out). *verdict*, *because*: what `check` says. Listing does not look at the driver's CUDA",
        'version: with a driver too old for every release TensorFlow lists GPUs that it could not use, and "no" is right.',
        "",
        FINDINGS,
    ]
    for release in releases:
        lines += [
            "",
            f"## TensorFlow {release}",
            "",
            "| case | lists | cannot load | verdict | because | |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            if row["release"] != release:
                continue
            verdict = row["said"].get("verdict", {"gpu": "-", "because": "check failed"})
            wrong = "; ".join(disagreements(row))
            cells = [
                row["says"],
                row["real"]["gpus"],
                " ".join(decisive(row["real"])) or "-",
                verdict["gpu"],
                verdict["because"] or "-",
                f"**{wrong}**" if wrong else "agrees",
            ]
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def one_case(case: Case, release: str, python: Path, real: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """Set the scene, run both, put it back. With `real` kept from before, only tfdoctor runs."""
    with prepared(case, python), tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        env = surroundings(case, python, scratch)
        real = real or run_tensorflow(python, env, case, scratch)
        said = run_tfdoctor(python, env, case, scratch)
    short = {
        str(site_packages(python)): "<site-packages>",
        str(python.parent.parent): "<environment>",
        name: "<scratch>",
        str(Path(fake_cuda.fake_build.__file__).parent): "<tests>",
    }
    for folder in env.get("LD_LIBRARY_PATH", "").split(":"):
        if "tfdoctor-fake-" in folder:
            short[folder] = "<driver>"
    row = {"release": release, "case": case.name, "says": case.says, "real": real, "said": said}
    return dict(shorten(row, short))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--releases", nargs="*", default=list(RELEASES), help="TensorFlow releases")
    parser.add_argument("--only", nargs="*", help="names of cases; default all")
    parser.add_argument("--environments", type=Path, help="folder for the environments; what is there is used and kept")
    parser.add_argument("--raw", type=Path, help="keep all results in this JSON file, and go on from what it holds")
    parser.add_argument("--again", action="store_true", help="run cases again that --raw holds already")
    parser.add_argument("--check-again", action="store_true", help="keep what TensorFlow did, ask tfdoctor again")
    parser.add_argument("--table", type=Path, default=REPOSITORY / "docs" / "reality.md")
    parser.add_argument("--table-only", action="store_true", help="run nothing, write the table from --raw")
    return parser.parse_args()


def run_release(release: str, folder: Path, options: argparse.Namespace, rows: dict[tuple[str, str], Any]) -> None:
    """All cases of one release; every result is saved at once."""
    python = create(release, folder)
    for case in CASES:
        key = (release, case.name)
        if (options.only and case.name not in options.only) or not applies(case, python):
            continue
        plain = rows.get((release, "plain"))
        if plain and case.if_plain not in (None, bool(plain["real"]["gpus"])):
            continue
        kept = rows.get(key, {}).get("real") if options.check_again else None
        if key in rows and not (kept or options.again):
            continue
        rows[key] = one_case(case, release, python, kept)
        wrong = disagreements(rows[key])
        print(
            release,
            case.name,
            "GPUs:",
            rows[key]["real"]["gpus"],
            " ".join(decisive(rows[key]["real"])),
            "| " + "; ".join(wrong) if wrong else "| agrees",
            flush=True,
        )
        if options.raw:
            options.raw.write_text(json.dumps(list(rows.values()), indent=1))


def main() -> None:
    """Run what was asked for and write the table."""
    options = arguments()
    kept = json.loads(options.raw.read_text()) if options.raw and options.raw.exists() else []
    rows = {(row["release"], row["case"]): row for row in kept}
    for release in () if options.table_only else options.releases:
        folder = Path(options.environments or tempfile.mkdtemp()) / f"rc-{release.replace('.', '')}"
        try:
            run_release(release, folder, options, rows)
        finally:
            if not options.environments:
                shutil.rmtree(folder.parent, ignore_errors=True)
    options.table.write_text(table(list(rows.values())))


if __name__ == "__main__":
    main()
