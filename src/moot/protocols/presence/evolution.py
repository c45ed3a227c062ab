"""The state after an event. Total: what is in the ledger has happened, even if a rule forbids it
today.

Lists that could grow without end have limits: the oldest entries leave the state and stay in the
ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from immutables import Map
from msgspec import UNSET

from moot.core.clock import Millis
from moot.core.machine import Event, Recorded, fill_from
from moot.core.names import SYSTEM
from moot.core.paged_map import PagedMap
from moot.protocols.presence import events as did
from moot.protocols.presence import model, sub_agents
from moot.protocols.presence.model import (
    EventType,
    Member,
    PresenceMessage,
    Reservation,
    State,
    SubAgent,
    count_event,
    name_with_alias,
)

MAX_MEMBERS: Final = 1_000
NEWCOMERS: Final = 64  # `_make_room` makes room for so many at once
MAX_RECENT: Final = 256
MAX_NAMES: Final = 64

replace = msgspec.structs.replace


def evolve(state: State, recorded: Recorded[Any]) -> State:
    """Note that the actor was here, then apply the event."""
    return EFFECTS[type(recorded.event)](_note_actor(state, recorded), recorded)


def _note_actor(state: State, recorded: Recorded[Any]) -> State:
    """Record the actor as a member, seen at this time. A later holder replaces an earlier."""
    actor, at = recorded.actor, recorded.at
    if actor.id == SYSTEM:
        return state
    known = model.find_member(state, actor.id)
    if known is None or known.epoch < actor.epoch:
        before = _make_room(state) if known is None else state
        newcomer = Member(actor.id, actor.epoch, at, at)
        return _with_member(before, newcomer)
    if known.epoch > actor.epoch:
        return state
    later = replace(known, last_at=max(known.last_at, at), left=False)
    alias = getattr(recorded.event, "alias", UNSET)
    later = sub_agents.see(later, alias, at) if alias else later
    return _with_member(state, later)


def _make_room(state: State) -> State:
    """If the list is full, drop the members that are away longest and hold nothing.

    Thousands of sessions may end without leaving. What still waited for such a name is dropped too,
    because it will get no answer; the ledger keeps all of it. This reads every member, so it makes
    room for several newcomers at once; if all hold something, it tries again after as many.
    """
    beyond = len(state.members_by_name) - MAX_MEMBERS
    if beyond < 0 or beyond % NEWCOMERS:
        return state
    holders = {held.owner for held in state.live}
    idle = (member for member in state.members if member.name not in holders)
    idle_first = sorted(idle, key=lambda member: (not member.left, member.last_at, member.name))
    dropped = {member.name for member in idle_first[: beyond + NEWCOMERS]}
    members = state.members_by_name
    for name in dropped:
        members = members.delete(name)
    pending = Map({id_: sent for id_, sent in state.pending.items() if sent.to not in dropped})
    return replace(state, members_by_name=members, pending=pending)


def _with_member(state: State, member: Member) -> State:
    return replace(state, members_by_name=state.members_by_name.set(member.name, member))


def _locate_actor(
    state: State,
    recorded: Recorded[did.AgentJoined] | Recorded[did.AgentResumed],
    work: str | None,
) -> State:
    known, event = model.find_member(state, recorded.actor.id), recorded.event
    if known is None:
        return state
    located = replace(
        known,
        worktree=event.worktree,
        branch=event.branch,
        work=work,
        session_key=event.session_key or known.session_key,
        gave_back=known.gave_back and work == known.work,
    )
    return _with_member(state, located)


def _on_left(state: State, recorded: Recorded[did.AgentLeft]) -> State:
    known = model.find_member(state, recorded.actor.id)
    if known is None:
        return state
    return _with_member(state, replace(known, left=True, sub_agents=()))


def _on_reserved(state: State, recorded: Recorded[did.ScopeReserved]) -> State:
    event, actor = recorded.event, recorded.actor
    lease = Reservation(
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
        alias=event.alias or "",
    )
    state = _note_giving_back(state, actor.id, gave_back=False)
    before = model.find_reservation(state, event.key)
    changed = _with_leases(state, state.live_by_key.set(lease.key, lease), before)
    return replace(
        changed,
        fencing=max(state.fencing, event.fencing),
        next_expiry=_earlier(changed.next_expiry, event.expires_at),
    )


def _on_ended(state: State, recorded: Recorded[Any]) -> State:
    """Remove the lease of that number, and no later one: released, expired or taken over."""
    if isinstance(recorded.event, did.ScopeReleased):
        state = _note_giving_back(state, recorded.actor.id, gave_back=True)
    held = model.find_reservation(state, recorded.event.key)
    if held is None or held.fencing != recorded.event.fencing:
        return state
    return _with_leases(state, state.live_by_key.delete(held.key), held)


def _note_giving_back(state: State, name: str, *, gave_back: bool) -> State:
    member = model.find_member(state, name)
    if member is None or member.gave_back is gave_back:
        return state
    return _with_member(state, replace(member, gave_back=gave_back))


def _with_leases(state: State, live: PagedMap[Reservation], removed: Reservation | None) -> State:
    """Return the state with these leases, and the earliest end among them.

    This reads every lease only if the `removed` one had the earliest end.
    """
    due = state.next_expiry
    if removed is not None and due is not None and removed.expires_at == due:
        ends = (held.expires_at for held in live.values() if held.expires_at is not None)
        due = min(ends, default=None)
    return replace(state, live_by_key=live, next_expiry=due)


def _earlier(a: Millis | None, b: Millis | None) -> Millis | None:
    return min((time for time in (a, b) if time is not None), default=None)


def _on_handed_over(state: State, recorded: Recorded[did.ScopeHandedOver]) -> State:
    event, held = recorded.event, model.find_reservation(state, recorded.event.key)
    if held is None or held.fencing != event.was:
        return state
    member = model.find_member(state, event.owner)
    moved = replace(
        held,
        owner=event.owner,
        epoch=event.owner_epoch,
        fencing=event.fencing,
        since=recorded.at,
        worktree=member.worktree if member is not None else "",
        branch=member.branch if member is not None else None,
        hit_by=(),
        alias="",
    )
    live = state.live_by_key.set(moved.key, moved)
    return replace(state, live_by_key=live, fencing=max(state.fencing, event.fencing))


def _on_handoff(state: State, recorded: Recorded[did.HandoffSent]) -> State:
    return _add_message(state, _message(recorded, EventType.HANDOFF))


def _on_blocked(state: State, recorded: Recorded[did.BlockedSent]) -> State:
    key = recorded.event.key or None
    return _add_message(state, _message(recorded, EventType.BLOCKED, key=key, requires_ack=True))


def _on_incursion(state: State, recorded: Recorded[did.IncursionNoted]) -> State:
    event, held = recorded.event, model.find_reservation(state, recorded.event.key)
    message = _message(recorded, EventType.INCURSION, to=event.owner, to_epoch=event.owner_epoch)
    changed = _add_message(state, message)
    name = name_with_alias(recorded.actor.id, event.alias or "")
    if held is None or held.fencing != event.reservation or name in held.hit_by:
        return changed
    hit = replace(held, hit_by=(*held.hit_by, name)[-MAX_NAMES:])
    return replace(changed, live_by_key=changed.live_by_key.set(hit.key, hit))


def _on_resumed(state: State, recorded: Recorded[did.AgentResumed]) -> State:
    event, actor = recorded.event, recorded.actor
    message = _message(recorded, EventType.RESUME, to=actor.id, to_epoch=actor.epoch)
    changed = _add_message(_locate_actor(state, recorded, event.work), message)
    pending = changed.pending
    for waiting in filter(None, map(pending.get, event.messages)):
        pending = pending.set(waiting.id, replace(waiting, to_epoch=actor.epoch))
    return replace(changed, pending=pending)


def _message(recorded: Recorded[Any], kind: EventType, **more: Any) -> PresenceMessage:
    actor = recorded.actor
    sender = None if actor.id == SYSTEM else actor.id
    return fill_from(
        PresenceMessage,
        recorded.event,
        type=kind,
        sender=sender,
        sender_epoch=actor.epoch,
        at=recorded.at,
        **more,
    )


def _add_message(state: State, message: PresenceMessage) -> State:
    """Add a message: pending if it needs an acceptance (OPR-106), else to the latest."""
    day, count = count_event(state, message.id)
    if message.requires_ack:
        pending, recent = state.pending.set(message.id, message), state.recent
    else:
        pending, recent = state.pending, _remember(state, message)
    return replace(state, pending=pending, recent=recent, day=day, day_count=count)


def _remember(state: State, message: PresenceMessage) -> tuple[PresenceMessage, ...]:
    return (*state.recent, message)[-MAX_RECENT:]


def _on_seen(state: State, recorded: Recorded[did.EventSeen]) -> State:
    event_id, name = recorded.event.id, recorded.actor.id
    waiting = state.pending.get(event_id)
    if waiting is not None:
        return replace(state, pending=state.pending.set(event_id, _mark_seen(waiting, name)))
    recent = tuple(
        _mark_seen(message, name) if message.id == event_id else message for message in state.recent
    )
    return replace(state, recent=recent)


def _mark_seen(message: PresenceMessage, name: str) -> PresenceMessage:
    if name in message.seen_by:
        return message
    return replace(message, seen_by=(*message.seen_by, name)[-MAX_NAMES:])


def _on_accepted(state: State, recorded: Recorded[did.EventAccepted]) -> State:
    event_id, name = recorded.event.id, recorded.actor.id
    waiting = state.pending.get(event_id)
    if waiting is None:
        recent = tuple(
            _mark_accepted(message, name) if message.id == event_id else message
            for message in state.recent
        )
        return replace(state, recent=recent)
    recent = _remember(state, _mark_accepted(waiting, name))
    return replace(state, pending=state.pending.delete(event_id), recent=recent)


def _on_answer_lapsed(state: State, recorded: Recorded[did.AnswerLapsed]) -> State:
    waiting = state.pending.get(recorded.event.id)
    if waiting is None:
        return state
    ended = replace(waiting, settled=recorded.event.ended == waiting.to)
    return _end_waiting(state, ended)


def _on_settled(state: State, recorded: Recorded[did.RequestSettled]) -> State:
    waiting = state.pending.get(recorded.event.id)
    if waiting is not None:
        return _end_waiting(state, replace(waiting, settled=True))
    recent = (
        replace(sent, settled=True) if sent.id == recorded.event.id else sent
        for sent in state.recent
    )
    return replace(state, recent=tuple(recent))


def _end_waiting(state: State, message: PresenceMessage) -> State:
    """Move a message that waits no longer to the latest."""
    recent = _remember(state, replace(message, requires_ack=False))
    return replace(state, pending=state.pending.delete(message.id), recent=recent)


def _on_withdrawn(state: State, recorded: Recorded[did.EventWithdrawn]) -> State:
    """End the wait for a request, or mark an overlap: the agent's next one is recorded again."""
    waiting = state.pending.get(recorded.event.id)
    if waiting is not None:
        return _end_waiting(state, replace(waiting, withdrawn=True))
    withdrawn = next((sent for sent in state.recent if sent.id == recorded.event.id), None)
    if withdrawn is None:
        return state
    marked = replace(withdrawn, withdrawn=True)
    recent = tuple(marked if sent.id == marked.id else sent for sent in state.recent)
    state = replace(state, recent=recent)
    held = model.find_reservation(state, marked.key) if marked.key is not None else None
    if held is None or marked.sender is None or marked.type is not EventType.INCURSION:
        return state
    others = tuple(name for name in held.hit_by if name.partition("/")[0] != marked.sender)
    cleared = replace(held, hit_by=others)
    return replace(state, live_by_key=state.live_by_key.set(held.key, cleared))


