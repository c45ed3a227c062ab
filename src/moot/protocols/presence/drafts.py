"""What each accepted command records, and what a refused one leaves behind.

Every draft follows the rules' yes; nothing is decided here but numbers and words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, Literal

from moot.core.clock import MINUTE
from moot.core.machine import Command, Event
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence import overlap, shelf
from moot.protocols.presence.adoption import Verdict
from moot.protocols.presence.asked import Asked, prior_epoch, root_of
from moot.protocols.presence.handover import moved_by
from moot.protocols.presence.model import Liveness, Reservation, ResumeReason, Stage, Urgency
from moot.protocols.presence.numbering import Numbers
from moot.protocols.presence.overlap import TAKEOVER, Conflict
from moot.protocols.presence.paths import Scope, absolute_root

MAX_NOTED: Final = 64
EXPIRED_AT_ONCE: Final = 100
Outcome = Literal["refused", "taken_over", "slipped_past"]

# What the incoming agent should do, by what came of it and how alive the owner is.
HINTS: Final[dict[Outcome, dict[Liveness, str]]] = {
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


def accepted(asked: Asked, numbers: Numbers) -> tuple[Event, ...]:
    """The events of an accepted command; none if it asks for what is already so."""
    return tuple(_DRAFTS[type(asked.command)](asked, numbers))


def refused(asked: Asked, numbers: Numbers) -> tuple[Event, ...]:
    """A refused overlap is itself on record (B-30)."""
    return tuple(islice(_incursions(asked, numbers, "refused"), MAX_NOTED))


def _joined(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    command: ask.Join = asked.command
    yield did.AgentJoined(
        project_root=absolute_root(command.project_root),
        worktree=absolute_root(root_of(command)),
        branch=command.branch,
        work=command.work,
        session_key=command.session_key,
    )


def _left(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    actor = asked.context.actor
    member = shelf.member(asked.state, actor.id)
    if member is None or member.left:
        return
    yield from map(_release, shelf.held_by(asked.state, actor.id, actor.epoch))
    yield did.AgentLeft(reason=asked.command.reason)


def _release(held: Reservation) -> Event:
    return did.ScopeReleased(fencing=held.fencing, key=held.key, scope=held.scope)


def _reserved(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    """Incursions first, then what they end, then what begins: the order it is read in."""
    yield from _incursions(asked, numbers, "taken_over")
    yield from map(_archive, overlap.each_reservation(asked.conflicts))
    yield from map(_time_over, overlap.lapsed(asked.state, asked.claims, asked.context.now))
    for claim in asked.claims:
        if not _already_so(asked, claim):
            yield _claim(asked, claim, numbers)


def _incursions(asked: Asked, numbers: Numbers, outcome: Outcome) -> Iterator[Event]:
    actor, command = asked.context.actor, asked.command
    for conflict in overlap.each_reservation(asked.conflicts):
        repeated = command.once and actor.id in conflict.held.hit_by
        if outcome == "taken_over" or not repeated:
            yield _incursion(asked, conflict, outcome, numbers.event_id())


def _incursion(asked: Asked, conflict: Conflict, outcome: Outcome, event_id: str) -> Event:
    held, verdict = conflict.held, conflict.verdict
    return did.IncursionNoted(
        id=event_id,
        project_root=absolute_root(asked.command.project_root),
        work=asked.command.work or held.work,
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
        resolution_hint=HINTS[outcome][verdict.liveness].format(owner=held.owner),
    )


def _archive(conflict: Conflict) -> Event:
    """How the loser's reservation ends: the takeover table says."""
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


def _time_over(held: Reservation) -> Event:
    return did.ScopeExpired(
        fencing=held.fencing,
        key=held.key,
        scope=held.scope,
        owner=held.owner,
        owner_epoch=held.epoch,
        why="ttl",
    )


def _mine(asked: Asked, held: Reservation | None) -> bool:
    actor = asked.context.actor
    return (
        held is not None
        and held.held_by(actor.id, actor.epoch)
        and not held.over(asked.context.now)
    )


def _already_so(asked: Asked, claim: Scope) -> bool:
    """What one holds already is not recorded again, unless something about it changes."""
    command, same = asked.command, shelf.held(asked.state, claim.key)
    if command.automatic:
        around = (same, *shelf.above(asked.state, claim.key))
        return any(_mine(asked, held) and not _wears_off(asked, held) for held in around)
    if same is None or not _mine(asked, same) or same.automatic:
        return False
    said = (same.expires_at, same.work, same.branch, same.worktree)
    work, branch = command.work or same.work, command.branch or same.branch
    asks = (None, work, branch, absolute_root(root_of(command)))
    return command.ttl_minutes is None and said == asks


def _wears_off(asked: Asked, held: Reservation | None) -> bool:
    """Less than half of its time is left: whoever goes on editing keeps it."""
    ttl, ends = asked.command.ttl_minutes, held.expires_at if held is not None else None
    return ttl is not None and ends is not None and ends - asked.context.now < ttl * MINUTE // 2


