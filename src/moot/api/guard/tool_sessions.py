"""A coding tool's session: it starts, calls tools, wants to stop, ends.

The hooks call these functions. The agent is the one that `moot run` started the session as, or the
one that `start_session` registers. Nothing here refuses an edit; `edits.py` does. Outside of a
workspace each function does nothing and returns None.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.guard.guarded_paths import (
    GuardedPaths,
    branch_of,
    find_guarded_folder,
    find_guarded_paths,
    require_no_missing_workspace,
)
from moot.api.guard.holders import LineNotice, requester_of, reservations_in_the_way
from moot.api.guard.notices import Waiting, claim_notice, delete_old_claims, take_waiting
from moot.api.guard.unmerged import UnmergedChange, claim_untold, look_for_unmerged
from moot.api.operation import operation
from moot.api.session import read_presence
from moot.core.findings import Finding
from moot.core.text import Quoted, quote_optional

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.guard.after_call import CallChanges, EndedCommand, Inspector
    from moot.api.guard.copies import Editor
    from moot.api.presence.arrival import JoinDetails
    from moot.api.session import Session
    from moot.protocols.presence.views import AgentView
    from moot.workspace.workspace import Workspace

LONGEST_COMMAND: Final = 300


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call that has ended, as its hook read it.

    `tool` is the name of the called tool (Write, Bash). `paths` are the files it wrote, absolute.
    `command` is the text of a shell command, `folder` where it ran. `duration_ms`, `ok` and `model`
    are set if the coding tool reports them. `tells_unmerged`: unmerged changes must be reported
    now, because this tool accepts no text before an edit.
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
    tells_unmerged: bool = False
    model: str = ""


class OtherAgent(msgspec.Struct, frozen=True):
    """Another agent that is here: its state, its work, and what it holds.

    `sub_agents` are the aliases of its working sub-agents.
    """

    agent: str
    label: str
    work: Quoted | None
    branch: Quoted | None
    holds: tuple[Quoted, ...]
    sub_agents: tuple[str, ...] = ()


class SharedPlan(msgspec.Struct, frozen=True):
    """The plan that the agents of one work share, as `by` last wrote it."""

    work: Quoted
    version: int
    by: str
    text: Quoted


class EarlierDecision(msgspec.Struct, frozen=True):
    """A settled question that names files which the session may edit.

    `outcome` is approved, vetoed, amended, or the result of the vote if no person has ruled;
    `answer` is the motion, if there was one.
    """

    id: str
    question: Quoted
    outcome: str
    answer: Quoted
    names: tuple[Quoted, ...]


class StartedSession(msgspec.Struct, frozen=True):
    """The agent of the session, who else is here, and what waits.

    `plan` is the shared plan of its work, if any. `decisions` are the newest that name files it
    holds, changed files of its worktree, or its work.
    """

    agent: str
    others: tuple[OtherAgent, ...]
    waiting: Waiting
    plan: SharedPlan | None = None
    decisions: tuple[EarlierDecision, ...] = ()


class EndedCall(msgspec.Struct, frozen=True):
    """The result of a call: new `incursions` on record, and what waits.

    `unmerged` are changes of the edited files elsewhere that are not merged here. `shared` are
    functions that the edit changed and in which another agent has uncommitted lines too.
    """

    agent: str
    incursions: tuple[Finding, ...]
    waiting: Waiting
    unmerged: tuple[UnmergedChange, ...] = ()
    shared: tuple[LineNotice, ...] = ()


class StoppingSession(msgspec.Struct, frozen=True):
    """What waits for an agent that is about to stop.

    `tests` is one sentence about tests since its last edit; None if there was no edit, or if it was
    already shown.
    """

    agent: str
    waiting: Waiting
    tests: str | None = None


class EndedSession(msgspec.Struct, frozen=True):
    """`agent` has left; None if the session did not register one."""

    agent: str | None


@operation("hook.start_session", writes=True)
def start_session(
    session: Session, *, begins: bool = False, process: str | None = None
) -> StartedSession | None:
    """Start or resume a session: its agent joins, and learns who else is here.

    `begins`: the tool's process is new, so none of its earlier sub-agents is alive. The session
    continues under its earlier name; otherwise as the agent of an MCP server below the same tool
    process (`process`); otherwise under a new name with a new key. Joining again only updates the
    time, so a repeat needs no key. Refused as `session_replaced` if another session adopted the
    name.
    """
    from moot.api.guard.stale_reads import note_session_start
    from moot.api.observed.sessions import begin_session, ignoring_errors
    from moot.api.presence import arrival
    from moot.api.presence.tool_processes import agent_for_hooks

    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        require_no_missing_workspace((session.folder,), session.keys_path)
        return None
    delete_old_claims(guarded.workspace)
    there = session.in_workspace(guarded.workspace)
    workspace = there.workspace
    name = there.known_actor() or agent_for_hooks(workspace, process)
    name = name or arrival.register_fresh_name(workspace)
    sign = workspace.engine.signs((name,)).get(name)  # before joining, which is a sign too
    place = _place_to_join(there, guarded, name)
    arrival.join(workspace, name, place._replace(process_key=process))
    if begins:
        from moot.api.guard.sub_agents import end_sub_agents

        end_sub_agents(there, name, "", "its tool was started anew")
    root = guarded.worktree_root
    with ignoring_errors():
        alive_at = sign.at if sign is not None else None
        begin_session(workspace, name, session.tool_session_name, alive_at)
        now = workspace.engine.clock()
        note_session_start(guarded.workspace, root, session.tool_session_name, name, now, begins)
    others, waiting = tuple(_others(there, name)), take_waiting(workspace, name)
    plan, decisions = _plan_of(workspace, name), _decisions_for(workspace, name, root)
    return StartedSession(name, others, waiting, plan, decisions)


def _decisions_for(workspace: Workspace, name: str, root: Path) -> tuple[EarlierDecision, ...]:
    """Return earlier decisions; asks git for changed files only if there are decisions at all."""
    from moot.api.decisions.earlier_decisions import find_earlier_decisions
    from moot.protocols.presence import model
    from moot.system.git_status import find_dirty_files

    state = read_presence(workspace)
    member = model.find_member(state, name)
    if member is None:
        return ()
    held = model.reservations_of(state, name, member.epoch)

    def touched() -> Iterator[str]:
        yield from (lease.key for lease in held)
        yield from find_dirty_files(root).paths or ()

    settled = find_earlier_decisions(workspace, touched, member.work or member.branch or "")
    return tuple(
        EarlierDecision(
            each.id,
            Quoted(each.question),
            each.outcome,
            Quoted(each.answer),
            tuple(Quoted(name) for name in each.names),
        )
        for each in settled
    )


def _plan_of(workspace: Workspace, name: str) -> SharedPlan | None:
    """Return the shared plan of the agent's work, if any; one index lookup."""
    from moot.protocols.presence import model

    member = model.find_member(read_presence(workspace), name)
    work = (member.work or member.branch) if member is not None else None
    if not work:
        return None
    with workspace.store.read() as view:
        row = view.row("plan.pages", work)
    if row is None:
        return None
    from moot.protocols.plan.machine import MACHINE as PLAN

    plan = workspace.engine.state(PLAN, row.stream)
    return SharedPlan(Quoted(work), plan.version, plan.by, Quoted(plan.text))


