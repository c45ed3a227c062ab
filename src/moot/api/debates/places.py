"""Find the files of a session by its id, and hint at the machine that has a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from moot.core.errors import MootError, NotFound, Unavailable

if TYPE_CHECKING:
    from moot.api.session import Session


def file_of_debate(session: Session, name: str) -> Path:
    """Return the recorded file of `debate/ID`; NotFound if there is no such debate."""
    from moot.core.names import STREAM
    from moot.protocols.debate.machine import MACHINE as DEBATE

    stream = name if name.startswith("debate/") else f"debate/{name}"
    known = STREAM.match(stream) is not None
    file = session.workspace.engine.state(DEBATE, stream).file if known else ""
    if not file:
        raise NotFound(
            "session_not_found",
            f"there is no debate {name[:80]}",
            hint="`moot agenda` shows what waits, with its id",
        )
    return session.workspace.root / file


def read_debate_file(session: Session, file: Path) -> bytes:
    """Return the file's bytes; if it is recorded but missing, the hint says how to get it."""
    from moot.api.debates.session_file import read_file

    with hint_if_recorded(session, file):
        return read_file(file)


@contextmanager
def hint_if_recorded(session: Session, file: Path) -> Iterator[None]:
    """Add a hint if a recorded file is missing: another machine has it, or it was removed here."""
    try:
        yield
    except Unavailable as error:
        if error.code == "unreadable_file" and not file.exists() and _is_recorded(session, file):
            error.hint = (
                f"it is recorded: `moot machine move-here {quote(str(file))}` writes it here, or"
                " says which machine has it"
            )
        raise


def _is_recorded(session: Session, file: Path) -> bool:
    from moot.api.debates.record import find_session_at, path_in_record

    with suppress(MootError):  # the missing file is what was asked about
        workspace = session.workspace_or_none
        if workspace is None:
            return False
        with workspace.store.read() as view:
            place = path_in_record(workspace.root, session.folder / file)
            return find_session_at(view, place) is not None
    return False


def folder_of_parliament(session: Session, name: str) -> Path:
    """Return the folder of `parliament/ID`: its question's, the last one written, or its path's."""
    from moot.api.bridges.sources import open_parliament
    from moot.api.decisions.debate_rounds import session_file
    from moot.api.parliaments.ruling import decisions_argued_in
    from moot.api.parliaments.session_files import find_folder
    from moot.protocols.parliament.messages.contents import PARLIAMENT_ID

    workspace, short = session.workspace, name.removeprefix("parliament/")
    for decision in decisions_argued_in(workspace.engine, f"parliament/{short}"):
        return session_file(workspace, decision)
    written = find_folder(workspace, short) if PARLIAMENT_ID.fullmatch(short) else None
    return written or open_parliament(workspace, short).folder
