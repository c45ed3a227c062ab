"""A recorded session file is made whole before anybody is asked: from its record, and only so.

Gone or cut short, it is put back to the byte. A file that was changed in any other way is
refused, before a participant's answer costs anything.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from moot.flows.debate.file import create
from moot.flows.debate.place import desk
from moot.flows.debate.record import Record, changed
from moot.workspace.workspace import Workspace


class Lost(StrEnum):
    """What had become of a file that was put back."""

    GONE = "gone"
    CUT_SHORT = "cut-short"


def mend(space: Workspace, file: Path, stream: str | None = None) -> Lost | None:
    """What was put back of this file, which holds the session of `stream` if that is known.

    Refused (`session_changed`) if the record cannot mend it. One that is gone and was never
    recorded stays gone.
    """
    if not file.exists():
        return Lost.GONE if stream is not None and _put_back(space, file, stream) else None
    with desk(file, space.engine.clock, space) as at:
        if at.record is not None and stream not in (None, at.record.stream):
            raise changed(file)
        return Lost.CUT_SHORT if at.mended else None


def _put_back(space: Workspace, file: Path, stream: str) -> bool:
    record = Record(space, file, stream.partition("/")[2])
    if not record.known:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    create(file, record.expected().decode())
    return True
