"""The command line: which commands there are. No logic; each command is imported when it is called."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from typing import Any, Optional

import click

from tfdoctor import __version__
from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.terminal import prepare

# Name -> one line for `tfdoctor --help`, so that listing the commands imports none of them.
COMMANDS = {
    "check": _("say whether TensorFlow will use the GPUs, why not, and what to do"),
    "record": _("write a scrubbed recording of this machine that --host reads"),
    "explain": _("explain a log, a diagnosis or an error code"),
    "run": _("run a program and explain its log when it failed or used no GPU"),
    "compat": _("what goes with what: TensorFlow, Python, driver, CUDA, GPU"),
    "smoke": _("run TensorFlow on the devices and compare with what they can do"),
    "fix": _("show and apply the fixes, check again, undo"),
    "report": _("write what to paste into a bug report, scrubbed"),
    "diff": _("compare two recordings or JSON reports"),
    "expect": _("write a file of requirements from a healthy machine"),
    "schema": _("print the JSON Schema of the JSON output"),
    "completion": _("print the shell completion script"),
}

QUOTED = 600  # characters of each end of a sentence


class Commands(click.Group):
    """Loads `tfdoctor.commands.NAME` when NAME is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if importlib.util.find_spec(f"tfdoctor.commands.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"tfdoctor.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[Optional[str], Optional[click.Command], list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
            hint = _("Did you mean {near}?").format(near=near[0]) if near else _("--help lists them.")
            ctx.fail(_("There is no command {name}. {hint}").format(name=name, hint=hint))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tfdoctor")
def root() -> None:
    """Says whether TensorFlow will use the GPUs of this machine, why not, and what to do.

    \b
    Examples:
      tfdoctor check                            this machine, this Python
      tfdoctor check --python venv/bin/python   another interpreter
      tfdoctor explain train.log                the root cause in a log
      tfdoctor fix --dry-run                    what would be done

    Exit codes: 0 nothing found at or above --fail-on, 1 something found, 2 wrong usage or tfdoctor itself failed.
    """


def main(arguments: Optional[list[str]] = None) -> Any:
    """Run the command line. Input that is not usable ends with one sentence and exit code 2. Raises KeyboardInterrupt."""
    prepare()
    try:
        sys.exit(root.main(args=arguments, prog_name="tfdoctor", standalone_mode=False))
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except BadInput as wrong:
        click.echo(f"tfdoctor: {_readable(str(wrong))}", err=True)
        sys.exit(2)
    except click.Abort:  # click's word for an interrupt
        raise KeyboardInterrupt from None
    except OSError as error:
        _output_is_gone(error)
    except Exception as error:  # noqa: BLE001  tfdoctor itself failed: say so, exit 2, never a bare traceback
        click.echo(f"tfdoctor: {_('internal error')}: {type(error).__name__}: {error}", err=True)
        sys.exit(2)


def _readable(sentence: str) -> str:
    """A sentence that quotes what somebody gave: without control characters, and no longer than a screen."""
    clean = "".join(c if c.isprintable() else "?" for c in sentence)
    return clean if len(clean) <= 2 * QUOTED else f"{clean[:QUOTED]} … {clean[-QUOTED:]}"


def _output_is_gone(error: OSError) -> None:
    """Standard output is full (a reader that went away is click's own: exit code 1). What is left in its buffer must
    not be tried again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"tfdoctor: {error.filename or _('standard output')}: {error.strerror or error}", err=True)
    sys.exit(2)
