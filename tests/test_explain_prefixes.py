"""What others write before each line of a program hides none of its messages."""

from __future__ import annotations

import io

import pytest

from tfdoctor.logs.matcher import Matcher
from tfdoctor.logs.reader import blocks
from tfdoctor.logs.wrapping import unwrapped
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import KnownError

ROWS = tuple(Tables().rows(KnownError))
MATCHERS = {row.id: Matcher([row]) for row in ROWS}

PREFIXES = {
    "quoted in a mail": "> ",
    "quoted by R": "#> ",
    "indented": "    ",
    "mpirun --tag-output": "[1,0]<stderr>:",
    "srun --label": "12: ",
    "docker compose": "worker_1  | ",
    "docker logs -t": "2024-01-01T00:00:00.123456789Z ",
    "containerd": "2024-01-01T00:00:00.123456789Z stderr F ",
    "kubectl logs --prefix": "[pod/train-0/main] ",
    "journalctl": "Dec 01 05:00:00 node python3[123]: ",
    "ray": "(train pid=1234) ",
    "airflow": "[2024-01-01 10:00:00,123] {subprocess.py:92} INFO - ",
    "docker build": "#12 3.456 ",
    "kaggle": "12.3s 4 ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_every_message_is_known_behind_it(prefix: str) -> None:
    hidden = []
    for row in ROWS:
        log = "\n".join(prefix + line for line in row.example.split("\n"))
        if not MATCHERS[row.id].scan(blocks(io.BytesIO(log.encode()))).found:
            hidden.append(row.id)
    assert not hidden


def test_a_line_with_a_prefix_of_its_own_is_no_rest_of_the_one_before() -> None:
    full = "> " + "x" * 98
    log = f"{full}\n> Killed\n{full}y\n> Killed\n".replace("y", "").encode()
    assert unwrapped(log) == log
