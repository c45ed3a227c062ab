"""A recorded session file is made whole before anybody is asked: from its record, and only so.

Gone or cut short, it is put back to the byte. A file that was changed in any other way is
refused, before a participant's answer costs anything.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from moot.flows.debate.file import create
from moot.flows.debate.locked_session import lock_session
from moot.flows.debate.record import SessionRecord, session_changed
from moot.workspace.workspace import Workspace


class FileLoss(StrEnum):
    """What had become of a file that was put back."""

    GONE = "gone"
    CUT_SHORT = "cut-short"


def restore_file(workspace: Workspace, file: Path, stream: str | None = None) -> FileLoss | None:
    """What was put back of this file, which holds the session of `stream` if that is known.

    Refused (`session_changed`) if the record cannot mend it. One that is gone and was never
    recorded stays gone.
    """
    if not file.exists():
        return FileLoss.GONE if stream is not None and _put_back(workspace, file, stream) else None
    with lock_session(file, workspace.engine.clock, workspace) as debate:
        if debate.record is not None and stream not in (None, debate.record.stream):
            raise session_changed(file)
        return FileLoss.CUT_SHORT if debate.was_mended else None


def _put_back(workspace: Workspace, file: Path, stream: str) -> bool:
    record = SessionRecord(workspace, file, stream.partition("/")[2])
    if not record.is_known:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    create(file, record.expected_bytes().decode())
    return True
