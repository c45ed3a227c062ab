"""`moot undo`: bring back what was in a file before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api.guard import undo as api
from moot.api.typed_paths import locate_typed_path
from moot.core.plural import plural
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.shell import Shell, command

_HEAD = ("path", "n", "left by", "at", "bytes", "then")
_SHORT = 12  # digits of an id


@command(None, "undo", "undo")
@click.argument("path", required=False)
@click.option(
    "--version", type=click.IntRange(1), metavar="N", help="Which one, as the list counts them."
)
@click.option("--at", metavar="TIME", help="The one last seen at this time.")
@click.option("--id", "blob", metavar="ID", help="The one with this id (git's, its beginning).")
@output_option("Write its bytes to FILE instead, whoever holds the file.")
@click.option(
    "--show", metavar="PATH", help="Show what would change, line by line; change nothing."
)
@click.option("--list", "listed", metavar="PATH", help="List only of this file or folder.")
@click.option("--all", "all_worktrees", is_flag=True, help="List those of all worktrees.")
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="How many to list."
)
def undo(
    shell: Shell,
    path: str | None,
    version: int | None,
    at: str | None,
    blob: str | None,
    output: Path | None,
    show: str | None,
    listed: str | None,
    all_worktrees: bool,
    limit: int,
) -> Answer:
    """Bring back what was in a file: bytes and mode. Without a PATH, list what can be brought back.

    A copy is made of what each agent's edit or command left, and of what stood in a file before an
    edit over it. Not of files that git ignores or over 8 MiB; git prunes copies after some weeks.
    What stands there now is kept first. If another agent holds the file it is refused. A PATH is
    read from the folder you are in, :/x from the root of the worktree.

    Examples:
      moot undo
      moot undo --show src/auth.py
      moot undo src/auth.py
      moot undo src/auth.py --version 2
      moot undo src/auth.py --at 2026-11-15T10:00:00Z -o before.py
    """
    if sum(each is not None for each in (path, show, listed)) > 1:
        raise click.UsageError("either a PATH to bring back, or --show PATH, or --list PATH")
    session = shell.session
    if show is not None:
        there = locate_typed_path(show, session)
        difference = api.show(session, there, version=version, at=at, blob=blob)
        return Answer(difference, lambda: _difference_lines(difference))
    if path is not None:
        there = locate_typed_path(path, session)
        restored = api.restore(session, there, version=version, at=at, blob=blob, file=output)
        return Answer(restored, lambda: _restored_lines(restored))
    if (version, at, blob, output) != (None, None, None, None):
        raise click.UsageError("which file? `moot undo PATH`")
    below = None if listed is None else locate_typed_path(listed, session)
    known = api.list_undoable(session, path=below, all_worktrees=all_worktrees, limit=limit)
    return Answer(known, lambda: _listing_lines(known, all_worktrees))


def _listing_lines(known: api.KnownVersions, all_worktrees: bool) -> Iterable[str]:
    if known.versions:
        yield from listing((_row(version, all_worktrees) for version in known.versions), _HEAD)
    else:
        yield "nothing to bring back: every file is as it was last seen"
    if known.more:
        yield f"{known.more} more: --limit, or --list PATH"
    if known.elsewhere:
        yield f"copies of {plural(known.elsewhere, 'file')} in other worktrees: --all"


def _row(version: api.KnownVersion, all_worktrees: bool) -> tuple[str, ...]:
    path = f"{version.worktree}/{version.path}" if all_worktrees else version.path
    left = version.agent or "someone"
    return (path, str(version.number), left, version.at, str(version.size), _loss(version))


def _loss(version: api.KnownVersion) -> str:
    """What came after it, in a few words."""
    if version.lost_to is None:
        return "changed by someone unknown"
    return f"{version.lost_to}: {version.lost_by}"


def _difference_lines(shown: api.VersionDifference) -> Iterable[str]:
    version = shown.version
    yield f"version {version.number} ({version.id[:_SHORT]}), {_origin(version)}"
    if shown.difference is None:
        yield f"{version.size} bytes that are no text: `-o FILE` writes them"
        return
    yield from map(visible, shown.difference.splitlines())


def _restored_lines(restored: api.RestoredVersion) -> Iterable[str]:
    version = restored.restored
    yield f"{visible(restored.file)}: {plural(version.size, 'byte')} brought back"
    yield f"  as {_origin(version)}"
    if restored.replaced is not None:
        yield f"  what stood there is kept as {restored.replaced[:_SHORT]}"


def _origin(version: api.KnownVersion) -> str:
    if version.agent is None:
        return f"it stood {version.left_by}, {version.at}"
    return f"left by {version.agent} ({visible(version.left_by)}), {version.at}"
