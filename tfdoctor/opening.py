"""The machine that a command line means. Light to import: its children start before anything heavy is read."""

from __future__ import annotations

import os
import shutil
from typing import Optional

from tfdoctor.host import TIME_LIMIT, Host, LiveHost, RecordedHost
from tfdoctor.i18n import _
from tfdoctor.model import BadInput


def open_host(python: Optional[str], recorded: Optional[str], timeout: float = TIME_LIMIT) -> Host:
    """The machine to examine, its children started. Raises BadInput for what is none."""
    if recorded is not None:
        if python is not None:
            raise BadInput(_("--python and --host do not go together: a recording tells its interpreter itself."))
        return RecordedHost(recorded)
    root = os.environ.get("TFDOCTOR_ROOT") or None
    if root is not None and not os.path.isdir(root):
        raise BadInput(_("TFDOCTOR_ROOT={root} is not a folder.").format(root=root))
    named = python is not None
    target = None if python is None else interpreter(python)
    return LiveHost(target, root=root, timeout=timeout, named=named).start()


def interpreter(name: str) -> str:
    """The path of an interpreter named on the command line. Raises BadInput when nothing there can be run."""
    if os.path.isdir(name):
        raise BadInput(
            _("{path} is a folder; --python wants an interpreter, such as {path}/bin/python.").format(
                path=name.rstrip("/")
            )
        )
    found = shutil.which(name)
    if found is None:
        why = _("is not executable") if os.path.exists(name) else _("does not exist")
        raise BadInput(_("{path} {why}; --python wants a Python interpreter.").format(path=name, why=why))
    return os.path.abspath(found)  # children may be started elsewhere