def _place_to_join(session: Session, guarded: GuardedPaths, name: str) -> JoinDetails:
    """Return where the agent joins, and keep its work from before."""
    from moot.api.presence.arrival import JoinDetails
    from moot.protocols.presence import model

    member = model.find_member(read_presence(session.workspace), name)
    work = member.work if member is not None else None
    keys = session.tool_session.keys if session.tool_session is not None else ()
    root = guarded.worktree_root
    return JoinDetails(root, branch_of(root), work, keys[0] if keys else None)


def _others(session: Session, name: str) -> Iterator[OtherAgent]:
    """Yield all other agents that are active or hold something."""
    from moot.api.presence.observation import observe
    from moot.protocols.presence import views
    from moot.protocols.presence.model import Liveness

    state = read_presence(session.workspace)
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
        tuple(sub_agent.name for sub_agent in view.sub_agents),
    )


@operation("hook.after_call", writes=True)
def after_call(session: Session, call: ToolCall) -> EndedCall | None:
    """Record a call that has ended: what it changed although others hold it, and what hooks saw.

    Nothing can be refused any more. An INCURSION is recorded once for each agent and reservation;
    each call is recorded as one more use of a tool. What waits for the agent is returned. Refused
    as `actor_required` if the agent is unknown.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    look = _inspect_call(there, call, guarded, name)
    alias = _note_sub_agent(there, name)
    # Only the main agent is shown what waits, not the sub-agent that happens to call next.
    waiting = Waiting() if alias else take_waiting(there.workspace, name)
    there.workspace.beat_if_due(name)
    _record_use(there, call, name, look.files, alias)
    unmerged = _claim_unmerged(there, call) if call.tells_unmerged else ()
    return EndedCall(name, look.noted, waiting, unmerged, look.shared)


def _claim_unmerged(session: Session, call: ToolCall) -> tuple[UnmergedChange, ...]:
    """Return unmerged changes, for tools that accept no text with an allowed edit."""
    unmerged: tuple[UnmergedChange, ...] = ()
    for guarded in find_guarded_paths(call.paths, session.folder, session.home):
        there = session.in_workspace(guarded.workspace)
        reader = there.tool_session_name, there.actor()
        changes = look_for_unmerged(there.workspace, guarded, there.actor())
        unmerged += claim_untold(changes, guarded, reader)
    return unmerged


def _inspect_call(
    session: Session, call: ToolCall, guarded: GuardedPaths, name: str
) -> CallChanges:
    from moot.api.guard.after_call import inspect_command, inspect_edit
    from moot.api.guard.copies import Editor

    now, root = session.workspace.engine.clock(), guarded.worktree_root
    if call.command is None:
        editor = Editor(name, session.tool_session_name, now, call.tool)
        inspector = _make_inspector(session, editor)
        return inspect_edit(session, call.paths, root, inspector, call.id)
    from moot.core.secrets import SECRET_PATTERNS, redact_text

    shown = " ".join(redact_text(SECRET_PATTERNS, call.command[:LONGEST_COMMAND]).split())
    editor = Editor(name, session.tool_session_name, now, shown)
    command = _find_command(session, call, call.command, guarded)
    return inspect_command(session, command, guarded, _make_inspector(session, editor))


def _find_command(
    session: Session, call: ToolCall, text: str, guarded: GuardedPaths
) -> EndedCommand:
    """Return the command from the journal; otherwise estimate its beginning from its duration."""
    from moot.api.guard.after_call import EndedCommand
    from moot.api.guard.copies import Copies
    from moot.api.guard.held_changes import CommandBeginning
    from moot.api.guard.worktree_before import decode_worktree
    from moot.api.observed.sessions import ignoring_errors
    from moot.workspace.call_journal import Call, CallKind

    begun = None
    with ignoring_errors(), Copies(guarded.workspace, guarded.worktree_root) as copies:
        journal = copies.versions.journal
        begun = journal.find_begun(session.tool_session_name, call.id, call.tool)
    if begun is not None:
        beginning = CommandBeginning(begun.began_ns, decode_worktree(begun.state))
        return EndedCommand(text, call.folder, beginning, begun._replace(kind=CallKind.COMMAND))
    began_ns = None
    if call.duration_ms is not None:
        began_ns = time.time_ns() - (call.duration_ms + 1_000) * 1_000_000
    sub_agent = session.sub_agent if isinstance(session.sub_agent, str) else ""
    where = session.tool_session_name, session.actor(), sub_agent, call.id, call.tool
    root = str(guarded.worktree_root)
    unseen = Call(*where, CallKind.COMMAND, root, text=text, began_ns=began_ns or 0)
    return EndedCommand(text, call.folder, CommandBeginning(began_ns), unseen)


def _make_inspector(session: Session, editor: Editor) -> Inspector:
    """Return who inspects, what others hold against it, and what it holds itself."""
    from moot.api.guard.after_call import Inspector
    from moot.protocols.presence.model import name_with_alias

    state = read_presence(session.workspace)
    requester = requester_of(session, state, editor.agent)
    others = reservations_in_the_way(state, requester)
    own = (held for held in state.live if held.owner == editor.agent and held not in others)
    return Inspector(editor, name_with_alias(editor.agent, requester.alias), others, tuple(own))


def _record_use(
    session: Session, call: ToolCall, name: str, files: tuple[str, ...], alias: str
) -> None:
    from moot.api.observed.sessions import ToolUse, ignoring_errors, record_use

    with ignoring_errors():
        tests = None if call.command is None else _tests_seen(session, call, call.command)
        use = ToolUse(call.tool, call.input, call.response, call.ok, alias, tests, call.model)
        record_use(session.workspace, name, session.tool_session_name, use, files)


def _tests_seen(session: Session, call: ToolCall, command: str) -> str | None:
    from moot.api.observed.seen_tests import find_test_result
    from moot.workspace.settings import read_settings_or_strictest
    from moot.workspace.user_folders import user_settings_file

    user_file = user_settings_file(session.env)
    named = read_settings_or_strictest(session.place.worktree, user_file).tests.command
    return find_test_result(command, call.ok, call.response, named.split(","))


def _note_sub_agent(session: Session, name: str) -> str:
    """Record the acting sub-agent and return its alias; empty for the main agent."""
    tool_id = session.sub_agent
    if not tool_id:
        return ""
    from moot.api.guard.sub_agents import note_sub_agent

    return note_sub_agent(session, name, tool_id)


class WaitingFor(msgspec.Struct, frozen=True):
    """What waits for an agent in the middle of its work."""

    agent: str
    waiting: Waiting


@operation("hook.take_waiting", writes=True)
def take_what_waits(session: Session) -> WaitingFor | None:
    """Return what waits for the session's agent, once; nothing for a sub-agent.

    Refused as `actor_required` if the agent is unknown.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None or session.sub_agent:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    return WaitingFor(name, take_waiting(there.workspace, name))


