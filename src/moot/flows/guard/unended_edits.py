"""Edits whose end no hook tells: a tool may take a patch out of a shell command and apply it.

What such an edit leaves would have no copy until something else is seen to happen in the worktree,
and a person at an editor is not seen. So the edit is remembered before it, and the next hook that
runs, whoever's, copies what has changed since. Whose it is nobody says: somebody else may have
written there meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.errors import MootError
from moot.core.sha256 import sha256
from moot.flows.guard.copies import Copies, Editor
from moot.flows.guard.guarded_paths import UNENDED_EDITS, GuardedPaths

LONGEST_SECONDS: Final = 600
MOST_AT_ONCE: Final = 50
WHY: Final = "after a patch in a shell command"


class _UnendedEdit(msgspec.Struct, frozen=True):
    """Where it is, and git's id of each file as it was before."""

    root: str
    blobs: dict[str, str]


def remember_unended_edit(guarded: GuardedPaths, call: str) -> None:
    """Before the edit. Best effort: without it, what the edit leaves is copied later."""
    root = guarded.worktree_root
    with Copies(guarded.workspace, root, only_reads=True) as copies:
        present = {path: copies.read(path) for path in guarded.scopes}
    blobs = {path: file.blob for path, file in present.items() if file is not None}
    folder = guarded.workspace / UNENDED_EDITS
    name = sha256(f"{root}\n{call}".encode("utf-8", "replace")).hexdigest()[:32]
    with suppress(OSError, UnicodeEncodeError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(msgspec.json.encode(_UnendedEdit(str(root), blobs)))


def copy_unended_edits(workspace: Path, now: Millis) -> None:
    """Copy what these edits have changed so far. A file that is as before may yet be written.

    Nobody is stopped if that fails: whoever is seen to destroy something waits for a copy anyway.
    """
    with suppress(MootError, OSError):
        for note in sorted((workspace / UNENDED_EDITS).iterdir())[:MOST_AT_ONCE]:
            is_old = time.time() - note.stat().st_mtime > LONGEST_SECONDS
            is_done = _copy_changed(workspace, note, now)
            if is_done or is_old:
                note.unlink(missing_ok=True)


def _copy_changed(workspace: Path, note: Path, now: Millis) -> bool:
    """True if every file has changed."""
    try:
        edit = msgspec.json.decode(note.read_bytes(), type=_UnendedEdit)
    except msgspec.DecodeError:
        return True
    with Copies(workspace, Path(edit.root)) as copies:
        changed = list(_find_changed(copies, edit))
        copies.keep(changed, Editor("", "", now, WHY))
    return len(changed) == len(edit.blobs)


def _find_changed(copies: Copies, edit: _UnendedEdit) -> Iterable[str]:
    for path, before in edit.blobs.items():
        present = copies.read(path)
        if present is not None and present.blob != before:
            yield path
