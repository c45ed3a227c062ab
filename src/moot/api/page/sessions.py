"""Sessions: who works on what, as cards in groups (OPR-089, OPR-090).

A card is a work item; an agent without one has its own card. Work items with the same parent
(`T-7.1` and `T-7.2`) form one group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.page.conversation import StoredEvent, label_event, read_newest_events
from moot.api.presence.events import find_withdrawal
from moot.api.presence.observation import observe
from moot.api.presence.status import ACTIVE, RegisteredAgentView, view_everyone
from moot.core.clock import parse_time, to_text
from moot.core.text import Quoted, quote_optional
from moot.protocols.presence import STREAM, timeline, views
from moot.protocols.presence.labels import WORK_STATE_LABELS, WorkState
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import EventType
from moot.usage.totals import UsageTables, UsageView, read_usage

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import View
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace

NEWEST_EVENTS: Final = 200
MOST_INCURSIONS: Final = 50
DONE: Final = WorkState.COMPLETED


class HeldScope(msgspec.Struct, frozen=True):
    """A scope that is held for this work item; `until` is None if it does not expire."""

    scope: Quoted
    holder: str
    since: str
    until: str | None


class CardOverlap(msgspec.Struct, frozen=True):
    """The newest overlap on this work item: its kind, the owner and the other agent."""

    kind: str
    label: str
    owner: str
    incoming: str
    scope: Quoted | None
    at: str


class LastAct(msgspec.Struct, frozen=True):
    """The newest event about it: its label, sender, receiver, time and text."""

    label: str
    by: Quoted | None
    to: Quoted | None
    at: str
    line: Quoted


class SessionCard(msgspec.Struct, frozen=True, kw_only=True):
    """A work item, or an agent without one (then `work` is None). `key` names the card.

    `owner` is the agent on it that was seen last; `because` says why it is active, stale or
    evicted. `owed` and `unread` count what waits for the owner. `usage` is what coding tools
    reported; None: unknown.
    """

    key: str
    work: Quoted | None
    title: Quoted
    state: str
    label: str
    owner: str | None
    agents: tuple[str, ...]
    branch: Quoted | None
    worktree: Quoted
    key_folder: str | None
    liveness: str | None
    because: str
    last_seen_at: str | None
    last: LastAct | None
    scopes: tuple[HeldScope, ...]
    unread: int
    owed: int
    waits_for: tuple[str, ...]
    overlap: CardOverlap | None
    usage: UsageView | None = None


class SessionGroup(msgspec.Struct, frozen=True):
    """Cards whose work items have one parent."""

    parent: Quoted
    cards: tuple[SessionCard, ...]


class IncursionLine(msgspec.Struct, frozen=True, kw_only=True):
    """An overlap; `label` says whether Moot refused it, it happened, or it was withdrawn."""

    id: str
    label: str
    kind: str
    owner: str
    incoming: str
    owner_liveness: str
    hint: Quoted
    scope: Quoted | None
    work: Quoted | None
    at: str
    withdrawn: timeline.Withdrawal | None = None


class Sessions(msgspec.Struct, frozen=True):
    """`feed` are the groups with their cards; `agents` all that were ever registered."""

    feed: tuple[SessionGroup, ...]
    agents: tuple[RegisteredAgentView, ...]
    incursions: tuple[IncursionLine, ...]
    pending: tuple[views.PresenceMessageView, ...]


@operation("sessions")
def sessions(session: Session) -> Sessions:
    """Show who works on what and how alive, what each holds, the last event, and overlaps."""
    workspace = session.workspace
    state = workspace.engine.state(PRESENCE, STREAM)
    usage = read_usage(workspace)
    agents = view_everyone(session, usage)
    with workspace.store.read() as view:
        events = read_newest_events(view, state, NEWEST_EVENTS)
        incursions = _list_incursions(view, events)
        newest = _newest_by_work(events)
        last_acts = {work: _last_act(view, event) for work, event in newest.items()}
    cards = _Cards(session, state, agents, incursions, last_acts, usage)
    return Sessions(_group(cards.make()), agents, incursions, views.view_pending(state))


class _Cards:
    """Makes all cards; reads once what all of them need."""

    def __init__(
        self,
        session: Session,
        state: State,
        agents: tuple[RegisteredAgentView, ...],
        incursions: tuple[IncursionLine, ...],
        last_acts: Mapping[str, LastAct],
        usage: UsageTables,
    ) -> None:
        self._workspace = session.workspace
        self._agents = {agent.agent: agent for agent in agents}
        self._state = state
        self._last_acts = last_acts
        self._usage = usage
        self._overlaps: dict[str, IncursionLine] = {}
        for line in reversed(incursions):
            self._overlaps[line.work or ""] = line
        observation = observe(session.workspace, stale_millis=session.stale_millis)
        self._items = views.view_work_items(state, observation, {})
        self._reservations = views.view_reservations(state, observation)

    def make(self) -> list[SessionCard]:
        working = [self._work_card(item) for item in self._items]
        known = {card.work for card in working}
        busy = {name for card in working for name in card.agents}
        here = (each for each in self._agents.values() if each.here and each.status == ACTIVE)
        idle = [agent for agent in here if agent.agent not in busy]
        ended = [work for work in self._last_acts if work and work not in known]
        return [
            *working,
            *(self._agent_card(agent) for agent in idle),
            *(self._ended_card(work) for work in ended),
        ]

    def _work_card(self, item: views.WorkItemView) -> SessionCard:
        here = [self._agents[name] for name in item.agents if name in self._agents]
        owner = max(here, key=lambda agent: agent.last_seen_at or "", default=None)
        pending = (each for each in self._state.pending.values() if each.work == item.work)
        waits_for = tuple(dict.fromkeys(each.to for each in pending if each.to))
        return self._card(
            item.work, str(item.state), item.label, owner, item.agents, waits_for=waits_for
        )

    def _agent_card(self, agent: RegisteredAgentView) -> SessionCard:
        return self._card(None, str(agent.liveness), agent.label, agent, (agent.agent,))

    def _ended_card(self, work: str) -> SessionCard:
        """Show work as done if no agent works on it, holds something for it or waits."""
        return self._card(Quoted(work), str(DONE), WORK_STATE_LABELS[DONE], None, ())

    def _card(
        self,
        work: Quoted | None,
        state: str,
        label: str,
        owner: RegisteredAgentView | None,
        agents: tuple[str, ...],
        waits_for: tuple[str, ...] = (),
    ) -> SessionCard:
        last = self._last_acts.get(work or "") if work else None
        unread, owed = (0, 0) if owner is None else count_mail_of(self._workspace, owner.agent)
        return SessionCard(
            key=f"work:{work}" if work else f"agent:{owner.agent if owner else ''}",
            work=work,
            title=last.line if last is not None else Quoted(""),
            state=state,
            label=label,
            owner=None if owner is None else owner.agent,
            agents=agents,
            branch=None if owner is None else owner.branch,
            worktree=Quoted("") if owner is None else owner.worktree,
            key_folder=None if owner is None else _key_folder(self._workspace, owner.agent),
            liveness=None if owner is None else str(owner.liveness),
            because="" if owner is None else owner.because,
            last_seen_at=None if owner is None else owner.last_seen_at,
            last=last,
            scopes=self._scopes(work, owner),
            unread=unread,
            owed=owed,
            waits_for=waits_for,
            overlap=_overlap(self._overlaps.get(work or "") if work else None),
            usage=self._usage_of(work, owner),
        )

    def _usage_of(self, work: Quoted | None, owner: RegisteredAgentView | None) -> UsageView | None:
        if work is None:
            return None if owner is None else owner.usage
        known = self._usage.by_work.get(work)
        return None if known is None else known.usage

    def _scopes(
        self, work: Quoted | None, owner: RegisteredAgentView | None
    ) -> tuple[HeldScope, ...]:
        name = None if owner is None else owner.agent
        return tuple(
            HeldScope(held.scope, held.holder, held.since, held.expires_at)
            for held in self._reservations
            if held.work == work and (work is not None or held.owner == name)
        )


def count_mail_of(workspace: Workspace, name: str) -> tuple[int, int]:
    """Count the new mail of an agent, and the answers it owes."""
    from moot.api.mail import inbox
    from moot.api.mail.reading import list_owed

    box = inbox.box_of(workspace, name)
    if box is None:
        return 0, 0
    with workspace.store.read() as view:
        unread = len(inbox.list_unread(view, box, workspace.engine.clock()))
    return unread, len(list_owed(workspace, box))


def _key_folder(workspace: Workspace, name: str) -> str | None:
    """Return the id of the folder with the agent's key; each machine or run has one."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    return None if agent is None else registry.keys[agent.kid].custodian


