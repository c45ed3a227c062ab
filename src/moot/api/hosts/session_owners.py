"""Move a session between machines that share a ledger.

Each session has a home: the machine that has its files and whose ledger key signs its minutes. At
first that is the machine where the session began.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.debates.locked_session import restore_file
from moot.api.debates.record import (
    find_session_at,
    path_in_record,
    read_recorded_bytes,
    session_changed,
)
from moot.api.debates.record import stream_of as debate_stream
from moot.api.debates.session_file import read_file
from moot.api.operation import operation
from moot.api.parliaments.ruling import decisions_argued_in
from moot.api.parliaments.session import DECISIONS_FOLDER, id_of_folder
from moot.api.parliaments.session import stream_of as parliament_stream
from moot.api.parliaments.session_files import SessionFiles, find_folder
from moot.core.errors import NotFound, Refused
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.path import stream_of as path_stream
from moot.protocols.path.machine import ITEMS

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.workspace import Workspace


class MovedSession(msgspec.Struct, frozen=True):
    """`home` is the name of its machine now; None: the one that keeps the ledger. `moved` are the
    streams that moved, the session first; empty if it was there already. `files` were written
    here."""

    id: str
    home: str | None
    moved: tuple[str, ...]
    files: tuple[str, ...] = ()


@operation("machine.move_here", writes=True)
def move_here(session: Session, what: str, *, into: Path | None = None) -> MovedSession:
    """Make this machine the home of a session, and write its files here from the record.

    `what` is its id, or the recorded path of a debate's file. Allowed if its home has left, was
    revoked or has handed it over; and always on the machine that keeps the ledger. Otherwise
    `another_home` says where it is and what to type there. A file with other content is never
    overwritten: then nothing moves. `into` is the file of a debate or the folder of a parliament,
    if the record names none in this project. A repeat changes nothing.
    """
    session.require_no_agent("moving a session")
    workspace = session.workspace
    workspace.engine.require_writable()
    streams = find_related_streams(workspace, _find_stream(session, what))
    place = None if into is None else session.folder / into
    files = find_session_files(workspace, streams, place, session.folder)
    for each in files:
        each.require_free()
    moved = _move(session, streams, None)
    written = [str(file) for each in files for file in each.write()]
    home = None if workspace.joined is None else workspace.joined.machine
    return MovedSession(streams[0], home, moved, tuple(written))


@operation("machine.hand_over", writes=True)
def hand_over(session: Session, what: str, to: str) -> MovedSession:
    """Make the machine `to` the home of a session of this machine.

    `moot machine move-here` on that machine then writes the files there. `what` is its id, a
    debate's file or a parliament's folder. From now on this machine refuses its minutes; its files
    stay. The machine that keeps the ledger can hand over any session.
    """
    session.require_no_agent("handing a session over")
    session.workspace.engine.require_writable()
    streams = find_related_streams(session.workspace, _find_stream(session, what))
    return MovedSession(streams[0], to, _move(session, streams, to))


def _move(session: Session, streams: tuple[str, ...], to: str | None) -> tuple[str, ...]:
    workspace = session.workspace
    if workspace.joined is not None:
        from moot.hosts.membership import move_session_here_or_to

        return move_session_here_or_to(workspace.joined.connection, streams, to)
    from moot.hosts.keeper import FOLDER
    from moot.hosts.members import MemberFile
    from moot.hosts.session_owner import move_session

    members = MemberFile(workspace.path / FOLDER).read()
    return move_session(workspace.engine, members, None, streams, to)


def _find_stream(session: Session, what: str) -> str:
    """Find a session by its id; else by the path of its file or folder."""
    from moot.api.page.reports import find_stream_with_page

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
        hint="`moot ledger log` lists all ids; name a parliament of another machine by its id",
    )


_OWN: Final = (".moot", DECISIONS_FOLDER)  # the folder for files of `moot ask` sessions


def find_related_streams(workspace: Workspace, stream: str) -> tuple[str, ...]:
    """Return the stream itself, the related decision or sessions, and the paths it belongs to."""
    streams = [stream, *_argued_with(workspace, stream)]
    with workspace.store.read() as view:
        rows = [row for each in streams if (row := view.row(ITEMS, each)) is not None]
    paths = (path_stream(msgspec.json.decode(row.value)["path"]) for row in rows)
    return tuple(dict.fromkeys((*streams, *paths)))


def _argued_with(workspace: Workspace, stream: str) -> Iterator[str]:
    protocol, _, name = stream.partition("/")
    if protocol == DECISION.name:
        state = workspace.engine.state(DECISION, stream)
        yield from (each.id for each in (state.session, *state.earlier_sessions) if each)
    elif protocol in (DEBATE.name, PARLIAMENT.name):
        yield from map(decision_stream, decisions_argued_in(workspace.engine, stream))
        yield decision_stream(name)  # the run of a session records its costs there


class SessionFilesHere:
    """The files of one session, and where to write them on this machine."""

    def __init__(self, workspace: Workspace, stream: str, into: Path | None, folder: Path) -> None:
        """Without `into` they go to the recorded path if it is safe, else into `folder` under the
        session's own name."""
        self._workspace = workspace
        self._stream = stream
        self._protocol, _, self._name = stream.partition("/")
        self.place = into or self._recorded_place() or folder / self._own_name()

    def require_free(self) -> None:
        """Raise Refused, before anything moves, if another file is there."""
        if self._protocol == PARLIAMENT.name:
            self._files.require_unchanged()
        elif self.place.exists():
            known, here = read_recorded_bytes(self._workspace, self._stream), read_file(self.place)
            if not (here.startswith(known) or known.startswith(here)):
                raise session_changed(self.place)

    def write(self) -> tuple[Path, ...]:
        """Write the files that are missing or incomplete, from the record; return them."""
        if self._protocol == PARLIAMENT.name:
            self.place.mkdir(parents=True, exist_ok=True)
            return tuple(self.place / name for name in self._files.write())
        lost = restore_file(self._workspace, self.place, self._stream)
        return () if lost is None else (self.place,)

    @property
    def _files(self) -> SessionFiles:
        return SessionFiles(self._workspace, self.place, self._stream)

    def _own_name(self) -> str:
        if self._protocol == PARLIAMENT.name:
            return self._name
        name = PurePosixPath(self._recorded()).name
        # A hidden file could be one from which some program reads its settings.
        return f"{self._name}.md" if name.startswith(".") or not name else name

    def _recorded(self) -> str:
        """Return the recorded path; empty if there is none."""
        engine = self._workspace.engine
        if self._protocol == DEBATE.name:
            return engine.state(DEBATE, self._stream).file
        for decision in decisions_argued_in(engine, self._stream):
            state = engine.state(DECISION, decision_stream(decision))
            for argued in (state.session, *state.earlier_sessions):
                if argued is not None and argued.id == self._stream:
                    return argued.file
        return ""

    def _recorded_place(self) -> Path | None:
        written = None
        if self._protocol == PARLIAMENT.name:
            written = find_folder(self._workspace, self._name)
        recorded = self._recorded()
        if written is not None or not recorded:
            return written
        place = self._workspace.root / recorded
        return place if _is_harmless(self._workspace.root, recorded, place) else None


def _is_harmless(root: Path, recorded: str, place: Path) -> bool:
    """Return True if the path is inside the project and in no hidden folder except our own.

    Another machine recorded the path. Links are resolved. A hidden folder could be one from which
    programs read their settings.
    """
    parts = PurePosixPath(recorded).parts
    shown = parts[2:] if parts[:2] == _OWN else parts
    is_plain = not any(part.startswith(".") for part in shown) and bool(shown)
    return is_plain and place.resolve().is_relative_to(root.resolve())


def find_session_files(
    workspace: Workspace, streams: tuple[str, ...], into: Path | None, folder: Path
) -> list[SessionFilesHere]:
    """Return the files of all sessions among `streams`; `into` is for the first session."""
    with_files = [
        stream for stream in streams if stream.partition("/")[0] in (DEBATE.name, PARLIAMENT.name)
    ]
    if into is not None and not with_files:
        raise Refused("no_files", f"{streams[0]} has no files", hint="leave --into out")
    return [
        SessionFilesHere(workspace, stream, into if stream == with_files[0] else None, folder)
        for stream in with_files
        if workspace.engine.load(stream).seq >= 0
    ]
