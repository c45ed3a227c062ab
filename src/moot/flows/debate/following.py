"""Following a session file as others write it; in a workspace what they write is observed.

Each look costs what has come since the last one. A file that became shorter, or whose last heard
bytes are others now, was not appended to: that is reported, and the watch ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from moot.core.errors import Refused, Tampered
from moot.flows.debate.file import open_to_read, read_file, unreadable
from moot.flows.debate.locked_session import lock_session
from moot.flows.debate.record import SessionRecord
from moot.protocols.debate import commands as ask
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.session_follower import CompletePiece, SessionFollower
from moot.workspace.workspace import Workspace

LOOK_SECONDS: Final = 0.1
_REMEMBERED: Final = 256


class FollowedFile:
    """A file that is being followed, from its beginning."""

    def __init__(self, file: Path, workspace: Workspace | None = None) -> None:
        self.file = file
        self.follower = SessionFollower()
        self._at = 0
        self._last = b""
        self._record = self._find_record(workspace)

    def _find_record(self, workspace: Workspace | None) -> SessionRecord | None:
        """The file's record, brought in step with it; begun now if there is none."""
        if workspace is None:
            read_file(self.file)
            return None
        with lock_session(self.file, workspace.engine.clock, workspace) as debate:
            return debate.begin_record()

    def read_new(self) -> list[CompletePiece]:
        """What has become complete since the last look, recorded as observed."""
        heard = [one for data in self._new_bytes() for one in self.follower.feed(data)]
        for one in heard:
            self._observe(one)
        return heard

    def _new_bytes(self) -> Iterator[bytes]:
        try:
            with open_to_read(self.file) as file:
                file.seek(self._at - len(self._last))
                if file.read(len(self._last)) != self._last:
                    raise Tampered(
                        f"{self.file} was changed above the part that was already read",
                        code="session_changed",
                        hint=f"`moot debate verify {self.file}`, or compare it with a copy",
                    )
                data = file.read()
        except OSError as error:
            raise unreadable(self.file, error) from None
        self._at += len(data)
        self._last = (self._last + data)[-_REMEMBERED:]
        yield data

    def _observe(self, one: CompletePiece) -> None:
        """Unless it is recorded: by its author, in the same step in which it was written."""
        record = self._record
        witness = record.witness(None) if record is not None else None
        if record is None or witness is None or not self.follower.is_utf8:
            return
        record.state = record.engine.state(MACHINE, record.stream)
        if record.state.size != one.start:
            return
        command = ask.Observe(start=one.start, text=one.text, digest=one.digest, double=one.double)
        try:
            record.run([(command, witness)])
        except Refused as refused:
            if all(found.code != "out_of_step" for found in refused.findings):
                raise


def follow(
    file: FollowedFile, until: Callable[[], bool], sleep: Callable[[float], None] = time.sleep
) -> Iterator[CompletePiece]:
    """Everything that is heard until the session ends, or until it is enough."""
    while True:
        yield from file.read_new()
        state = file.follower.state
        if until() or (state is not None and state.phase.has_ended):
            return
        sleep(LOOK_SECONDS)
