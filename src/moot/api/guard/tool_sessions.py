"""A coding tool's session, moment by moment: it starts, calls tools, wants to stop, ends.

Its hooks call these. Whoever acts is the agent that the session was started as (`moot run`), else
the one that `start_session` registers for it. Nothing here holds an edit back: that is `guard`.
Outside of a workspace every one of them does nothing and gives back None.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moot.api.guard.checks import beat_if_due, note_incursions
from moot.api.guard.waiting import Waiting, take_waiting
from moot.api.operation import operation
from moot.core.findings import Finding
from moot.core.quoted import Quoted, quote_optional
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder, find_guarded_paths

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.flows.presence.arrival import ArrivalPlace
    from moot.protocols.presence.model import Reservation
    from moot.protocols.presence.views import AgentView


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool that has ended, as its hook read it.

    `tool` is the name of what was called (Write, Bash). `paths` are the files it was to write,
    absolute. `command` is the text of a shell command, `folder` where it ran. `duration_ms` is how
    long it took, `ok` whether it went well, if the coding tool says so.
    """

    tool: str
    paths: tuple[str, ...] = ()
    command: str | None = None
    folder: str = ""
    id: str = ""
    duration_ms: int | None = None
    input: Any = None
    response: Any = None
    ok: bool | None = None


class OtherAgent(msgspec.Struct, frozen=True):
    """Another agent that is here: how it is, on what, and what it holds."""

    agent: str
    label: str
    work: Quoted | None
    branch: Quoted | None
    holds: tuple[Quoted, ...]


class StartedSession(msgspec.Struct, frozen=True):
    """As whom the session works, who else is here, and what waits."""

    agent: str
    others: tuple[OtherAgent, ...]
    waiting: Waiting


class EndedCall(msgspec.Struct, frozen=True):
    """What a call turned out to have done: `incursions` are new on record; and what waits."""

    agent: str
    incursions: tuple[Finding, ...]
    waiting: Waiting


class StoppingSession(msgspec.Struct, frozen=True):
    """What waits for an agent that is about to stop."""

    agent: str
    waiting: Waiting


class EndedSession(msgspec.Struct, frozen=True):
    """`agent` is who left; None if the session had registered nobody itself."""

    agent: str | None


@operation("hook.start_session", writes=True)
def start_session(session: Session, *, process: str | None = None) -> StartedSession | None:
    """A session starts or goes on: its agent joins, and is told who else is here.

    Without a name it goes on under the one it had before; else as the agent of an MCP server below
    the same process of the tool, whose key `process` is; else a new name is made up and its key
    registered. Joining again changes nothing but the time, so a repeat needs no key. Refused as
    `session_replaced` if the name was adopted by another session.
    """
    from moot.flows.guard.command_stamps import sweep_old_stamps
    from moot.flows.observed.sessions import begin_session
    from moot.flows.observed.tool_use import never_in_the_way
    from moot.flows.presence import arrival
    from moot.flows.presence.tool_processes import agent_for_hooks

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    sweep_old_stamps(guarded.workspace)
    there = session.in_workspace(guarded.workspace)
    workspace = there.workspace
    name = there.known_actor() or agent_for_hooks(workspace, process)
    name = name or arrival.enter_fresh(workspace)
    sign = workspace.engine.signs((name,)).get(name)  # before joining is one itself
    place = _place_to_join(there, guarded, name)
    arrival.join(workspace, name, place._replace(process_key=process))
    with never_in_the_way():
        alive_at = sign.at if sign is not None else None
        begin_session(workspace, name, session.tool_session_name, alive_at)
    return StartedSession(name, tuple(_others(there, name)), take_waiting(workspace, name))


def _place_to_join(session: Session, guarded: GuardedPaths, name: str) -> ArrivalPlace:
    """Joining again does not forget what the agent works on."""
    from moot.flows.guard.guarded_paths import branch_of
    from moot.flows.presence.arrival import ArrivalPlace
    from moot.protocols.presence import STREAM, sorted_index
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    member = sorted_index.find_member(session.workspace.engine.state(PRESENCE, STREAM), name)
    work = member.work if member is not None else None
    keys = session.tool_session.keys if session.tool_session is not None else ()
    root = guarded.worktree_root
    return ArrivalPlace(root, branch_of(root), work, keys[0] if keys else None)


def _others(session: Session, name: str) -> Iterator[OtherAgent]:
    """Everyone else who is active, or holds something."""
    from moot.flows.presence.observation import observe
    from moot.protocols.presence import STREAM, views
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.protocols.presence.model import Liveness

    state = session.workspace.engine.state(PRESENCE, STREAM)
    members = tuple(member.name for member in state.members)
    observation = observe(session.workspace, members, session.stale_millis)
    for view in views.view_members(state, observation):
        if view.agent != name and (view.holds or view.liveness is Liveness.ACTIVE):
            yield _other_agent(view)


