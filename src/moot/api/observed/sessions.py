"""What a coding tool's hook saw, one record for each session, with the gaps.

A gap (T-18) is the time in which our hook was uninstalled; the time from the last event of a
session to its resumption, if the agent showed signs of life in between; and a run under `moot run`
as long as no hook has reported (guards.py). Silence alone is no gap: thinking makes no tool calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.session import read_presence
from moot.core.errors import MootError, Refused
from moot.core.names import SYSTEM
from moot.core.sha256 import sha256
from moot.protocols.observed import PROTOCOL, RUN, SESSION_SPACE
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import (
    BeginObserving,
    EndObserving,
    NoteGap,
    ObserveTool,
    State,
    StopWatching,
)

if TYPE_CHECKING:
    from pathlib import Path

    from moot.core.clock import Millis
    from moot.core.record import ArtifactRef
    from moot.protocols.trace.model import State as Trace
    from moot.workspace.workspace import Workspace


HOOK_OFF: Final = "hook off"
NO_HOOK: Final = "no hook spoke"
MAX_SESSIONS: Final = 1_000
MAX_PARTS: Final = 1_000


class WatchedSession(msgspec.Struct, frozen=True):
    """One session's record."""

    stream: str
    state: State


def record_tool_use(
    workspace: Workspace, agent: str, session: str, observation: ObserveTool
) -> None:
    """Record one use of a tool, signed by the agent itself."""
    workspace.engine.execute(open_record(workspace, agent, session).stream, observation, agent)


def begin_session(workspace: Workspace, agent: str, session: str, alive_at: Millis | None) -> None:
    """Start or resume a session; `alive_at` is its agent's last sign of life before.

    If the agent was alive after the last event, it worked without its hook: a gap.
    """
    record = open_record(workspace, agent, session)
    if not record.state.agent:
        workspace.engine.execute(record.stream, BeginObserving(session=session), agent)
        return
    since, now = record.state.last_at, workspace.engine.clock()
    is_blind = record.state.blind_since is not None  # the next thing seen closes that gap
    if alive_at is not None and since < alive_at and since < now and not is_blind:
        gap = NoteGap(since=since, until=now, why=HOOK_OFF)
        workspace.engine.execute(record.stream, gap, agent)


def end_session(workspace: Workspace, agent: str, session: str, reason: str) -> None:
    record = open_record(workspace, agent, session)
    if record.state.agent:
        workspace.engine.execute(record.stream, EndObserving(reason=reason), agent)


def note_hook_removed(workspace: Workspace, tool: str, worktree: Path) -> int:
    """Record that our hook was removed from `tool` in a worktree: its sessions there are
    unwatched."""
    from moot.protocols.presence import model

    presence = read_presence(workspace)
    stopped = 0
    for record in list_sessions(workspace):
        member = model.find_member(presence, record.state.agent)
        is_there = member is None or member.worktree in ("", str(worktree))
        is_tools = record.state.session.startswith((f"{tool}:", f"{RUN}{tool}"))
        if is_there and is_tools and not record.state.ended:
            with suppress(MootError):
                workspace.engine.execute(record.stream, StopWatching(why=HOOK_OFF), SYSTEM)
                stopped += 1
    return stopped


def note_hooks_lost(workspace: Workspace, agent: str, tool: str) -> None:
    """Record that the settings of `tool` lost our hooks while it runs as `agent`."""
    for record in _open_sessions(workspace, agent, tool):
        workspace.engine.execute(record.stream, StopWatching(why=HOOK_OFF), agent)


def note_hooks_kept(workspace: Workspace, agent: str, tool: str) -> None:
    """Record that the running tool kept its hooks after all, and close the gap."""
    now = workspace.engine.clock()
    for record in _open_sessions(workspace, agent, tool):
        blind = record.state.blind_since
        if blind is not None and blind < now:
            gap = NoteGap(since=blind, until=now, why=record.state.blind_why)
            workspace.engine.execute(record.stream, gap, agent)


