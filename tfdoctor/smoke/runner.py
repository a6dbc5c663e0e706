"""Runs one smoke test in a child process of its own: a crash, an abort or a hang of it is a result, not the end."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from tfdoctor.children import Children, Completed
from tfdoctor.i18n import _, ngettext
from tfdoctor.smoke.leftovers import MARK as RUN
from tfdoctor.smoke.leftovers import end_leftovers
from tfdoctor.smoke.results import Check, SmokeResult

CHILD = Path(__file__).with_name("inside") / "child.py"
MARK = "TFDOCTOR "
LOG_TAIL = 64 * 1024  # characters of TensorFlow's output that are kept for the known errors
OUT_OF_MEMORY = frozenset({"ResourceExhaustedError", "MemoryError"})
ASKING_TIME = 20.0  # seconds for a question that needs no TensorFlow


class Runner:
    """Runs tests with the interpreter `target`. `hook` is a file that the child runs first: only tests pass one."""

    def __init__(self, target: str, *, children: Optional[Children] = None, hook: Optional[str] = None) -> None:
        self.target = target
        self.children = children or Children()
        self._hook = hook

    def run(
        self,
        test: str,
        options: Mapping[str, Any],
        *,
        timeout: float,
        environment: Optional[Mapping[str, str]] = None,
        name: str = "",
    ) -> SmokeResult:
        """Run the program `test` once, called `name` in the result. `environment` is set on top of this process's; a value
        of "" unsets the variable. Nothing that it started is left running."""
        given = {**options, "test": test, **({"hook": self._hook} if self._hook else {})}
        argv = [self.target, str(CHILD), json.dumps(given)]
        run = secrets.token_hex(8)
        try:
            done = self.children.run(argv, timeout=timeout, env={**_environment(environment or {}), RUN: run})
        except OSError as error:
            return SmokeResult(name or test, "not-run", f"{self.target}: {error.strerror}")
        if done is None:
            return SmokeResult(name or test, "not-run", _("there is no interpreter {path}").format(path=self.target))
        end_leftovers(run)
        return read(name or test, done, timeout, environment or {})

    def ask(self, script: str) -> Optional[Completed]:
        """What the target says to a script of the standard library; None when it cannot be run."""
        try:
            return self.children.run([self.target, "-c", script], timeout=ASKING_TIME, cwd=os.sep)
        except OSError:
            return None


def _environment(changes: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with `changes`. TensorFlow is to say all that it says: the known errors read it."""
    merged = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", **changes}
    return {name: value for name, value in merged.items() if value != "" or name not in changes}


def read(test: str, done: Completed, timeout: float, environment: Mapping[str, str]) -> SmokeResult:
    """What a finished child amounts to."""
    stage, last = _lines(done.stdout)
    common: dict[str, Any] = {
        "stage": stage,
        "seconds": done.seconds,
        "log": done.stderr[-LOG_TAIL:],
        "environment": dict(environment),
    }
    if "result" in last:
        try:
            return _finished(test, last["result"], common)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            text = _("its result is not readable ({error})")
            return SmokeResult(test, "crashed", text.format(error=f"{type(error).__name__}: {error}"), **common)
    if "failed" in last:
        state = "out-of-memory" if last.get("kind") in OUT_OF_MEMORY else "failed"
        first = str(last["failed"]).strip().partition("\n")[0]
        return SmokeResult(test, state, f"{last.get('kind')}: {first}", **common)
    if done.timed_out:
        text = _("no end within {seconds:g} s; the last step was: {stage}")
        return SmokeResult(test, "hung", text.format(seconds=timeout, stage=stage or _("none")), **common)
    return SmokeResult(test, "crashed", _how_it_ended(done, stage), **common)


def _lines(stdout: str) -> tuple[str, dict[str, Any]]:
    """(the last stage, the last result or failure) among whatever else a library printed."""
    stage, last = "", {}
    for line in stdout.splitlines():
        _before, mark, text = line.partition(MARK)
        if not mark:
            continue
        try:
            said = json.loads(text)
        except ValueError:
            continue
        if isinstance(said, dict) and "stage" in said:
            stage = str(said["stage"])
        elif isinstance(said, dict):
            last = said
    return stage, last


def _finished(test: str, found: Mapping[str, Any], common: Mapping[str, Any]) -> SmokeResult:
    checks = tuple(Check(c["what"], float(c["error"]), float(c["limit"]), bool(c["ok"])) for c in found["checks"])
    wrong = [c for c in checks if not c.ok]
    devices = tuple(found.get("devices", ()))
    if wrong:
        text = _("{what}: off by {error:.3g}, at most {limit:.3g} is rounding")
        detail = text.format(what=wrong[0].what, error=wrong[0].error, limit=wrong[0].limit)
    else:
        detail = ngettext("{n} check right", "{n} checks right", len(checks)).format(n=len(checks))
    return SmokeResult(
        test,
        "wrong" if wrong else "passed",
        detail,
        checks=checks,
        measured=found.get("measured", {}),
        devices=devices,
        tensorflow=str(found.get("tensorflow", "")),
        importing=float(found.get("import_seconds", 0.0)),
        rehearsal=not any(d.startswith("GPU") for d in devices),
        **common,
    )


def _how_it_ended(done: Completed, stage: str) -> str:
    if done.truncated:
        how = _("it printed without end and was stopped")
    elif done.code == -getattr(signal, "SIGKILL", 9):
        how = _("it was killed from outside (SIGKILL), as the kernel does when the machine's memory runs out")
    elif done.code is not None and done.code < 0:
        how = _("it died of {signal}").format(signal=_signal(-done.code))
    else:
        how = _("it ended with exit code {code} and no result").format(code=done.code)
    return _("{how}; the last step was: {stage}").format(how=how, stage=stage or _("none"))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return _("signal {number}").format(number=number)
