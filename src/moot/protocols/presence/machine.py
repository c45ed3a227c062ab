"""The automata of presence: one for a reservation, one for a message that owes an answer.

    (none) --reserved--> live --released-----> released      by its holder
                          |  |--expired------> expired       its time is over, or it was taken
                          |  |                               from an owner who was evicted
                          |  |--freed--------> released      by a person, or its program exited
                          |  |--taken over---> taken_over    from an owner who had gone stale
                          |  `--handed over--> handed_over   a HANDOFF was accepted, or the name
                          |                                  adopted: a new lease begins
                          `--reserved--> live                renewed, under a new number

    (none) --sent--> sent --seen--> seen --accepted--> accepted
                       `---------accepted------------^
                       `--settled, lapsed, withdrawn--> waits no longer

The table TAKEOVER in `overlap.py` says who may take from whom. The rules are in `rules.py`, the
events to record in `command_events.py`, the state after them in `evolution.py`; each is imported
only to decide or to replay, because most commands only read a snapshot. OPR-092 asks for all of
them: heartbeat, liveness, overlap and their events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, select_errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Due,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    accept,
    refusal,
    refuse,
)
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.model import (
    EventType,
    NextNumbers,
    ReceiptKind,
    Reservation,
    Stage,
    State,
)

SETTLED: Final = "presence.settled"  # index space: requests that wait no longer, by their id
WITHDRAWN: Final = "presence.withdrawn"  # index space: withdrawn entries, by their id
USAGE: Final = "presence.usage"  # index space: the usage that tools reported, a row for each run

TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.LIVE: {
        did.ScopeReserved: Stage.LIVE,
        did.ScopeReleased: Stage.RELEASED,
        did.ScopeExpired: Stage.EXPIRED,
        did.ScopeTakenOver: Stage.TAKEN_OVER,
        did.ScopeHandedOver: Stage.HANDED_OVER,
        did.ScopeFreed: Stage.RELEASED,
    },
    Stage.RELEASED: {},
    Stage.EXPIRED: {},
    Stage.TAKEN_OVER: {},
    Stage.HANDED_OVER: {},
}
RECEIPT_TRANSITIONS: Final[dict[ReceiptKind, dict[type[Event], ReceiptKind]]] = {
    ReceiptKind.SENT: {did.EventSeen: ReceiptKind.SEEN, did.EventAccepted: ReceiptKind.ACCEPTED},
    ReceiptKind.SEEN: {did.EventAccepted: ReceiptKind.ACCEPTED},
    ReceiptKind.ACCEPTED: {},
}

# Refusals for an overlap: these record an INCURSION (OPR-104), other refusals nothing.
OVERLAP_CODES: Final = frozenset(
    {"reservation_conflict", "reservation_stale_found", "scope_too_wide"}
)


def decide(state: State, command: Command, context: Context) -> Decision:
    from moot.protocols.presence import command_events
    from moot.protocols.presence.case import OverlapCase, case_of
    from moot.protocols.presence.rules import RULES

    rules = RULES.get(type(command))
    if rules is None:
        return refusal("OPR-102", "unknown_command", "presence knows no such command")
    case = case_of(state, command, context)
    findings = check_all(rules, case)
    codes = {finding.code for finding in select_errors(findings)}
    numbers = NextNumbers(state, context.now)
    if not codes:
        return accept(*command_events.draft_accepted(case, numbers), findings=findings)
    if codes <= OVERLAP_CODES and isinstance(case, OverlapCase):
        return refuse(findings, *command_events.draft_refused(case, numbers))
    return refuse(findings)


def evolve(state: State, recorded: Recorded[Any]) -> State:
    from moot.protocols.presence import evolution

    return evolution.evolve(state, recorded)


def agents_to_prove(state: State, command: Command) -> tuple[str, ...]:
    """Return the owners of overlapping reservations: their signs of life decide.

    The engine proves only these signs, so a decision stays fast however many agents there are.
    """
    if not isinstance(command, ask.Reserve | ask.TakeOver | ask.NoteIncursion):
        return ()
    from moot.protocols.presence import overlap
    from moot.protocols.presence.case import read_claims

    claims, _unreadable = read_claims(command)
    return overlap.find_owners(state, claims)


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """List what waits for an acceptance (OPR-106), and when reservations end by themselves."""
    return (*_answers_owed(state), *_lease_ends(state))


def _answers_owed(state: State) -> Iterable[Due]:
    for message in sorted(state.pending.values(), key=lambda sent: (sent.at, sent.id)):
        subject = f"{message.id}: {message.subject} (from {message.sender})"
        yield Due(
            who=message.to or "",
            what=_OWED[message.type],
            subject=subject,
            since=message.at,
            hint=f"moot event accept {message.id} --agent {message.to}{_WORDS[message.type]}",
            epoch=message.to_epoch,
            instead=Due(
                who=message.sender or "",
                what=f"not answered: {message.to} ended",
                subject=subject,
                since=message.at,
                hint="moot event list",
            ),
            owed_to=message.sender or "",
            owed_to_epoch=message.sender_epoch,
        )


_WORDS: Final = {EventType.HANDOFF: "", EventType.BLOCKED: " --notes TEXT"}
_OWED: Final = {EventType.HANDOFF: "accept what was passed on", EventType.BLOCKED: "give input"}


def _lease_ends(state: State) -> Iterable[Due]:
    if state.next_expiry is None:  # most reservations have no end
        return
    from moot.core.text import shell_word
    from moot.protocols.presence.paths import write_typed

    timed = (held for held in state.live if held.expires_at is not None)
    for held in sorted(timed, key=_end_of):
        typed = shell_word(write_typed(held.scope))
        yield Due(
            who=held.owner,
            what="reservation ends",
            subject=held.scope,
            since=held.since,
            by=held.expires_at,
            hint=f"moot reserve {typed} --ttl MINUTES (keeps it longer)",
            command=ask.ExpireScopes(),
        )


def _end_of(held: Reservation) -> tuple[Millis, int]:
    return held.expires_at or 0, held.fencing


def timeouts(state: State, now: Millis) -> Iterable[Command]:
    """Return `ExpireScopes` if a lease has ended; the engine asks before every command."""
    due = state.next_expiry is not None and state.next_expiry <= now
    return (ask.ExpireScopes(),) if due else ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index what the state does not keep: v1 events, receipts, ended reservations, sessions.

    OPR-019: any process finds a RESUME, like every v1 event, in `presence.events`.
    """
    event = recorded.event
    if recorded.seq == 0:
        yield Put("open", recorded.stream, {})
    if isinstance(event, did.WITH_ENVELOPE):
        yield from _event_rows(recorded)
    elif isinstance(event, did.EventSeen | did.EventAccepted):
        # OPR-105: one row for each event, agent and receipt.
        receipt = RECEIPT_TRANSITIONS[ReceiptKind.SENT][type(event)]
        key = f"{event.id} {recorded.actor.id} {receipt}"
        yield Put("presence.receipts", key, {"at": recorded.at})
    elif type(event) in TRANSITIONS[Stage.LIVE]:
        yield from _reservation_rows(recorded)
    elif isinstance(event, did.RequestSettled | did.AnswerLapsed):
        yield Put(SETTLED, event.id, {"at": recorded.at, "why": getattr(event, "why", "ended")})
    elif isinstance(event, did.EventWithdrawn):
        row = {"by": recorded.actor.id, "as": event.by, "at": recorded.at}
        texts = {"reason": event.reason, "evidence": event.evidence}
        yield Put(WITHDRAWN, event.id, {**row, **texts})
    holder = {"agent": recorded.actor.id, "epoch": recorded.actor.epoch}
    if isinstance(event, did.AgentJoined | did.AgentResumed) and event.session_key:
        yield Put("presence.sessions", event.session_key, holder)
    if isinstance(event, did.UsageNoted):
        used = {**msgspec.structs.asdict(event), "agent": recorded.actor.id, "at": recorded.at}
        yield Put(USAGE, f"{recorded.seq:012d}", used)
    if isinstance(event, did.AgentJoined) and event.process_key:
        yield Put("presence.sessions", event.process_key, holder)


