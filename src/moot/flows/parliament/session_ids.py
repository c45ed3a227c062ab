"""Which session a folder holds: by the record and our own notes, never by its files alone.

Whoever may write into a folder could otherwise choose which session a command, and a person's
signature, is about.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, NotFound, Refused, Unavailable
from moot.core.names import STREAM
from moot.flows.parliament.parliament_files import find_folder, last_written_id, read_or_none
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.parliament.files.file_shapes import LEDGER_FILE, SESSION_FILE
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.messages.words import PARLIAMENT_ID
from moot.workspace.workspace import Workspace

# Where the sessions of `moot ask` have their folders, inside the workspace.
DECISIONS: Final = "decisions"


def stream_of(parliament_id: str) -> str:
    return f"{MACHINE.name}/{parliament_id}"


def id_in_files(folder: Path) -> str | None:
    """Which session the files of a folder say they belong to, if any can be read."""
    for name in (SESSION_FILE, LEDGER_FILE):
        try:
            document = read_json(read_or_none(folder / name) or b"")
        except Malformed:
            continue
        parliament_id = document.get("parliament_id") if isinstance(document, dict) else None
        if isinstance(parliament_id, str) and PARLIAMENT_ID.fullmatch(parliament_id):
            return parliament_id
    return None


def id_of_folder(workspace: Workspace, folder: Path) -> str | None:
    """Which session a folder is of: by the record of its decision, else by what we wrote there."""
    folder = folder.resolve()
    decision = f"decision/{folder.name}"
    if folder.parent == (workspace.path / DECISIONS).resolve() and STREAM.match(decision):
        state = workspace.engine.state(DECISION, decision_stream(folder.name))
        if state.session is not None:
            return state.session.id.partition("/")[2]
    return last_written_id(workspace, folder)


def locate(workspace: Workspace, folder: Path) -> Path:
    """The folder that is meant: a session may be named by its id instead, where no folder is called
    so. A run that acts for an agent gets absolute paths, so only the last part counts."""
    name = folder.name
    if folder.exists() or not PARLIAMENT_ID.fullmatch(name):
        return folder
    found = find_folder(workspace, name)
    if found is not None:
        return found
    if workspace.engine.state(MACHINE, stream_of(name)).status is None:
        raise NotFound(
            "session_not_found",
            f"this workspace knows no session {name}",
            hint="`moot agenda` shows what waits, with its id",
        )
    raise Unavailable(
        "no_session",
        f"no folder here holds the files of {name}",
        hint=f"`moot parliament export {name} --id {name}` writes them into a folder of that name",
    )


def require_id(workspace: Workspace, folder: Path) -> str | None:
    """The session of a folder; Refused if its files are of another one than the record says."""
    in_files, ours = id_in_files(folder), id_of_folder(workspace, folder)
    if in_files is not None and ours not in (None, in_files):
        command = f"moot parliament export {shlex.quote(str(folder))}"
        raise Refused(
            "another_session",
            f"{folder} is the folder of {ours}, and its files are of {in_files}",
            hint=f"`{command}` puts them aside and writes those of {ours}",
        )
    return in_files or ours


def bad_id(parliament_id: str) -> Malformed:
    return Malformed(
        f"{parliament_id!r} is no id of a session",
        code="bad_id",
        hint="it looks like parl-20260210-001",
    )


def no_session(folder: Path) -> Unavailable:
    return Unavailable(
        "no_session",
        f"{folder} holds no files of a parliament",
        hint=f"`moot parliament new {shlex.quote(str(folder))} ...` makes a session there",
    )
