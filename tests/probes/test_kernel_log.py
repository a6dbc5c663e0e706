"""The kernel log, from dmesg or the journal."""

from __future__ import annotations

import sys

import pytest
from observed import live, program

from tfdoctor.model import Unavailable
from tfdoctor.probes.kernel_log import KernelLog

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


def test_kernel_log(tmp_path):
    program(
        tmp_path, "dmesg", "print('[ 1.0] NVRM: Xid (PCI:0000:01:00): 79, pid=1, name=x, GPU has fallen off the bus.')"
    )
    found = live(tmp_path).get(KernelLog)
    assert [x.code for x in found.xids] == [79]
    assert found.of("fallen-off-bus")


def test_kernel_log_that_may_not_be_read(tmp_path):
    program(
        tmp_path,
        "dmesg",
        "import sys; sys.stderr.write('dmesg: read kernel buffer failed: Operation not permitted\\n'); sys.exit(1)",
    )
    with pytest.raises(Unavailable, match="Operation not permitted"):
        live(tmp_path).get(KernelLog)


def test_journal_where_dmesg_is_not_allowed(tmp_path):
    program(tmp_path, "dmesg", "import sys; sys.exit(1)")
    program(tmp_path, "journalctl", "print('NVRM: Xid (PCI:0000:01:00): 48, pid=1, name=x, DBE')")
    found = live(tmp_path).get(KernelLog)
    assert ([x.code for x in found.xids], found.source) == ([48], "journalctl -k -b")


def test_an_empty_journal_is_one_that_may_not_be_read(tmp_path):
    program(tmp_path, "dmesg", "import sys; sys.exit(1)")
    program(tmp_path, "journalctl", "")
    with pytest.raises(Unavailable):
        live(tmp_path).get(KernelLog)
