"""The events that an accepted command records, and those that a refused one leaves behind.

The rules were checked before: this module only adds numbers and wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from moot.core.clock import MINUTE, Millis
from moot.core.machine import Command, Event, KeyClass, fill_from
from moot.protocols.presence import adoption, model, overlap, sub_agents
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.case import (
    OverlapCase,
    PresenceCase,
    ReceiptCase,
    Reserving,
    ResumeCase,
    Sending,
    find_moved,
    find_prior_epoch,
    scope_root,
)
from moot.protocols.presence.model import (
    EventType,
    Kind,
    Liveness,
    NextNumbers,
    Reservation,
    ResumeReason,
    Stage,
    State,
    Urgency,
    name_with_alias,
)
from moot.protocols.presence.overlap import TAKEOVER, OverlapConflict
from moot.protocols.presence.paths import Scope, classify_overlap, require_absolute_root

MAX_INCURSIONS: Final = 64
MAX_EXPIRED_AT_ONCE: Final = 100
MAX_SCOPES_NAMED: Final = 50
SettledBy = Literal["released", "expired", "taken_over", "handed_over"]
IncursionOutcome = Literal["refused", "taken_over", "slipped_past"]

# What the incoming agent should do (OPR-070), by the outcome and the owner's liveness.
RESOLUTION_HINTS: Final[dict[IncursionOutcome, dict[Liveness, str]]] = {
    "refused": {
        Liveness.ACTIVE: "{owner} is at work there: work elsewhere, or ask {owner}",
        Liveness.STALE: "{owner} has gone quiet: reserve with --takeover-stale to take it over",
        Liveness.EVICTED: "{owner} is gone: reserve with --takeover-stale to take it over",
    },
    "taken_over": {
        Liveness.ACTIVE: "taken over from {owner}",
        Liveness.STALE: "taken over from {owner}, who had gone quiet; tell {owner} on return",
        Liveness.EVICTED: "taken over from {owner}, who was gone",
    },
    "slipped_past": {
        Liveness.ACTIVE: "changed although {owner} is at work there: compare notes with {owner}",
        Liveness.STALE: "changed although {owner} holds it: take it over or take it back",
        Liveness.EVICTED: "changed although {owner} held it: take it over or take it back",
    },
}
# The same if a sub-agent of the same session holds it.
SIBLING_HINTS: Final[dict[IncursionOutcome, str]] = {
    "refused": "{holder} of the same session is at work there: work elsewhere until it ends",
    "taken_over": "taken over from {holder} of the same session",
    "slipped_past": "changed although {holder} of the same session is at work there: look at both"
    " changes",
}


def draft_accepted(case: PresenceCase[Command], numbers: NextNumbers) -> tuple[Event, ...]:
    """Return the events of an accepted command; none if the command would change nothing."""
    events = tuple(DRAFTS[type(case.command)](case, numbers))
    return (*events, *_settle_requests(case, events))


def _settle_requests(case: PresenceCase[Command], events: tuple[Event, ...]) -> Iterator[Event]:
    """Settle each BLOCKED whose receiver held the scope it asks for and loses it by these events,
    whether or not the receiver had accepted it. A session that adopts a name keeps its scopes."""
    ended = {
        event.was if isinstance(event, did.ScopeHandedOver) else event.fencing: event
        for event in events
        if isinstance(event, did.LEASE_ENDS)
    }
    if not ended:
        return
    reserved = [event.key for event in events if isinstance(event, did.ScopeReserved)]
    actor = case.context.actor.id
    promised = (sent for sent in case.state.recent if sent.accepted and not sent.settled)
    waiting = (*case.state.pending.values(), *promised)
    for message in sorted(waiting, key=lambda message: message.id):
        if message.type is not EventType.BLOCKED or message.key is None:
            continue
        overlapping = model.overlapping_reservations(case.state, message.key)
        theirs = [held for held in overlapping if held.owner == message.to]
        if not theirs or any(held.fencing not in ended for held in theirs):
            continue
        last = ended[theirs[-1].fencing]
        holder = last.owner if isinstance(last, did.ScopeHandedOver) else None
        if any(classify_overlap(key, message.key) is not Kind.DISJOINT for key in reserved):
            holder = actor
        if holder != message.to:
            yield did.RequestSettled(id=message.id, why=_SETTLED_BY[type(last)], holder=holder)


_SETTLED_BY: Final[dict[type[Event], SettledBy]] = {
    did.ScopeReleased: "released",
    did.ScopeFreed: "released",
    did.ScopeExpired: "expired",
    did.ScopeTakenOver: "taken_over",
    did.ScopeHandedOver: "handed_over",
}


def draft_refused(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion], numbers: NextNumbers
) -> tuple[Event, ...]:
    """Return the INCURSIONs that record a refused overlap (OPR-104, B-30)."""
    incursions = tuple(islice(_incursions(case, numbers, "refused"), MAX_INCURSIONS))
    return (*_sign_of_sub_agent(case, acts=bool(incursions)), *incursions)


def _join(case: PresenceCase[ask.Join], _numbers: NextNumbers) -> Iterator[Event]:
    command = case.command
    yield fill_from(
        did.AgentJoined,
        command,
        project_root=require_absolute_root(command.project_root),
        worktree=require_absolute_root(scope_root(command)),
    )


def _leave(case: PresenceCase[ask.Leave], _numbers: NextNumbers) -> Iterator[Event]:
    actor = case.context.actor
    member = model.find_member(case.state, actor.id)
    if member is None or member.left:
        return
    for sub_agent in member.sub_agents if member.epoch == actor.epoch else ():
        yield did.SubAgentEnded(alias=sub_agent.alias, reason="its session left")
    yield from map(_end_lease, model.reservations_of(case.state, actor.id, actor.epoch))
    yield did.AgentLeft(reason=case.command.reason)


def _note_usage(case: PresenceCase[ask.NoteUsage], _numbers: NextNumbers) -> Iterator[Event]:
    yield did.UsageNoted(**msgspec.structs.asdict(case.command))


def _end_lease(held: Reservation) -> Event:
    return did.ScopeReleased(fencing=held.fencing, key=held.key, scope=held.scope)


def _reserve(case: OverlapCase[Reserving], numbers: NextNumbers) -> Iterator[Event]:
    """Record incursions first, then the leases they end, then the new ones: as people read it."""
    new_claims = [claim for claim in case.claims if not _changes_nothing(case, claim)]
    yield from _sign_of_sub_agent(case, acts=bool(new_claims))
    yield from _end_quiet_siblings(case)
    yield from _incursions(case, numbers, "taken_over")
    yield from map(_archive_lost, overlap.first_by_reservation(case.conflicts))
    yield from map(_archive_lapsed, overlap.find_lapsed(case.state, case.claims, case.context.now))
    for claim in new_claims:
        yield _begin_lease(case, claim, numbers)


def _sign_of_sub_agent(case: OverlapCase[Any], *, acts: bool) -> Iterator[Event]:
    """Record that the acting sub-agent began; or, if it has begun and the command records nothing
    else of it (`acts` is false), from time to time that it is still at work."""
    if case.alias and isinstance(case.command.sub_agent, str):
        kind = case.command.sub_agent_kind
        yield from _see_sub_agent(case, case.command.sub_agent, kind, acts=acts)


def _see_sub_agent(
    case: PresenceCase[Any], tool_id: str, kind: str | UnsetType, *, acts: bool = False
) -> Iterator[Event]:
    state, actor, now = case.state, case.context.actor, case.context.now
    session = sub_agents.find_session(state, actor.id, actor.epoch)
    known = sub_agents.find_by_tool_id(session, tool_id)
    if known is not None:
        if not acts and sub_agents.needs_sign(known, now, state.stale_millis):
            yield did.SubAgentSeen(alias=known.alias)
        return
    if session is not None and len(session.sub_agents) >= sub_agents.MAX_AT_WORK:
        crowded_out = sub_agents.longest_silent(session.sub_agents)
        yield did.SubAgentEnded(alias=crowded_out.alias, reason="too many are at work")
    alias = sub_agents.next_alias(session)
    yield did.SubAgentBegan(alias=alias, tool_id=tool_id, kind=kind or "")


def _end_quiet_siblings(case: OverlapCase[Reserving]) -> Iterator[Event]:
    """End the sub-agents of this session that hold what is claimed and have gone quiet."""
    aliases = (
        held.alias
        for claim in case.claims
        for held in model.overlapping_reservations(case.state, claim.key)
        if overlap.is_of_quiet_sibling(case.state, held, case.requester)
    )
    for alias in dict.fromkeys(aliases):
        yield did.SubAgentEnded(alias=alias, reason="it had gone quiet")


def _incursions(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion],
    numbers: NextNumbers,
    outcome: IncursionOutcome,
) -> Iterator[Event]:
    """Yield an INCURSION for each overlapping reservation; `once` skips those on record."""
    name = name_with_alias(case.context.actor.id, case.alias)
    for conflict in overlap.first_by_reservation(case.conflicts):
        repeated = case.command.once and name in conflict.held.hit_by
        if outcome == "taken_over" or not repeated:
            yield _incursion(case, conflict, outcome, numbers.next_event_id())


def _incursion(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion],
    conflict: OverlapConflict,
    outcome: IncursionOutcome,
    event_id: str,
) -> Event:
    held, verdict = conflict.held, conflict.verdict
    note = case.command if isinstance(case.command, ask.NoteIncursion) else None
    return did.IncursionNoted(
        id=event_id,
        project_root=require_absolute_root(case.command.project_root),
        work=case.command.work or held.work,
        owner=held.owner,
        owner_epoch=held.epoch,
        reservation=held.fencing,
        key=held.key,
        scope=conflict.claim.shown,
        held=held.scope,
        kind="exact" if conflict.claim.key == held.key else "partial",
        owner_liveness=verdict.liveness,
        last_seen_at=verdict.last_seen_at,
        outcome=outcome,
        resolution_hint=_resolution_hint(conflict, outcome),
        alias=case.alias or UNSET,
        owner_alias=held.alias or UNSET,
        blob_before=None if note is None else note.blob_before,
        blob_after=None if note is None else note.blob_after,
    )


def _resolution_hint(conflict: OverlapConflict, outcome: IncursionOutcome) -> str:
    held = conflict.held
    if conflict.own_session:
        return SIBLING_HINTS[outcome].format(holder=held.holder)
    return RESOLUTION_HINTS[outcome][conflict.verdict.liveness].format(owner=held.owner)


def _archive_lost(conflict: OverlapConflict) -> Event:
    """End the loser's reservation by the table TAKEOVER: expired or taken over (OPR-033)."""
    held, verdict = conflict.held, conflict.verdict
    if TAKEOVER[verdict.liveness][True] is Stage.EXPIRED:
        return fill_from(
            did.ScopeExpired,
            held,
            owner_epoch=held.epoch,
            why="evicted",
            stale_millis=verdict.stale_millis,
            last_sign=conflict.sign,
        )
    return fill_from(
        did.ScopeTakenOver,
        held,
        owner_epoch=held.epoch,
        stale_millis=verdict.stale_millis,
        last_sign=conflict.sign,
    )


