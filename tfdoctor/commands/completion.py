"""`tfdoctor completion`."""

from __future__ import annotations

import click

from tfdoctor.i18n import _
from tfdoctor.model import BadInput

VARIABLE = "_TFDOCTOR_COMPLETE"  # what click looks for when it is started as "tfdoctor"


@click.command("completion")
@click.argument("shell", metavar="bash|zsh|fish", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Installed by one command, for new shells:
      mkdir -p ~/.local/share/bash-completion/completions && \\
        tfdoctor completion bash > ~/.local/share/bash-completion/completions/tfdoctor
      tfdoctor completion zsh > "${fpath[1]}/_tfdoctor"
      mkdir -p ~/.config/fish/completions && \\
        tfdoctor completion fish > ~/.config/fish/completions/tfdoctor.fish
    Only in this shell:
      source <(tfdoctor completion bash)
    """
    from click.shell_completion import get_completion_class

    from tfdoctor.cli import root

    writer = get_completion_class(shell)
    if writer is None:
        raise BadInput(
            _("There is no completion for {shell}; there is one for bash, zsh and fish.").format(shell=shell)
        )
    click.echo(writer(root, {}, "tfdoctor", VARIABLE).source(), nl=False)
