"""What people and agents read of presence: Structs whose fields are the JSON of every surface.

Liveness is computed here each time (OPR-029), from signs of life that the engine has proved
(`Engine.signs`); nothing is read from a clock or a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.machine import SignOfLife, fill_from
from moot.core.text import Quoted, quote_optional
from moot.protocols.presence import labels, liveness, model, overlap, sub_agents
from moot.protocols.presence.labels import Health, WorkState
from moot.protocols.presence.liveness import LivenessVerdict
from moot.protocols.presence.model import (
    EventType,
    Liveness,
    Member,
    PresenceMessage,
    ReceiptKind,
    Reservation,
    State,
    SubAgent,
    Urgency,
    name_with_alias,
)
from moot.protocols.presence.overlap import OverlapConflict, Requester
from moot.protocols.presence.paths import Scope


class Observation(msgspec.Struct, frozen=True):
    """The time and the facts from which liveness is judged.

    `seen` are the proved signs of life. `stale_millis` is the reader's stale time (None: the
    workspace's). `registered` is when each name got its holder, which counts as a first sign of
    life (B-35).
    """

    now: Millis
    seen: Mapping[str, SignOfLife] = {}
    stale_millis: Millis | None = None
    registered: Mapping[str, Millis] = {}


def observe_liveness(state: State, name: str, observation: Observation) -> LivenessVerdict:
    """Judge how alive `name` is; without an act here, by its sign of life alone."""
    member = model.find_member(state, name)
    stale = liveness.shown_stale_time(observation.stale_millis, state.stale_millis)
    acted, sign = member.last_at if member is not None else None, observation.seen.get(name)
    if acted is None and sign is None:
        registered = observation.registered.get(name)
        return liveness.judge_liveness(registered, observation.now, stale, "its registration")
    return liveness.judge_sign(sign, acted, observation.now, stale)


class SubAgentView(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-agent at work: `name` is its alias, such as amber-otter/2.

    It has no key: `signed_by` is the agent whose session it belongs to and that signs for it.
    """

    name: str
    signed_by: str
    kind: Quoted
    liveness: Liveness
    label: str
    last_seen_at: str | None
    because: str
    since: str
    holds: tuple[Quoted, ...]


