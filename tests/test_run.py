"""`tfdoctor run`: the program's output and exit code pass through, the explanation comes after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TALK = """
import sys
sys.stdout.write("out\\n"); sys.stdout.flush()
sys.stderr.write("E cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\\n")
sys.stdout.write("no line end"); sys.stdout.flush()
sys.exit({code})
"""


def run(*command: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    whole = [sys.executable, "-m", "tfdoctor", "run", "--no-host", "--", *command]
    return subprocess.run(whole, input=stdin, capture_output=True, timeout=60, check=False)


def python(source: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return run(sys.executable, "-c", source, stdin=stdin)


@pytest.mark.parametrize("code", [0, 3])
def test_output_and_exit_code_pass_through(code: int) -> None:
    done = python(TALK.format(code=code))
    assert done.returncode == code
    assert done.stdout == b"out\nno line end"
    assert done.stderr.startswith(b"E cuda_driver.cc:271] failed call")
    assert b"cuda-visible-devices-hidden" in done.stderr  # TensorFlow spoke and used no GPU: also with exit code 0


def test_a_program_that_is_well_is_not_commented() -> None:
    done = python("print('fine')")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"fine\n", b"")


def test_any_bytes_pass_through() -> None:
    done = python("import os; os.write(1, bytes(range(256)) * 5000)")
    assert done.stdout == bytes(range(256)) * 5000


def test_the_program_reads_standard_input() -> None:
    assert python("print(input()[::-1])", stdin=b"abc\n").stdout == b"cba\n"


def test_arguments_are_the_programs_own() -> None:
    assert (
        run(sys.executable, "-c", "import sys; print(sys.argv[1:])", "--no-host", "-h").stdout
        == b"['--no-host', '-h']\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_signal_shows_as_in_a_shell() -> None:
    done = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 128 + signal.SIGKILL


def test_a_program_that_is_not_there() -> None:
    done = run("no-such-program-anywhere")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
def test_a_program_on_a_terminal_sees_a_terminal(tmp_path: Path) -> None:
    import pty

    said = tmp_path / "said"
    source = f"import sys; open({str(said)!r}, 'w').write(str(sys.stdout.isatty()))"
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover  the child becomes tfdoctor
        os.execv(sys.executable, [sys.executable, "-m", "tfdoctor", "run", "--", sys.executable, "-c", source])
    while True:
        try:
            if not os.read(terminal, 1024):
                break
        except OSError:
            break
    os.waitpid(child, 0)
    os.close(terminal)
    assert said.read_text() == "True"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_reader_that_goes_away_ends_the_program() -> None:
    endless = "import signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: print('y')"
    whole = [sys.executable, "-m", "tfdoctor", "run", "--no-host", "--", sys.executable, "-c", endless]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE
        assert process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])])
def test_a_signal_to_tfdoctor_alone_ends_the_program(number: signal.Signals) -> None:
    source = (
        "import os, signal, time\n"
        f"signal.signal({int(number)}, signal.SIG_DFL)\n"
        "print(os.getpid(), flush=True)\ntime.sleep(600)"
    )
    whole = [sys.executable, "-m", "tfdoctor", "run", "--no-host", "--", sys.executable, "-c", source]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_ignored_hangup_stays_ignored() -> None:
    """As under nohup."""
    source = "import time\nprint('up', flush=True)\ntime.sleep(1)\nprint('done')"
    whole = [sys.executable, "-m", "tfdoctor", "run", "--no-host", "--", sys.executable, "-c", source]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = subprocess.Popen(whole, stdout=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGHUP, before)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.read() == b"done\n"
        assert process.wait(timeout=60) == 0


def test_a_program_that_fails_and_prints_nothing() -> None:
    done = python("import sys; sys.exit(4)")
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"exit code 4 and printed nothing" in done.stderr
