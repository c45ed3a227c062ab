"""What a hook said last: which call of which session runs, or ran a moment ago, and where.

Somebody who watches files needs it to tell who changed one. There is a folder for each session with
a small file for each call; its time is the beginning, and a second file `.ended` has the time of
the end, both by the disk's own clock. Nothing is written unless somebody watches (`start_notes`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.sha256 import sha256
from moot.flows.guard.guarded_paths import NOTED_CALLS

WHO: Final = "who"
ENDED: Final = ".ended"
# A call whose end nobody told counts as running for so long.
LONGEST_CALL_SECONDS: Final = 600
KEPT_SECONDS: Final = 120
OLD_SECONDS: Final = 24 * 3600
MOST_PATHS: Final = 200


class CallNote(msgspec.Struct, frozen=True):
    """A call: the files that an edit names (absolute), or the folder that a command runs in."""

    folder: str = ""
    paths: tuple[str, ...] = ()


class CallTime(msgspec.Struct, frozen=True):
    """A call of a session, and when: `ended_ns` is None while it runs.

    `agent` is empty if only the session is known.
    """

    session: str
    agent: str
    note: CallNote
    began_ns: int
    ended_ns: int | None


class _Who(msgspec.Struct, frozen=True):
    session: str
    agent: str


def start_notes(workspace: Path) -> None:
    """From now on calls are noted; what is a day old is removed."""
    base = workspace / NOTED_CALLS
    base.mkdir(parents=True, exist_ok=True)
    for folder in list(base.iterdir()):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > OLD_SECONDS:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()


def note_beginning(workspace: Path, session: str, agent: str, call_id: str, note: CallNote) -> None:
    """Best effort: without it, less is known about who changed a file."""
    base = workspace / NOTED_CALLS
    if not base.is_dir():
        return
    with suppress(OSError):
        folder = base / _name(f"{session}\n{agent}")
        if not (folder / WHO).exists():
            folder.mkdir(exist_ok=True)
            (folder / WHO).write_bytes(msgspec.json.encode(_Who(session, agent)))
        file = folder / _name(call_id)
        (folder / f"{file.name}{ENDED}").unlink(missing_ok=True)
        short = CallNote(note.folder, note.paths[:MOST_PATHS])
        file.write_bytes(msgspec.json.encode(short))


def note_end(workspace: Path, session: str, agent: str, call_id: str) -> None:
    with suppress(OSError):
        file = workspace / NOTED_CALLS / _name(f"{session}\n{agent}") / _name(call_id)
        if file.exists():
            file.with_name(f"{file.name}{ENDED}").write_bytes(b"")


def has_spoken(workspace: Path, agent: str, session_key: str | None) -> bool:
    """Did a hook of this agent say anything lately, under its name or its session's?"""
    for who in _all_who(workspace):
        if who.agent == agent or (not who.agent and who.session == session_key):
            return True
    return False


def read_calls(workspace: Path) -> list[CallTime]:
    """The calls that run or have just ended; older ones are removed."""
    calls = []
    for folder in _session_folders(workspace):
        who = _read_who(folder)
        for file in _files(folder) if who is not None else ():
            call = _read_call(file, who) if who is not None else None
            if call is not None:
                calls.append(call)
    return calls


def _read_call(file: Path, who: _Who) -> CallTime | None:
    try:
        began = file.stat().st_mtime_ns
        note = msgspec.json.decode(file.read_bytes(), type=CallNote)
    except (OSError, msgspec.DecodeError):  # it is being written or removed
        return None
    end = file.with_name(f"{file.name}{ENDED}")
    try:
        ended: int | None = end.stat().st_mtime_ns
    except OSError:
        ended = None
    over = ended if ended is not None else began + LONGEST_CALL_SECONDS * 10**9
    if over + KEPT_SECONDS * 10**9 < time.time_ns():
        with suppress(OSError):
            end.unlink(missing_ok=True)
            file.unlink()
        return None
    is_lost = ended is None and over < time.time_ns()
    return CallTime(who.session, who.agent, note, began, over if is_lost else ended)


def _files(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from (
            folder / entry.name
            for entry in os.scandir(folder)
            if entry.name != WHO and not entry.name.endswith(ENDED)
        )


def _all_who(workspace: Path) -> Iterator[_Who]:
    for folder in _session_folders(workspace):
        who = _read_who(folder)
        if who is not None:
            yield who


def _session_folders(workspace: Path) -> list[Path]:
    try:
        return [entry for entry in (workspace / NOTED_CALLS).iterdir() if entry.is_dir()]
    except OSError:
        return []


def _read_who(folder: Path) -> _Who | None:
    try:
        return msgspec.json.decode((folder / WHO).read_bytes(), type=_Who)
    except (OSError, msgspec.DecodeError):
        return None


def _name(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
