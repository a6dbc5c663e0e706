"""Environment variables in the environment's own activation, never in a shell's start-up file.

A conda environment has folders for this; a virtual environment has only its activate scripts, which get a marked
block at their end, and one in their `deactivate` that puts the former values back. The scripts are replaced, not
written into.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from tfdoctor.writing import write_atomically

BEGIN = "# >>> tfdoctor {name} >>>"
END = "# <<< tfdoctor {name} <<<"
Variables = Sequence[tuple[str, Optional[str]]]
#: What a fix appends to a path list so that the former value stays; it is not quoted away.
REFERENCES = ("${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", "$LD_LIBRARY_PATH", "$PATH")


@dataclass(frozen=True)
class _Shell:
    """How one shell sets a variable and puts it back; `opening` is the line with which `deactivate` begins."""

    script: str
    set_line: Callable[[str, Optional[str]], str]
    back_line: Optional[Callable[[str], str]] = None
    opening: str = ""


def write(prefix: str, kind: str, variables: Variables) -> tuple[str, ...]:
    """Set `variables` whenever the environment is activated; returns the files that were written. Raises OSError."""
    root = Path(prefix)
    if kind == "conda":
        return _conda(root, variables)
    written = []
    for shell in SHELLS:
        script = root / "bin" / shell.script
        if script.is_file():
            mode = script.stat().st_mode
            write_atomically(script, _with(script.read_text(), shell, variables))
            script.chmod(mode)
            written.append(str(script))
    if not written:
        raise FileNotFoundError(f"{root / 'bin' / 'activate'}")
    return tuple(written)


def _with(text: str, shell: _Shell, variables: Variables) -> str:
    """The script with a block for each variable, in place of an older one for the same variable."""
    for name, value in variables:
        begin, end = (re.escape(mark.format(name=name)) for mark in (BEGIN, END))
        text = re.sub(rf"^[ \t]*{begin}\n.*?^[ \t]*{end}\n", "", text, flags=re.M | re.S)
        opening = re.search(shell.opening, text, re.M) if shell.back_line is not None else None
        if opening and shell.back_line is not None:
            block = _block(name, shell.back_line(name), "    ")
            text = f"{text[: opening.end()]}\n{block}{text[opening.end() + 1 :]}"
        text = f"{text.rstrip()}\n\n{_block(name, shell.set_line(name, value))}"
    return text


def _block(name: str, line: str, indent: str = "") -> str:
    return "".join(f"{indent}{text}\n" for text in (BEGIN.format(name=name), line, END.format(name=name)))


def show(name: str, value: Optional[str], shell: str) -> str:
    """The line that sets a variable in a shell: "posix", "fish", "csh", "powershell" or "cmd"."""
    if shell == "powershell":
        return f"Remove-Item Env:{name}" if value is None else f"$env:{name} = '{value.replace(chr(39), chr(39) * 2)}'"
    if shell == "cmd":
        return f'set "{name}={value or ""}"'
    return {"fish": _fish, "csh": _csh}.get(shell, _posix)(name, value)


def _posix(name: str, value: Optional[str]) -> str:
    return f"unset {name}" if value is None else f"export {name}={_quoted(value)}"


def _posix_keeping(name: str, value: Optional[str]) -> str:
    keep = f'_TFDOCTOR_SET_{name}=1; _TFDOCTOR_HAD_{name}="${{{name}+x}}"; _TFDOCTOR_OLD_{name}="${{{name}-}}"'
    return f"{keep}; {_posix(name, value)}"


def _posix_back(name: str) -> str:
    back = f'if [ -n "$_TFDOCTOR_HAD_{name}" ]; then export {name}="$_TFDOCTOR_OLD_{name}"; else unset {name}; fi'
    gone = f"unset _TFDOCTOR_SET_{name} _TFDOCTOR_HAD_{name} _TFDOCTOR_OLD_{name}"
    return f'if [ -n "${{_TFDOCTOR_SET_{name}:-}}" ]; then {back}; {gone}; fi'


def _fish(name: str, value: Optional[str]) -> str:
    return f"set -e {name}" if value is None else f"set -gx {name} {_quoted(value, fish=True)}"


def _fish_keeping(name: str, value: Optional[str]) -> str:
    had = f"set -q {name}; and set -g _TFDOCTOR_OLD_{name} ${name}"
    return f"set -g _TFDOCTOR_SET_{name} 1; {had}; {_fish(name, value)}"


def _fish_back(name: str) -> str:
    old = f"_TFDOCTOR_OLD_{name}"
    back = f"if set -q {old}; set -gx {name} ${old}; set -e {old}; else; set -e {name}; end"
    return f"if set -q _TFDOCTOR_SET_{name}; {back}; set -e _TFDOCTOR_SET_{name}; end"


def _csh(name: str, value: Optional[str]) -> str:
    return f"unsetenv {name}" if value is None else f"setenv {name} {_quoted(value, csh=True)}"


def _csh_keeping(name: str, value: Optional[str]) -> str:
    """csh has no functions and one line for an alias: the former `deactivate` becomes the end of the new one."""
    old, was_set, before = f"_TFDOCTOR_OLD_{name}", f"_TFDOCTOR_SET_{name}", f"_TFDOCTOR_DEACTIVATE_{name}"
    back = f"if ( $?{was_set} ) unsetenv {name}; if ( $?{old} ) eval setenv {name} \\${old}:q; unset {old} {was_set}"
    return "\n".join(
        (
            back,  # where it is activated already
            f'if ( $?{name} ) set {old} = "`printenv {name}`"',
            f"set {was_set}",
            _csh(name, value),
            f'set {before} = "`alias deactivate`"',
            f"alias deactivate '{back}; eval ${before}:q'",
        )
    )


SHELLS = (
    _Shell("activate", _posix_keeping, _posix_back, r"^deactivate ?\(\) ?\{$"),
    _Shell("activate.fish", _fish_keeping, _fish_back, r"^function deactivate\b.*$"),
    _Shell("activate.csh", _csh_keeping),
)


def _quoted(value: str, *, fish: bool = False, csh: bool = False) -> str:
    """Quoted for the shell; a reference to the former value at the end stays one."""
    for reference in REFERENCES:
        if value.endswith(reference):
            own = value[: -len(reference)]
            if reference.startswith("${") and fish:  # a list there, joined with colons
                return f"{shlex.quote(own)} $LD_LIBRARY_PATH"
            if reference.startswith("${") and csh:  # it has no word for "with a colon, if there is one"
                return shlex.quote(own) + "\"`printenv LD_LIBRARY_PATH | sed -n 's/^./:&/p'`\""
            return f'{shlex.quote(own)}"{reference}"'
    if fish:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return shlex.quote(value)


def _conda(root: Path, variables: Variables) -> tuple[str, ...]:
    written = []
    for name, value in variables:
        for folder, line in (("activate.d", _posix_keeping(name, value)), ("deactivate.d", _posix_back(name))):
            script = root / "etc" / "conda" / folder / f"tfdoctor-{name}.sh"
            script.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(script, _block(name, line))
            written.append(str(script))
    return tuple(written)


def as_activated(variables: Variables, environment: dict[str, str]) -> dict[str, str]:
    """`environment` as a shell has it after activation."""
    changed = dict(environment)
    for name, value in variables:
        if value is None:
            changed.pop(name, None)
            continue
        for reference in REFERENCES:
            if value.endswith(reference):
                before = changed.get(name, "")
                joined = f":{before}" if reference.startswith("${") and before else before
                value = value[: -len(reference)] + joined
                break
        changed[name] = value
    return changed
