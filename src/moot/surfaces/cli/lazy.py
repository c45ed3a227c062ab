"""A click group that imports a command's module only when that command is used or explained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command lives (`module:attribute`), and its one line of help."""

    target: str
    help: str


class LazyGroup(click.Group):
    """`sections` maps a heading to its commands, in the order they are shown."""

    def __init__(self, *args: Any, sections: dict[str, dict[str, Entry]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._entries = {
            name: entry for entries in sections.values() for name, entry in entries.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._entries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completion from the table alone, too."""
        from click.shell_completion import CompletionItem

        names = {
            name: entry for name, entry in self._entries.items() if name.startswith(incomplete)
        }
        found = [CompletionItem(name, help=entry.help) for name, entry in names.items()]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help from the table alone: showing it imports nothing."""
        for heading, entries in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, entry.help) for name, entry in entries.items()])
