"""Events between agents: handing off work, asking for help, and the replies.

`handoff`, `blocked` and `send_blocked` also send the message that says the same; `send_handoff`
records the event alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.operation import operation
from moot.api.presence.observation import find_receiver
from moot.api.session import read_presence
from moot.core.errors import NotFound
from moot.core.findings import Finding
from moot.core.machine import KeyClass
from moot.core.text import Quoted
from moot.protocols.presence import STREAM, codec, commands, model, timeline
from moot.protocols.presence.events import WITH_ENVELOPE, IncursionNoted
from moot.protocols.presence.machine import MACHINE, SETTLED, WITHDRAWN
from moot.protocols.presence.model import EventType

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import StoredRow, View
    from moot.engine.job import JobOutcome
    from moot.workspace.workspace import Workspace

NEWEST: Final = 100
_PAGE: Final = 1000

Notice = commands.SendHandoff | commands.SendBlocked


class PresenceEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the v1 form of its contract; what its payload holds depends on `event_type`."""

    id: str
    version: str
    event_type: str
    project_root: str
    bead_id: Quoted | None
    from_agent: str | None
    to_agent: str | None
    scope: Quoted | None
    created_at: str
    payload: dict[str, Quoted | bool | list[Quoted]]


class SentEvent(msgspec.Struct, frozen=True):
    """The event that was recorded; `message` is the id of the message about it, if any."""

    event: PresenceEvent
    findings: tuple[Finding, ...]
    message: str | msgspec.UnsetType = msgspec.UNSET


class SentNotice(msgspec.Struct, frozen=True):
    """The event, and the id of the message about it; both were recorded together."""

    event: PresenceEvent
    message: str
    findings: tuple[Finding, ...]


class EventReceipt(msgspec.Struct, frozen=True):
    """`agent` has seen or accepted the event; `moved` are the scopes that it holds now."""

    event: PresenceEvent
    agent: str
    moved: tuple[Quoted, ...]
    findings: tuple[Finding, ...]


class WithdrawnEvent(msgspec.Struct, frozen=True):
    """The withdrawn event, which stays in the record, and who withdrew it and why."""

    event: PresenceEvent
    withdrawn: timeline.Withdrawal
    findings: tuple[Finding, ...]


class Conversation(msgspec.Struct, frozen=True):
    """Events and their delivery status as rows to show, oldest first.

    `envelopes` are the events of these rows in the v1 form of the contract, each once.
    """

    events: tuple[timeline.TimelineRow, ...]
    envelopes: tuple[PresenceEvent, ...] = ()


@operation("handoff", writes=True)
def handoff(
    session: Session,
    to: str,
    *,
    subject: str,
    summary: str,
    next_action: str,
    scope: str | None = None,
    work: str | None = None,
    requires_ack: bool = True,
    key: str | None = None,
) -> SentNotice:
    """Hand work to `to`, as an event and as a message. When `to` accepts, it holds `scope`.

    `work` defaults to what you joined for, else the branch. If `to` has ended, the one of its
    family that is here receives it; refused if several are (`which_agent`) or none is
    (`agent_retired`). The same `key` sends once.
    """
    name = _require_sender(session)
    session.require_pace(name, key, to, subject, summary, next_action, scope, work)
    command = commands.SendHandoff(
        subject=subject,
        summary=summary,
        next_action=next_action,
        requires_ack=requires_ack,
        **_address(session, name, to, scope, work),
    )
    return _send_notice(session, name, command, key)


@operation("event.handoff", writes=True)
def send_handoff(
    session: Session,
    to: str,
    *,
    subject: str,
    summary: str,
    next_action: str,
    scope: str | None = None,
    work: str | None = None,
    requires_ack: bool = True,
    sender: str | None = None,
    key: str | None = None,
) -> SentEvent:
    """Hand work over as an event only, without a message; otherwise like `handoff`."""
    name = _require_sender(session, sender)
    session.require_pace(name, key, to, subject, summary, next_action, scope, work)
    command = commands.SendHandoff(
        subject=subject,
        summary=summary,
        next_action=next_action,
        requires_ack=requires_ack,
        **_address(session, name, to, scope, work),
    )
    outcome = session.workspace.engine.execute(STREAM, command, name, key=key)
    return SentEvent(_sent_event(outcome), (*outcome.findings, *session.remarks))


@operation("blocked", writes=True)
def blocked(
    session: Session,
    to: str,
    *,
    subject: str,
    blocker: str,
    requested_action: str,
    urgency: str = "medium",
    scope: str | None = None,
    work: str | None = None,
    key: str | None = None,
) -> SentNotice:
    """Tell `to` that you are blocked, why, and what you need, as an event and as a message.

    If `to` has ended, the receiver is chosen as for `handoff`. The same `key` sends once.
    """
    name = _require_sender(session)
    return _send_blocked(
        session, name, to, subject, blocker, requested_action, urgency, scope, work, key
    )


