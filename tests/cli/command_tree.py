"""Every command that the command line offers, found by walking its lazy tree."""

from __future__ import annotations

from collections.abc import Iterator

import click

from moot.coding_tools import NAMES as HOOK_TOOLS
from moot.surfaces.cli.main import cli

Words = tuple[str, ...]

# What coding tools call answers in the tool's own JSON, not in an envelope; tests/hooks
# and tests/mcp check it.
TOOL_CALLS = {("mcp",), *(("hook", tool) for tool in (*HOOK_TOOLS, "git"))}


def leaves(
    group: click.Group, path: Words = (), context: click.Context | None = None
) -> Iterator[tuple[Words, click.Command]]:
    """Every command with the words that lead to it."""
    ctx = click.Context(group, parent=context, info_name=group.name)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name), ctx)
        else:
            yield (*path, name), command


def commands_with_envelopes() -> dict[str, Words]:
    """The words of each command, by the id that stands in its envelope."""
    found = (words for words, _ in leaves(cli) if words not in TOOL_CALLS)
    return {".".join(words).replace("-", "_"): words for words in found}
