"""The guard of a run, on record: a hook is expected, has spoken, or nobody checks.

A coding tool under `moot run` has a record of its own (`run:TOOL`) beside those of its sessions,
which its hook begins. It says that a hook is expected; from when to when nobody checked (started
with `--unguarded`, its hooks were removed, or the tool itself shows a call that no hook was asked
about); and which files changed although no hook spoke. That a hook was not heard yet is nothing to
record. What a hook says is never written here: `guarded` is read off the sessions that hooks have
begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from moot.core.clock import Millis
from moot.core.machine import Command
from moot.engine.job import Job
from moot.flows.observed.guards import SessionRow, all_rows, rows_of
from moot.flows.observed.sessions import open_record
from moot.protocols.observed import RUN
from moot.protocols.observed.commands import (
    BeginObserving,
    EndObserving,
    NoteGap,
    NoteUnseenChanges,
    StopWatching,
)
from moot.protocols.observed.model import UNGUARDED

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

ENDED: Final = "its program ended"
MOST_FILES: Final = 200


def expect_hook(workspace: Workspace, agent: str, tool: str) -> None:
    """A tool is about to start as `agent`, and its hook is to speak."""
    _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"))


def note_unguarded(
    workspace: Workspace, agent: str, tool: str, why: str = UNGUARDED, since: Millis | None = None
) -> None:
    """Nobody checks what `tool` does from now on, or since then; a repeat changes nothing."""
    stop = StopWatching(why=why, since=since)
    if open_record(workspace, agent, f"{RUN}{tool}").state.agent:
        _execute(workspace, agent, tool, stop)
    else:
        _execute(workspace, agent, tool, BeginObserving(session=f"{RUN}{tool}"), stop)


def note_hook_spoke(workspace: Workspace, agent: str, tool: str, at: Millis) -> None:
    """A hook has spoken after all, at that time: until then nobody checked."""
    state = open_record(workspace, agent, f"{RUN}{tool}").state
    if state.blind_since is not None and state.blind_since < at:
        gap = NoteGap(since=state.blind_since, until=at, why=state.blind_why)
        _execute(workspace, agent, tool, gap)


def when_hook_spoke(workspace: Workspace, agent: str, tool: str, since: Millis) -> Millis | None:
    """When a hook of this tool first began a session of `agent`, since then; None: it has not."""
    return min((row.at for row in _sessions_begun(workspace, agent, tool, since)), default=None)


def count_spoken(workspace: Workspace, agent: str, tool: str, since: Millis) -> int:
    """How many sessions of this tool hooks have begun as `agent`, since then."""
    return sum(1 for _ in _sessions_begun(workspace, agent, tool, since))


def end_run(
    workspace: Workspace, agent: str, tool: str, since: Millis, files: Iterable[str] = ()
) -> None:
    """A tool's program has ended. `files` are those that changed meanwhile; they are noted only if
    no hook has spoken. By whom they were changed is not known."""
    record = open_record(workspace, agent, f"{RUN}{tool}")
    spoke_at = when_hook_spoke(workspace, agent, tool, since)
    if not record.state.agent:
        return
    commands: list[Command] = []
    if spoke_at is not None:
        note_hook_spoke(workspace, agent, tool, spoke_at)
    else:
        changed = tuple(files)[:MOST_FILES]
        commands += [NoteUnseenChanges(files=changed)] if changed else []
    _execute(workspace, agent, tool, *commands, EndObserving(reason=ENDED))


def was_asked(workspace: Workspace, tool: str, session: str) -> bool:
    """True if a hook has ever spoken for this session of a tool, whoever it acted as."""
    return any(row.session == f"{tool}:{session}" for _stream, row in all_rows(workspace))


def _sessions_begun(
    workspace: Workspace, agent: str, tool: str, since: Millis
) -> Iterator[SessionRow]:
    for _, row in rows_of(workspace, agent):
        if row.session.startswith(f"{tool}:") and row.at >= since:
            yield row


def _execute(workspace: Workspace, agent: str, tool: str, *commands: Command) -> None:
    """Several commands on the run's record, in one commit."""
    stream = open_record(workspace, agent, f"{RUN}{tool}").stream
    results = workspace.engine.execute_all([Job(stream, command, agent) for command in commands])
    for result in results:
        if isinstance(result, Exception):
            raise result