@operation("event.blocked", writes=True)
def send_blocked(
    session: Session,
    to: str,
    *,
    subject: str,
    blocker: str,
    requested_action: str,
    urgency: str = "medium",
    scope: str | None = None,
    work: str | None = None,
    sender: str | None = None,
    key: str | None = None,
) -> SentEvent:
    """Do the same as `blocked`; `sender` is the agent that is blocked."""
    name = _require_sender(session, sender)
    sent = _send_blocked(
        session, name, to, subject, blocker, requested_action, urgency, scope, work, key
    )
    return SentEvent(sent.event, sent.findings, sent.message)


@operation("event.list")
def list_events(session: Session, *, work: str | None = None, limit: int = NEWEST) -> Conversation:
    """List the newest `limit` events: handoffs, requests, overlaps and resumed work.

    `work` keeps only those of that work item; `limit` is at least 1.
    """
    with session.workspace.store.read() as view:
        stored = _read_rows(view, "presence.events")
        if work is not None:
            links = _read_rows(view, "presence.work", f"{work} ")
            wanted = {row.key.rpartition(" ")[2] for row in links}
            stored = [row for row in stored if row.key in wanted]
        given = _read_rows(view, "presence.receipts")
        refused = frozenset(_refused_incursions(view, stored))
        marks = _read_rows(view, WITHDRAWN)
        settled = frozenset(row.key for row in _read_rows(view, SETTLED))
    receipts = (timeline.read_receipt(row.key, msgspec.json.decode(row.value)) for row in given)
    documents = (msgspec.json.decode(row.value) for row in stored)
    withdrawn = {row.key: timeline.read_withdrawal(msgspec.json.decode(row.value)) for row in marks}
    rows = timeline.make_timeline(documents, receipts, refused, withdrawn, settled)[-limit:]
    by_id = {row.key: row.value for row in stored}
    envelopes = (
        msgspec.json.decode(by_id[event_id], type=PresenceEvent)
        for event_id in dict.fromkeys(row.id for row in rows)
    )
    return Conversation(rows, tuple(envelopes))


@operation("event.seen", writes=True)
def mark_seen(
    session: Session, event_id: str, *, agent: str | None = None, key: str | None = None
) -> EventReceipt:
    """Record that you have read an event; only its receiver can. A repeat changes nothing."""
    workspace, name = session.workspace, session.actor(agent)
    outcome = workspace.engine.execute(STREAM, commands.MarkSeen(id=event_id), name, key=key)
    return _receipt(workspace, event_id, name, outcome)


@operation("event.accept", writes=True)
def accept(
    session: Session,
    event_id: str,
    *,
    agent: str | None = None,
    notes: str = "",
    key: str | None = None,
) -> EventReceipt:
    """Accept what was handed to you; the scope that its sender holds becomes yours.

    The same commit acknowledges the message about it, with `notes` as the text. For a BLOCKED,
    `notes` are the input it waits for; without them it still waits. Refused unless the event was
    sent to the acting agent.
    """
    from moot.api.mail import notices
    from moot.api.mail.lapsed_duties import settle_after

    workspace, name = session.workspace, session.actor(agent)
    outcome = notices.accept(workspace, name, event_id, key, notes)
    settle_after(workspace, name, outcome)
    return _receipt(workspace, event_id, name, outcome)


@operation("event.withdraw", writes=True)
def withdraw(
    session: Session,
    event_id: str,
    reason: str,
    *,
    evidence: str = "",
    agent: str | None = None,
    key: str | None = None,
) -> WithdrawnEvent:
    """Withdraw a HANDOFF or BLOCKED that waits, or an INCURSION that is false.

    It stays in the record, marked with who withdrew it and why. The sender withdraws a HANDOFF or
    BLOCKED, and the same commit settles its message. The holder withdraws an INCURSION, never the
    agent it accuses (`withdraw_forbidden`). A person at a terminal may withdraw both. `evidence`
    shows that an INCURSION is false. If no agent is named or acts, a person does. A repeat changes
    nothing.
    """
    from moot.api.mail import notices

    workspace = session.workspace
    event = _read_event(workspace, event_id)
    name = session.actor(agent) if agent or session.known_actor() else session.person(_WITHDRAWING)
    command = commands.Withdraw(
        id=event_id,
        reason=reason,
        evidence=evidence,
        accused=event.from_agent if event.event_type == EventType.INCURSION else None,
    )
    outcome = notices.withdraw(workspace, name, command, key)
    with workspace.store.read() as view:
        mark = find_withdrawal(view, event_id)
    assert mark is not None, "it was withdrawn just now, or before"
    return WithdrawnEvent(event, mark, outcome.findings)


