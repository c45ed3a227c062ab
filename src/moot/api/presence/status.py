"""One screen: who is here, who holds what, what is due, and the state of the record."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.hosts.machines import SharedLedger, describe_sharing
from moot.api.observed.guards import UnguardedSpan, guards_of_active, list_unguarded
from moot.api.operation import operation
from moot.api.presence.agenda import DueItem, list_due
from moot.api.presence.agent_facts import (
    MOST_AGENTS,
    ListedNames,
    choose_shown_part,
    find_agent_facts,
    find_end_times,
)
from moot.api.session import read_presence
from moot.core.errors import Tampered
from moot.core.text import Quoted
from moot.protocols.presence import model, views
from moot.protocols.presence.labels import WORK_STATE_LABELS, Health, WorkState
from moot.protocols.presence.paths import read_path
from moot.usage.totals import UsageTables, UsageView, WorkUsage, read_usage

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.engine.engine import Engine
    from moot.protocols.presence.model import State as Presence
    from moot.workspace.workspace import Workspace

__all__ = [
    "ACTIVE",
    "MOST_AGENTS",
    "MailCounts",
    "RecordSummary",
    "RegisteredAgentView",
    "Status",
    "UnguardedSpan",
    "status",
    "view_everyone",
]
ACTIVE: Final = "active"
_INPUT_OWED: Final = "give input"  # what the agenda says of a BLOCKED


class RegisteredAgentView(views.AgentView, frozen=True, kw_only=True):
    """An agent as presence sees it, with its class and whether its key has ended.

    `status` is active, or how it ended, as its `label` says too. `guarded`, `family`, `tool`,
    `evidence`, `process` and `ended_at` are as in `agents.ListedAgent`. `usage` is what its coding
    tools reported; None: unknown.
    """

    kind: str = msgspec.field(name="class")
    status: str
    guarded: str | None = None
    family: str = ""
    tool: Quoted | None = None
    evidence: str | None = None
    process: str | None = None
    usage: UsageView | None = None
    ended_at: str | None = None


class MailCounts(msgspec.Struct, frozen=True):
    """How many answers each agent owes, and how much is new for the acting agent."""

    owed: dict[str, int]
    unread: int


class CheckpointLine(msgspec.Struct, frozen=True):
    number: int
    at: str


class RecordSummary(msgspec.Struct, frozen=True):
    """`pinned`: the newest checkpoint covers all events. `rolled_back`: events were lost, and Moot
    refuses to write until that is resolved."""

    events: int
    bytes: int
    checkpoint: CheckpointLine | None
    pinned: bool
    rolled_back: bool
    test_clock: bool


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """`agents` are those that have not ended, or on request all that were ever registered;
    `pending` are events that wait for an acceptance.

    With many agents, `agents`, `reservations` and `work` are only a part: `agents_total` counts all
    agents, `working_total` those that are here or hold something, `reservations_total` all
    reservations.

    `unguarded` are the newest periods in which a coding tool worked and no hook checked its edits.
    `usage` is what coding tools reported for each work item; others are unknown. `shared` lists the
    machines that share the ledger, if any do.
    """

    workspace: str
    you: str | None
    agents: tuple[RegisteredAgentView, ...]
    reservations: tuple[views.ReservationView, ...]
    pending: tuple[views.PresenceMessageView, ...]
    work: tuple[views.WorkItemView, ...]
    health: Health
    due: tuple[DueItem, ...]
    mail: MailCounts
    record: RecordSummary
    unguarded: tuple[UnguardedSpan, ...] = ()
    usage: tuple[WorkUsage, ...] = ()
    agents_total: int = 0
    working_total: int = 0
    reservations_total: int = 0
    shared: SharedLedger | None = None


@operation("status")
def status(session: Session, *, ended: bool = False, most: int = MOST_AGENTS) -> Status:
    """Show who is here and how alive, who holds what, who owes what, and the state of the record.

    At most `most` agents are shown, with what they hold and work on: the acting agent, then those
    who are here, the latest seen first. The totals count everyone. With `ended` there is no limit,
    and ended agents are shown too.
    """
    workspace = session.workspace
    due, mail, usage = list_due(workspace), _count_mail(session), read_usage(workspace)
    busy = (*mail.owed, *(item.who for item in due))
    names = _names_listed(session, ended=ended)
    part = choose_shown_part(session, names, busy, None if ended else most)
    state = read_presence(workspace)
    presence = views.view_status(state, part.observation, session.acting, part.shown)
    return Status(
        workspace=str(workspace.path),
        you=session.acting,
        agents=_view_registered(session, usage, presence.agents),
        reservations=presence.reservations,
        pending=presence.pending,
        work=tuple(_view_work(each, due, state) for each in presence.work),
        health=presence.health,
        due=due,
        mail=mail,
        record=_summarize_record(workspace),
        unguarded=tuple(list_unguarded(workspace)),
        usage=tuple(usage.by_work.values()),
        agents_total=part.agents,
        working_total=part.working,
        reservations_total=part.reservations,
        shared=describe_sharing(session),
    )


def _view_work(
    work: views.WorkItemView, due: tuple[DueItem, ...], state: Presence
) -> views.WorkItemView:
    """Correct the state of a work item by what mail and git know.

    A BLOCKED that was accepted still needs input while mail waits for it. Work that was returned is
    in progress while files of it are uncommitted; else it can be closed.
    """
    from moot.api.mail.notices import thread_of_work

    if work.state is WorkState.RETURNED:
        if _is_committed(state, work.agents):
            close = " && ".join(f"moot agent retire {name}" for name in work.agents)
            return msgspec.structs.replace(work, close=close)
        return _with_state(work, WorkState.ACTIVE)
    stream = f"mail/{thread_of_work(work.work)}"
    if not any(item.id == stream and item.what == _INPUT_OWED for item in due):
        return work
    return _with_state(work, WorkState.NEEDS_INPUT)


def _with_state(work: views.WorkItemView, state: WorkState) -> views.WorkItemView:
    return msgspec.structs.replace(work, state=state, label=WORK_STATE_LABELS[state])


def _is_committed(state: Presence, names: tuple[str, ...]) -> bool:
    """Return True if every uncommitted file where these agents work is held by another agent."""
    members = filter(None, (model.find_member(state, name) for name in names))
    worktrees = {member.worktree for member in members if member.worktree}
    return bool(worktrees) and all(_is_clean(state, each) for each in worktrees)


def _is_clean(state: Presence, worktree: str) -> bool:
    from moot.system.git_status import find_dirty_files

    dirty = find_dirty_files(Path(worktree)).paths
    if dirty is None:
        return False
    keys = (read_path(path, worktree).key for path in dirty)
    return all(any(model.overlapping_reservations(state, key)) for key in keys)


def view_everyone(session: Session, usage: UsageTables) -> tuple[RegisteredAgentView, ...]:
    """Return everyone ever registered except voices, with how alive they are and their usage."""
    from moot.api.presence.observation import observe

    workspace, names = session.workspace, sorted(_names_listed(session, ended=True).list_all())
    state = read_presence(workspace)
    observation = observe(workspace, names, session.stale_millis)
    return _view_registered(session, usage, views.view_agents(state, names, observation))


def _names_listed(session: Session, *, ended: bool) -> ListedNames:
    from moot.api.presence.observation import list_voices

    workspace = session.workspace
    return ListedNames(workspace.engine.registry(), list_voices(workspace), ended=ended)


def _view_registered(
    session: Session, usage: UsageTables, known: tuple[views.AgentView, ...]
) -> tuple[RegisteredAgentView, ...]:
    """Add to these agents what the registry, their tools and their runs say of them."""
    workspace = session.workspace
    registry, names = workspace.engine.registry(), tuple(view.agent for view in known)
    facts = find_agent_facts(session, names, known)
    guards, end_times = guards_of_active(workspace, names), find_end_times(workspace, names)
    everyone = []
    for view in known:
        agent, more = registry.agents[view.agent], facts.describe(view.agent)
        ending = registry.keys[agent.kid].ending
        label = view.label if ending is None else str(ending).capitalize()
        everyone.append(
            RegisteredAgentView(
                **{**msgspec.structs.asdict(view), "label": label},
                kind=str(agent.kind),
                status=str(ending or ACTIVE),
                guarded=guards.get(view.agent),
                usage=usage.by_agent.get(view.agent),
                **{field: more[field] for field in ("family", "tool", "evidence", "process")},
                ended_at=end_times.get(view.agent),
            )
        )
    return tuple(everyone)


def _count_mail(session: Session) -> MailCounts:
    from moot.api.mail.lapsed_duties import find_settled

    workspace = session.workspace
    owed = _count_answers_owed(workspace.engine, find_settled(workspace))
    return MailCounts(owed, count_unread(session))


def count_unread(session: Session) -> int:
    """Count the new mail of the acting agent; 0 without one."""
    if not session.acting:
        return 0
    from moot.api.mail import inbox

    workspace = session.workspace
    box = inbox.box_of(workspace, session.acting)
    if box is None:
        return 0
    with workspace.store.read() as view:
        return len(inbox.list_unread(view, box, workspace.engine.clock()))


def count_changes(session: Session) -> int:
    """Return a number that grows with every write to the record."""
    return session.workspace.engine.store.version()


def _count_answers_owed(engine: Engine, settled: frozenset[str]) -> dict[str, int]:
    """Count the answers that the present holder of each name owes."""
    from collections import Counter

    owed, registry = Counter[str](), engine.registry()
    for stream in engine.open_streams():
        if stream.startswith("mail/"):
            from moot.protocols.mail.machine import MACHINE as MAIL
            from moot.protocols.mail.views import receivers_owing

            receivers = receivers_owing(engine.state(MAIL, stream), settled)
            owed.update(
                receiver.name
                for receiver in receivers
                if registry.is_holder(receiver.name, receiver.epoch)
            )
    return dict(sorted(owed.items()))


def _summarize_record(workspace: Workspace) -> RecordSummary:
    from moot.engine.checkpoints import newest_checkpoint

    last = None
    with workspace.store.read() as view:
        with suppress(Tampered):  # this screen must not fail; `moot verify` reports it
            last = newest_checkpoint(view, workspace.trust)
        events = view.count_streams_and_events()[1]
        pinned = not view.moved_heads()
    return RecordSummary(
        events,
        workspace.store.size(),
        None if last is None else CheckpointLine(last.number, last.at),
        pinned,
        workspace.rollback is not None,
        workspace.engine.registry().clock == "fixed",
    )
