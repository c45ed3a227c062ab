"""What people and agents read of presence: Structs whose fields are the JSON of every surface.

Liveness is derived here each time (OPR-029), from signs of life that the caller has had proved
(`Engine.signs`); nothing is read from a clock or a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.machine import Sign
from moot.protocols.presence import adoption, labels, liveness, overlap, sessions, shelf
from moot.protocols.presence.commands import Evidence
from moot.protocols.presence.liveness import Verdict
from moot.protocols.presence.model import (
    EventType,
    Liveness,
    Member,
    Message,
    Receipt,
    Reservation,
    State,
    Urgency,
)
from moot.protocols.presence.overlap import Asker, Conflict
from moot.protocols.presence.paths import Scope
from moot.protocols.presence.recommend import Candidate
from moot.protocols.presence.sessions import Health, SessionState


class Moment(msgspec.Struct, frozen=True):
    """From when and with what knowledge one looks.

    `seen` are the proved signs of life. `stale_millis` is after how long the reader calls an agent
    stale (None: as the workspace does). `registered` says since when names have their holder, which
    counts as a first sign of life (B-35).
    """

    now: Millis
    seen: Mapping[str, Sign] = {}
    stale_millis: Millis | None = None
    registered: Mapping[str, Millis] = {}


def liveness_of(state: State, name: str, moment: Moment) -> Verdict:
    """How alive `name` is; whoever never acted here is judged by its sign of life alone."""
    member = shelf.member(state, name)
    stale = liveness.effective_stale(moment.stale_millis, state.stale_millis)
    acted, sign = member.last_at if member is not None else None, moment.seen.get(name)
    if acted is None and sign is None:
        registered = moment.registered.get(name)
        return liveness.judge(registered, moment.now, stale, "its registration")
    return liveness.judge_sign(sign, acted, moment.now, stale)


class AgentView(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, how alive it is, and the facts that say so.

    OPR-007, OPR-008: identity and persona are both shown, though v1 keeps them in one field.
    """

    agent: str
    session_agent_id: str
    logical_agent_id: str
    liveness: Liveness
    label: str
    last_seen_at: str | None
    because: str
    here: bool
    worktree: str
    branch: str | None
    work: str | None
    holds: tuple[str, ...]


class ReservationView(msgspec.Struct, frozen=True, kw_only=True):
    """A scope that is held: by whom, how alive they are, for what and until when."""

    scope: str
    owner: str
    liveness: Liveness
    label: str
    because: str
    work: str | None
    worktree: str
    branch: str | None
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
    subject: str
    work: str | None
    scope: str | None
    urgency: Urgency | None
    created_at: str
    status: Receipt


class WorkItemView(msgspec.Struct, frozen=True):
    """How a work item stands, and who works on it."""

    work: str
    state: SessionState
    label: str
    agents: tuple[str, ...]


class StatusCounts(msgspec.Struct, frozen=True):
    agents: int
    reservations: int
    pending: int


class PresenceStatusView(msgspec.Struct, frozen=True, kw_only=True):
    """One screen: who is here, who holds what, who owes an answer, what waits for the reader."""

    agents: tuple[AgentView, ...]
    reservations: tuple[ReservationView, ...]
    pending: tuple[PresenceMessageView, ...]
    mine: tuple[PresenceMessageView, ...]
    work: tuple[WorkItemView, ...]
    counts: StatusCounts
    health: Health


def agent(state: State, name: str, moment: Moment) -> AgentView:
    verdict, member = liveness_of(state, name, moment), shelf.member(state, name)
    held = shelf.held_by(state, name, member.epoch if member else 1)
    return AgentView(
        agent=name,
        session_agent_id=member.session_agent_id if member else name,
        logical_agent_id=member.logical_agent_id if member else name,
        liveness=verdict.liveness,
        label=_label(member, verdict.liveness),
        last_seen_at=_time(verdict.last_seen_at),
        because=verdict.because,
        here=member is not None and not member.left,
        worktree=member.worktree if member else "",
        branch=member.branch if member else None,
        work=member.work if member else None,
        holds=tuple(reservation.scope for reservation in held),
    )


def _label(member: Member | None, liveness: Liveness) -> str:
    """Whoever never joined is not here, however lately the name was registered."""
    if member is None:
        return labels.NOT_HERE
    return labels.LEFT if member.left else labels.LIVENESS[liveness]


def members(state: State, moment: Moment) -> tuple[AgentView, ...]:
    """Who is here, by name; those who have left are not."""
    return tuple(agent(state, member.name, moment) for member in _members_here(state))


def _members_here(state: State) -> Iterable[Member]:
    return (member for member in state.members if not member.left)


def reservation(state: State, held: Reservation, moment: Moment) -> ReservationView:
    asker = Asker("", 0, moment.now, moment.seen, moment.stale_millis)
    verdict, _sign = overlap.owner_verdict(state, held, asker)
    return ReservationView(
        scope=held.scope,
        owner=held.owner,
        liveness=verdict.liveness,
        label=labels.LIVENESS[verdict.liveness],
        because=verdict.because,
        work=held.work,
        worktree=held.worktree,
        branch=held.branch,
        since=to_text(held.since),
        expires_at=_time(held.expires_at),
        automatic=held.automatic,
        fencing=held.fencing,
    )