def _event_rows(recorded: Recorded[Any]) -> Iterable[RowChange]:
    from moot.protocols.presence import codec  # imported only to write a v1 event

    envelope = codec.make_envelope(recorded)
    yield Put("presence.events", envelope.id, codec.make_document(envelope))
    yield Words("presence.events", envelope.id, codec.searchable_text(envelope))
    for work in codec.list_work_items(envelope):
        yield Put("presence.work", f"{work} {envelope.id}", {})


def _reservation_rows(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index ended reservations, by number. A renewed one has not ended: only its number changed."""
    event = recorded.event
    stage = TRANSITIONS[Stage.LIVE][type(event)]
    if stage is Stage.LIVE:
        return
    number = event.was if isinstance(event, did.ScopeHandedOver) else event.fencing
    owner = getattr(event, "from_owner", None) or getattr(event, "owner", recorded.actor.id)
    ended = {"scope": event.scope, "owner": owner, "status": str(stage), "at": recorded.at}
    if isinstance(event, did.ScopeFreed):
        ended["by"] = recorded.actor.id
    yield Put("presence.archive", f"{number:012d}", ended)


MACHINE: Machine[State] = Machine(
    name="presence",
    version=4,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
    needs_signs_of=agents_to_prove,
    guarded=frozenset({ask.TakeOver, ask.Accept, ask.Resume}),
)
