"""The GPUs' state while a test runs, so that "slow" comes with a reason."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Optional

from tfdoctor.children import kill_tree
from tfdoctor.guard import Guard
from tfdoctor.probes.parse.values import REASON_BITS
from tfdoctor.smoke.results import Sample

CHILD = Path(__file__).with_name("sampler_child.py")
NUMBERS = frozenset(Sample.__dataclass_fields__) - {"throttle"}
MOST = 2000  # samples kept; at two a second and GPU that is minutes of eight GPUs


class Sampler:
    """A context during which a child asks NVML twice a second. A child, since a wedged driver blocks its caller."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._process: Optional[subprocess.Popen[str]] = None
        self._guard: Optional[Guard] = None
        self._samples: list[Sample] = []

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What was seen."""
        return tuple(self._samples)

    def __enter__(self) -> Sampler:
        if self._wanted:
            self._process = subprocess.Popen(
                [sys.executable, str(CHILD)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            self._guard = Guard()
            self._guard.watch(self._process.pid)
            threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._process is not None:
            kill_tree(self._process)
        if self._guard is not None:
            self._guard.close()

    def _read(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        for line in process.stdout:
            sample = parse(line)
            if sample is not None and len(self._samples) < MOST:
                self._samples.append(sample)


def parse(line: str) -> Optional[Sample]:
    """One line of the child, or None when it is none."""
    try:
        said: Any = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("gpu"), int):
        return None
    numbers: dict[str, Any] = {k: v for k, v in said.items() if k in NUMBERS and isinstance(v, (int, float))}
    bits = said.get("throttle")
    held = frozenset(name for bit, name in REASON_BITS.items() if isinstance(bits, int) and bits & bit)
    return Sample(throttle=held, **numbers)