def _mark_accepted(message: PresenceMessage, name: str) -> PresenceMessage:
    """Mark it as accepted, and so as seen (B-27)."""
    return replace(_mark_seen(message, name), accepted=True)


def _on_sub_agent_began(state: State, recorded: Recorded[did.SubAgentBegan]) -> State:
    event, at = recorded.event, recorded.at
    session = sub_agents.find_session(state, recorded.actor.id, recorded.actor.epoch)
    if session is None or not event.alias:
        return state
    sub_agent = SubAgent(event.alias, event.tool_id, event.kind, at, at)
    return _with_member(state, sub_agents.add(session, sub_agent))


def _on_sub_agent_ended(state: State, recorded: Recorded[did.SubAgentEnded]) -> State:
    """Give what it held to its session: other sessions are still refused, siblings are not."""
    alias, actor = recorded.event.alias, recorded.actor
    session = sub_agents.find_session(state, actor.id, actor.epoch)
    if session is None or not alias:
        return state
    live = state.live_by_key
    for held in model.reservations_of(state, actor.id, actor.epoch):
        if held.alias == alias:
            live = live.set(held.key, replace(held, alias=""))
    return _with_member(replace(state, live_by_key=live), sub_agents.remove(session, alias))


def _on_gone(state: State, recorded: Recorded[did.AgentGone]) -> State:
    event = recorded.event
    known = sub_agents.find_session(state, event.agent, event.agent_epoch)
    if known is None:
        return state
    return _with_member(state, replace(known, left=True, sub_agents=()))


