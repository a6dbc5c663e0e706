"""`--here`: what a machine says, by facts put in place of probes."""

from __future__ import annotations

import pytest

from tfdoctor.cli import main
from tfdoctor.engine import Facts
from tfdoctor.fitting.here import look
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.nvml import Driver, Gpu, Gpus
from tfdoctor.probes.platform import Platform
from tfdoctor.tables import Tables

TABLES = Tables()


class Machine(Facts):
    """Facts without probes: what was not put there could not be looked at, for the reason given."""

    def __init__(self, *facts: object, why: Exception) -> None:
        super().__init__([], [])
        self._why = why
        for fact in facts:
            self.put(fact)

    def _look(self, kind: type) -> None:
        self._lacking[kind] = self._why


def platform(**changes: object) -> Platform:
    known = {"system": "linux", "machine": "x86_64", "kernel": "6.1", "distro": "debian", "distro_like": ()}
    known |= {"distro_version": "12", "libc": "glibc", "libc_version": "2.36", "wsl": 0, "source": "test"}
    return Platform(**{**known, **changes})


def python(version: str) -> Interpreter:
    return Interpreter(
        path="python",
        version=version,
        bits=64,
        kind="venv",
        implementation="cpython",
        externally_managed=False,
        pip="25.0",
        user_site=False,
        prefix="",
        others=(),
        source="test",
    )


def test_everything_that_is_seen_is_said():
    cards = (
        Gpu(index=0, name="NVIDIA A100-SXM4-40GB", bus="0000:01:00.0", compute_capability="8.0"),
        Gpu(index=1, name="Tesla V100-SXM2-16GB", bus="0000:02:00.0", compute_capability="7.0"),
    )
    here = look(
        Machine(
            platform(),
            python("3.12.1"),
            Driver("535.183.01", "12.2", "", "test"),
            Gpus(cards, "test"),
            why=Unavailable("no"),
        ),
        TABLES,
    )
    assert here.said == {
        "system": "linux",
        "machine": "x86_64",
        "glibc": "2.36",
        "python": "3.12",
        "driver": "535.183.01",
        "gpu": "Tesla V100-SXM2-16GB",
    }
    assert here.unseen == ()


def test_a_gpu_that_the_tables_do_not_know_is_said_by_its_capability():
    cards = (Gpu(index=0, name="NVIDIA Future 1", bus="0000:01:00.0", compute_capability="12.0"),)
    assert look(Machine(Gpus(cards, "test"), why=Unavailable("no")), TABLES).said == {"gpu": "12.0"}


def test_a_lost_gpu_says_nothing():
    cards = (Gpu(index=0, name="NVIDIA H100", bus="0000:01:00.0", lost=True),)
    assert look(Machine(Gpus(cards, "test"), why=NotApplicable("none")), TABLES).said == {}


def test_what_could_not_be_looked_at_is_told_and_what_is_absent_is_not():
    assert len(look(Machine(why=Unavailable("not readable")), TABLES).unseen) == 4
    assert "not readable" in look(Machine(why=Unavailable("not readable")), TABLES).unseen[0]
    assert look(Machine(why=NotApplicable("no driver")), TABLES).unseen == ()


@pytest.mark.parametrize(
    ("changes", "system", "glibc"),
    [
        ({"wsl": 2}, "wsl2", "2.36"),
        ({"system": "darwin", "machine": "aarch64", "libc": "", "libc_version": ""}, "macos", None),
        ({"system": "windows", "libc": "", "libc_version": ""}, "windows", None),
        ({"libc": "musl", "libc_version": "1.2"}, "linux", None),
    ],
)
def test_systems(changes, system, glibc):
    said = look(Machine(platform(**changes), why=NotApplicable("none")), TABLES).said
    assert (said["system"], said.get("glibc")) == (system, glibc)


def test_a_wrong_option_is_told_before_anything_is_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compat", "--here", "--python", "/usr/bin/python3"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1 and "is not a version such as 3.12" in said
