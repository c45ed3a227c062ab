"""The events that an accepted command records, and those that a refused one leaves behind.

The rules have agreed before anything is drafted: only numbers and wording are settled here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, Literal

from moot.core.clock import MINUTE
from moot.core.machine import Command, Event
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence import overlap, sorted_index
from moot.protocols.presence.case import (
    OverlapCase,
    PresenceCase,
    ReceiptCase,
    Reserving,
    ResumeCase,
    Sending,
    find_prior_epoch,
    scope_root,
)
from moot.protocols.presence.handoff_moves import find_moved
from moot.protocols.presence.model import (
    Liveness,
    Reservation,
    ResumeReason,
    Stage,
    State,
    Urgency,
)
from moot.protocols.presence.numbering import NextNumbers
from moot.protocols.presence.overlap import TAKEOVER, OverlapConflict
from moot.protocols.presence.paths import Scope, require_absolute_root

MAX_INCURSIONS: Final = 64
MAX_EXPIRED_AT_ONCE: Final = 100
IncursionOutcome = Literal["refused", "taken_over", "slipped_past"]

# What the incoming agent should do (OPR-070), by what came of it and how alive the owner is.
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


def draft_accepted(case: PresenceCase[Command], numbers: NextNumbers) -> tuple[Event, ...]:
    """The events of an accepted command; none if it asks for what is already so."""
    return tuple(DRAFTS[type(case.command)](case, numbers))


def draft_refused(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion], numbers: NextNumbers
) -> tuple[Event, ...]:
    """The INCURSIONs of a refused overlap, which is itself on record (OPR-104, B-30)."""
    return tuple(islice(_incursions(case, numbers, "refused"), MAX_INCURSIONS))


def _join(case: PresenceCase[ask.Join], _numbers: NextNumbers) -> Iterator[Event]:
    command = case.command
    yield did.AgentJoined(
        project_root=require_absolute_root(command.project_root),
        worktree=require_absolute_root(scope_root(command)),
        branch=command.branch,
        work=command.work,
        session_key=command.session_key,
        process_key=command.process_key,
    )


def _leave(case: PresenceCase[ask.Leave], _numbers: NextNumbers) -> Iterator[Event]:
    actor = case.context.actor
    member = sorted_index.find_member(case.state, actor.id)
    if member is None or member.left:
        return
    yield from map(_end_lease, sorted_index.reservations_of(case.state, actor.id, actor.epoch))
    yield did.AgentLeft(reason=case.command.reason)


def _end_lease(held: Reservation) -> Event:
    return did.ScopeReleased(fencing=held.fencing, key=held.key, scope=held.scope)


def _reserve(case: OverlapCase[Reserving], numbers: NextNumbers) -> Iterator[Event]:
    """Incursions first, then the leases they end, then the new ones: as people read it."""
    yield from _incursions(case, numbers, "taken_over")
    yield from map(_archive_lost, overlap.first_by_reservation(case.conflicts))
    yield from map(_archive_lapsed, overlap.find_lapsed(case.state, case.claims, case.context.now))
    for claim in case.claims:
        if not _changes_nothing(case, claim):
            yield _begin_lease(case, claim, numbers)


def _incursions(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion],
    numbers: NextNumbers,
    outcome: IncursionOutcome,
) -> Iterator[Event]:
    """One INCURSION for each reservation in the way; `once` leaves out those on record already."""
    actor, command = case.context.actor, case.command
    for conflict in overlap.first_by_reservation(case.conflicts):
        repeated = command.once and actor.id in conflict.held.hit_by
        if outcome == "taken_over" or not repeated:
            yield _incursion(case, conflict, outcome, numbers.next_event_id())


def _incursion(
    case: OverlapCase[Reserving] | OverlapCase[ask.NoteIncursion],
    conflict: OverlapConflict,
    outcome: IncursionOutcome,
    event_id: str,
) -> Event:
    held, verdict = conflict.held, conflict.verdict
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
        resolution_hint=RESOLUTION_HINTS[outcome][verdict.liveness].format(owner=held.owner),
    )


def _archive_lost(conflict: OverlapConflict) -> Event:
    """How the loser's reservation ends, by the table TAKEOVER: expired or taken over (OPR-033)."""
    held, verdict = conflict.held, conflict.verdict
    if TAKEOVER[verdict.liveness][True] is Stage.EXPIRED:
        return did.ScopeExpired(
            fencing=held.fencing,
            key=held.key,
            scope=held.scope,
            owner=held.owner,
            owner_epoch=held.epoch,
            why="evicted",
            stale_millis=verdict.stale_millis,
            last_sign=conflict.sign,
        )
    return did.ScopeTakenOver(
        fencing=held.fencing,
        key=held.key,
        scope=held.scope,
        owner=held.owner,
        owner_epoch=held.epoch,
        stale_millis=verdict.stale_millis,
        last_sign=conflict.sign,
    )


