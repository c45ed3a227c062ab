"""Where the calls of each watched session are on record, and what its tool said of its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.flows.observed.sessions import list_sessions

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

_OBSERVED: Final = "observed.tool_observed"


class SessionRecord(NamedTuple):
    """The signed record of a session, and the model its tool named last, if it named any."""

    stream: str
    model: str


def find_session_records(workspace: Workspace) -> dict[tuple[str, str], SessionRecord]:
    """All of them, by agent and session."""
    records = {}
    for watched in list_sessions(workspace):
        model = ""
        with workspace.store.read() as view:
            for record in view.records(watched.stream):
                body = msgspec.json.decode(record.raw)
                if body["type"] == _OBSERVED:
                    model = body["data"].get("model", model)
        author = watched.state.agent, watched.state.session
        records[author] = SessionRecord(watched.stream, model)
    return records


def describe_newest_event(workspace: Workspace, agent: str) -> str | None:
    """`STREAM:NUMBER sha256:HASH` of the newest event of what hooks saw of an agent, if anything.

    The hash of an event covers all that stand before it.
    """
    sessions = list_sessions(workspace, agent)
    if not sessions:
        return None
    newest = max(sessions, key=lambda record: record.state.last_at)
    with workspace.store.read() as view:
        head = view.head(newest.stream)
    return None if head is None else f"{newest.stream}:{head.seq} sha256:{head.hash.hex()}"