def _archive_lapsed(held: Reservation) -> Event:
    return fill_from(did.ScopeExpired, held, owner_epoch=held.epoch, why="ttl")


def _is_my_sessions(case: OverlapCase[Any], held: Reservation | None) -> bool:
    actor = case.context.actor
    return (
        held is not None
        and held.is_held_by(actor.id, actor.epoch)
        and not held.has_ended(case.context.now)
    )


def _is_mine(case: OverlapCase[Any], held: Reservation | None) -> bool:
    """True if the actor holds it; if the acting sub-agent is known, that sub-agent must hold it."""
    if held is None or not _is_my_sessions(case, held):
        return False
    return case.alias is None or held.alias == case.alias


def _changes_nothing(case: OverlapCase[Reserving], claim: Scope) -> bool:
    """True if the actor holds it already and nothing about the lease would change.

    A hook reserves before every edit: without this, each edit would record an event.
    """
    command, same = case.command, model.find_reservation(case.state, claim.key)
    if command.automatic:
        around = (same, *model.reservations_above(case.state, claim.key))
        return any(_is_mine(case, held) and not _ends_soon(case, held) for held in around)
    if same is None or not _is_mine(case, same) or same.automatic:
        return False
    before = (same.expires_at, same.work, same.branch, same.worktree)
    work, branch = command.work or same.work, command.branch or same.branch
    after = (None, work, branch, require_absolute_root(scope_root(command)))
    return command.ttl_minutes is None and before == after


