"""Look up recorded messages by id, and read their whole text.

A long text is stored as an artifact, which may have been erased; its event holds the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from moot.core.errors import NotFound, Tampered
from moot.core.ledger import View
from moot.core.machine import Recorded, is_kind
from moot.engine.replay import read_record
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.index_keys import MESSAGES
from moot.protocols.mail.machine import MACHINE
from moot.protocols.mail.model import (
    State,
    normalize_id,
    require_thread_id,
    stream_of,
    thread_of_id,
)

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def require_thread_of(workspace: Workspace, message_id: str) -> str:
    """Return the thread of a message; raise NotFound if there is no such message."""
    with workspace.store.read() as view:
        if view.row(MESSAGES, message_id) is None:
            raise message_not_found(message_id)
    return thread_of_id(message_id)


def canonical_id(workspace: Workspace, message_id: str) -> str:
    """Return a message's id as recorded, in whatever case it was typed; else as given."""
    spellings = (message_id, normalize_id(message_id))
    with workspace.store.read() as view:
        known = (spelling for spelling in spellings if view.row(MESSAGES, spelling) is not None)
        return next(known, message_id)


def message_not_found(message_id: str) -> NotFound:
    return NotFound(
        "message_not_found",
        f"no message has the id {message_id[:80]!r}",
        hint="`moot inbox --all` shows what was sent to you, `moot mail search WORDS` the rest",
    )


def read_message(view: View, message_id: str) -> Recorded[MessageKept]:
    """Read one message from its record."""
    row = view.row(MESSAGES, message_id)
    record = next(view.records(row.stream, after=row.seq - 1), None) if row is not None else None
    if record is None:
        raise message_not_found(message_id)
    recorded = read_record(MACHINE, record)
    if not is_kind(recorded, MessageKept):
        where = f"{record.stream} event {record.seq}"
        raise Tampered(f"{where} is not {message_id}", stream=record.stream, seq=record.seq)
    return recorded


def read_message_text(workspace: Workspace, message: Recorded[MessageKept]) -> str:
    """Read the whole text, from the event or from its artifact."""
    event = message.event
    if event.sha256 is None:
        return event.body
    return b"".join(workspace.artifacts.chunks(event.sha256)).decode()


def read_message_text_unless_erased(
    workspace: Workspace, message: Recorded[MessageKept]
) -> str | None:
    """Read the whole text; None if its artifact was erased."""
    try:
        return read_message_text(workspace, message)
    except NotFound:
        return None


def read_thread(workspace: Workspace, thread: str) -> list[Recorded[MessageKept]]:
    """Read every message of a thread, in order; raise NotFound if there is none."""
    stream = stream_of(require_thread_id(thread))
    with workspace.store.read() as view:
        events = [read_record(MACHINE, record) for record in view.records(stream)]
    if not events:
        raise NotFound(
            "thread_not_found",
            f"there is no thread {thread}",
            hint="`moot mail search WORDS` finds messages",
        )
    return [recorded for recorded in events if is_kind(recorded, MessageKept)]


def open_threads(workspace: Workspace) -> Iterator[tuple[str, State]]:
    """Yield the threads in which a message waits for an answer, with their streams."""
    for stream in workspace.engine.open_streams():
        if stream.startswith(stream_of("")):
            yield stream, workspace.engine.state(MACHINE, stream)