class AgentView(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, its liveness, and the facts that decide it.

    OPR-007, OPR-008: identity and persona are both shown, though v1 keeps them in one field.
    `holds` is all that its session holds, its sub-agents included.
    """

    agent: str
    session_agent_id: str
    logical_agent_id: str
    liveness: Liveness
    label: str
    last_seen_at: str | None
    because: str
    here: bool
    worktree: Quoted
    branch: Quoted | None
    work: Quoted | None
    holds: tuple[Quoted, ...]
    sub_agents: tuple[SubAgentView, ...] = ()


class ReservationView(msgspec.Struct, frozen=True, kw_only=True):
    """A scope that is held: by whom, how alive they are, for what and until when.

    `holder` is the owner, or the alias of the owner's sub-agent that works there.
    """

    scope: Quoted
    owner: str
    holder: str
    liveness: Liveness
    label: str
    because: str
    work: Quoted | None
    worktree: Quoted
    branch: Quoted | None
    since: str
    expires_at: str | None
    automatic: bool
    fencing: int


class PresenceMessageView(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the conversation; `status` is how far it has come with its receiver."""

    id: str
    event_type: EventType
    label: str
    from_agent: str | None
    to_agent: str | None
    subject: Quoted
    work: Quoted | None
    scope: Quoted | None
    urgency: Urgency | None
    created_at: str
    status: ReceiptKind


class WorkItemView(msgspec.Struct, frozen=True):
    """The state of a work item, and who works on it.

    `close` is the command that closes it, if it was given back and is committed.
    """

    work: Quoted
    state: WorkState
    label: str
    agents: tuple[str, ...]
    close: str | None = None


class StatusCounts(msgspec.Struct, frozen=True):
    agents: int
    reservations: int
    pending: int


class StatusPart(NamedTuple):
    """The agents, reservations and work items to show, if there are too many for one screen.

    `held_by` has, by name, what each of the agents holds.
    `speakers` are agents whose liveness decides the state of a work item (None: all on it).
    `unshown_liveness` is the liveness of agents that are here and not shown: it counts for the
    health of the project.
    """

    agents: tuple[str, ...]
    held_by: Mapping[str, Iterable[Reservation]]
    reservations: tuple[Reservation, ...]
    works: frozenset[str]
    speakers: frozenset[str] | None = None
    unshown_liveness: tuple[Liveness, ...] = ()


class PresenceStatusView(msgspec.Struct, frozen=True, kw_only=True):
    """One screen: who is here, who holds what, who owes an answer, what waits for the reader."""

    agents: tuple[AgentView, ...]
    reservations: tuple[ReservationView, ...]
    pending: tuple[PresenceMessageView, ...]
    mine: tuple[PresenceMessageView, ...]
    work: tuple[WorkItemView, ...]
    counts: StatusCounts
    health: Health


def view_agent(state: State, name: str, observation: Observation) -> AgentView:
    (view,) = view_agents(state, (name,), observation)
    return view


def view_agents(
    state: State, names: Iterable[str], observation: Observation
) -> tuple[AgentView, ...]:
    """View each of these agents, with one pass over the reservations."""
    return _view_agents(state, names, observation, model.group_by_owner(state))


def _view_agents(
    state: State,
    names: Iterable[str],
    observation: Observation,
    held_by: Mapping[str, Iterable[Reservation]],
) -> tuple[AgentView, ...]:
    return tuple(_view_agent(state, name, observation, held_by.get(name, ())) for name in names)


def _view_agent(
    state: State, name: str, observation: Observation, leases: Iterable[Reservation]
) -> AgentView:
    verdict, member = (
        observe_liveness(state, name, observation),
        model.find_member(state, name),
    )
    epoch = member.epoch if member else 1
    held = [lease for lease in leases if lease.epoch == epoch]
    return AgentView(
        agent=name,
        session_agent_id=member.session_agent_id if member else name,
        logical_agent_id=member.logical_agent_id if member else name,
        liveness=verdict.liveness,
        label=_liveness_label(member, verdict.liveness),
        last_seen_at=_format_time(verdict.last_seen_at),
        because=verdict.because,
        here=member is not None and not member.left,
        worktree=Quoted(member.worktree if member else ""),
        branch=quote_optional(member.branch if member else None),
        work=quote_optional(member.work if member else None),
        holds=tuple(Quoted(reservation.scope) for reservation in held),
        sub_agents=view_sub_agents(state, name, observation),
    )


def view_sub_agents(state: State, name: str, observation: Observation) -> tuple[SubAgentView, ...]:
    """Return the sub-agents that `name` has at work, in the order in which they began."""
    member = model.find_member(state, name)
    if member is None or not member.sub_agents:
        return ()
    held = model.reservations_of(state, name, member.epoch)
    stale = liveness.shown_stale_time(observation.stale_millis, state.stale_millis)
    return tuple(
        _view_sub_agent(
            name,
            each,
            sub_agents.judge_sub_agent(each, observation.now, stale),
            tuple(Quoted(lease.scope) for lease in held if lease.alias == each.alias),
        )
        for each in member.sub_agents
    )


def _view_sub_agent(
    session: str, sub_agent: SubAgent, verdict: LivenessVerdict, holds: tuple[Quoted, ...]
) -> SubAgentView:
    return SubAgentView(
        name=name_with_alias(session, sub_agent.alias),
        signed_by=session,
        kind=Quoted(sub_agent.kind),
        liveness=verdict.liveness,
        label=labels.LIVENESS_LABELS[verdict.liveness],
        last_seen_at=_format_time(verdict.last_seen_at),
        because=verdict.because,
        since=to_text(sub_agent.since),
        holds=holds,
    )


def _liveness_label(member: Member | None, liveness: Liveness) -> str:
    """Return the label of the liveness; an agent that never joined is not here."""
    if member is None:
        return labels.NOT_HERE
    return labels.LEFT if member.left else labels.LIVENESS_LABELS[liveness]


def view_members(state: State, observation: Observation) -> tuple[AgentView, ...]:
    """View the agents that are here, by name, without those that have left."""
    return view_agents(state, (member.name for member in _members_here(state)), observation)


def _members_here(state: State) -> Iterable[Member]:
    return (member for member in state.members if not member.left)


def view_reservation(state: State, held: Reservation, observation: Observation) -> ReservationView:
    asker = Requester("", 0, observation.now, observation.seen, observation.stale_millis)
    stale = liveness.shown_stale_time(observation.stale_millis, state.stale_millis)
    verdict, _sign = overlap.judge_owner(state, held, asker, stale)
    return fill_from(
        ReservationView,
        held,
        liveness=verdict.liveness,
        label=labels.LIVENESS_LABELS[verdict.liveness],
        because=verdict.because,
        since=to_text(held.since),
        expires_at=_format_time(held.expires_at),
    )


def view_reservations(
    state: State, observation: Observation, owner: str | None = None
) -> tuple[ReservationView, ...]:
    """View the reservations, by path, without those that have ended but are not archived."""
    return tuple(
        view_reservation(state, held, observation)
        for held in state.live
        if not held.has_ended(observation.now) and owner in (None, held.owner)
    )


def view_pending(state: State, agent: str | None = None) -> tuple[PresenceMessageView, ...]:
    """View events that wait for an acceptance, of all or of `agent`, oldest first (OPR-106)."""
    waiting = sorted(state.pending.values(), key=lambda message: (message.at, message.id))
    return tuple(view_message(each) for each in waiting if agent in (None, each.to))


def view_message(message: PresenceMessage) -> PresenceMessageView:
    return fill_from(
        PresenceMessageView,
        message,
        event_type=message.type,
        label=labels.label_event(message.type, is_withdrawn=message.withdrawn),
        from_agent=message.sender,
        to_agent=message.to,
        created_at=to_text(message.at),
        status=_furthest_receipt(message),
    )


def _furthest_receipt(message: PresenceMessage) -> ReceiptKind:
    if message.accepted:
        return ReceiptKind.ACCEPTED
    return ReceiptKind.SEEN if message.to in message.seen_by else ReceiptKind.SENT


def view_status(
    state: State,
    observation: Observation,
    reader: str | None = None,
    part: StatusPart | None = None,
) -> PresenceStatusView:
    """OPR-095: show overlaps of work and quiet agents on one screen.

    `part` limits what is shown (None: all agents here, and all reservations).
    """
    if part is None:
        here, held = view_members(state, observation), view_reservations(state, observation)
        work = view_work_items(state, observation, {})
        alive = [view.liveness for view in here]
    else:
        here = _view_agents(state, part.agents, observation, part.held_by)
        held = tuple(view_reservation(state, lease, observation) for lease in part.reservations)
        work = _view_works(state, part.works, observation, {}, part.speakers)
        alive = [*part.unshown_liveness, *(view.liveness for view in here if view.here)]
    waiting = view_pending(state)
    return PresenceStatusView(
        agents=here,
        reservations=held,
        pending=waiting,
        mine=tuple(view for view in waiting if reader is not None and view.to_agent == reader),
        work=work,
        counts=StatusCounts(len(here), len(held), len(waiting)),
        health=labels.judge_health(alive),
    )


def view_work_items(
    state: State, observation: Observation, bead_status: Mapping[str, str]
) -> tuple[WorkItemView, ...]:
    """The state of each work item that someone here works on, holds something for, or waits for."""
    sources = (*_members_here(state), *state.live, *state.pending.values())
    works = {source.work for source in sources if source.work} | bead_status.keys()
    return _view_works(state, works, observation, bead_status)


def _view_works(
    state: State,
    works: Set[str],
    observation: Observation,
    bead_status: Mapping[str, str],
    speakers: Set[str] | None = None,
) -> tuple[WorkItemView, ...]:
    """View these work items, by name; only the liveness of `speakers` counts (None: all)."""
    agents_by_work: dict[str, set[str]] = {work: set() for work in sorted(works)}
    if works:
        here = ((member.work, member.name) for member in _members_here(state))
        holding = ((held.work, held.owner) for held in state.live_by_key.values())
        for work, name in (*here, *holding):
            if work in agents_by_work:
                agents_by_work[work].add(name)
    awaited = {message.work for message in state.pending.values()}
    holders = {held.owner for held in state.live_by_key.values()} if works else set[str]()
    views = []
    for work, names in agents_by_work.items():
        speaking = sorted(names if speakers is None else names & speakers)
        verdicts = [observe_liveness(state, name, observation) for name in speaking]
        facts = _work_facts(state, verdicts, observation.now, is_owed=work in awaited)
        usual = "in_progress" if names else None
        status = bead_status.get(work, usual)
        facts = msgspec.structs.replace(
            facts, bead_status=status, is_returned=_are_done(state, names, holders)
        )
        work_state = labels.judge_work(facts)
        label = labels.WORK_STATE_LABELS[work_state]
        views.append(WorkItemView(Quoted(work), work_state, label, tuple(sorted(names))))
    return tuple(views)


def _are_done(state: State, names: Set[str], holders: Set[str]) -> bool:
    """True if each of them has given something back, and holds nothing."""
    members = [model.find_member(state, name) for name in names]
    return bool(members) and all(
        member is not None and member.gave_back and member.name not in holders for member in members
    )


def _work_facts(
    state: State, verdicts: Iterable[LivenessVerdict], now: Millis, *, is_owed: bool
) -> labels.WorkFacts:
    """Return the facts by the agent seen last: one evicted agent does not end shared work."""
    latest = max(verdicts, key=lambda verdict: verdict.last_seen_at or 0, default=None)
    return labels.WorkFacts(
        answer_owed=is_owed,
        liveness=latest.liveness if latest else None,
        last_activity=latest.last_seen_at if latest else None,
        now=now,
        stale_millis=latest.stale_millis if latest else state.stale_millis,
    )


def find_blockers(
    state: State,
    claims: Iterable[Scope],
    holder: tuple[str, int],
    observation: Observation,
    alias: str | None = None,
) -> tuple[OverlapConflict, ...]:
    """Find what keeps `holder` (name, epoch) from writing there, without recording anything.

    `alias` is the acting sub-agent; None: no reservation of the holder's own session conflicts.
    """
    now, seen, stale = observation.now, observation.seen, observation.stale_millis
    asker = Requester(*holder, now, seen, stale, alias)
    return tuple(overlap.find_conflicts(state, claims, asker))


def _format_time(at: Millis | None) -> str | None:
    return None if at is None else to_text(at)


class Holdings:
    """What agents hold; decodes only the pages with agents that the caller asks for."""

    def __init__(self, state: State) -> None:
        self._live = state.live_by_key
        self._owners_by_page = list(state.live_by_key.listed())
        self.owners: set[str] = set().union(*self._owners_by_page)

    def of(self, names: Iterable[str]) -> dict[str, list[Reservation]]:
        """Return what each of `names` holds, by name, in the order of the keys."""
        asked = frozenset(names)
        held_by: dict[str, list[Reservation]] = {}
        for number, owners in enumerate(self._owners_by_page):
            for held in () if owners.isdisjoint(asked) else self._live.page(number).values():
                if held.owner in asked:
                    held_by.setdefault(held.owner, []).append(held)
        return held_by
