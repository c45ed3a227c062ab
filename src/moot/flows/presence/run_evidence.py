"""Is the program of an agent gone? The evidence is the lock that it inherited from its `moot run`.

While either of the two lives, the lock is held; when it is free, both have ended, however that
was. This is believed only from where it can be: the same host, boot and process namespace, and a
disk of this machine. From anywhere else nobody is gone, and time alone decides, as it always does
for `liveness`. Process numbers are told beside it and prove nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.core.clock import Millis, to_text
from moot.keys.running_names import is_held, lock_file, try_to_hold
from moot.system.this_machine import (
    MachineId,
    network_disk_of,
    read_machine_id,
    start_time_of,
)

if TYPE_CHECKING:
    from moot.keys.running_names import NameLock
    from moot.workspace.workspace import Workspace

GONE: Final = "gone"
RUNNING: Final = "running"
MOST_NOTE_BYTES: Final = 4_096


class RunNote(msgspec.Struct, frozen=True):
    """What a run says of itself in the file it has locked: which holder of the name, where and as
    which process it runs, since when."""

    epoch: int
    machine: MachineId
    pid: int
    started: str
    since: Millis


class RunEvidence(NamedTuple):
    """What is seen of a run from here: gone, running or (None) nothing that counts; and why."""

    state: str | None
    because: str


def note_run(workspace: Workspace, lock: NameLock, epoch: int) -> None:
    """Say in the locked file who holds it, so that others on this machine can tell if it is gone.

    A disk that takes no note takes no evidence either: the run goes on without.
    """
    pid = os.getpid()
    note = RunNote(epoch, read_machine_id(), pid, start_time_of(pid), workspace.engine.clock())
    lock.write_note(msgspec.json.encode(note))


def forget_run(workspace: Workspace, name: str) -> None:
    """Somebody works under the name without a run: the lock of an earlier one says nothing now."""
    folder, origin = workspace.folder, workspace.trust.origin
    lock = try_to_hold(folder, origin, name) if lock_file(folder, origin, name).exists() else None
    if lock is not None:
        lock.remove()


def look_at_run(workspace: Workspace, name: str, epoch: int) -> RunEvidence | None:
    """What the lock of this holder of a name says; None if it says nothing."""
    path = lock_file(workspace.folder, workspace.trust.origin, name)
    try:
        if is_held(path):
            return RunEvidence(RUNNING, "its `moot run`, or its program, holds its lock")
        note = _read_note(path.read_bytes()[:MOST_NOTE_BYTES])
    except OSError:
        return None
    if note is None or note.epoch != epoch:
        return None
    here = read_machine_id()
    if not here.is_known or note.machine != here:
        return RunEvidence(None, "its lock is free, seen from another machine, boot or namespace")
    disk = network_disk_of(path)
    if disk:
        return RunEvidence(None, f"its lock is on a network disk ({disk}), where it proves nothing")
    started = f"process {note.pid}, since {to_text(note.since)}"
    return RunEvidence(GONE, f"its `moot run` ({started}) and its program have ended")


def _read_note(data: bytes) -> RunNote | None:
    try:
        return msgspec.json.decode(data, type=RunNote)
    except msgspec.DecodeError:
        return None
