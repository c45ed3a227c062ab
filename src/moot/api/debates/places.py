"""Where a session that is named by its id has its files: an agenda shows ids, not places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import NotFound

if TYPE_CHECKING:
    from moot.api.session import Session


def file_of_debate(session: Session, name: str) -> Path:
    """The file of `debate/ID`, as recorded; NotFound if no debate is called so."""
    from moot.core.names import STREAM
    from moot.protocols.debate.machine import MACHINE as DEBATE

    stream = name if name.startswith("debate/") else f"debate/{name}"
    known = STREAM.match(stream) is not None
    file = session.workspace.engine.state(DEBATE, stream).file if known else ""
    if not file:
        raise _not_found(name)
    return session.workspace.root / file


def folder_of_parliament(session: Session, name: str) -> Path:
    """The folder of `parliament/ID`: of a question, or of a path that led there."""
    from moot.flows.bridges.sources import parliament
    from moot.flows.decisions.session_context import session_file
    from moot.flows.parliament.ruling import decisions_argued_in

    workspace, short = session.workspace, name.removeprefix("parliament/")
    for decision in decisions_argued_in(workspace.engine, f"parliament/{short}"):
        return session_file(workspace, decision)
    return parliament(workspace, short).folder


def _not_found(name: str) -> NotFound:
    return NotFound(
        "session_not_found",
        f"no session is called {name[:80]}",
        hint="`moot agenda` shows what waits, with its id",
    )