def _on_stale_set(state: State, recorded: Recorded[did.StaleMinutesSet]) -> State:
    return replace(state, stale_millis=recorded.event.stale_millis)


def _keep_state(state: State, _recorded: Recorded[Any]) -> State:
    """Change nothing: `evolve` has noted the actor, and usage is in the index."""
    return state


EFFECTS: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.AgentJoined: lambda state, recorded: _locate_actor(state, recorded, recorded.event.work),
    did.AgentLeft: _on_left,
    did.ScopeReserved: _on_reserved,
    did.ScopeReleased: _on_ended,
    did.ScopeExpired: _on_ended,
    did.ScopeTakenOver: _on_ended,
    did.ScopeHandedOver: _on_handed_over,
    did.HandoffSent: _on_handoff,
    did.BlockedSent: _on_blocked,
    did.IncursionNoted: _on_incursion,
    did.AgentResumed: _on_resumed,
    did.EventSeen: _on_seen,
    did.EventAccepted: _on_accepted,
    did.SubAgentBegan: _on_sub_agent_began,
    did.SubAgentSeen: _keep_state,
    did.SubAgentEnded: _on_sub_agent_ended,
    did.StaleMinutesSet: _on_stale_set,
    did.AnswerLapsed: _on_answer_lapsed,
    did.RequestSettled: _on_settled,
    did.EventWithdrawn: _on_withdrawn,
    did.AgentGone: _on_gone,
    did.ScopeFreed: _on_ended,
    did.UsageNoted: _keep_state,
}