def _ends_soon(case: OverlapCase[Reserving], held: Reservation | None) -> bool:
    """True if less than half of its time is left: then the next edit renews it."""
    ttl, ends = case.command.ttl_minutes, held.expires_at if held is not None else None
    return ttl is not None and ends is not None and ends - case.context.now < ttl * MINUTE // 2


def _begin_lease(case: OverlapCase[Reserving], claim: Scope, numbers: NextNumbers) -> Event:
    """Return a lease under a new number; a renewal keeps the work and branch that it does not name.

    If the session reserved it by hand, a hook keeps those terms: only the sub-agent that works
    there changes, until it ends.
    """
    command, same = case.command, model.find_reservation(case.state, claim.key)
    before = same if _is_my_sessions(case, same) else None
    by_hand = before if command.automatic and before is not None and not before.automatic else None
    alias = case.alias if case.alias is not None or before is None else before.alias
    return did.ScopeReserved(
        fencing=numbers.next_fencing(),
        key=claim.key,
        scope=claim.shown,
        work=command.work or (before.work if before else None),
        worktree=require_absolute_root(scope_root(command)),
        branch=command.branch or (before.branch if before else None),
        expires_at=by_hand.expires_at if by_hand is not None else _expiry(case),
        automatic=command.automatic and by_hand is None,
        alias=alias or UNSET,
    )


