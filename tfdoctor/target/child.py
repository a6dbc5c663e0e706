"""Run by path with the target interpreter: prints one JSON object on one line (answer.py says which).

Everything in this folder is read by Python 3.6 to 3.14 with nothing but the standard library, and must start fast: no
typing, re, csv, email, pathlib, importlib.metadata (which alone takes longer than all of this). Annotations are strings
because Python 3.6 does not know `from __future__ import annotations`.
"""

import os
import sys

PACKAGE = "tfdoctor_target"


def start() -> "None":
    """Leave sys.path and the disk as the user's program would find them, and run the answer.

    Running a file by path puts its folder first on sys.path (not with -I, and not where PYTHONSAFEPATH is set): it goes
    before anything else is imported. The files beside this one are found by a package that only this process knows, so
    that they neither hide a module of the target nor are hidden by one.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if isinstance(p, str) and (not os.path.isabs(p) or os.path.realpath(p) != here)]
    sys.dont_write_bytecode = True
    package = type(sys)(PACKAGE)
    package.__path__ = [here]
    sys.modules[PACKAGE] = package
    __import__(PACKAGE + ".answer", fromlist=["main"]).main()


if __name__ == "__main__":
    start()
