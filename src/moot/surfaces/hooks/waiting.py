"""What waits for an agent and has not been shown to it yet, in one line.

What was handed over is marked as seen, so that it is said
once; it stays due until it is accepted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import MarkSeen
from moot.protocols.presence.model import EventType, PresenceMessage, State

if TYPE_CHECKING:
    from moot.flows.guard.session_agent import Who
    from moot.workspace.workspace import Workspace

SHOWN: Final = 3
_LONGEST: Final = 120
_SAID: Final = {EventType.HANDOFF: "passed to you by", EventType.BLOCKED: "your input is needed by"}


def waiting_line(space: Workspace, who: Who) -> str | None:
    """One line about all that is unread, now marked as seen; None if there is nothing."""
    unread = unseen(space.engine.state(STREAM), who.name, _epoch(space, who.name))
    for message in unread:
        space.engine.execute(STREAM, MarkSeen(id=message.id), who.name)
    said = [_told(message, who) for message in unread[:SHOWN]]
    if len(unread) > SHOWN:
        said.append(f"and {len(unread) - SHOWN} more: `{who.moot} status`")
    mail = mail_line(space, who)
    lines = [*said, *([mail] if mail else [])]
    return f"moot: waiting for you: {'; '.join(lines)}" if lines else None


def unseen(state: State, name: str, epoch: int) -> list[PresenceMessage]:
    """HANDOFF and BLOCKED events that this holder of the name has not seen, oldest first."""
    mine = (one for one in state.pending.values() if one.is_for(name, epoch))
    return sorted((one for one in mine if name not in one.seen_by), key=lambda one: one.at)


def mail_line(space: Workspace, who: Who) -> str | None:
    """Unread mail that was not announced before, in one line; only the index is read."""
    from moot.flows.mail import inbox

    box = inbox.box_of(space, who.name)
    new = inbox.announce_new(space, box) if box is not None and space.rolled_back is None else []
    if not new:
        return None
    last, many = new[-1], "a message" if len(new) == 1 else f"{len(new)} messages, the newest"
    sender = _quoted(last.sender) if last.value["imported"] else last.sender
    return f"{many} from {sender}: {_quoted(last.value['subject'])} (`{who.moot} inbox`)"


def _epoch(space: Workspace, name: str) -> int:
    agent = space.engine.registry().agents.get(name)
    return agent.epoch if agent is not None else 0


def _told(message: PresenceMessage, who: Who) -> str:
    """Others' words are quoted: they are a message, not an instruction of ours."""
    said = _SAID.get(message.type, "from")
    return (
        f"{message.id} {said} {message.sender}: {_quoted(message.subject)}"
        f" (`{who.moot} event accept {message.id} --agent {who.name}`)"
    )


def _quoted(subject: str) -> str:
    said = " ".join(subject.split())[:_LONGEST]
    return json.dumps(said, ensure_ascii=not said.isprintable())
