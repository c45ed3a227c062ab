"""`moot completion`: the script that lets a shell complete our commands."""

from __future__ import annotations

import click

from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command


@command(None, "completion", "completion")
@click.argument("shell_name", metavar="bash|zsh|fish", type=click.Choice(["bash", "zsh", "fish"]))
def completion(_shell: Shell, shell_name: str) -> Answer:
    """Print the completion script for your shell.

    Examples:
      moot completion bash >> ~/.bashrc
      moot completion zsh >> ~/.zshrc
      moot completion fish > ~/.config/fish/completions/moot.fish
    """
    from click.shell_completion import get_completion_class

    from moot.surfaces.cli.main import cli

    made = get_completion_class(shell_name)
    assert made is not None, "click knows these three"
    script = made(cli, {}, "moot", "_MOOT_COMPLETE").source()
    data = {"shell": shell_name, "script": script}
    return Answer(data, script.splitlines)
