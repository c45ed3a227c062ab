"""The checks behind the rules: each yields `(message, where)` for every breach it sees.

A check gets a case (`case.py`) and decides nothing. An empty message means the sentence of the row
in `rules.py` that names the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moot.core.errors import Malformed
from moot.core.findings import Breach
from moot.core.machine import Command, KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.core.text import quote_name
from moot.protocols.presence import agent_names, model, sub_agents
from moot.protocols.presence import commands as ask
from moot.protocols.presence.adoption import AdoptionQuestion, find_uncommitted_files
from moot.protocols.presence.case import (
    Located,
    OverlapCase,
    PresenceCase,
    ReceiptCase,
    Receiving,
    Reserving,
    ResumeCase,
    Scoped,
    Sending,
    Working,
    find_moved,
    scope_root,
    scope_texts,
)
from moot.protocols.presence.liveness import MAX_STALE_MILLIS, format_span
from moot.protocols.presence.model import (
    EVENT_ID,
    WORK_ID,
    EventType,
    Liveness,
    Urgency,
    is_resource,
)
from moot.protocols.presence.overlap import TAKEOVER
from moot.protocols.presence.paths import require_absolute_root, write_typed

Breaches = Iterator[Breach]

MIN_TTL, MAX_TTL = 5, 1_440
MAX_SCOPES = 1_000
MAX_OVERLAPS = 2_000
MAX_SHOWN = 64
MAX_PENDING = 200
MAX_USAGE = 10**15  # below what a record can hold exactly
MAX_SUBJECT, MAX_TEXT, MAX_NAME = 200, 8_000, 200


def unreadable_scope(code: str) -> Callable[[PresenceCase[Located]], Breaches]:
    """Return a check for scopes that could not be read for one reason, which has its own row."""

    def check(case: PresenceCase[Located]) -> Breaches:
        for text, problem in case.unreadable:
            if problem.code == code:
                yield str(problem), text[:MAX_NAME]

    return check


def relative_root(case: PresenceCase[Located]) -> Breaches:
    for folder in dict.fromkeys((case.command.project_root, scope_root(case.command))):
        try:
            require_absolute_root(folder)
        except Malformed as problem:
            yield str(problem), "project_root"


def no_scope_named(case: PresenceCase[Scoped]) -> Breaches:
    everything = isinstance(case.command, ask.Release) and case.command.all
    if not everything and not scope_texts(case.command):
        yield "", "scopes"


def too_many_scopes(case: PresenceCase[Scoped]) -> Breaches:
    count = len(scope_texts(case.command))
    if count > MAX_SCOPES:
        yield f"{count} scopes at once, the limit is {MAX_SCOPES}", "scopes"


def bad_ttl(case: PresenceCase[Reserving]) -> Breaches:
    minutes = case.command.ttl_minutes
    if minutes is not None and not MIN_TTL <= minutes <= MAX_TTL:
        yield f"a time to live is {MIN_TTL} to {MAX_TTL} minutes, not {minutes}", "ttl_minutes"


def bad_work(case: PresenceCase[Working]) -> Breaches:
    if case.command.work is not None and not WORK_ID.match(case.command.work):
        yield "", "work"


def work_missing(case: PresenceCase[Sending]) -> Breaches:
    if not case.command.work:
        yield "", "work"


def text_too_long(case: PresenceCase[Command]) -> Breaches:
    for field, most in _LENGTHS.items():
        text = getattr(case.command, field, None)
        if isinstance(text, str) and len(text) > most:
            yield f"{field} holds {len(text)} characters, the limit is {most}", field


def bad_usage(case: PresenceCase[ask.NoteUsage]) -> Breaches:
    counts = {field: getattr(case.command, field) for field in _USAGE_COUNTS}
    for field, count in counts.items():
        if not 0 <= count <= MAX_USAGE:
            yield f"{field} is {count}", field
    if counts["unpriced"] > counts["calls"]:
        yield "more calls have no price than there were", "unpriced"


_USAGE_COUNTS: Final = ("calls", "tokens_in", "tokens_out", "micros", "unpriced")
_LENGTHS: Final = {
    "subject": MAX_SUBJECT,
    "summary": MAX_TEXT,
    "next_action": MAX_TEXT,
    "blocker": MAX_TEXT,
    "requested_action": MAX_TEXT,
    "reason": MAX_TEXT,
    "evidence": MAX_TEXT,
    "branch": MAX_NAME,
    "session_key": MAX_NAME,
    "sub_agent": MAX_NAME,
    "sub_agent_kind": MAX_NAME,
    "process_key": MAX_NAME,
    "project_root": 1_024,
    "worktree": 1_024,
}


def scope_too_wide(case: OverlapCase[Reserving]) -> Breaches:
    if len(case.conflicts) > MAX_OVERLAPS:
        yield f"this would touch {len(case.conflicts)} reservations of others", "scopes"


def owner_active(case: OverlapCase[Reserving]) -> Breaches:
    """Refuse what an active owner holds, with or without the flag (OPR-030)."""
    yield from _conflicts_with(case, active=True)


def sibling_at_work(case: OverlapCase[Reserving]) -> Breaches:
    """Refuse what a sub-agent of the same session works on, until it ends."""
    for conflict in case.conflicts[:MAX_SHOWN]:
        if conflict.own_session:
            yield conflict.sentence, conflict.claim.shown


def owner_quiet(case: OverlapCase[Reserving]) -> Breaches:
    """Refuse what stale or evicted owners hold, without `--takeover-stale` (OPR-031, OPR-032)."""
    yield from _conflicts_with(case, active=False)


def _conflicts_with(case: OverlapCase[Reserving], *, active: bool) -> Breaches:
    """Yield the conflicts with active or with quiet owners that this command may not win."""
    flag = isinstance(case.command, ask.TakeOver)
    for conflict in case.conflicts[:MAX_SHOWN]:
        alive = conflict.verdict.liveness
        if conflict.own_session:
            continue
        if (alive is Liveness.ACTIVE) is active and TAKEOVER[alive][flag] is None:
            work = _own_work(case) or "ID"
            scope = conflict.claim.shown
            known = {"HOLDER": conflict.held.owner, "SCOPE": scope, "WORK": work}
            yield conflict.sentence, scope, None, {**known, "PATH": write_typed(scope)}


def _own_work(case: OverlapCase[Reserving]) -> str | None:
    """Return the requester's work: as named now, else as it joined; never the holder's."""
    command = case.command
    if command.work and command.work != command.branch:
        return command.work
    member = model.find_member(case.state, case.context.actor.id)
    return (member.work if member is not None else None) or command.work or command.branch


def changed_despite_reservation(case: OverlapCase[ask.NoteIncursion]) -> Breaches:
    for conflict in case.conflicts[:MAX_SHOWN]:
        yield conflict.sentence, conflict.claim.shown


def scope_not_held(case: PresenceCase[ask.Release | ask.FreeScopes]) -> Breaches:
    for scope in case.claims:
        if model.find_reservation(case.state, scope.key) is None:
            yield f"{quote_name(scope.shown)} is not reserved", scope.shown


def not_the_owner(case: PresenceCase[ask.Release]) -> Breaches:
    actor = case.context.actor
    for scope in case.claims:
        held = model.find_reservation(case.state, scope.key)
        if held is not None and not held.is_held_by(actor.id, actor.epoch):
            earlier = "an earlier " if held.owner == actor.id else ""
            yield f"{quote_name(scope.shown)} is held by {earlier}{held.holder}", scope.shown


def kept_for_sub_agent(case: PresenceCase[ask.Release]) -> Breaches:
    """Warn that releasing `all` keeps what a sub-agent works on; each scope can be named."""
    actor, state, now = case.context.actor, case.state, case.context.now
    if case.command.all:
        for held in model.reservations_of(state, actor.id, actor.epoch):
            if sub_agents.works_on(state, held, now):
                yield f"{quote_name(held.scope)} is kept: {held.holder} works on it", held.scope


def not_by_attended_person(case: PresenceCase[ask.FreeScopes]) -> Breaches:
    """Refuse all but a person at a terminal: a program could read a passphrase from a file."""
    actor = case.context.actor
    if actor.kind is not KeyClass.HUMAN:
        yield "", None
    elif not actor.attended:
        yield f"the key of {actor.id} was unlocked from a file", None


def reason_missing(case: PresenceCase[ask.FreeScopes | ask.Withdraw]) -> Breaches:
    if not case.command.reason.strip():
        yield "", "reason"


def exited_with_uncommitted_work(case: PresenceCase[ask.EndGone]) -> Breaches:
    """Refuse to end a session with uncommitted files: it keeps its scopes until it is stale."""
    command, now = case.command, case.context.now
    leases = model.reservations_of(case.state, command.agent, command.agent_epoch)
    held = tuple(lease for lease in leases if not lease.has_ended(now))
    if not any(not is_resource(lease.scope) for lease in held):
        return
    if command.dirty is None:
        yield f"what is uncommitted there is not known ({command.no_git or 'no git'})", None
        return
    evidence = ask.Evidence(command.dirty)
    question = AdoptionQuestion(command.agent, held, (), None, command.worktree, evidence)
    files = find_uncommitted_files(question)
    if files:
        yield f"not committed in its scopes: {', '.join(files[:MAX_SHOWN])}", None


def sent_by_system(case: PresenceCase[Command]) -> Breaches:
    if case.context.actor.id == SYSTEM:
        yield "", None


def not_sent_by_system(case: PresenceCase[ask.ExpireScopes | ask.EndGone]) -> Breaches:
    if case.context.actor.id != SYSTEM:
        yield "", None


def unknown_receiver(case: PresenceCase[Sending]) -> Breaches:
    to = case.command.to
    if not AGENT.match(to):
        yield f"{to[:60]!r} is not an agent name", "to"
    elif case.command.to_epoch is None:
        member = model.find_member(case.state, to)
        if member is None or member.left:
            yield f"{to} is not here", "to"


def receiver_is_sender(case: PresenceCase[Sending]) -> Breaches:
    if case.command.to == case.context.actor.id:
        yield "", "to"


def too_many_pending(case: PresenceCase[Sending]) -> Breaches:
    waiting = sum(message.to == case.command.to for message in case.state.pending.values())
    if waiting >= MAX_PENDING:
        yield f"{waiting} events already wait for {case.command.to}", "to"


def bad_urgency(case: PresenceCase[ask.SendBlocked]) -> Breaches:
    if case.command.urgency not in tuple(Urgency):
        yield "", "urgency"


def unknown_event(case: ReceiptCase[Receiving]) -> Breaches:
    if case.message is None:
        yield f"no event {case.command.id[:60]} waits here", "id"


def nothing_to_accept(case: ReceiptCase[ask.Accept]) -> Breaches:
    message = case.message
    if message is not None and message.type not in (EventType.HANDOFF, EventType.BLOCKED):
        yield f"{message.id} is a note; it asks for nothing", "id"


def not_the_receiver(case: ReceiptCase[ask.Accept]) -> Breaches:
    message, actor = case.message, case.context.actor
    if message is None or message.is_for(actor.id, actor.epoch):
        return
    if message.to == actor.id:
        yield f"this message was for an earlier {message.to}", "id"
    else:
        yield f"only {message.to} may accept this", "id"


def no_longer_waits(case: ReceiptCase[ask.Accept]) -> Breaches:
    message = case.message
    if message is not None and (message.settled or message.withdrawn):
        how = "was withdrawn" if message.withdrawn else "is settled"
        yield f"{message.id} {how} and no longer waits", "id"


def seen_by_another(case: ReceiptCase[ask.MarkSeen]) -> Breaches:
    """Refuse a receipt by anyone but the receiver."""
    message = case.message
    if message is not None and message.to not in (None, case.context.actor.id):
        yield f"{message.id} was sent to {message.to}", "id"


def accepted_but_nothing_moved(case: ReceiptCase[ask.Accept]) -> Breaches:
    message = case.message
    if message is None or message.type is not EventType.HANDOFF or message.key is None:
        return
    is_over = message.accepted or message.withdrawn
    if not is_over and not find_moved(case.state, message, case.context.now):
        scope = quote_name(message.scope or "")
        yield f"{message.sender} no longer holds exactly {scope}, or more than it", "id"


def adoption_missing(case: PresenceCase[ask.Join]) -> Breaches:
    """Refuse a later holder of a name that has not passed the adoption checks (OPR-015)."""
    actor, member = case.context.actor, model.find_member(case.state, case.context.actor.id)
    if actor.epoch > 1 and (member is None or member.epoch < actor.epoch):
        yield f"{actor.id} was someone else's name", "name", None, {"NAME": actor.id}


def same_holder(case: ResumeCase) -> Breaches:
    actor, member = case.context.actor, model.find_member(case.state, case.context.actor.id)
    known = member.epoch if member is not None else 1
    if actor.epoch <= known:
        message = f"{actor.id} is still the same session; there is nothing to adopt"
        yield message, "name", None, {"NAME": actor.id}


def still_running(case: ResumeCase) -> Breaches:
    if case.command.running:
        yield f"{case.context.actor.id} is running at this moment", "name"


def no_reason_to_adopt(case: ResumeCase) -> Breaches:
    """Refuse if neither condition of an adoption holds; say what is missing (OPR-011)."""
    if not case.adoption:
        yield f"{case.context.actor.id}: {'; '.join(case.adoption.missing)}", "name"


def no_sub_agent_named(case: PresenceCase[ask.BeginSubAgent | ask.EndSubAgent]) -> Breaches:
    everyone = isinstance(case.command, ask.EndSubAgent) and case.command.all
    if not everyone and not case.command.sub_agent:
        yield "", "sub_agent"


def not_by_person_or_system(case: PresenceCase[ask.SetStaleMinutes]) -> Breaches:
    """Refuse agents: with a shorter stale time they could take from others."""
    if case.context.actor.kind not in (KeyClass.HUMAN, KeyClass.SYSTEM):
        yield "", None


def nothing_to_lapse(case: PresenceCase[ask.LapseAnswer]) -> Breaches:
    waiting = case.state.pending.get(case.command.id)
    if waiting is None or case.command.ended not in (waiting.to, waiting.sender):
        yield f"{case.command.id[:80]} does not wait for {case.command.ended[:60]}", "id"


def unknown_entry(case: ReceiptCase[ask.Withdraw]) -> Breaches:
    """Refuse an unknown event. The caller reads older ones from the index, for a person or the
    system."""
    command, kind = case.command, case.context.actor.kind
    is_read = command.accused is not None and kind in (KeyClass.HUMAN, KeyClass.SYSTEM)
    if case.message is None and not (is_read and EVENT_ID.match(command.id)):
        yield f"no event {command.id[:60]} is remembered here", "id"


def not_withdrawable(case: ReceiptCase[ask.Withdraw]) -> Breaches:
    message = case.message
    if message is None or message.withdrawn or message.type is EventType.INCURSION:
        return
    if message.type is EventType.RESUME:
        yield f"{message.id} is a RESUME, which happened", "id"
    elif message.id not in case.state.pending:
        yield f"{message.id} no longer waits", "id"


def withdrawn_by_another(case: ReceiptCase[ask.Withdraw]) -> Breaches:
    """Let the sender withdraw a request, and the holder an overlap, never the accused; a person at
    a terminal and the system may withdraw both."""
    message, actor = case.message, case.context.actor
    is_request = message is not None and message.type is not EventType.INCURSION
    accused = case.command.accused if message is None else message.sender
    if actor.id == accused and not is_request:
        yield f"{actor.id} is who the entry accuses", "id"
    elif actor.kind is KeyClass.HUMAN and not actor.attended:
        yield f"the key of {actor.id} was unlocked from a file", "id"
    elif actor.kind is KeyClass.AGENT and message is not None:
        sent = (message.sender, message.sender_epoch) == (actor.id, actor.epoch)
        if not (sent if is_request else message.is_for(actor.id, actor.epoch)):
            yield f"{actor.id} did not {'send' if is_request else 'hold'} it", "id"


def evidence_missing(case: PresenceCase[ask.Withdraw]) -> Breaches:
    if case.context.actor.kind is KeyClass.SYSTEM and not case.command.evidence.strip():
        yield "", "evidence"


def bad_stale_time(case: PresenceCase[ask.SetStaleMinutes]) -> Breaches:
    if not 0 < case.command.stale_millis <= MAX_STALE_MILLIS:
        yield f"not between 1 ms and {format_span(MAX_STALE_MILLIS)}", "stale_millis"


def unusual_name(case: PresenceCase[ask.Join]) -> Breaches:
    actor = case.context.actor
    if actor.kind is KeyClass.AGENT and not agent_names.is_adjective_noun(actor.id):
        yield f"{actor.id} is not an adjective and a noun", "name"


def handoff_without_scope(case: PresenceCase[ask.SendHandoff]) -> Breaches:
    """Warn only a sender that holds something: otherwise nothing could move."""
    actor, now = case.context.actor, case.context.now
    if case.command.scope is None:
        mine = model.reservations_of(case.state, actor.id, actor.epoch)
        scopes = [reservation.scope for reservation in mine if not reservation.has_ended(now)]
        if scopes:
            more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
            message = (
                f"no scope is named: you keep {quote_name(scopes[0])}{more} when it is accepted"
            )
            yield message, "scope", None, {"PATH": write_typed(scopes[0])}


def handoff_moves_nothing(case: PresenceCase[ask.SendHandoff]) -> Breaches:
    actor = case.context.actor
    for scope in case.claims:
        held = model.find_reservation(case.state, scope.key)
        if held is None or not held.is_held_by(actor.id, actor.epoch):
            shown = quote_name(scope.shown)
            yield f"you do not hold exactly {shown}: accepting will move nothing", "scope"
