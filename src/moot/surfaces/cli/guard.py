"""`moot guard check` and `moot undo`: may an agent write there? What was in a file before?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shlex import quote

import click

from moot.api.guard import checks
from moot.api.guard import undo as versions
from moot.api.typed_paths import find_path_from_root, locate_typed_path, locate_typed_paths
from moot.core.errors import Refused
from moot.core.text import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.shell import Shell, command

SECTIONS = {"Commands": {"check": "may an agent write to these paths?"}}


@click.command("guard", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def guard() -> None:
    """Check whether an agent may write to a file."""


@command(guard, "check", "guard.check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--agent", metavar="NAME", help="Who would write (default: you).")
def check(shell: Shell, paths: tuple[str, ...], agent: str | None) -> Answer:
    """May an agent write to these paths? Writes nothing, reserves nothing.

    Paths are read from the folder you are in, :/x from the root of the worktree. The exit code is
    1 if another agent holds one of them; without an agent's name, if any agent does. Resources
    such as port:3000 can be checked too.

    Examples:
      moot guard check src/auth.py
      moot guard check src/a.py src/b.py --agent amber-otter --json
      cd src && moot guard check a.py :/docs
      moot guard check port:3000
    """
    asked = locate_typed_paths(paths, shell.session)
    checked = checks.check(shell.session, asked, agent=agent)
    if checked.allowed:
        _require_no_slip(shell, paths, agent)
    lines = [] if shell.json else [_line(each) for each in _one_by_one(shell, asked, checked)]
    return Answer(checked, lambda: lines, DONE if checked.allowed else REFUSED)


def _one_by_one(
    shell: Shell, asked: tuple[str, ...], checked: checks.GuardCheck
) -> list[checks.GuardCheck]:
    """Check each path separately, so that a person reads one line for each path."""
    if len(asked) == 1:
        return [checked]
    return [checks.check(shell.session, [path], agent=checked.agent) for path in asked]


def _require_no_slip(shell: Shell, paths: tuple[str, ...], agent: str | None) -> None:
    """Refuse a path that is free here but held at the same path from the root.

    A user who named a path from the root by mistake would read "free", and start to write.
    """
    for text in paths:
        at_root = find_path_from_root(text, shell.session)
        held = [] if at_root is None else checks.check(shell.session, [at_root], agent=agent).held
        if held:
            raise Refused(
                "named_from_the_root",
                f"{text} is read from the folder you are in, where it does not exist;"
                f" from the root {held[0].message}",
                hint=f"`moot guard check {quote(f':/{text}')}` asks for that one,"
                f" `moot guard check {quote(f'./{text}')}` for the one here",
            )


def _line(checked: checks.GuardCheck) -> str:
    """Return the answer for one path."""
    if checked.allowed:
        return f"{paint('free', 'green')}: {visible(checked.paths[0])}"
    first, *others = checked.held
    more = f" (and {len(others)} more)" if others else ""
    return f"{paint('held', 'red')}: {visible(first.message)}{more}"


_HEAD = ("path", "n", "left by", "at", "bytes", "then")
_SHORT = 12  # digits of an id


@command(None, "undo", "undo")
@click.argument("path", required=False)
@click.option(
    "--version",
    type=click.IntRange(1),
    metavar="N",
    help="The version with this number in the list.",
)
@click.option("--at", metavar="TIME", help="The version that was there at this time.")
@click.option("--id", "blob", metavar="ID", help="The version whose git id begins with ID.")
@output_option("Write its bytes to FILE instead, even if another agent holds the file.")
@click.option(
    "--show", metavar="PATH", help="Show what would change, line by line; change nothing."
)
@click.option("--list", "listed", metavar="PATH", help="List versions of this file or folder.")
@click.option("--all", "all_worktrees", is_flag=True, help="List versions in all worktrees.")
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
    """Restore an earlier version of a file: bytes and mode. Without a PATH, list the versions.

    Moot copies what each agent's edit or command left, and what an edit overwrote, but not files
    that git ignores or files over 8 MiB; git prunes the copies after some weeks. The current
    content is copied first. Refused if another agent holds the file. A PATH is read from the folder
    you are in, :/x from the root of the worktree.

    Examples:
      moot undo
      moot undo --show src/auth.py
      moot undo src/auth.py
      moot undo src/auth.py --version 2
      moot undo src/auth.py --at 2026-11-15T10:00:00Z -o before.py
    """
    if sum(each is not None for each in (path, show, listed)) > 1:
        raise click.UsageError("use only one: PATH to restore, --show PATH or --list PATH")
    session = shell.session
    if show is not None:
        there = locate_typed_path(show, session)
        difference = versions.show(session, there, version=version, at=at, blob=blob)
        return Answer(difference, lambda: _difference_lines(difference))
    if path is not None:
        there = locate_typed_path(path, session)
        restored = versions.restore(session, there, version=version, at=at, blob=blob, file=output)
        return Answer(restored, lambda: _restored_lines(restored))
    if (version, at, blob, output) != (None, None, None, None):
        raise click.UsageError("which file? `moot undo PATH`")
    below = None if listed is None else locate_typed_path(listed, session)
    known = versions.list_undoable(session, path=below, all_worktrees=all_worktrees, limit=limit)
    return Answer(known, lambda: _listing_lines(known, all_worktrees))


def _listing_lines(known: versions.KnownVersions, all_worktrees: bool) -> Iterable[str]:
    if known.versions:
        yield from listing((_row(version, all_worktrees) for version in known.versions), _HEAD)
    else:
        yield "nothing to restore: every file is as it was last seen"
    if known.more:
        yield f"{known.more} more: --limit, or --list PATH"
    if known.elsewhere:
        yield f"copies of {plural(known.elsewhere, 'file')} in other worktrees: --all"


def _row(version: versions.KnownVersion, all_worktrees: bool) -> tuple[str, ...]:
    path = f"{version.worktree}/{version.path}" if all_worktrees else version.path
    left = version.agent or "someone"
    return (path, str(version.number), left, version.at, str(version.size), _loss(version))


def _loss(version: versions.KnownVersion) -> str:
    """Say who replaced this version, and by what."""
    if version.lost_to is None:
        return "changed by someone unknown"
    return f"{version.lost_to}: {version.lost_by}"


def _difference_lines(shown: versions.VersionDifference) -> Iterable[str]:
    version = shown.version
    yield f"version {version.number} ({version.id[:_SHORT]}), {_origin(version)}"
    if shown.difference is None:
        yield f"{version.size} bytes, not text: `-o FILE` writes them"
        return
    yield from map(visible, shown.difference.splitlines())


def _restored_lines(restored: versions.RestoredVersion) -> Iterable[str]:
    version = restored.restored
    yield f"{visible(restored.file)}: {plural(version.size, 'byte')} restored"
    yield f"  {_origin(version)}"
    if restored.replaced is not None:
        yield f"  the content before that is kept as {restored.replaced[:_SHORT]}"


def _origin(version: versions.KnownVersion) -> str:
    if version.agent is None:
        return f"as it was {version.left_by}, {version.at}"
    return f"left by {version.agent} ({visible(version.left_by)}), {version.at}"