def _claim(asked: Asked, claim: Scope, numbers: Numbers) -> Event:
    """A new number; what a renewal leaves unsaid stays as it was."""
    command, same = asked.command, shelf.held(asked.state, claim.key)
    before = same if _mine(asked, same) else None
    ttl = command.ttl_minutes
    return did.ScopeReserved(
        fencing=numbers.fencing(),
        key=claim.key,
        scope=claim.shown,
        work=command.work or (before.work if before else None),
        worktree=absolute_root(root_of(command)),
        branch=command.branch or (before.branch if before else None),
        expires_at=None if ttl is None else asked.context.now + ttl * MINUTE,
        automatic=command.automatic,
    )


def _released(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    actor, state = asked.context.actor, asked.state
    if asked.command.all:
        return map(_release, shelf.held_by(state, actor.id, actor.epoch))
    found = (shelf.held(state, claim.key) for claim in asked.claims)
    return (_release(held) for held in found if held is not None)


def _receiver_epoch(asked: Asked) -> int:
    """Which holder is meant: the one named, unless a later one is already known here."""
    member = shelf.member(asked.state, asked.command.to)
    return max(asked.command.to_epoch or 1, member.epoch if member is not None else 1)


def _handoff(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    command: ask.SendHandoff = asked.command
    scope = asked.claims[0] if asked.claims else None
    yield did.HandoffSent(
        id=numbers.event_id(),
        project_root=absolute_root(command.project_root),
        work=command.work,
        to=command.to,
        to_epoch=_receiver_epoch(asked),
        scope=scope.shown if scope else None,
        key=scope.key if scope else None,
        subject=command.subject,
        summary=command.summary,
        next_action=command.next_action,
        requires_ack=command.requires_ack,
    )


def _blocked(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    command: ask.SendBlocked = asked.command
    yield did.BlockedSent(
        id=numbers.event_id(),
        project_root=absolute_root(command.project_root),
        work=command.work,
        to=command.to,
        to_epoch=_receiver_epoch(asked),
        scope=asked.claims[0].shown if asked.claims else None,
        subject=command.subject,
        blocker=command.blocker,
        requested_action=command.requested_action,
        urgency=Urgency(command.urgency),
    )


def _seen(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    message = asked.message
    if message is not None and asked.context.actor.id not in message.seen_by:
        yield did.EventSeen(id=message.id)


def _accepted(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    message = asked.message
    if message is None or message.accepted:
        return
    yield did.EventAccepted(id=message.id)
    for held in moved_by(asked.state, message, asked.context.now):
        yield _hand_over(asked, held, message.id, numbers)


def _hand_over(asked: Asked, held: Reservation, because: str, numbers: Numbers) -> Event:
    actor = asked.context.actor
    return did.ScopeHandedOver(
        was=held.fencing,
        fencing=numbers.fencing(),
        key=held.key,
        scope=held.scope,
        from_owner=held.owner,
        owner=actor.id,
        owner_epoch=actor.epoch,
        because=because,
    )


def _resumed(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    """The adoption itself, then every lease of the earlier session, issued anew."""
    verdict = asked.adoption
    if verdict is None or verdict.reason is None:
        return
    event = _resume(asked, verdict, verdict.reason, numbers.event_id())
    yield event
    for held in asked.prior:
        yield _hand_over(asked, held, event.id, numbers)


def _resume(
    asked: Asked, verdict: Verdict, reason: ResumeReason, event_id: str
) -> did.AgentResumed:
    command, actor = asked.command, asked.context.actor
    prior = shelf.member(asked.state, actor.id)
    epoch = prior_epoch(asked.state, actor.id, actor.epoch)
    return did.AgentResumed(
        id=event_id,
        project_root=absolute_root(command.project_root),
        worktree=absolute_root(root_of(command)),
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
        messages=tuple(_waiting_for(asked, actor.id, epoch)),
    )


def _waiting_for(asked: Asked, name: str, epoch: int) -> Iterable[str]:
    return sorted(one.id for one in asked.state.pending.values() if one.is_for(name, epoch))


def _noted(asked: Asked, numbers: Numbers) -> Iterator[Event]:
    return _incursions(asked, numbers, "slipped_past")


def _stale_set(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    if asked.command.stale_millis != asked.state.stale_millis:
        yield did.StaleMinutesSet(stale_millis=asked.command.stale_millis)


def _expired(asked: Asked, _numbers: Numbers) -> Iterator[Event]:
    due = [one for one in asked.state.live if one.over(asked.context.now)]
    due.sort(key=lambda held: (held.expires_at or 0, held.fencing))
    return map(_time_over, due[:EXPIRED_AT_ONCE])


_DRAFTS: Final[dict[type[Command], Callable[[Any, Numbers], Iterable[Event]]]] = {
    ask.Join: _joined,
    ask.Leave: _left,
    ask.Reserve: _reserved,
    ask.TakeOver: _reserved,
    ask.Release: _released,
    ask.SendHandoff: _handoff,
    ask.SendBlocked: _blocked,
    ask.MarkSeen: _seen,
    ask.Accept: _accepted,
    ask.Resume: _resumed,
    ask.NoteIncursion: _noted,
    ask.SetStaleMinutes: _stale_set,
    ask.ExpireScopes: _expired,
}
