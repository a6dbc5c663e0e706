#!/usr/bin/env python3
"""Write a new rule and its test: `python scripts/new_rule.py 2 driver-too-old` takes the next free code of layer 2."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tfdoctor.rules import LAYERS

REPOSITORY = Path(__file__).resolve().parent.parent

RULE = '''"""{code} {name}."""

from __future__ import annotations

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine


@rule("{code}", Severity.WARNING)
def {function}(machine: GpuMachine) -> Found:
    """One sentence that states the fault.

    ## What it is

    ## How it shows

    ## How to be sure

    ## What to do

    ## References
    """
    raise NotImplementedError
'''

TEST = '''"""{code} {name}: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts

from tfdoctor.rules.{folder}.{module} import {function} as rule


def test_sick() -> None:
    assert "…" in facts.found(rule, facts.gpu_machine()).message


def test_healthy() -> None:
    assert facts.silent(rule, facts.gpu_machine())
'''


def next_code(layer: str, taken: list[str]) -> str:
    """The code after the highest of `layer` among `taken` ("TFD203"), retired ones included."""
    numbers = [int(code[3:]) for code in taken if code[3] == layer]
    return f"TFD{max(numbers, default=int(layer) * 100) + 1:03}"


def main() -> None:
    """Write the two files and print their paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("layer", choices=sorted(LAYERS))
    parser.add_argument("name", help="kebab-case, the fault and not its cure")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", arguments.name):
        sys.exit(f"{arguments.name!r} is not kebab-case")
    rules = REPOSITORY / "tfdoctor" / "rules"
    taken = ["TFD" + path.name[3:6] for path in rules.glob("*/tfd[0-9][0-9][0-9]_*.py")]
    taken += re.findall(r"TFD\d{3}", (rules / "__init__.py").read_text())
    code = next_code(arguments.layer, taken)
    function = arguments.name.replace("-", "_")
    module = f"{code.lower()}_{function}"
    values = {
        "code": code,
        "name": arguments.name,
        "function": function,
        "module": module,
        "folder": LAYERS[arguments.layer],
    }
    for path, text in (
        (rules / LAYERS[arguments.layer] / f"{module}.py", RULE),
        (REPOSITORY / "tests" / "rules" / f"test_{module}.py", TEST),
    ):
        path.write_text(text.format(**values))
        print(path.relative_to(REPOSITORY))


if __name__ == "__main__":
    main()