def _expiry(case: OverlapCase[Reserving]) -> Millis | None:
    ttl = case.command.ttl_minutes
    return None if ttl is None else case.context.now + ttl * MINUTE


def _release(case: PresenceCase[ask.Release], _numbers: NextNumbers) -> Iterator[Event]:
    actor, state = case.context.actor, case.state
    if case.command.all:
        mine = model.reservations_of(state, actor.id, actor.epoch)
        now = case.context.now
        return (_end_lease(held) for held in mine if not sub_agents.works_on(state, held, now))
    leases = (model.find_reservation(state, claim.key) for claim in case.claims)
    return (_end_lease(held) for held in leases if held is not None)


def _receiver_epoch(state: State, command: Sending) -> int:
    """Return the receiver's epoch: `to_epoch`, unless a later holder is already known here."""
    member = model.find_member(state, command.to)
    return max(command.to_epoch or 1, member.epoch if member is not None else 1)


def _send_handoff(case: PresenceCase[ask.SendHandoff], numbers: NextNumbers) -> Iterator[Event]:
    """OPR-103: record the HANDOFF in the ledger."""
    command = case.command
    scope = case.claims[0] if case.claims else None
    yield fill_from(
        did.HandoffSent,
        command,
        id=numbers.next_event_id(),
        project_root=require_absolute_root(command.project_root),
        to_epoch=_receiver_epoch(case.state, command),
        scope=scope.shown if scope else None,
        key=scope.key if scope else None,
    )


def _send_blocked(case: PresenceCase[ask.SendBlocked], numbers: NextNumbers) -> Iterator[Event]:
    command = case.command
    yield fill_from(
        did.BlockedSent,
        command,
        id=numbers.next_event_id(),
        project_root=require_absolute_root(command.project_root),
        to_epoch=_receiver_epoch(case.state, command),
        scope=case.claims[0].shown if case.claims else None,
        key=case.claims[0].key if case.claims else UNSET,
        urgency=Urgency(command.urgency),
    )


