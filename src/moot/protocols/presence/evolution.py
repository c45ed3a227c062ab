"""State after event. Total: what stands in the ledger happened, whatever we think of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.machine import Event, Recorded
from moot.core.names import SYSTEM
from moot.protocols.presence import events as did
from moot.protocols.presence import shelf
from moot.protocols.presence.model import EventType, Member, Message, Reservation, State
from moot.protocols.presence.numbering import counted

MEMBERS_KEPT: Final = 1_000
RECENT_KEPT: Final = 256
NAMES_KEPT: Final = 64

replace = msgspec.structs.replace


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Any act makes its actor known; then the event has its own effect."""
    return _EVOLVE[type(recorded.event)](_acted(state, recorded), recorded)


def _acted(state: State, recorded: Recorded[Any]) -> State:
    actor, at = recorded.actor, recorded.at
    if actor.id == SYSTEM:
        return state
    known = shelf.member(state, actor.id)
    if known is None or known.epoch < actor.epoch:
        room = _with_room(state) if known is None else state
        fresh = Member(actor.id, actor.epoch, at, at)
        return replace(room, members=shelf.put_member(room.members, fresh))
    if known.epoch > actor.epoch:
        return state
    later = replace(known, last_at=max(known.last_at, at), left=False)
    return replace(state, members=shelf.put_member(state.members, later))


def _with_room(state: State) -> State:
    """Thousands of sessions may end without a word: who is longest away and holds nothing goes.

    What still waited for that name waits in vain, and goes too; the ledger keeps all of it.
    """
    if len(state.members) < MEMBERS_KEPT:
        return state
    holders = {held.owner for held in state.live}
    idle = (one for one in state.members if one.name not in holders)
    away = min(idle, key=lambda one: (not one.left, one.last_at, one.name), default=None)
    if away is None:
        return state
    members = tuple(one for one in state.members if one is not away)
    pending = Map({key: one for key, one in state.pending.items() if one.to != away.name})
    return replace(state, members=members, pending=pending)


def _on_joined(state: State, recorded: Recorded[did.AgentJoined]) -> State:
    return _placed(state, recorded, recorded.event.work)


def _placed(
    state: State,
    recorded: Recorded[did.AgentJoined] | Recorded[did.AgentResumed],
    work: str | None,
) -> State:
    known, event = shelf.member(state, recorded.actor.id), recorded.event
    if known is None:
        return state
    placed = replace(
        known,
        worktree=event.worktree,
        branch=event.branch,
        work=work,
        session_key=event.session_key or known.session_key,
    )
    return replace(state, members=shelf.put_member(state.members, placed))


def _on_left(state: State, recorded: Recorded[did.AgentLeft]) -> State:
    known = shelf.member(state, recorded.actor.id)
    if known is None:
        return state
    gone = replace(known, left=True)
    return replace(state, members=shelf.put_member(state.members, gone))


def _on_reserved(state: State, recorded: Recorded[did.ScopeReserved]) -> State:
    event, actor = recorded.event, recorded.actor
    one = Reservation(
        event.key,
        event.scope,
        actor.id,
        actor.epoch,
        event.fencing,
        recorded.at,
        event.expires_at,
        event.work,
        event.worktree,
        event.branch,
        event.automatic,
    )
    before = shelf.held(state, event.key)
    changed = _shelved(state, shelf.put_held(state.live, one), before)
    return replace(
        changed,
        fencing=max(state.fencing, event.fencing),
        next_expiry=_earlier(changed.next_expiry, event.expires_at),
    )


def _on_closed(state: State, recorded: Recorded[Any]) -> State:
    held = shelf.held(state, recorded.event.key)
    if held is None or held.fencing != recorded.event.fencing:
        return state
    return _shelved(state, shelf.without(state.live, held.key), held)


def _shelved(state: State, live: tuple[Reservation, ...], gone: Reservation | None) -> State:
    """Only when the earliest end goes must the others be asked for theirs."""
    due = state.next_expiry
    if gone is not None and due is not None and gone.expires_at == due:
        ends = (one.expires_at for one in live if one.expires_at is not None)
        due = min(ends, default=None)
    return replace(state, live=live, next_expiry=due)


def _earlier(a: Millis | None, b: Millis | None) -> Millis | None:
    return min((one for one in (a, b) if one is not None), default=None)


def _on_handed_over(state: State, recorded: Recorded[did.ScopeHandedOver]) -> State:
    event, held = recorded.event, shelf.held(state, recorded.event.key)
    if held is None or held.fencing != event.was:
        return state
    place = shelf.member(state, event.owner)
    moved = replace(
        held,
        owner=event.owner,
        epoch=event.owner_epoch,
        fencing=event.fencing,
        since=recorded.at,
        worktree=place.worktree if place is not None else "",
        branch=place.branch if place is not None else None,
        hit_by=(),
    )
    live = shelf.put_held(state.live, moved)
    return replace(state, live=live, fencing=max(state.fencing, event.fencing))


