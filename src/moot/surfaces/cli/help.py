"""`moot help` and `moot completion`: every command, and how a shell completes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final

import click

from moot.surfaces.terminal.answer import Answer, say_aside
from moot.surfaces.terminal.lazy import SHOW_ALL
from moot.surfaces.terminal.shell import Shell, command


@command(None, "help", "help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="List every command.")
def show_help(_shell: Shell, words: tuple[str, ...], everything: bool) -> Answer:
    """Show what a command does and how to type it; without COMMAND, list the commands.

    Examples:
      moot help
      moot help --all
      moot help trace propose
    """
    context = _context_of(words)
    context.meta[SHOW_ALL] = everything
    text = context.command.get_help(context)
    return Answer({"command": " ".join(words), "text": text}, text.splitlines)


def _context_of(words: tuple[str, ...]) -> click.Context:
    """Return the click context of the command that the words name."""
    outermost = click.get_current_context().find_root()
    names = outermost.help_option_names
    context = click.Context(
        outermost.command,
        info_name=outermost.info_name,
        max_content_width=100,
        help_option_names=names,
    )
    for word in words:
        group = context.command
        below = group.get_command(context, word) if isinstance(group, click.Group) else None
        if below is None:
            raise click.UsageError(f"{context.command_path} has no command {word!r}", context)
        context = click.Context(below, context, word, max_content_width=100)
    return context


# The command that switches completion on for every new shell.
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
    """Show how to switch on completion for your shell; with its name, print the script.

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
    """Return the command for the user's shell, or for every shell if it is unknown."""
    shown = {name: SWITCH_ON[name]} if name in SWITCH_ON else SWITCH_ON
    for shell_name, line in shown.items():
        yield f"{shell_name}: type this once, then open a new shell"
        yield f"  {line}"