def _archive_lapsed(held: Reservation) -> Event:
    return did.ScopeExpired(
        fencing=held.fencing,
        key=held.key,
        scope=held.scope,
        owner=held.owner,
        owner_epoch=held.epoch,
        why="ttl",
    )


def _is_mine(case: PresenceCase[Any], held: Reservation | None) -> bool:
    actor = case.context.actor
    return (
        held is not None
        and held.is_held_by(actor.id, actor.epoch)
        and not held.has_ended(case.context.now)
    )


def _changes_nothing(case: OverlapCase[Reserving], claim: Scope) -> bool:
    """True if the actor holds it already and nothing about the lease would change.

    A hook asks before every edit: without this each edit would leave an event.
    """
    command, same = case.command, sorted_index.find_reservation(case.state, claim.key)
    if command.automatic:
        around = (same, *sorted_index.reservations_above(case.state, claim.key))
        return any(_is_mine(case, held) and not _ends_soon(case, held) for held in around)
    if same is None or not _is_mine(case, same) or same.automatic:
        return False
    before = (same.expires_at, same.work, same.branch, same.worktree)
    work, branch = command.work or same.work, command.branch or same.branch
    after = (None, work, branch, require_absolute_root(scope_root(command)))
    return command.ttl_minutes is None and before == after


def _ends_soon(case: OverlapCase[Reserving], held: Reservation | None) -> bool:
    """True if less than half of its time is left; then it is renewed while its holder edits on."""
    ttl, ends = case.command.ttl_minutes, held.expires_at if held is not None else None
    return ttl is not None and ends is not None and ends - case.context.now < ttl * MINUTE // 2


def _begin_lease(case: OverlapCase[Reserving], claim: Scope, numbers: NextNumbers) -> Event:
    """A lease under a new number; a renewal keeps the work and branch that it does not name."""
    command, same = case.command, sorted_index.find_reservation(case.state, claim.key)
    before = same if _is_mine(case, same) else None
    ttl = command.ttl_minutes
    return did.ScopeReserved(
        fencing=numbers.next_fencing(),
        key=claim.key,
        scope=claim.shown,
        work=command.work or (before.work if before else None),
        worktree=require_absolute_root(scope_root(command)),
        branch=command.branch or (before.branch if before else None),
        expires_at=None if ttl is None else case.context.now + ttl * MINUTE,
        automatic=command.automatic,
    )


def _release(case: PresenceCase[ask.Release], _numbers: NextNumbers) -> Iterator[Event]:
    actor, state = case.context.actor, case.state
    if case.command.all:
        return map(_end_lease, sorted_index.reservations_of(state, actor.id, actor.epoch))
    leases = (sorted_index.find_reservation(state, claim.key) for claim in case.claims)
    return (_end_lease(held) for held in leases if held is not None)


def _receiver_epoch(state: State, command: Sending) -> int:
    """Which holder of the name is meant: `to_epoch`, unless a later one is already known here."""
    member = sorted_index.find_member(state, command.to)
    return max(command.to_epoch or 1, member.epoch if member is not None else 1)