def _on_handoff(state: State, recorded: Recorded[did.HandoffSent]) -> State:
    event = recorded.event
    message = _message(
        recorded,
        EventType.HANDOFF,
        to=event.to,
        to_epoch=event.to_epoch,
        subject=event.subject,
        work=event.work,
        scope=event.scope,
        key=event.key,
        requires_ack=event.requires_ack,
    )
    return _sent(state, message)


def _on_blocked(state: State, recorded: Recorded[did.BlockedSent]) -> State:
    event = recorded.event
    message = _message(
        recorded,
        EventType.BLOCKED,
        to=event.to,
        to_epoch=event.to_epoch,
        subject=event.subject,
        work=event.work,
        scope=event.scope,
        urgency=event.urgency,
        requires_ack=True,
    )
    return _sent(state, message)


def _on_incursion(state: State, recorded: Recorded[did.IncursionNoted]) -> State:
    event, held = recorded.event, shelf.held(state, recorded.event.key)
    message = _message(
        recorded,
        EventType.INCURSION,
        to=event.owner,
        to_epoch=event.owner_epoch,
        work=event.work,
        scope=event.scope,
    )
    noted = _sent(state, message)
    if held is None or held.fencing != event.reservation or recorded.actor.id in held.hit_by:
        return noted
    hit = replace(held, hit_by=(*held.hit_by, recorded.actor.id)[-NAMES_KEPT:])
    return replace(noted, live=shelf.put_held(noted.live, hit))


def _on_resumed(state: State, recorded: Recorded[did.AgentResumed]) -> State:
    event, actor = recorded.event, recorded.actor
    message = _message(
        recorded, EventType.RESUME, to=actor.id, to_epoch=actor.epoch, work=event.work
    )
    noted = _sent(_placed(state, recorded, event.work), message)
    pending = noted.pending
    for waiting in filter(None, map(pending.get, event.messages)):
        pending = pending.set(waiting.id, replace(waiting, to_epoch=actor.epoch))
    return replace(noted, pending=pending)


def _message(recorded: Recorded[Any], kind: EventType, **more: Any) -> Message:
    actor = recorded.actor
    sender = None if actor.id == SYSTEM else actor.id
    return Message(
        id=recorded.event.id,
        type=kind,
        sender=sender,
        sender_epoch=actor.epoch,
        at=recorded.at,
        **more,
    )


def _sent(state: State, message: Message) -> State:
    """What owes an acceptance waits; of the rest only the latest are remembered."""
    day, count = counted(state, message.id)
    if message.requires_ack:
        pending, recent = state.pending.set(message.id, message), state.recent
    else:
        pending, recent = state.pending, _remembered(state, message)
    return replace(state, pending=pending, recent=recent, day=day, day_count=count)


def _remembered(state: State, message: Message) -> tuple[Message, ...]:
    return (*state.recent, message)[-RECENT_KEPT:]


def _on_seen(state: State, recorded: Recorded[did.EventSeen]) -> State:
    event_id, name = recorded.event.id, recorded.actor.id
    waiting = state.pending.get(event_id)
    if waiting is not None:
        return replace(state, pending=state.pending.set(event_id, _seen_by(waiting, name)))
    recent = tuple(_seen_by(one, name) if one.id == event_id else one for one in state.recent)
    return replace(state, recent=recent)


def _seen_by(message: Message, name: str) -> Message:
    if name in message.seen_by:
        return message
    return replace(message, seen_by=(*message.seen_by, name)[-NAMES_KEPT:])


def _on_accepted(state: State, recorded: Recorded[did.EventAccepted]) -> State:
    event_id, name = recorded.event.id, recorded.actor.id

    def done(message: Message) -> Message:
        return replace(_seen_by(message, name), accepted=True)

    waiting = state.pending.get(event_id)
    if waiting is None:
        recent = tuple(done(one) if one.id == event_id else one for one in state.recent)
        return replace(state, recent=recent)
    recent = _remembered(state, done(waiting))
    return replace(state, pending=state.pending.delete(event_id), recent=recent)


def _on_stale_set(state: State, recorded: Recorded[did.StaleMinutesSet]) -> State:
    return replace(state, stale_millis=recorded.event.stale_millis)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.AgentJoined: _on_joined,
    did.AgentLeft: _on_left,
    did.ScopeReserved: _on_reserved,
    did.ScopeReleased: _on_closed,
    did.ScopeExpired: _on_closed,
    did.ScopeTakenOver: _on_closed,
    did.ScopeHandedOver: _on_handed_over,
    did.HandoffSent: _on_handoff,
    did.BlockedSent: _on_blocked,
    did.IncursionNoted: _on_incursion,
    did.AgentResumed: _on_resumed,
    did.EventSeen: _on_seen,
    did.EventAccepted: _on_accepted,
    did.StaleMinutesSet: _on_stale_set,
}