def _mark_seen(case: ReceiptCase[ask.MarkSeen], _numbers: NextNumbers) -> Iterator[Event]:
    """Record it once for each event and agent; a repeat records nothing (OPR-105)."""
    message = case.message
    if message is not None and case.context.actor.id not in message.seen_by:
        yield did.EventSeen(id=message.id)


def _accept(case: ReceiptCase[ask.Accept], numbers: NextNumbers) -> Iterator[Event]:
    """Yield the acceptance, once, and the leases that an accepted HANDOFF moves."""
    message = case.message
    if message is None or message.accepted or message.settled or message.withdrawn:
        return
    yield did.EventAccepted(id=message.id)
    for held in find_moved(case.state, message, case.context.now):
        yield _hand_over(case, held, message.id, numbers)


def _hand_over(
    case: PresenceCase[Any], held: Reservation, because: str, numbers: NextNumbers
) -> Event:
    """End the lease `held` and begin the actor's own, under a new number."""
    actor = case.context.actor
    return did.ScopeHandedOver(
        was=held.fencing,
        fencing=numbers.next_fencing(),
        key=held.key,
        scope=held.scope,
        from_owner=held.owner,
        owner=actor.id,
        owner_epoch=actor.epoch,
        because=because,
    )


def _resume(case: ResumeCase, numbers: NextNumbers) -> Iterator[Event]:
    """Record one RESUME (OPR-017), then a new lease for every lease of the earlier session. Lapsed
    leases are archived first: else an earlier and a later holder could hold the same key."""
    reason = case.adoption.reason
    if reason is None:
        return
    yield from map(_archive_lapsed, case.lapsed)
    event = _resumed(case, reason, numbers.next_event_id())
    yield event
    for held in case.prior:
        yield _hand_over(case, held, event.id, numbers)


def _resumed(case: ResumeCase, reason: ResumeReason, event_id: str) -> did.AgentResumed:
    """Make the RESUME: the earlier holder, the reason, linked beads and carried scopes
    (OPR-018)."""
    command, actor, verdict = case.command, case.context.actor, case.adoption
    linked = adoption.list_linked_beads(verdict, case.prior)
    prior = model.find_member(case.state, actor.id)
    epoch = find_prior_epoch(case.state, actor.id, actor.epoch)
    return did.AgentResumed(
        id=event_id,
        project_root=require_absolute_root(command.project_root),
        worktree=require_absolute_root(scope_root(command)),
        branch=command.branch,
        session_key=command.session_key,
        prior_agent=actor.id,
        prior_epoch=epoch,
        prior_session_key=prior.session_key if prior is not None else None,
        prior_liveness=command.prior_liveness,
        reason=reason,
        evidence=verdict.evidence,
        work=command.work or next(iter(linked), None),
        bead_ids=linked,
        messages=_messages_for(case.state, actor.id, epoch),
        scopes=tuple(sorted({held.scope for held in case.prior})[:MAX_SCOPES_NAMED]),
    )


def _messages_for(state: State, name: str, epoch: int) -> tuple[str, ...]:
    """Return ids of messages to that holder of the name: the session that adopts it answers."""
    waiting = (message for message in state.pending.values() if message.is_for(name, epoch))
    return tuple(sorted(message.id for message in waiting))


def _note_incursion(case: OverlapCase[ask.NoteIncursion], numbers: NextNumbers) -> Iterator[Event]:
    outcome: IncursionOutcome = "refused" if case.command.was_refused else "slipped_past"
    incursions = tuple(_incursions(case, numbers, outcome))
    yield from _sign_of_sub_agent(case, acts=bool(incursions))
    yield from incursions


def _begin_sub_agent(
    case: PresenceCase[ask.BeginSubAgent], _numbers: NextNumbers
) -> Iterator[Event]:
    return _see_sub_agent(case, case.command.sub_agent, case.command.sub_agent_kind)


