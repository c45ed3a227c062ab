"""Mail from outside of the ledger: who of us it is for, and that it is taken in once."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.errors import Refused
from moot.core.findings import Severity
from moot.core.machine import Recorded
from moot.core.names import RESERVED
from moot.flows.mail.post import message_at, stored
from moot.protocols.mail.codec import MessageFile
from moot.protocols.mail.commands import Import
from moot.protocols.mail.events import MessageImported
from moot.protocols.mail.keys import IMPORTED_MESSAGES
from moot.protocols.mail.model import (
    Importance,
    Party,
    make_message_id,
    number_of_message,
    stream_of,
    thread_of_id,
)
from moot.protocols.mail.threads import is_thread_id, require_thread_id

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
    space: Workspace, actor: str, envelope: MessageFile, text: str, thread: str | None
) -> Taken:
    """Import once; a message that was taken in before is shown as it stands."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    outside_id = envelope.id or f"sha256:{digest[:16]}"
    command = _command(space, actor, envelope, outside_id)
    before = _before(space, command)
    if before is not None:
        return before
    stream = stream_of(_thread(envelope, digest, thread))
    recorded = space.engine.execute(stream, command, actor).recorded
    if not recorded:  # another process was quicker
        return take_in(space, actor, envelope, text, thread)
    return Taken(recorded[0], recorded[1] if len(recorded) > 1 else None, replayed=False)


def _before(space: Workspace, command: Import) -> Taken | None:
    """The message with this id, if there is one; its answer was recorded right behind it."""
    with space.store.read() as view:
        row = view.row(IMPORTED_MESSAGES, command.outside_id)
        if row is None:
            return None
        known = msgspec.json.decode(row.value)["id"]
        message = message_at(view, known)
        if not _same(command, message.event):
            raise Refused(
                "outside_id_taken",
                f"another message with the id {command.outside_id} was taken in as {known}",
                hint="give this one another `id`, or none, if it is a message of its own",
            )
        taken = Taken(message, None, replayed=True)
        if taken.valid:
            return taken
        answer = message_at(
            view, make_message_id(thread_of_id(known), number_of_message(known) + 1)
        )
    return Taken(message, answer if answer.event.re == known else None, replayed=True)


def _same(command: Import, kept: MessageImported) -> bool:
    stored = command.artifact
    text = kept.body if stored is None else kept.sha256
    return (command.sender, command.subject) == (kept.sender, kept.subject) and text == (
        command.body if stored is None else stored.sha256
    )


def _thread(envelope: MessageFile, digest: str, named: str | None) -> str:
    if named is not None:
        return require_thread_id(named)
    own = envelope.thread_id
    return own if is_thread_id(own) else f"m-{digest[:10]}"


def _command(space: Workspace, actor: str, envelope: MessageFile, outside_id: str) -> Import:
    agents = space.engine.registry().agents
    to, cc = _parties(space, envelope.to), _parties(space, envelope.cc)
    if not any(one.epoch for one in to):  # somebody of us must read it: whoever takes it in
        to = (*to, Party(actor, agents[actor].epoch)) if actor in agents else to
    called = _folded(envelope.sender)
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
        sender_here=called in agents or called in RESERVED,
        agents=tuple(sorted(agents)),
        artifact=stored(space, envelope.body),
    )


def _folded(name: str) -> str:
    """What a reader would take two names for: `Amber-Otter ` for `amber-otter`."""
    return "-".join(unicodedata.normalize("NFKC", name).casefold().replace("_", "-").split())


def _parties(space: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """Names we do not know, or that have ended, stay in the message and get nothing."""
    registry = space.engine.registry()
    found = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        here = agent is not None and registry.keys[agent.kid].ending is None
        found.append(Party(name[:200], agent.epoch if agent is not None and here else 0))
    return tuple(found)
