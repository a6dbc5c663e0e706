#!/usr/bin/env python3
"""The speeds that the design promises, as ratios within one run.

    python benchmarks/speed.py --python ENV/bin/python      (ENV has TensorFlow)

Each command is run in turn with its partner, ROUNDS times; the fastest of each counts, since everything else that the
machine does only adds. Prints a table; record it in benchmarks/results.md with the machine it ran on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

TFDOCTOR = [sys.executable, "-m", "tfdoctor"]


def seconds(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """Wall-clock seconds of one run of a whole process."""
    started = time.perf_counter()
    subprocess.run(argv, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def fastest(commands: Mapping[str, tuple[Sequence[str], Mapping[str, str]]], rounds: int) -> dict[str, float]:
    """Name -> the fastest of `rounds` runs; the commands take turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, (argv, env) in commands.items():
            best[name] = min(best.get(name, float("inf")), seconds(argv, env))
    return best


def memory(argv: Sequence[str]) -> float:
    """Peak MB of one run: of the largest of its processes."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    plain = dict(os.environ)
    check = [*TFDOCTOR, "check", "--python", arguments.python]
    host = REPOSITORY / "tests" / "hosts" / "ubuntu-rtx3090-tf2.20-healthy"
    with tempfile.TemporaryDirectory() as folder:
        one, eight = with_gpus(Path(folder))
        commands = {
            "check": (check, plain),
            "import tensorflow": ([arguments.python, "-c", "import tensorflow"], plain),
            "check, one GPU": (check, {**plain, **one}),
            "check, eight GPUs": (check, {**plain, **eight}),
            "check --host": ([*TFDOCTOR, "check", "--host", str(host)], plain),
            "compat": ([*TFDOCTOR, "compat", "--gpu", "RTX 3090", "--driver", "550", "--python", "3.11"], plain),
        }
        best = fastest(commands, arguments.rounds)
    import_ratio = best["import tensorflow"] / best["check"]
    rows = [
        ("check, TensorFlow in the environment", f"{best['check']:.3f} s", "at most 0.35 s"),
        ("import tensorflow beside it", f"{best['import tensorflow']:.2f} s", ""),
        ("check is this share of the import", f"1/{import_ratio:.1f}", "at most 1/15"),
        ("eight GPUs against one", f"{best['check, eight GPUs'] / best['check, one GPU']:.2f}", "at most 1.3"),
        ("check --host", f"{best['check --host']:.3f} s", "at most 0.5 s"),
        ("compat", f"{best['compat']:.3f} s", "at most 0.25 s"),
        ("memory of check", f"{memory(check):.0f} MB", "at most 80 MB"),
        ("load of the machine meanwhile", f"{os.getloadavg()[0]:.1f}", ""),
    ]
    for what, value, limit in rows:
        print(f"| {what} | {value} | {limit} |")


def with_gpus(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of a stand-in NVML with one H100 and with eight."""
    import fake_nvml

    found = []
    for count, profile in ((1, fake_nvml.h100x8().but({"count": 1})), (8, fake_nvml.h100x8())):
        place = folder / str(count)
        place.mkdir()
        found.append(fake_nvml.environment(profile, place))
    return found[0], found[1]


if __name__ == "__main__":
    main()
