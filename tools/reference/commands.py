"""Every command with its usage, its options and its examples, from click's own tree."""

from __future__ import annotations

from collections.abc import Iterator

import click

from moot.surfaces.cli.main import cli

WIDTH = 100


def page() -> str:
    lines = ["# Commands", "", "What `moot help COMMAND` prints, for every command.", ""]
    for context in walk(cli, None, "moot"):
        lines += _section(context)
    return "\n".join(lines)


def walk(command: click.Command, above: click.Context | None, name: str) -> Iterator[click.Context]:
    """A command and all below it."""
    here = click.Context(
        command,
        above,
        name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    # Click keeps the help option of the first context that asked; another may have asked without -h.
    vars(command).pop("_help_option", None)
    command._help_option = None
    yield here
    if isinstance(command, click.Group):
        for word in command.list_commands(here):
            below = command.get_command(here, word)
            assert below is not None
            yield from walk(below, here, word)


def _section(context: click.Context) -> Iterator[str]:
    depth = min(len(context.command_path.split()), 3)
    yield f"{'#' * (depth + 1)} {context.command_path}"
    yield ""
    yield "```text"
    yield context.command.get_help(context)
    yield "```"
    yield ""
