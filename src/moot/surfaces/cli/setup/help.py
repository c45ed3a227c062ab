"""`moot help`: the same as `--help`, where people look for it; with `--all` every command."""

from __future__ import annotations

import click

from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.lazy import SHOW_ALL
from moot.surfaces.terminal.shell import Shell, command


@command(None, "help", "help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="List every command.")
def show_help(_shell: Shell, words: tuple[str, ...], everything: bool) -> Answer:
    """What a command does and how it is typed; without one, what there is.

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
    """The context that the words would lead to, made from the outermost one."""
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
