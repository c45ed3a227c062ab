"""Find files that a session is about to overwrite from memory and that changed since it saw them.

A session knows the version of a file that it last wrote, was told about, read with a tool, or
printed with a shell command; otherwise the version at the start of the session. A newer version by
someone else is unseen. The session is told once; then it counts as seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.copies import Copies, Editor
from moot.workspace.file_versions import Act, FileVersion

if TYPE_CHECKING:
    from moot.api.guard.copies import PresentFile
    from moot.core.clock import Millis

# The path of the row that notes a session's start; no file has it.
SESSION_START: Final = ""
MOST_PRINTED: Final = 20
_LAG: Final[Millis] = 20  # how far file times may be behind
# Commands that print files, where a shell command or a part of it begins.
_PRINTS: Final = re.compile(
    r"(?:^|[;&|\n]|\bthen|\bdo)[ \t]*+(?:cat|head|tail|nl|sed[ \t]++-n|less|bat)[ \t]++"
)
_PART: Final = re.compile(r"[^;&|\n<>]*")


class UnseenVersion(NamedTuple):
    """A file that changed since the session last saw it: by whom (None: unknown), when, how."""

    path: str
    agent: str | None
    at: Millis
    how: str


def note_session_start(
    workspace: Path, root: Path, session: str, agent: str, at: Millis, is_new_process: bool
) -> None:
    """Note when a session started: it may read everything that exists then.

    A resumed session keeps its first start. A new process ends the calls of the earlier process.
    """
    with Copies(workspace, root) as copies:
        if copies.versions.last(str(root), SESSION_START, Act.READ, session=session) is None:
            row = FileVersion(str(root), SESSION_START, Act.READ, "", session, at, "")
            copies.versions.note([row])
        if is_new_process:
            copies.versions.journal.end_session(session)
        copies.versions.journal.hear(session, agent)


def find_unseen(copies: Copies, paths: Iterable[str], editor: Editor) -> tuple[UnseenVersion, ...]:
    """Return the files with a version that the session has not seen, and mark them as seen."""
    unseen, told = list[UnseenVersion](), list[FileVersion]()
    for path in paths:
        present = copies.read(path)
        change = _find_change(copies, path, present, editor) if present is not None else None
        if change is not None and present is not None:
            unseen.append(change)
            told.append(_row_of_reading(copies, path, present, editor))
    if told:
        copies.versions.note(told)
    return tuple(unseen)


def note_printed(copies: Copies, command: str, folder: str, editor: Editor) -> None:
    """Note the files that a shell command showed to the session."""
    rows = []
    below = (os.path.relpath(file, copies.root) for file in find_printed(command, folder))
    for path in [path for path in below if not path.startswith(os.pardir)]:
        present = copies.read(path)
        if present is not None and present.blob:
            rows.append(_row_of_reading(copies, path, present, editor))
    if rows:
        copies.versions.note(rows)


def find_printed(command: str, folder: str) -> list[str]:
    """Return the first few files, absolute, that a shell command prints."""
    words = (os.path.normpath(os.path.join(folder, word)) for word in _words_printed(command))
    return list(islice(filter(os.path.isfile, words), MOST_PRINTED))


def _find_change(
    copies: Copies, path: str, present: PresentFile, editor: Editor
) -> UnseenVersion | None:
    if not present.blob:
        return None
    worktree, versions = str(copies.root), copies.versions
    known = versions.newest(worktree, path, session=editor.session)
    if known is not None and known.blob == present.blob:
        return None
    began = known or versions.last(worktree, SESSION_START, Act.READ, session=editor.session)
    if began is None:
        return None
    for row in versions.list_history(worktree, path, limit=50):
        if row.act is Act.LEFT and row.blob == present.blob and row.at >= began.at:
            return None if _is_own(row, editor) else _describe_unseen(row)
    changed_at = os.lstat(f"{worktree}/{path}").st_ctime_ns // 1_000_000
    if known is None and (changed_at + _LAG < began.at or not _is_uncommitted(copies.root, path)):
        return None
    return UnseenVersion(path, None, changed_at, "")


def _is_own(left: FileVersion, editor: Editor) -> bool:
    """True if this session wrote it, or the agent itself without a session (as `moot undo`
    does)."""
    is_program = left.session.startswith("program:")
    return left.session == editor.session or (is_program and left.agent == editor.agent)


def _describe_unseen(left: FileVersion) -> UnseenVersion:
    return UnseenVersion(left.path, left.agent or None, left.at, left.why)


def _row_of_reading(copies: Copies, path: str, present: PresentFile, editor: Editor) -> FileVersion:
    return FileVersion(
        worktree=str(copies.root),
        path=path,
        act=Act.READ,
        agent=editor.agent,
        session=editor.session,
        at=editor.at,
        blob=present.blob,
        size=present.size,
        mode=present.mode,
    )


def _is_uncommitted(root: Path, path: str) -> bool:
    """False for content from a checkout or merge: git has it, so overwriting loses nothing."""
    from moot.api.guard.git_changes import list_changed_or_empty

    return path in list_changed_or_empty(root, path)


def _words_printed(command: str) -> Iterator[str]:
    """Yield the arguments, without options, of each command that prints files."""
    for start in _PRINTS.finditer(command):
        part = _PART.match(command, start.end())
        for word in (part.group() if part else "").split():
            plain = word.strip("'\"")
            if plain and not plain.startswith("-"):
                yield plain
