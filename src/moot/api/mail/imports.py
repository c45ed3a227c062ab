"""Import mail from outside the ledger: find its receivers here, and import each message once."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

import msgspec

from moot.api.mail.messages import read_message
from moot.api.mail.outgoing import store_long_body
from moot.core.errors import Refused
from moot.core.findings import Severity
from moot.core.machine import Recorded, is_kind
from moot.core.names import RESERVED
from moot.protocols.mail.codec import MessageFile
from moot.protocols.mail.commands import Import
from moot.protocols.mail.events import MessageImported, MessageSent
from moot.protocols.mail.index_keys import IMPORTED_MESSAGES
from moot.protocols.mail.model import (
    Importance,
    Party,
    is_thread_id,
    make_message_id,
    normalize_id,
    number_of_message,
    require_thread_id,
    stream_of,
    thread_of_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from moot.workspace.workspace import Workspace


class ImportedMessage(msgspec.Struct, frozen=True):
    """An imported message, and the answer that reports its errors, if it has any."""

    message: Recorded[MessageImported]
    answer: Recorded[MessageSent] | None
    replayed: bool

    @property
    def is_valid(self) -> bool:
        return all(flag.severity is not Severity.ERROR for flag in self.message.event.flags)


def import_once(
    workspace: Workspace, actor: str, envelope: MessageFile, text: str, thread: str | None
) -> ImportedMessage:
    """Import a message; if it was imported before, return it as it was recorded."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    outside_id = envelope.id or f"sha256:{digest[:16]}"
    command = _make_command(workspace, actor, envelope, outside_id)
    earlier = _find_earlier(workspace, command)
    if earlier is not None:
        return earlier
    own = normalize_id(envelope.thread_id)
    if thread is not None:
        own = require_thread_id(thread)
    stream = stream_of(own if is_thread_id(own) else f"m-{digest[:10]}")
    outcome = workspace.engine.execute(stream, command, actor)
    if not outcome.recorded:  # another process imported it meanwhile
        return import_once(workspace, actor, envelope, text, thread)
    answer = outcome.newest(MessageSent) if len(outcome.recorded) > 1 else None
    return ImportedMessage(outcome.newest(MessageImported), answer, replayed=False)


def _find_earlier(workspace: Workspace, command: Import) -> ImportedMessage | None:
    """Return the message with this id, if there is one; its answer is the next message."""
    with workspace.store.read() as view:
        row = view.row(IMPORTED_MESSAGES, command.outside_id)
        if row is None:
            return None
        known = msgspec.json.decode(row.value)["id"]
        message = read_message(view, known)
        if not is_kind(message, MessageImported) or not _is_same(command, message.event):
            raise Refused(
                "outside_id_taken",
                f"another message with the id {command.outside_id} was imported as {known}",
                hint="if this is a different message, give it another `id` or none",
            )
        imported = ImportedMessage(message, None, replayed=True)
        if imported.is_valid:
            return imported
        answer = read_message(
            view, make_message_id(thread_of_id(known), number_of_message(known) + 1)
        )
    if is_kind(answer, MessageSent) and answer.event.re == known:
        return ImportedMessage(message, answer, replayed=True)
    return imported


def _is_same(command: Import, event: MessageImported) -> bool:
    stored = command.artifact
    text = event.body if stored is None else event.sha256
    return (command.sender, command.subject) == (event.sender, event.subject) and text == (
        command.body if stored is None else stored.sha256
    )


def _make_command(
    workspace: Workspace, actor: str, envelope: MessageFile, outside_id: str
) -> Import:
    agents = workspace.engine.registry().agents
    to, cc = _find_receivers(workspace, envelope.to), _find_receivers(workspace, envelope.cc)
    if not any(party.epoch for party in to):  # no agent here is addressed: the importer reads it
        to = (*to, Party(actor, agents[actor].epoch)) if actor in agents else to
    # A name that a reader would confuse with ours counts as ours: `Amber-Otter ` is `amber-otter`.
    folded = unicodedata.normalize("NFKC", envelope.sender).casefold().replace("_", "-")
    sender = "-".join(folded.split())
    is_importance = envelope.importance in set(Importance)
    return Import(
        outside_id=outside_id,
        sender=envelope.sender or "unknown",
        subject=envelope.subject,
        body=envelope.body,
        to=to,
        cc=cc,
        ack_required=envelope.ack_required,
        importance=envelope.importance if is_importance else Importance.NORMAL.value,
        sent=envelope.created_at,
        sender_here=sender in agents or sender in RESERVED,
        agents=tuple(sorted(agents)),
        artifact=store_long_body(workspace, envelope.body),
        outside_thread=envelope.thread_id,
        sender_reserved=sender in RESERVED,
    )


def _find_receivers(workspace: Workspace, names: Iterable[str]) -> tuple[Party, ...]:
    """Return all names; unknown and ended ones get epoch 0, and so no copy in an inbox."""
    registry = workspace.engine.registry()
    receivers = []
    for name in dict.fromkeys(names):
        agent = registry.agents.get(name)
        is_here = agent is not None and registry.keys[agent.kid].ending is None
        receivers.append(Party(name[:200], agent.epoch if agent is not None and is_here else 0))
    return tuple(receivers)