def has_hook_run(workspace: Workspace, agent: str, tool: str) -> bool:
    """True if a session of `tool` is watched now: a hook ran after the newest stop."""
    records = _open_sessions(workspace, agent, tool)
    return any(record.state.blind_since is None for record in records)


def _open_sessions(workspace: Workspace, agent: str, tool: str) -> list[WatchedSession]:
    return [
        record
        for record in list_sessions(workspace, agent)
        if record.state.session.startswith(f"{tool}:") and not record.state.ended
    ]


def end_sessions_of_run(workspace: Workspace, agent: str, since: Millis) -> str | None:
    """End the sessions of a program that ran as `agent` since then.

    Returns one sentence about tests after the last edit of the newest session that edited.
    """
    from moot.protocols.observed.views import describe_tests

    tests: str | None = None
    for record in list_sessions(workspace, agent):
        is_hooks = not record.state.session.startswith(RUN)
        if is_hooks and record.state.last_at >= since and not record.state.ended:
            workspace.engine.execute(record.stream, EndObserving(reason="its program ended"), agent)
        if is_hooks and record.state.last_at >= since:
            tests = describe_tests(record.state) or tests
    return tests


def list_sessions(workspace: Workspace, agent: str | None = None) -> list[WatchedSession]:
    """Return every watched session, or one agent's, oldest first; runs only if they had a gap."""
    prefix = f"{PROTOCOL}/" + (f"{agent}~" if agent else "")
    with workspace.store.read() as view:
        rows = view.rows(SESSION_SPACE, prefix, limit=MAX_SESSIONS)
    every = [WatchedSession(row.key, workspace.engine.state(MACHINE, row.key)) for row in rows]
    records = [record for record in every if not _is_uneventful_run(record.state)]
    return sorted(records, key=lambda record: (record.state.since, record.stream))


def _is_uneventful_run(state: State) -> bool:
    """True for a run without a gap: its sessions say everything."""
    return state.session.startswith(RUN) and not state.gap_count and state.blind_since is None


def count_work_during_trace(workspace: Workspace, trace: Trace) -> str:
    """Return how much of its agents' work a trace governed, and how much was only watched."""
    from moot.protocols.observed.views import count_work

    watched = _sessions_during_trace(workspace, trace)
    return count_work(trace.completed + trace.failures, [record.state for record in watched])


def _sessions_during_trace(workspace: Workspace, trace: Trace) -> list[WatchedSession]:
    """Return the sessions of a trace's agents that were watched while it was open."""
    until = trace.last_at if trace.ended else workspace.engine.clock()
    agents = dict.fromkeys(binding.agent for binding in trace.roles)
    return [
        record
        for agent in agents
        for record in list_sessions(workspace, agent)
        if record.state.since <= until and record.state.last_at >= trace.since
    ]


def open_record(workspace: Workspace, agent: str, session: str) -> WatchedSession:
    """Return the record in which this session continues.

    An ended record is closed, so the session continues in a second part, and so on.
    """
    known = workspace.engine.registry().agents.get(agent)
    epoch = known.epoch if known is not None else 0
    identity = f"{agent}\n{epoch}\n{session}".encode("utf-8", "replace")
    base = f"{PROTOCOL}/{agent}~{sha256(identity).hexdigest()[:16]}"
    for part in range(1, MAX_PARTS):
        stream = base if part == 1 else f"{base}.{part}"
        state = workspace.engine.state(MACHINE, stream)
        if not state.ended:
            return WatchedSession(stream, state)
    raise Refused("too_many_parts", "this session was ended too often", hint="start a new session")


# Where the calls of each watched session are on record, and what its tool said of its model.

_OBSERVED: Final = "observed.tool_observed"


class SessionRecord(NamedTuple):
    """The signed record of a session, and the model its tool named last, if it named any."""

    stream: str
    model: str


