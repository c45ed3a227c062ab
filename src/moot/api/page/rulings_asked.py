"""What a person is asked for: a word on what a question or a parliament came to."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.core.text import Quoted

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

__all__ = ["AskedWord", "find_asked_word"]
# An amended text is a file of the person's own: that word is typed.
PREPARED: Final = ("approve", "veto")
DECISION, PARLIAMENT = "decision", "parliament"


class AskedWord(msgspec.Struct, frozen=True):
    """What a person is asked to rule on: the exact text, its SHA-256, and the command to type.

    `position` is how far the record had come when this was read: another one means that something
    happened since. `kind` says whose word it is: a `decision`'s, or a `parliament`'s, whose files
    are in `folder`. `words` are those that a page may prepare: none if the folder is not known.
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


class _Asking(NamedTuple):
    """What is asked where, and how one answers."""

    question: str
    command: str
    folder: Path | None = None
    words: tuple[str, ...] = PREPARED


def find_asked_word(session: Session, stream: str) -> AskedWord | None:
    """What waits for a person's ruling, with the exact text that would stand; None if nothing."""
    from moot.api.decisions.ruling import find_asking_stream, find_ruled_text, hash_text

    workspace = session.workspace
    asking = find_asking_stream(workspace.engine, stream)
    if asking is None:
        return None
    with workspace.store.read() as view:  # first: what happens from here on makes it another one
        head = view.head(asking)
    text = find_ruled_text(workspace.engine, asking)
    if text is None or head is None:  # decided at this moment
        return None
    kind, _, name = asking.partition("/")
    found = _ask_in_parliament(workspace, name) if kind == PARLIAMENT else _ask(workspace, name)
    return AskedWord(
        decision=name,
        question=Quoted(found.question),
        text=Quoted(text),
        sha256=hash_text(text),
        position=head.seq,
        command=found.command,
        kind=kind,
        folder=None if found.folder is None else str(found.folder),
        words=found.words,
    )


def _ask(workspace: Workspace, name: str) -> _Asking:
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.machine import MACHINE
    from moot.protocols.decision.views import suggest_decide_command

    state = workspace.engine.state(MACHINE, stream_of(name))
    return _Asking(state.question, suggest_decide_command(name, state.result).partition(" (")[0])


def _ask_in_parliament(workspace: Workspace, name: str) -> _Asking:
    from moot.api.parliaments.session import stream_of
    from moot.api.parliaments.session_files import find_folder
    from moot.protocols.parliament.machine import MACHINE

    problem = workspace.engine.state(MACHINE, stream_of(name)).problem_statement
    folder = find_folder(workspace, name)
    place = "DIR" if folder is None else shlex.quote(str(folder))
    command = f'moot parliament decide {place} approve --reason "..."'
    return _Asking(problem, command, folder, () if folder is None else PREPARED)
