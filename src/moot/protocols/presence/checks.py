"""The checks behind the rules: each yields `(message, where)` for every breach it sees.

They look at a command in its moment (`asked.py`) and decide nothing; an empty message means the
sentence of the row in `rules.py` that names the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.core.errors import Malformed
from moot.core.findings import Breach
from moot.core.machine import KeyClass
from moot.core.names import AGENT, SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import nameforge, shelf
from moot.protocols.presence.asked import Asked, root_of
from moot.protocols.presence.handover import moved_by
from moot.protocols.presence.liveness import MAX_STALE, span
from moot.protocols.presence.model import WORK, EventType, Liveness, Urgency
from moot.protocols.presence.overlap import TAKEOVER
from moot.protocols.presence.paths import absolute_root

Breaches = Iterator[Breach]

MIN_TTL, MAX_TTL = 5, 1_440
MAX_SCOPES = 1_000
MAX_OVERLAPS = 2_000
MAX_TOLD = 64
MAX_PENDING = 200
MAX_SUBJECT, MAX_TEXT, MAX_NAME = 200, 8_000, 200


def bad_scope(code: str) -> Callable[[Asked], Breaches]:
    """Scopes that could not be read, of one kind: each kind is a row with its own code."""

    def check(asked: Asked) -> Breaches:
        for text, problem in asked.unreadable:
            if problem.code == code:
                yield str(problem), text[:MAX_NAME]

    return check


def relative_root(asked: Asked) -> Breaches:
    for folder in dict.fromkeys((asked.command.project_root, root_of(asked.command))):
        try:
            absolute_root(folder)
        except Malformed as problem:
            yield str(problem), "project_root"


def nothing_named(asked: Asked) -> Breaches:
    command = asked.command
    if not getattr(command, "all", False) and not _scopes(command):
        yield "", "scopes"


def too_many_named(asked: Asked) -> Breaches:
    if len(_scopes(asked.command)) > MAX_SCOPES:
        yield f"{len(_scopes(asked.command))} scopes at once, the limit is {MAX_SCOPES}", "scopes"


def _scopes(command: Any) -> tuple[str, ...]:
    return command.paths if isinstance(command, ask.NoteIncursion) else command.scopes


def bad_ttl(asked: Asked) -> Breaches:
    minutes = asked.command.ttl_minutes
    if minutes is not None and not MIN_TTL <= minutes <= MAX_TTL:
        yield f"{minutes} minutes is not {MIN_TTL} to {MAX_TTL}", "ttl_minutes"


def bad_work(asked: Asked) -> Breaches:
    if asked.command.work is not None and not WORK.match(asked.command.work):
        yield "", "work"


def no_work(asked: Asked) -> Breaches:
    if not asked.command.work:
        yield "", "work"


def text_too_long(asked: Asked) -> Breaches:
    for field, most in _LENGTHS.items():
        text = getattr(asked.command, field, None)
        if isinstance(text, str) and len(text) > most:
            yield f"{field} holds {len(text)} characters, the limit is {most}", field


_LENGTHS: Final = {
    "subject": MAX_SUBJECT,
    "summary": MAX_TEXT,
    "next_action": MAX_TEXT,
    "blocker": MAX_TEXT,
    "requested_action": MAX_TEXT,
    "reason": MAX_TEXT,
    "branch": MAX_NAME,
    "session_key": MAX_NAME,
    "project_root": 1_024,
    "worktree": 1_024,
}


def too_wide(asked: Asked) -> Breaches:
    if len(asked.conflicts) > MAX_OVERLAPS:
        yield f"this would touch {len(asked.conflicts)} reservations of others", "scopes"


def owner_active(asked: Asked) -> Breaches:
    """Whatever the flag: the living keep what they hold (4.4.1)."""
    yield from _told(asked, active=True)


def owner_quiet(asked: Asked) -> Breaches:
    """Stale and evicted owners yield only to the explicit flag (4.4.2, 4.4.3)."""
    yield from _told(asked, active=False)


def _told(asked: Asked, active: bool) -> Breaches:
    flag = isinstance(asked.command, ask.TakeOver)
    for conflict in asked.conflicts[:MAX_TOLD]:
        alive = conflict.verdict.liveness
        if (alive is Liveness.ACTIVE) is active and TAKEOVER[alive][flag] is None:
            work = asked.command.work or conflict.held.work or "ID"
            known = {"HOLDER": conflict.held.owner, "SCOPE": conflict.claim.shown, "WORK": work}
            yield conflict.sentence, conflict.claim.shown, None, known


def slipped_past(asked: Asked) -> Breaches:
    for conflict in asked.conflicts[:MAX_TOLD]:
        yield conflict.sentence, conflict.claim.shown


def not_held(asked: Asked) -> Breaches:
    for scope in asked.claims:
        if shelf.held(asked.state, scope.key) is None:
            yield f"nobody holds {scope.shown}", scope.shown


def not_the_owner(asked: Asked) -> Breaches:
    actor = asked.context.actor
    for scope in asked.claims:
        held = shelf.held(asked.state, scope.key)
        if held is not None and not held.held_by(actor.id, actor.epoch):
            earlier = "an earlier " if held.owner == actor.id else ""
            yield f"{scope.shown} is held by {earlier}{held.owner}", scope.shown


def by_the_machine(asked: Asked) -> Breaches:
    if asked.context.actor.id == SYSTEM:
        yield "", None


def not_by_the_machine(asked: Asked) -> Breaches:
    if asked.context.actor.id != SYSTEM:
        yield "", None


def unknown_receiver(asked: Asked) -> Breaches:
    to = asked.command.to
    if not AGENT.match(to):
        yield f"{to[:60]!r} is not an agent name", "to"
    elif asked.command.to_epoch is None:
        member = shelf.member(asked.state, to)
        if member is None or member.left:
            yield f"nobody called {to} is here", "to"


def to_oneself(asked: Asked) -> Breaches:
    if asked.command.to == asked.context.actor.id:
        yield "", "to"


def too_many_pending(asked: Asked) -> Breaches:
    waiting = sum(message.to == asked.command.to for message in asked.state.pending.values())
    if waiting >= MAX_PENDING:
        yield f"{waiting} events already wait for {asked.command.to}", "to"


def text_missing(*fields: str) -> Callable[[Asked], Breaches]:
    def check(asked: Asked) -> Breaches:
        for field in fields:
            if not getattr(asked.command, field).strip():
                yield f"{field} may not be empty", field

    return check


def bad_urgency(asked: Asked) -> Breaches:
    if asked.command.urgency not in tuple(Urgency):
        yield "", "urgency"


def unknown_event(asked: Asked) -> Breaches:
    if asked.message is None:
        yield f"no event {asked.command.id[:60]} waits here", "id"


def nothing_to_accept(asked: Asked) -> Breaches:
    message = asked.message
    if message is not None and message.type not in (EventType.HANDOFF, EventType.BLOCKED):
        yield f"{message.id} is a note; it asks for nothing", "id"


def not_the_receiver(asked: Asked) -> Breaches:
    message, actor = asked.message, asked.context.actor
    if message is None or message.is_for(actor.id, actor.epoch):
        return
    if message.to == actor.id:
        yield f"this message was for an earlier {message.to}", "id"
    else:
        yield f"only {message.to} may accept this", "id"


def moved_nothing(asked: Asked) -> Breaches:
    message = asked.message
    if message is None or message.key is None or message.accepted:
        return
    if not moved_by(asked.state, message, asked.context.now):
        yield f"{message.sender} no longer holds exactly {message.scope}, or more than it", "id"


def not_adopted(asked: Asked) -> Breaches:
    """A later holder of a name has passed the adoption checks, or is not let in (3.3.2)."""
    actor, member = asked.context.actor, shelf.member(asked.state, asked.context.actor.id)
    if actor.epoch > 1 and (member is None or member.epoch < actor.epoch):
        yield f"{actor.id} was someone else's name", "name", None, {"NAME": actor.id}


def same_holder(asked: Asked) -> Breaches:
    actor, member = asked.context.actor, shelf.member(asked.state, asked.context.actor.id)
    known = member.epoch if member is not None else 1
    if actor.epoch <= known:
        said = f"{actor.id} is still the same session; there is nothing to adopt"
        yield said, "name", None, {"NAME": actor.id}


def still_running(asked: Asked) -> Breaches:
    if asked.command.running:
        yield f"{asked.context.actor.id} is being run at this moment", "name"


def no_ground(asked: Asked) -> Breaches:
    """3.2: neither condition holds; the finding says what is missing."""
    verdict = asked.adoption
    if verdict is not None and not verdict:
        yield f"{asked.context.actor.id}: {'; '.join(verdict.missing)}", "name"


def not_a_persons_act(asked: Asked) -> Breaches:
    """Who could shorten the stale time alone could take from the living."""
    if asked.context.actor.kind not in (KeyClass.HUMAN, KeyClass.SYSTEM):
        yield "", None


def bad_stale(asked: Asked) -> Breaches:
    if not 0 < asked.command.stale_millis <= MAX_STALE:
        yield f"not between 1 ms and {span(MAX_STALE)}", "stale_millis"


def unusual_name(asked: Asked) -> Breaches:
    actor = asked.context.actor
    if actor.kind is KeyClass.AGENT and not nameforge.in_style(actor.id):
        yield f"{actor.id} is not an adjective and a noun", "name"


def names_no_scope(asked: Asked) -> Breaches:
    """Whoever holds nothing has nothing that could move."""
    actor, now = asked.context.actor, asked.context.now
    if asked.command.scope is None:
        mine = shelf.held_by(asked.state, actor.id, actor.epoch)
        kept = [one.scope for one in mine if not one.over(now)]
        if kept:
            more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
            said = f"no scope is named: you keep {kept[0]}{more} when it is accepted"
            yield said, "scope", None, {"SCOPE": kept[0]}


def moves_nothing(asked: Asked) -> Breaches:
    actor = asked.context.actor
    for scope in asked.claims:
        held = shelf.held(asked.state, scope.key)
        if held is None or not held.held_by(actor.id, actor.epoch):
            yield f"you do not hold exactly {scope.shown}: accepting will move nothing", "scope"