def _list_incursions(view: View, events: Iterable[StoredEvent]) -> tuple[IncursionLine, ...]:
    kind = str(EventType.INCURSION)
    chosen = [event for event in events if event.document["event_type"] == kind]
    return tuple(_incursion(view, event) for event in chosen[:MOST_INCURSIONS])


def _incursion(view: View, event: StoredEvent) -> IncursionLine:
    document = event.document
    payload = document["payload"]
    return IncursionLine(
        id=document["id"],
        label=label_event(view, event),
        kind=payload["incursion_kind"],
        owner=payload.get("owner_alias", payload["owner_agent"]),
        incoming=payload.get("incoming_alias", payload["incoming_agent"]),
        owner_liveness=payload["owner_liveness"],
        hint=Quoted(payload["resolution_hint"]),
        scope=quote_optional(document["scope"]),
        work=quote_optional(document["bead_id"]),
        at=to_text(parse_time(document["created_at"])),
        withdrawn=find_withdrawal(view, document["id"]),
    )


def _overlap(line: IncursionLine | None) -> CardOverlap | None:
    if line is None:
        return None
    return CardOverlap(line.kind, line.label, line.owner, line.incoming, line.scope, line.at)


def _newest_by_work(events: Iterable[StoredEvent]) -> dict[str, StoredEvent]:
    newest: dict[str, StoredEvent] = {}
    for event in events:
        newest.setdefault(event.document["bead_id"] or "", event)
    return newest


def _last_act(view: View, event: StoredEvent) -> LastAct:
    document = event.document
    return LastAct(
        label_event(view, event),
        quote_optional(document["from_agent"]),
        quote_optional(document["to_agent"]),
        to_text(parse_time(document["created_at"])),
        Quoted(timeline.shown_fields(document)[0]),
    )


def _group(cards: Iterable[SessionCard]) -> tuple[SessionGroup, ...]:
    groups: dict[str, list[SessionCard]] = {}
    for card in cards:
        groups.setdefault(parent_of(card.work), []).append(card)
    return tuple(SessionGroup(Quoted(name), tuple(own)) for name, own in groups.items())


def parent_of(work: str | None) -> str:
    """Return `T-7` for `T-7.1`, as beads numbers them; an item without a dot is its own parent."""
    if work is None:
        return ""
    head, dot, tail = work.rpartition(".")
    return head if dot and head and tail.isdigit() else work
