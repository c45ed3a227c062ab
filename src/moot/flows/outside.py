"""Mail from outside of the ledger: who of us it is for, and that it is taken in once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.findings import Severity
from moot.core.machine import Recorded
from moot.flows.post import message_at, stored
from moot.mail.codec import Envelope
from moot.mail.commands import Import
from moot.mail.keys import OUTSIDE
from moot.mail.model import Importance, Party, message_id, number_of, stream_of, thread_of_id
from moot.mail.threads import is_thread_id, thread_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from moot.workspace.workspace import Workspace


class Taken(msgspec.Struct, frozen=True):
    """An imported message, and the answer that it was wrong, if it was."""

    message: Recorded[Any]
    answer: Recorded[Any] | None
    replayed: bool

    @property
    def valid(self) -> bool:
        return all(one.severity is not Severity.ERROR for one in self.message.event.flags)


def take_in(
    space: Workspace, actor: str, envelope: Envelope, text: str, thread: str | None
) -> Taken:
    """Import once; a message that was taken in before is shown as it stands."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    outside_id = envelope.id or f"sha256:{digest[:16]}"
    with space.store.read() as view:
        row = view.row(OUTSIDE, outside_id)
    if row is not None:
        return _before(space, msgspec.json.decode(row.value)["id"])
    stream = stream_of(_thread(envelope, digest, thread))
    command = _command(space, actor, envelope, outside_id)
    recorded = space.engine.execute(stream, command, actor).recorded
    return Taken(recorded[0], recorded[1] if len(recorded) > 1 else None, replayed=False)


def _before(space: Workspace, known: str) -> Taken:
    """The answer, if there is one, was recorded right behind it."""
    with space.store.read() as view:
        message = message_at(view, known)
        taken = Taken(message, None, replayed=True)
        if taken.valid:
            return taken
        answer = message_at(view, message_id(thread_of_id(known), number_of(known) + 1))
    return Taken(message, answer if answer.event.re == known else None, replayed=True)


def _thread(envelope: Envelope, digest: str, named: str | None) -> str:
    if named is not None:
        return thread_id(named)
    own = envelope.thread_id
    return own if is_thread_id(own) else f"m-{digest[:10]}"


def _command(space: Workspace, actor: str, envelope: Envelope, outside_id: str) -> Import:
    agents = space.engine.registry().agents
    to, cc = _parties(space, envelope.to), _parties(space, envelope.cc)
    if not any(one.epoch for one in to):  # somebody of us must read it: whoever takes it in
        to = (*to, Party(actor, agents[actor].epoch)) if actor in agents else to
    known = envelope.importance in set(Importance)
    return Import(
        outside_id=outside_id,
        sender=envelope.sender or "unknown",
        subject=envelope.subject,
        body=envelope.body,
        to=to,
        cc=cc,
        ack_required=envelope.ack_required,
        importance=envelope.importance if known else Importance.NORMAL.value,
        sent=envelope.created_at,
        sender_here=envelope.sender in agents,
        agents=tuple(sorted(agents)),
        artifact=stored(space, envelope.body),
    )


def _parties(space: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """Names we do not know, or that have ended, stay in the message and get nothing."""
    registry = space.engine.registry()
    found = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        here = agent is not None and registry.keys[agent.kid].ending is None
        found.append(Party(name[:200], agent.epoch if agent is not None and here else 0))
    return tuple(found)
