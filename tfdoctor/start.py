"""The program's first and last moments. A request to end is answered from before anything heavy is imported."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line. An interrupt ends it quietly with 130, a request to end with 143 (128 + the signal)."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, _end)
    try:
        from tfdoctor.cli import main as run

        run()
    except KeyboardInterrupt:
        print("tfdoctor: interrupted", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # what is left is the end itself
            signal.signal(number, signal.SIG_IGN)


def _end(number: int, _frame: Any) -> None:
    """Unwind, so that every child and half-written file is cleared away."""
    sys.exit(128 + number)