def reservations(
    state: State, moment: Moment, owner: str | None = None
) -> tuple[ReservationView, ...]:
    """What is held, by path. What has lapsed is left out, even if it is not archived yet."""
    return tuple(
        reservation(state, held, moment)
        for held in state.live
        if not held.over(moment.now) and owner in (None, held.owner)
    )


def pending(state: State, agent: str | None = None) -> tuple[PresenceMessageView, ...]:
    """Events that owe an acceptance, oldest first; `agent` narrows to those it owes (OPR-106)."""
    waiting = sorted(state.pending.values(), key=lambda message: (message.at, message.id))
    return tuple(message(each) for each in waiting if agent in (None, each.to))


def message(message: Message) -> PresenceMessageView:
    return PresenceMessageView(
        id=message.id,
        event_type=message.type,
        label=labels.EVENTS[message.type],
        from_agent=message.sender,
        to_agent=message.to,
        subject=message.subject,
        work=message.work,
        scope=message.scope,
        urgency=message.urgency,
        created_at=to_text(message.at),
        status=_receipt(message),
    )


def _receipt(message: Message) -> Receipt:
    if message.accepted:
        return Receipt.ACCEPTED
    return Receipt.SEEN if message.to in message.seen_by else Receipt.SENT


def status(state: State, moment: Moment, me: str | None = None) -> PresenceStatusView:
    """OPR-095: overlaps of work and agents gone quiet are visible on one screen."""
    here, held, waiting = members(state, moment), reservations(state, moment), pending(state)
    return PresenceStatusView(
        agents=here,
        reservations=held,
        pending=waiting,
        mine=tuple(view for view in waiting if me is not None and view.to_agent == me),
        work=work_items(state, moment, {}),
        counts=StatusCounts(len(here), len(held), len(waiting)),
        health=sessions.health(view.liveness for view in here),
    )


def work_items(
    state: State, moment: Moment, bead_status: Mapping[str, str]
) -> tuple[WorkItemView, ...]:
    """The state of each work item that someone here works on, holds something for, or waits for."""
    sources = (*_members_here(state), *state.live, *state.pending.values())
    names = {source.work for source in sources if source.work} | bead_status.keys()
    return tuple(_work_item(state, work, moment, bead_status) for work in sorted(names))


def _work_item(
    state: State, work: str, moment: Moment, bead_status: Mapping[str, str]
) -> WorkItemView:
    """Whoever was seen last speaks for the item: one agent gone does not end shared work."""
    agents = {member.name for member in _members_here(state) if member.work == work}
    agents |= {held.owner for held in state.live if held.work == work}
    verdicts = [liveness_of(state, name, moment) for name in sorted(agents)]
    latest = max(verdicts, key=lambda verdict: verdict.last_seen_at or 0, default=None)
    session_state = sessions.session_state(
        sessions.Facts(
            bead_status=bead_status.get(work, "in_progress" if agents else None),
            answer_owed=any(message.work == work for message in state.pending.values()),
            liveness=latest.liveness if latest else None,
            last_activity=latest.last_seen_at if latest else None,
            now=moment.now,
            stale_millis=latest.stale_millis if latest else state.stale_millis,
        )
    )
    label = sessions.LABELS[session_state]
    return WorkItemView(work, session_state, label, tuple(sorted(agents)))


def guard(
    state: State, claims: Iterable[Scope], me: tuple[str, int], moment: Moment
) -> tuple[Conflict, ...]:
    """May `me` (name, epoch) write there? Whoever stands in the way; records nothing."""
    asker = Asker(me[0], me[1], moment.now, moment.seen, moment.stale_millis)
    return tuple(overlap.conflicts(state, claims, asker))


def adoption_of(
    state: State,
    target: str,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
) -> adoption.Verdict:
    """May a new session here adopt `target`? Ask before the key is rotated: `Resume` asks again."""
    member = shelf.member(state, target)
    leases = shelf.held_by(state, target, member.epoch) if member is not None else ()
    held = tuple(reservation for reservation in leases if not reservation.over(now))
    return adoption.judge(adoption.Question(target, held, scopes, work, worktree, evidence))


def adoptable(
    state: State,
    evidence: Evidence,
    worktree: str,
    now: Millis,
    *,
    scopes: tuple[Scope, ...] = (),
    work: str | None = None,
    running: frozenset[str] = frozenset(),
) -> tuple[Candidate, ...]:
    """Names that a new session here could adopt, with the reason for each, by name."""
    candidates = []
    for name in (member.name for member in state.members if member.name not in running):
        verdict = adoption_of(state, name, evidence, worktree, now, scopes=scopes, work=work)
        if verdict.reason is not None:
            candidates.append(Candidate(name, verdict.reason, verdict.evidence, verdict.bead_ids))
    return tuple(candidates)


def _time(at: Millis | None) -> str | None:
    return None if at is None else to_text(at)