def _send_handoff(case: PresenceCase[ask.SendHandoff], numbers: NextNumbers) -> Iterator[Event]:
    """OPR-103: what is sent stands in the ledger."""
    command = case.command
    scope = case.claims[0] if case.claims else None
    yield did.HandoffSent(
        id=numbers.next_event_id(),
        project_root=require_absolute_root(command.project_root),
        work=command.work,
        to=command.to,
        to_epoch=_receiver_epoch(case.state, command),
        scope=scope.shown if scope else None,
        key=scope.key if scope else None,
        subject=command.subject,
        summary=command.summary,
        next_action=command.next_action,
        requires_ack=command.requires_ack,
    )


def _send_blocked(case: PresenceCase[ask.SendBlocked], numbers: NextNumbers) -> Iterator[Event]:
    command = case.command
    yield did.BlockedSent(
        id=numbers.next_event_id(),
        project_root=require_absolute_root(command.project_root),
        work=command.work,
        to=command.to,
        to_epoch=_receiver_epoch(case.state, command),
        scope=case.claims[0].shown if case.claims else None,
        subject=command.subject,
        blocker=command.blocker,
        requested_action=command.requested_action,
        urgency=Urgency(command.urgency),
    )


def _mark_seen(case: ReceiptCase[ask.MarkSeen], _numbers: NextNumbers) -> Iterator[Event]:
    """Once for each event and agent; repeating it records nothing (OPR-105)."""
    message = case.message
    if message is not None and case.context.actor.id not in message.seen_by:
        yield did.EventSeen(id=message.id)


def _accept(case: ReceiptCase[ask.Accept], numbers: NextNumbers) -> Iterator[Event]:
    """The acceptance, once, and the leases that an accepted HANDOFF moves."""
    message = case.message
    if message is None or message.accepted:
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
    """One RESUME (OPR-017), then every lease of the earlier session, issued anew."""
    reason = case.adoption.reason
    if reason is None:
        return
    event = _resumed(case, reason, numbers.next_event_id())
    yield event
    for held in case.prior:
        yield _hand_over(case, held, event.id, numbers)


def _resumed(case: ResumeCase, reason: ResumeReason, event_id: str) -> did.AgentResumed:
    """RESUME names the earlier holder, the reason and the linked beads (OPR-018)."""
    command, actor, verdict = case.command, case.context.actor, case.adoption
    prior = sorted_index.find_member(case.state, actor.id)
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
        work=command.work or next(iter(verdict.bead_ids), None),
        bead_ids=verdict.bead_ids,
        messages=_messages_for(case.state, actor.id, epoch),
    )


def _messages_for(state: State, name: str, epoch: int) -> tuple[str, ...]:
    """The ids of what waits for that holder of the name: the one who adopts it must answer."""
    waiting = (message for message in state.pending.values() if message.is_for(name, epoch))
    return tuple(sorted(message.id for message in waiting))


def _note_incursion(case: OverlapCase[ask.NoteIncursion], numbers: NextNumbers) -> Iterator[Event]:
    return _incursions(case, numbers, "slipped_past")


def _set_stale_minutes(
    case: PresenceCase[ask.SetStaleMinutes], _numbers: NextNumbers
) -> Iterator[Event]:
    if case.command.stale_millis != case.state.stale_millis:
        yield did.StaleMinutesSet(stale_millis=case.command.stale_millis)


def _expire(case: PresenceCase[ask.ExpireScopes], _numbers: NextNumbers) -> Iterator[Event]:
    """The leases whose time is over, the longest overdue first, a limited number at once."""
    due = [held for held in case.state.live if held.has_ended(case.context.now)]
    due.sort(key=lambda held: (held.expires_at or 0, held.fencing))
    return map(_archive_lapsed, due[:MAX_EXPIRED_AT_ONCE])


DRAFTS: Final[dict[type[Command], Callable[[Any, NextNumbers], Iterable[Event]]]] = {
    ask.Join: _join,
    ask.Leave: _leave,
    ask.Reserve: _reserve,
    ask.TakeOver: _reserve,
    ask.Release: _release,
    ask.SendHandoff: _send_handoff,
    ask.SendBlocked: _send_blocked,
    ask.MarkSeen: _mark_seen,
    ask.Accept: _accept,
    ask.Resume: _resume,
    ask.NoteIncursion: _note_incursion,
    ask.SetStaleMinutes: _set_stale_minutes,
    ask.ExpireScopes: _expire,
}
