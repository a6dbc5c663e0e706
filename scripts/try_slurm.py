"""Runs examples/slurm on a real Slurm: one node, with one GPU that tests/whole_machine.py stands in for.

    python scripts/try_slurm.py

Prints what docs/preflight.md shows. Needs root (slurmd does) and Debian's slurm-wlm and munge; writes only a folder of its
own, and ends the daemons that it started. Not part of CI.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))
import whole_machine  # noqa: E402  from the tests

NODE = socket.gethostname().partition(".")[0]
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={node}
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
Prolog={folder}/prolog.sh
NodeName={node} CPUs=1 RealMemory=500 Gres=gpu:1
PartitionName=gpu Nodes=ALL Default=YES
"""


def nameless(text: str) -> str:
    """Without this machine's name."""
    return re.sub(rf"\b{re.escape(NODE)}\b", "node7", text)


def shell(line: str) -> str:
    """What a command line prints, without this machine's name."""
    done = subprocess.run(
        ["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    return nameless(done.stdout)


def show(line: str) -> None:
    """A command and what it prints, as in a terminal."""
    print(f"$ {line}\n{shell(line)}", end="", flush=True)


def write(path: Path, text: str, mode: int = 0o755) -> Path:
    """A program; `path` again."""
    path.write_text(text)
    path.chmod(mode)
    return path


@contextmanager
def daemon(*argv: str) -> Iterator[None]:
    """A program in the foreground, ended when done."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def set_up(folder: Path) -> None:
    """The configuration, the stand-in GPU and tfdoctor as the prolog finds it."""
    (folder / "machine").mkdir()
    machine = whole_machine.build(folder / "machine")
    own = {k: v for k, v in machine.variables.items() if os.environ.get(k) != v and k != "PATH"}
    lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in own.items())
    call = f"exec {shlex.quote(sys.executable)} -m tfdoctor"
    program = write(folder / "tfdoctor", f'#!/bin/bash\n{lines}{call} "$@"\n')
    prolog = (REPOSITORY / "examples" / "slurm" / "prolog.sh").read_text()
    write(
        folder / "prolog.sh",
        prolog.replace("/opt/tfdoctor/bin/tfdoctor", str(program)).replace("/etc/tfdoctor", str(folder)),
    )
    train = (
        (REPOSITORY / "examples" / "slurm" / "train.sh").read_text().replace("/opt/tfdoctor/bin/tfdoctor", str(program))
    )
    write(folder / "train.sh", train.replace("nodes=2", "nodes=1").replace("node=8", "node=1"))
    write(folder / "train.py", 'print("training")\n')
    os.mknod(folder / "nvidia0", 0o20666, os.makedev(1, 3))
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONFIGURATION.format(node=NODE, folder=folder))
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    (folder / "gres.conf").write_text(f"NodeName={NODE} Name=gpu File={folder}/nvidia0\n")


def finished(job: str) -> bool:
    """Has the job ended, one way or another?"""
    return not any(
        word in shell(f"scontrol show job {job} | grep JobState") for word in ("PENDING", "RUNNING", "COMPLETING")
    )


def submit(folder: Path, expect: str, change: str = "") -> None:
    """Submit train.sh with this file of requirements, wait until the job ended or is held, and show what came of it."""
    (folder / "expect.txt").write_text(expect)
    script = folder / "train.sh"
    if change:
        script = write(folder / "other.sh", script.read_text().replace("${SLURM_GPUS_ON_NODE:-1}", change))
    print(f"== expect.txt: {expect.strip()}" + (f"; train.sh requires gpus>={change}" if change else ""))
    said = shell(f"cd {folder} && sbatch --output=%j.out {script}")
    print("$ sbatch train.sh\n" + said, end="")
    job = said.split()[-1]
    for _second in range(30):
        if finished(job) or "held" in shell(f"scontrol show job {job}"):
            break
        time.sleep(1)
    show("squeue --format='%i %T %r'")
    show("sinfo -R --format='%N %E'")
    show("sinfo --noheader --format='%N %T'")
    show(f"scontrol show job {job} | grep -o -E 'JobState=[A-Z]+|ExitCode=[0-9:]+'")
    output = folder / f"{job}.out"
    print("-- the job's output\n" + (nameless(output.read_text()) if output.exists() else "none\n"), end="")


def main() -> None:
    """All four: good node, good node and too much asked by the job, a file that is no use, bad node."""
    with ExitStack() as ends:
        folder = Path(tempfile.mkdtemp(prefix="tfdoctor-slurm-"))
        ends.callback(shutil.rmtree, folder, True)
        set_up(folder)
        if "Success" not in shell("munge -n | unmunge"):
            ends.enter_context(daemon("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "-F"))
        ends.enter_context(daemon("slurmctld", "-D"))
        ends.enter_context(daemon("slurmd", "-D"))
        submit(folder, "gpus>=1\n")
        submit(folder, "gpus>=1\n", change="2")
        submit(folder, "gpuz>=1\n")
        submit(folder, "gpus>=2\n")
        print("-- slurmd.log\n" + shell(f"grep -A2 'prolog failed' {folder}/slurmd.log"))


if __name__ == "__main__":
    main()
