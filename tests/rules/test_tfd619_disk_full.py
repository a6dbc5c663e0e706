"""TFD619 disk-full: what a log shows of it, and what it leaves to others."""

from __future__ import annotations

import io

import pytest
from log_faults import explained, only_in_a_log

from tfdoctor.known_errors import Catalogue, explain
from tfdoctor.rules.configuration.tfd619_disk_full import disk_full as rule


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk-full"),
        ("OSError: [Errno 122] Disk quota exceeded: '/scratch/ckpt-1.index'", "disk-full"),
        (
            "NCCL WARN Error: failed to extend /dev/shm/nccl-Ab to 9637892 bytes, error: No space left on device (28)",
            "",
        ),
    ],
)
def test_full_shared_memory_is_another_fault(line: str, first: str) -> None:
    found = explain(io.BytesIO(line.encode()), Catalogue.load(), given={})
    assert (found.answers[0].name == "disk-full") == bool(first)


def test_says_where_the_log_has_it() -> None:
    assert "17" in explained(rule).evidence[0].says


def test_check_leaves_it_out() -> None:
    assert only_in_a_log(rule)