def _end_sub_agent(case: PresenceCase[ask.EndSubAgent], _numbers: NextNumbers) -> Iterator[Event]:
    """End sub-agents at work; one that has ended or never began gives no event."""
    command, actor = case.command, case.context.actor
    session = sub_agents.find_session(case.state, actor.id, actor.epoch)
    for sub_agent in session.sub_agents if session is not None else ():
        if command.all or sub_agent.tool_id == command.sub_agent:
            yield did.SubAgentEnded(alias=sub_agent.alias, reason=command.reason)


def _lapse_answer(case: PresenceCase[ask.LapseAnswer], _numbers: NextNumbers) -> Iterator[Event]:
    yield did.AnswerLapsed(id=case.command.id, ended=case.command.ended)


def _withdraw(case: ReceiptCase[ask.Withdraw], _numbers: NextNumbers) -> Iterator[Event]:
    """Record it once; a repeat records nothing."""
    own: Literal["sender", "holder"]
    command, actor, message = case.command, case.context.actor, case.message
    own = "sender" if message is not None and message.sender == actor.id else "holder"
    if message is None or not message.withdrawn:
        yield fill_from(did.EventWithdrawn, command, by=_CAPACITIES.get(actor.kind, own))


_CAPACITIES: Final[dict[KeyClass, Literal["person", "system"]]] = {
    KeyClass.HUMAN: "person",
    KeyClass.SYSTEM: "system",
}


def _end_gone(case: PresenceCase[ask.EndGone], _numbers: NextNumbers) -> Iterator[Event]:
    """End the session; nothing if it has left, or the name has another holder by now."""
    command = case.command
    member = sub_agents.find_session(case.state, command.agent, command.agent_epoch)
    if member is None or member.left:
        return
    for held in model.reservations_of(case.state, member.name, member.epoch):
        yield _free_lease(held, "gone", f"observed by {command.observer}")
    yield did.AgentGone(
        agent=member.name,
        agent_epoch=member.epoch,
        observer=command.observer,
        because=command.because,
    )


def _free_scopes(case: PresenceCase[ask.FreeScopes], _numbers: NextNumbers) -> Iterator[Event]:
    for scope in case.claims:
        held = model.find_reservation(case.state, scope.key)
        if held is not None:
            yield _free_lease(held, "person", case.command.reason)


def _free_lease(held: Reservation, why: Literal["gone", "person"], reason: str) -> Event:
    return fill_from(did.ScopeFreed, held, owner_epoch=held.epoch, why=why, reason=reason)


def _set_stale_minutes(
    case: PresenceCase[ask.SetStaleMinutes], _numbers: NextNumbers
) -> Iterator[Event]:
    if case.command.stale_millis != case.state.stale_millis:
        yield did.StaleMinutesSet(stale_millis=case.command.stale_millis)


def _expire(case: PresenceCase[ask.ExpireScopes], _numbers: NextNumbers) -> Iterator[Event]:
    """Return the leases whose time is over, the longest overdue first, a limited number at once."""
    due = [held for held in case.state.live if held.has_ended(case.context.now)]
    due.sort(key=lambda held: (held.expires_at or 0, held.fencing))
    return map(_archive_lapsed, due[:MAX_EXPIRED_AT_ONCE])


DRAFTS: Final[dict[type[Command], Callable[[Any, NextNumbers], Iterable[Event]]]] = {
    ask.Join: _join,
    ask.Leave: _leave,
    ask.NoteUsage: _note_usage,
    ask.Reserve: _reserve,
    ask.TakeOver: _reserve,
    ask.Release: _release,
    ask.SendHandoff: _send_handoff,
    ask.SendBlocked: _send_blocked,
    ask.MarkSeen: _mark_seen,
    ask.Accept: _accept,
    ask.Resume: _resume,
    ask.NoteIncursion: _note_incursion,
    ask.BeginSubAgent: _begin_sub_agent,
    ask.EndSubAgent: _end_sub_agent,
    ask.SetStaleMinutes: _set_stale_minutes,
    ask.LapseAnswer: _lapse_answer,
    ask.Withdraw: _withdraw,
    ask.EndGone: _end_gone,
    ask.FreeScopes: _free_scopes,
    ask.ExpireScopes: _expire,
}
