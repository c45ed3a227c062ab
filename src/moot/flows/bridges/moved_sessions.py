"""A session that comes to another machine: the records that belong to it, and its files there.

Its files are written from the record. Where they go is what another machine has said of itself:
never a place outside of the project, nor one that programs read their settings from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import Refused
from moot.flows.debate.file import read_file
from moot.flows.debate.mending import restore_file
from moot.flows.debate.record import read_recorded_bytes, session_changed
from moot.flows.parliament.parliament_files import SessionFiles, find_folder
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.parliament.session_ids import DECISIONS
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.decision import stream_of as decision_stream
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.path import stream_of as path_stream
from moot.protocols.path.machine import ITEMS

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_OWN: Final = (".moot", DECISIONS)  # where the sessions of `moot ask` have their files


def find_belonging(workspace: Workspace, stream: str) -> tuple[str, ...]:
    """The session itself, the decision that it argues or that argues in it, and the paths that it
    stands on."""
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
        yield decision_stream(name)  # of a session that was run by itself: its costs


class FilesHere:
    """The files of one session, and where they are to stand on this machine."""

    def __init__(self, workspace: Workspace, stream: str, into: Path | None, folder: Path) -> None:
        """`into` is where somebody wants them; else they go where the record says, or into
        `folder` under the session's own name."""
        self._workspace = workspace
        self._stream = stream
        self._protocol, _, self._name = stream.partition("/")
        self.place = into or self._recorded_place() or folder / self._own_name()

    def require_free(self) -> None:
        """Refused, before anything moves, if something else stands there."""
        if self._protocol == PARLIAMENT.name:
            self._files.require_unchanged()
        elif self.place.exists():
            known, here = read_recorded_bytes(self._workspace, self._stream), read_file(self.place)
            if not (here.startswith(known) or known.startswith(here)):
                raise session_changed(self.place)

    def write(self) -> tuple[Path, ...]:
        """Write them as the record has them; those that were not there, or not whole."""
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
        # A hidden file is one that some program reads its settings from, wherever it stands.
        return f"{self._name}.md" if name.startswith(".") or not name else name

    def _recorded(self) -> str:
        """How the record names the place; empty if it does not."""
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
    """Below the project, whatever links stand on the way, and in no hidden folder but our own."""
    parts = PurePosixPath(recorded).parts
    shown = parts[2:] if parts[:2] == _OWN else parts
    is_plain = not any(part.startswith(".") for part in shown) and bool(shown)
    return is_plain and place.resolve().is_relative_to(root.resolve())


def find_files_here(
    workspace: Workspace, streams: tuple[str, ...], into: Path | None, folder: Path
) -> list[FilesHere]:
    """The files of all sessions among `streams`; `into` is for those of the first that has any."""
    with_files = [
        stream for stream in streams if stream.partition("/")[0] in (DEBATE.name, PARLIAMENT.name)
    ]
    if into is not None and not with_files:
        raise Refused(
            "no_files",
            f"{streams[0]} has no files of its own",
            hint="leave --into away",
        )
    return [
        FilesHere(workspace, stream, into if stream == with_files[0] else None, folder)
        for stream in with_files
        if workspace.engine.load(stream).seq >= 0
    ]
