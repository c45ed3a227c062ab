"""Where a session is at home among machines that share a ledger: moving it, and giving it away.

Its home keeps its files and has the ledger sign its minutes. It is the machine where it began.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.errors import NotFound

if TYPE_CHECKING:
    from moot.api.session import Session


class MovedSession(msgspec.Struct, frozen=True):
    """`home` is what the machine is called where it is now; None: the one that keeps the ledger.
    `moved` is what moved, the session first; nothing, if it was there already. `files` are those
    that were written here."""

    id: str
    home: str | None
    moved: tuple[str, ...]
    files: tuple[str, ...] = ()


@operation("machine.move_here", writes=True)
def move_here(session: Session, what: str, *, into: Path | None = None) -> MovedSession:
    """Let a session be at home on this machine, and write its files here from the record.

    `what` is its id, or the place that the record has for a debate's file. Allowed if its home has
    left or was taken off, or has handed it over; and always where the ledger is kept. Else
    `another_home` says where it is and what to type there. A file of another content is never
    overwritten: then nothing moves. `into` is the file of a debate or the folder of a parliament,
    where the record names none in this project. A repeat changes nothing.
    """
    from moot.flows.bridges.moved_sessions import find_belonging, find_files_here

    session.require_no_agent("moving a session")
    workspace = session.workspace
    workspace.engine.require_writable()
    streams = find_belonging(workspace, _find_stream(session, what))
    place = None if into is None else session.folder / into
    files = find_files_here(workspace, streams, place, session.folder)
    for each in files:
        each.require_free()
    moved = _move(session, streams, None)
    written = [str(file) for each in files for file in each.write()]
    home = None if workspace.joined is None else workspace.joined.machine
    return MovedSession(streams[0], home, moved, tuple(written))


@operation("machine.hand_over", writes=True)
def hand_over(session: Session, what: str, to: str) -> MovedSession:
    """Let a session that is at home here be at home on the machine `to`, which then types
    `moot machine move-here` to have its files.

    `what` is its id, a debate's file or a parliament's folder. From now on its minutes are refused
    here; the files stay as they are. Where the ledger is kept, any session can be handed over.
    """
    from moot.flows.bridges.moved_sessions import find_belonging

    session.require_no_agent("handing a session over")
    session.workspace.engine.require_writable()
    streams = find_belonging(session.workspace, _find_stream(session, what))
    return MovedSession(streams[0], to, _move(session, streams, to))


def _move(session: Session, streams: tuple[str, ...], to: str | None) -> tuple[str, ...]:
    workspace = session.workspace
    if workspace.joined is not None:
        from moot.keeper.membership import ask_to_move

        return ask_to_move(workspace.joined.line, streams, to)
    from moot.keeper.homes import move_home
    from moot.keeper.keeping import FOLDER
    from moot.keeper.members import MemberFile

    members = MemberFile(workspace.path / FOLDER).read()
    return move_home(workspace.engine, members, None, streams, to)


def _find_stream(session: Session, what: str) -> str:
    """By its id; else by the place of its file or folder."""
    from moot.api.reports import find_stream_with_page
    from moot.flows.debate.record import find_session_at, path_in_record
    from moot.flows.debate.record import stream_of as debate_stream
    from moot.flows.parliament.session_ids import id_of_folder
    from moot.flows.parliament.session_ids import stream_of as parliament_stream

    found = find_stream_with_page(session, what)
    if found is not None:
        return found
    workspace, place = session.workspace, session.folder / what
    with workspace.store.read() as view:
        debate = find_session_at(view, path_in_record(workspace.root, place))
    if debate is not None:
        return debate_stream(debate)
    parliament = id_of_folder(workspace, place) if place.is_dir() else None
    if parliament is not None:
        return parliament_stream(parliament)
    raise NotFound(
        "not_found",
        f"no debate, parliament, decision or trace is called {what[:80]}",
        hint="`moot ledger log` lists what there is; a parliament is named by its id elsewhere",
    )
