"""`moot completion`: how to let a shell complete our commands, and the script for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final

import click

from moot.surfaces.terminal.answer import Answer, say_aside
from moot.surfaces.terminal.shell import Shell, command

# What switches it on, once, for every new shell.
SWITCH_ON: Final = {
    "bash": "echo 'eval \"$(moot completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(moot completion zsh)\"' >> ~/.zshrc",
    "fish": "moot completion fish > ~/.config/fish/completions/moot.fish",
}


@command(None, "completion", "completion")
@click.argument(
    "shell_name", metavar="[bash|zsh|fish]", type=click.Choice(list(SWITCH_ON)), required=False
)
def completion(shell: Shell, shell_name: str | None) -> Answer:
    """Say how to switch on completion for your shell; with its name print the script.

    Examples:
      moot completion
      moot completion bash
    """
    if shell_name is None:
        name = os.path.basename(shell.env.get("SHELL", ""))
        data = {"shell": name, "script": "", "switch_on": SWITCH_ON}
        return Answer(data, lambda: _how(name))
    from click.shell_completion import get_completion_class

    from moot.surfaces.cli.main import cli

    made = get_completion_class(shell_name)
    assert made is not None, "click knows these three"
    script = made(cli, {}, "moot", "_MOOT_COMPLETE").source()
    if not shell.json and sys.stdout.isatty():
        say_aside(f"to switch it on: {SWITCH_ON[shell_name]}")
    data = {"shell": shell_name, "script": script, "switch_on": SWITCH_ON}
    return Answer(data, script.splitlines)


def _how(name: str) -> Iterable[str]:
    """The line for one's own shell, else those for all of them."""
    shown = {name: SWITCH_ON[name]} if name in SWITCH_ON else SWITCH_ON
    for shell_name, line in shown.items():
        yield f"{shell_name}: type this once, then open a new shell"
        yield f"  {line}"
