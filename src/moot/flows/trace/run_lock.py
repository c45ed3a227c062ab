"""Which executions run on this machine: a lock that ends with its process, and a note beside it.

The lock is taken before the start is on record, so an execution whose lock nobody holds has lost
the process that ran it, at whatever moment that was killed. The note names the command's own
process, with its beginning, and all it starts carries the tag: what is left of it can be ended
without hitting another one.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from filelock import FileLock, Timeout

from moot.core.errors import Refused, StoreFailed
from moot.keys.running_names import is_held
from moot.system.leftover import kill_leftover, kill_tagged, start_mark_of

FOLDER: Final = "running"


class _Note(msgspec.Struct, frozen=True):
    pid: int
    mark: str


class RunLock:
    """One execution of this process: held from before its start until after its end."""

    def __init__(self, workspace: Path, stream: str, intent: str) -> None:
        self._place = _place(workspace, stream, intent)
        self._lock = FileLock(self._place, mode=0o600)
        self.tag = _tag(self._place)

    def __enter__(self) -> RunLock:
        try:
            self._place.parent.mkdir(exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise Refused(
                "already_running",
                "another process runs this intent right now",
                hint="wait for it to end; `moot trace status TRACE` shows how it went",
            ) from None
        except OSError as error:
            raise StoreFailed(
                "unwritable_folder",
                f"{self._place.parent}: {error.strerror or error}",
                hint="check space and permissions of the .moot folder",
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        """The note goes while the lock is still held: whoever comes next finds neither."""
        with suppress(OSError):
            _note(self._place).unlink(missing_ok=True)
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
        self._lock.release()

    def note_process(self, pid: int) -> None:
        """The command has a process now."""
        with suppress(OSError):
            _note(self._place).write_bytes(msgspec.json.encode(_Note(pid, start_mark_of(pid))))


def is_running(workspace: Path, stream: str, intent: str) -> bool:
    """Does a live process still run this?"""
    return is_held(_place(workspace, stream, intent))


def end_leftovers(workspace: Path, stream: str, intent: str) -> tuple[str, ...]:
    """End what is left of an execution whose runner is gone, and say what was seen."""
    place = _place(workspace, stream, intent)
    seen = ["the process that ran it is gone"]
    try:
        note = msgspec.json.decode(_note(place).read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        seen.append("it is not known whether its command had begun")
    else:
        killed = kill_leftover(note.pid, note.mark)
        seen.append(
            f"its command, process {note.pid}, was still there and was ended"
            if killed
            else f"its command, process {note.pid}, is gone too"
        )
    if kill_tagged(_tag(place)):
        seen.append("what it had started was still there and was ended")
    for file in (_note(place), place):
        with suppress(OSError):
            file.unlink(missing_ok=True)
    return tuple(seen)


def _place(workspace: Path, stream: str, intent: str) -> Path:
    """A name made of the ids' hash: no id becomes a path."""
    name = hashlib.sha256(f"{stream}\n{intent}".encode()).hexdigest()[:32]
    return workspace / FOLDER / f"{name}.lock"


def _tag(place: Path) -> str:
    """Of this workspace only: another may have a trace and an intent of the same names."""
    return hashlib.sha256(os.fsencode(os.path.realpath(place))).hexdigest()[:32]


def _note(place: Path) -> Path:
    return place.with_suffix(".json")