_WITHDRAWING: Final = "withdrawing an entry"


def find_withdrawal(view: View, event_id: str) -> timeline.Withdrawal | None:
    """Return who withdrew the event and why; None if it was not withdrawn."""
    row = view.row(WITHDRAWN, event_id)
    return None if row is None else timeline.read_withdrawal(msgspec.json.decode(row.value))


def _require_sender(session: Session, named: str | None = None) -> str:
    """Return who sends; a missing workspace is reported before a missing sender."""
    _ = session.workspace
    return session.actor(named)


def _address(
    session: Session, sender: str, to: str, scope: str | None, work: str | None
) -> dict[str, Any]:
    """Return the fields that both kinds of notice share; `work` defaults to the sender's own."""
    workspace = session.workspace
    receiver = find_receiver(workspace, to)
    member = model.find_member(read_presence(workspace), sender)
    joined_for = member.work if member is not None else None
    return {
        "to": receiver,
        "to_epoch": session.epoch_of(receiver),
        "work": work or joined_for or session.place.branch or "",
        "scope": scope,
        "project_root": str(workspace.root),
        "worktree": str(session.place.worktree),
    }


def _send_blocked(
    session: Session,
    name: str,
    to: str,
    subject: str,
    blocker: str,
    requested_action: str,
    urgency: str,
    scope: str | None,
    work: str | None,
    key: str | None,
) -> SentNotice:
    session.require_pace(name, key, to, subject, blocker, requested_action, scope, work)
    command = commands.SendBlocked(
        subject=subject,
        blocker=blocker,
        requested_action=requested_action,
        urgency=urgency,
        **_address(session, name, to, scope, work),
    )
    sent = _send_notice(session, name, command, key)
    _notify_person(session, sent.event, subject)
    return sent


def _send_notice(session: Session, sender: str, command: Notice, key: str | None) -> SentNotice:
    from moot.api.mail import notices
    from moot.api.mail.outgoing import remark_absent_receivers
    from moot.protocols.mail.events import MessageSent

    workspace = session.workspace
    event, mail = notices.send(workspace, sender, command, key)
    # Findings about the message are left out: they are advice for `moot send`.
    findings = (
        *event.findings,
        *remark_absent_receivers(workspace, [command.to]),
        *session.remarks,
    )
    return SentNotice(_sent_event(event), mail.newest(MessageSent).event.id, findings)


def _notify_person(session: Session, event: PresenceEvent, subject: str) -> None:
    """Notify a person on whom an agent is blocked, through the program they configured."""
    person = session.workspace.engine.registry().agents.get(event.to_agent or "")
    if person is None or person.kind is not KeyClass.HUMAN:
        return
    from moot.api.guard.person_notices import PersonMoment, notify_person

    sentence = f"{event.from_agent} is blocked on you: {subject}"
    path = session.workspace.path
    notify_person(path, session.env, PersonMoment.BLOCKED, event.id, sentence)


def _sent_event(outcome: JobOutcome) -> PresenceEvent:
    recorded = next(each for each in outcome.recorded if isinstance(each.event, WITH_ENVELOPE))
    return msgspec.convert(codec.make_document(codec.make_envelope(recorded)), PresenceEvent)


def _receipt(workspace: Workspace, event_id: str, name: str, outcome: JobOutcome) -> EventReceipt:
    from moot.api.mail.notices import moved_scopes

    moved = tuple(Quoted(scope) for scope in moved_scopes(outcome))
    return EventReceipt(_read_event(workspace, event_id), name, moved, outcome.findings)


def _read_event(workspace: Workspace, event_id: str) -> PresenceEvent:
    with workspace.store.read() as view:
        row = view.row("presence.events", event_id)
    if row is None:
        raise NotFound(
            "event_not_found",
            f"no event {event_id} is on record",
            hint="`moot event list` shows all",
        )
    return msgspec.json.decode(row.value, type=PresenceEvent)


def _refused_incursions(view: View, rows: Iterable[StoredRow]) -> Iterator[str]:
    """Yield the ids of INCURSIONs that were refused: the v1 form omits this, the record has it."""
    from moot.engine.replay import read_record

    for row in rows:
        if b'"INCURSION"' not in row.value:
            continue
        for record in islice(view.records(row.stream, after=row.seq - 1), 1):
            event = read_record(MACHINE, record).event
            if isinstance(event, IncursionNoted) and event.outcome == "refused":
                yield row.key


def _read_rows(view: View, space: str, prefix: str = "") -> list[StoredRow]:
    rows: list[StoredRow] = []
    while page := view.rows(space, prefix, rows[-1].key if rows else "", _PAGE):
        rows += page
    return rows