def _other_agent(view: AgentView) -> OtherAgent:
    return OtherAgent(
        view.agent,
        view.label,
        quote_optional(view.work),
        quote_optional(view.branch),
        tuple(Quoted(scope) for scope in view.holds),
    )


@operation("hook.after_call", writes=True)
def after_call(session: Session, call: ToolCall) -> EndedCall | None:
    """A call has ended: note what it changed although others hold it, record what was seen of it.

    Nothing can be stopped any more. An INCURSION is on record once for each agent and reservation;
    each call is recorded as one more use of a tool. What waits for the agent is handed over.
    Refused as `actor_required` if nobody knows who acts.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name, began = there.actor(), None
    if call.command is not None:
        from moot.flows.guard.command_stamps import take_beginning

        stamp = session.tool_session_name, call.id, call.duration_ms
        began = take_beginning(guarded.workspace, *stamp)
    paths = _changed_although_held(there, call, guarded.worktree_root, name, began)
    incursions = note_incursions(there, paths, guarded.worktree_root, name) if paths else ()
    waiting = take_waiting(there.workspace, name)
    beat_if_due(there.workspace, name)
    _record_use(there, call, guarded.worktree_root, name, began)
    return EndedCall(name, incursions, waiting)


def _changed_although_held(
    session: Session, call: ToolCall, root: Path, name: str, began: int | None
) -> tuple[str, ...]:
    """Edits were checked beforehand; should one have come through all the same, it counts too."""
    from moot.flows.guard import incursions

    others = _held_by_others(session, name)
    if call.command is None:
        return incursions.held_by_others(_scopes_in(session, call.paths, root), others)
    command = incursions.ShellCommand(call.command, call.folder, began)
    return incursions.changed_by_command(command, root, others)


def _held_by_others(session: Session, name: str) -> tuple[Reservation, ...]:
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    engine = session.workspace.engine
    agent = engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    return tuple(
        held for held in engine.state(PRESENCE, STREAM).live if not held.is_held_by(name, epoch)
    )


def _scopes_in(session: Session, paths: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """What these files are called in this worktree; those of others are left out."""
    guarded = find_guarded_paths(paths, session.folder, session.home)
    return tuple(scope for each in guarded if each.worktree_root == root for scope in each.scopes)


def _record_use(session: Session, call: ToolCall, root: Path, name: str, began: int | None) -> None:
    from moot.flows.observed.tool_use import ToolUse, never_in_the_way, record_use

    with never_in_the_way():
        use = ToolUse(call.tool, call.input, call.response, call.ok)
        files = _files_of(session, call, root, began)
        record_use(session.workspace, name, session.tool_session_name, use, files)


def _files_of(session: Session, call: ToolCall, root: Path, began: int | None) -> tuple[str, ...]:
    """What an edit names; of a shell command, what git calls changed and is newer than it."""
    from moot.flows.guard import incursions

    if call.command is None:
        return _scopes_in(session, call.paths, root)
    if began is None:
        return ()
    changed = incursions.changed_files(root, [])
    return tuple(path for path in changed if incursions.is_newer(root / path, began))


@operation("hook.wants_to_stop", writes=True)
def wants_to_stop(session: Session, *, take: bool = True) -> StoppingSession | None:
    """The model wants to stop: a sign of life, and what waits for the agent, if it can be told.

    With `take` False nothing is handed over, and so nothing is marked as seen: for a model that
    was made to go on before, or a tool that cannot do that. Refused as `actor_required` if nobody
    knows who acts.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    beat_if_due(there.workspace, name)
    return StoppingSession(name, take_waiting(there.workspace, name) if take else Waiting())


@operation("hook.end_session", writes=True)
def end_session(session: Session, *, reason: str) -> EndedSession | None:
    """A session ends: its agent leaves, if `start_session` registered it. A repeat changes nothing.

    An agent that was started with a name is released by whoever started it. Tools do not always
    say that they end: what a silent session holds goes stale by itself. Refused as
    `session_replaced` if its name was adopted by another session.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.known_actor() if session.acting is None else None
    if name is None:
        return EndedSession(None)
    from moot.flows.observed import sessions
    from moot.flows.observed.tool_use import never_in_the_way
    from moot.flows.presence.arrival import leave

    with never_in_the_way():
        record = session.tool_session_name
        sessions.end_session(there.workspace, name, record, "its session ended")
    leave(there.workspace, name, reason)
    return EndedSession(name)
