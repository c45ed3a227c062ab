"""What waits for an agent and has not been shown to it yet, in one line.

`mail_line` is where mail joins in. What was handed over is marked as seen, so that it is said
once; it stays due until it is accepted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from moot.presence import STREAM
from moot.presence.commands import MarkSeen
from moot.presence.model import EventType, Message, State

if TYPE_CHECKING:
    from moot.surfaces.hooks.actor import Who
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


def unseen(state: State, name: str, epoch: int) -> list[Message]:
    """HANDOFF and BLOCKED events that this holder of the name has not seen, oldest first."""
    mine = (one for one in state.pending.values() if one.is_for(name, epoch))
    return sorted((one for one in mine if name not in one.seen_by), key=lambda one: one.at)


def mail_line(_space: Workspace, _who: Who) -> str | None:
    """Unread mail in one line. There is no mail yet."""
    return None


def _epoch(space: Workspace, name: str) -> int:
    agent = space.engine.registry().agents.get(name)
    return agent.epoch if agent is not None else 0


def _told(message: Message, who: Who) -> str:
    """Others' words are quoted: they are a message, not an instruction of ours."""
    subject = json.dumps(" ".join(message.subject.split())[:_LONGEST], ensure_ascii=False)
    return (
        f"{message.id} {_SAID.get(message.type, 'from')} {message.sender}: {subject}"
        f" (`{who.moot} event accept {message.id} --agent {who.name}`)"
    )
