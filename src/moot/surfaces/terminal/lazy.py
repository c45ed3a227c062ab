"""A click group that lists its commands from a table and suggests a command after a typing error.

It imports a command's module only when that command is used or its help is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(msgspec.Struct, frozen=True):
    """Where a command is defined (`module:attribute`), and its one line of help."""

    target: str
    help: str


def read_sections(table: str, package: str = "moot.surfaces.cli") -> dict[str, dict[str, Entry]]:
    """Read a table of commands: headings, each followed by rows `name  module:attribute  help`."""
    sections: dict[str, dict[str, Entry]] = {}
    entries: dict[str, Entry] = {}
    for line in table.strip().splitlines():
        name, *rest = re.split(r" {2,}", line.strip())
        if rest:
            target, text = rest
            entries[name] = Entry(f"{package}.{target}", text)
        else:
            entries = sections[name] = {}
    return sections


# In a context's `meta`: whether its help lists every command.
SHOW_ALL: Final = "moot.show_all"

Sections = Mapping[str, Mapping[str, Entry | str]]


class LazyGroup(click.Group):
    """`sections` maps a heading to its commands, in the order they are shown.

    A command that adds itself to the group needs only its line of help there. Commands in `more`
    work like all others, but only `moot help --all` lists them.
    """

    def __init__(
        self, *args: Any, sections: Sections, more: Sections | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._sections = _entries_by_heading(sections)
        self._more = _entries_by_heading(more or {})
        rows = (*self._sections.values(), *self._more.values())
        self._entries = {name: entry for each in rows for name, entry in each.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys((*self._entries, *super().list_commands(ctx))))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is None or not entry.target:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = self._nearest(args[0], ctx)
            if near is None:
                raise
        raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near!r}?", ctx)

    def _nearest(self, word: str, ctx: click.Context) -> str | None:
        from difflib import get_close_matches  # slow to load, and rarely needed

        found = get_close_matches(word, self.list_commands(ctx), 1)
        return found[0] if found and not word.startswith("-") else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete from the table alone: no command is imported."""
        from click.shell_completion import CompletionItem

        names = {
            name: entry for name, entry in self._entries.items() if name.startswith(incomplete)
        }
        found = [CompletionItem(name, help=entry.help) for name, entry in names.items()]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show help from the table alone: no command is imported."""
        shown = {**self._sections, **self._more} if ctx.meta.get(SHOW_ALL) else self._sections
        for heading, entries in shown.items():
            with formatter.section(heading):
                formatter.write_dl([(name, entry.help) for name, entry in entries.items()])
        left_out = len(self._entries) - sum(map(len, shown.values()))
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"{left_out} more: `moot help --all`")


def _entries_by_heading(sections: Sections) -> dict[str, dict[str, Entry]]:
    return {
        heading: {
            name: Entry("", row) if isinstance(row, str) else row for name, row in rows.items()
        }
        for heading, rows in sections.items()
    }
