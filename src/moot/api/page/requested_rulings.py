"""What a person is asked to rule on: the result of a question or of a parliament."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.core.text import Quoted

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

# Rulings that a page may prepare; an amendment needs a file, so a person types that command.
PREPARED: Final = ("approve", "veto")
DECISION, PARLIAMENT = "decision", "parliament"


class RequestedRuling(msgspec.Struct, frozen=True):
    """What a person is asked to rule on: the exact text, its SHA-256, and the command to type.

    `position` is the newest event of the stream when this was read; if it differs later, something
    happened since. `kind` is `decision`, or `parliament`, whose files are in `folder`. `words` are
    the rulings that a page may prepare: none if the folder is unknown.
    """

    decision: str
    question: Quoted
    text: Quoted
    sha256: str
    position: int
    command: str
    kind: str = DECISION
    folder: str | None = None
    words: tuple[str, ...] = PREPARED


class _Request(NamedTuple):
    """The question, and the command that answers it."""

    question: str
    command: str
    folder: Path | None = None
    words: tuple[str, ...] = PREPARED


def find_requested_ruling(session: Session, stream: str) -> RequestedRuling | None:
    """Return what waits for a person's ruling, with the exact text that would be approved."""
    from moot.api.decisions.ruling import find_asking_stream, find_ruled_text, hash_text

    workspace = session.workspace
    asking = find_asking_stream(workspace.engine, stream)
    if asking is None:
        return None
    with workspace.store.read() as view:  # read before the text: a later event changes the position
        head = view.head(asking)
    text = find_ruled_text(workspace.engine, asking)
    if text is None or head is None:  # it was decided meanwhile
        return None
    kind, _, name = asking.partition("/")
    describe = _describe_parliament if kind == PARLIAMENT else _describe_decision
    request = describe(workspace, name)
    return RequestedRuling(
        decision=name,
        question=Quoted(request.question),
        text=Quoted(text),
        sha256=hash_text(text),
        position=head.seq,
        command=request.command,
        kind=kind,
        folder=None if request.folder is None else str(request.folder),
        words=request.words,
    )


def _describe_decision(workspace: Workspace, name: str) -> _Request:
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.machine import MACHINE
    from moot.protocols.decision.views import suggest_decide_command

    state = workspace.engine.state(MACHINE, stream_of(name))
    return _Request(state.question, suggest_decide_command(name, state.result).partition(" (")[0])


def _describe_parliament(workspace: Workspace, name: str) -> _Request:
    from moot.api.parliaments.session import stream_of
    from moot.api.parliaments.session_files import find_folder
    from moot.protocols.parliament.machine import MACHINE

    problem = workspace.engine.state(MACHINE, stream_of(name)).problem_statement
    folder = find_folder(workspace, name)
    place = "DIR" if folder is None else shlex.quote(str(folder))
    command = f'moot parliament decide {place} approve --reason "..."'
    return _Request(problem, command, folder, () if folder is None else PREPARED)