@operation("hook.wants_to_stop", writes=True)
def wants_to_stop(session: Session, *, take: bool = True) -> StoppingSession | None:
    """Return what waits for an agent whose model wants to stop, and record a sign of life.

    With `take` False nothing is returned or marked as seen: for a model that a hook already made
    continue, or a tool that cannot continue. Refused as `actor_required` if the agent is unknown.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.actor()
    there.workspace.beat_if_due(name)
    waiting = take_waiting(there.workspace, name) if take else Waiting()
    return StoppingSession(name, waiting, _claim_tests(there, name))


def _claim_tests(session: Session, name: str) -> str | None:
    """Return the sentence about tests, once for each edit and result."""
    from moot.api.observed.sessions import open_record
    from moot.protocols.observed.views import describe_tests

    workspace = session.workspace
    record = open_record(workspace, name, session.tool_session_name)
    tests = describe_tests(record.state)
    if tests is None:
        return None
    told = "tests", record.stream, str(record.state.last_edit), tests
    return tests if claim_notice(workspace.path, *told) else None


@operation("hook.end_session", writes=True)
def end_session(session: Session, *, reason: str) -> EndedSession | None:
    """End a session: its agent leaves, if `start_session` registered it. A repeat changes nothing.

    An agent that was started with a name is ended by its starter; only its sub-agents end here.
    Tools do not always report their end: reservations of a silent session become stale. Refused as
    `session_replaced` if another session adopted its name.
    """
    guarded = find_guarded_folder(session.folder, session.home)
    if guarded is None:
        return None
    there = session.in_workspace(guarded.workspace)
    name = there.known_actor()
    _close_calls(session, guarded)
    if name is None:
        return EndedSession(None)
    if session.acting is not None:
        from moot.api.guard.sub_agents import end_sub_agents

        end_sub_agents(there, name, "", reason)
        return EndedSession(None)
    from moot.api.observed import sessions
    from moot.api.observed.sessions import ignoring_errors
    from moot.api.presence.arrival import leave

    with ignoring_errors():
        record = session.tool_session_name
        sessions.end_session(there.workspace, name, record, "its session ended")
    from moot.api.mail.lapsed_duties import settle_after

    settle_after(there.workspace, name, leave(there.workspace, name, reason))
    return EndedSession(name)


def _close_calls(session: Session, guarded: GuardedPaths) -> None:
    """Close the calls of this session whose end was never reported."""
    from moot.api.observed.sessions import ignoring_errors
    from moot.workspace.file_versions import FileVersions

    with ignoring_errors(), FileVersions(guarded.workspace) as versions:
        versions.journal.end_session(session.tool_session_name)
