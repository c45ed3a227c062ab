"""What waits for an agent and has not been shown to it yet.

What is handed over here is marked as seen, so that it is told once; it stays due until it is
accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.protocols.presence.model import PresenceMessage, State
    from moot.workspace.workspace import Workspace


class WaitingEvent(msgspec.Struct, frozen=True):
    """A HANDOFF or BLOCKED event that owes an acceptance; `asks` is what its sender asked for."""

    id: str
    event_type: str
    from_agent: str | None
    subject: Quoted
    asks: Quoted = Quoted("")


class WaitingMail(msgspec.Struct, frozen=True):
    """How many messages are new, and who sent the newest; a sender from outside is not `proved`."""

    count: int
    sender: Quoted
    proved: bool
    subject: Quoted


class Waiting(msgspec.Struct, frozen=True):
    """All that is unread, oldest first; false if that is nothing."""

    events: tuple[WaitingEvent, ...] = ()
    mail: WaitingMail | None = None

    def __bool__(self) -> bool:
        return bool(self.events) or self.mail is not None


def take_waiting(workspace: Workspace, name: str) -> Waiting:
    """What waits for `name` and was not handed over before; now it was."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import MarkSeen
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    agent = workspace.engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    unseen = _unseen(workspace.engine.state(PRESENCE, STREAM), name, epoch)
    for message in unseen:
        workspace.engine.execute(STREAM, MarkSeen(id=message.id), name)
    return Waiting(tuple(_describe(workspace, unseen)), take_new_mail(workspace, name))


def _describe(workspace: Workspace, unseen: list[PresenceMessage]) -> Iterator[WaitingEvent]:
    if not unseen:
        return
    with workspace.store.read() as view:
        for message in unseen:
            row = view.row("presence.events", message.id)
            payload = {} if row is None else msgspec.json.decode(row.value)["payload"]
            asks = payload.get("requested_action") or payload.get("next_action") or ""
            subject = Quoted(message.subject)
            kind, sender = str(message.type), message.sender
            yield WaitingEvent(message.id, kind, sender, subject, Quoted(asks))


def _unseen(state: State, name: str, epoch: int) -> list[PresenceMessage]:
    """HANDOFF and BLOCKED events that this holder of the name has not seen, oldest first."""
    mine = (message for message in state.pending.values() if message.is_for(name, epoch))
    return sorted(
        (message for message in mine if name not in message.seen_by),
        key=lambda message: message.at,
    )


def take_new_mail(workspace: Workspace, name: str) -> WaitingMail | None:
    """Unread mail that was not announced before; only the index is read."""
    from moot.flows.mail import inbox

    box = inbox.box_of(workspace, name)
    if box is None or workspace.rollback is not None:
        return None
    slips = inbox.announce_new(workspace, box)
    if not slips:
        return None
    newest = slips[-1]
    proved = not newest.value["imported"]
    return WaitingMail(len(slips), Quoted(newest.sender), proved, Quoted(newest.value["subject"]))