def find_session_records(workspace: Workspace) -> dict[tuple[str, str], SessionRecord]:
    """Return the signed record of each session, by agent and session."""
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
    """Return `STREAM:NUMBER sha256:HASH` of the newest event that hooks recorded of an agent, if
    any.

    The hash of an event covers all events before it.
    """
    sessions = list_sessions(workspace, agent)
    if not sessions:
        return None
    newest = max(sessions, key=lambda record: record.state.last_at)
    with workspace.store.read() as view:
        head = view.head(newest.stream)
    return None if head is None else f"{newest.stream}:{head.seq} sha256:{head.hash.hex()}"


# What a hook saw of a tool call, put on record: never in the tool's way, never its secrets.

MOST_FILES: Final = 200
LONGEST_PATH: Final = 1_000
LONGEST_NAME: Final = 200
MOST_BYTES_SEARCHED: Final = 1 << 20
MOST_BYTES_STORED: Final = 1 << 16
MEDIA_TYPE: Final = "application/vnd.moot.observed+json"
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class ToolUse(msgspec.Struct, frozen=True):
    """One use of a tool: its name, input, response, and whether it succeeded, if known.

    `alias` is the number of the sub-agent; empty for the main agent. `tests` is how tests ended
    that it ran; `model` which model drives the tool, if known.
    """

    tool: str
    input: Any
    response: Any
    ok: bool | None
    alias: str = ""
    tests: str | None = None
    model: str = ""


@contextmanager
def ignoring_errors() -> Iterator[None]:
    """Ignore errors of watching: they must not affect the tool that is watched."""
    with suppress(MootError, OSError, ValueError, RecursionError):
        yield


def record_use(
    workspace: Workspace, agent: str, session: str, use: ToolUse, files: Iterable[str]
) -> None:
    """Record one use of a tool, signed by the agent. `files` are relative to the worktree."""
    artifact, redacted = _store_without_secrets(
        workspace, {"input": use.input, "response": use.response, "tool": use.tool}
    )
    observation = ObserveTool(
        tool=(use.tool or "unnamed")[:LONGEST_NAME],
        input_hash=sha256(_canonical(use.input)).hexdigest(),
        artifact=artifact,
        files=tuple(_presentable(files))[:MOST_FILES],
        redacted=redacted,
        ok=use.ok,
        session=session,
        alias=use.alias or msgspec.UNSET,
        tests=use.tests or msgspec.UNSET,
        model=use.model[:LONGEST_NAME] or msgspec.UNSET,
    )
    record_tool_use(workspace, agent, session, observation)


def _canonical(value: Any) -> bytes:
    """Encode a value in one form: sorted keys, no blanks."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # half a character, which `json` writes and we spell out
        import json

        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace")


def _store_without_secrets(workspace: Workspace, value: Any) -> tuple[ArtifactRef, tuple[str, ...]]:
    """Remove secrets from each text, then from the whole, then cut it, so that no half secret
    remains.

    The whole is searched too, because a name and its value may be two adjacent texts. Longer texts
    are cut first; the rest is not stored.
    """
    from moot.core.secrets import SECRET_PATTERNS, redact_bytes, redact_strings

    texts, in_texts = redact_strings(SECRET_PATTERNS, _cut_texts(value))
    clean = redact_bytes(SECRET_PATTERNS, _canonical(texts)[:MOST_BYTES_SEARCHED])
    names = tuple(dict.fromkeys((*in_texts, *clean.found)))
    return workspace.artifacts.put(clean.data[:MOST_BYTES_STORED], MEDIA_TYPE), names


def _cut_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MOST_BYTES_SEARCHED]
    if isinstance(value, dict):
        return {key: _cut_texts(child) for key, child in value.items()}
    return [_cut_texts(child) for child in value] if isinstance(value, list) else value


def _presentable(files: Iterable[str]) -> Iterator[str]:
    """Yield each name once, as text and without secrets; names that are too long are left out."""
    from moot.core.secrets import SECRET_PATTERNS, redact_text

    for path in dict.fromkeys(files):
        name = redact_text(SECRET_PATTERNS, os.fsencode(path).decode("utf-8", "backslashreplace"))
        if len(name) <= LONGEST_PATH:
            yield name
