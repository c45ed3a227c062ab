"""What waits for an agent, in one line. Others' words are quoted: they are a message, not an
instruction of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.guard.waiting import Waiting, WaitingEvent, WaitingMail

SHOWN: Final = 3
_LONGEST: Final = 120
_VERBS: Final = {"HANDOFF": "passed to you by", "BLOCKED": "your input is needed by"}


def waiting_line(waiting: Waiting, agent: str, moot: str) -> str:
    """What waits, which is something. `moot` is how the agent calls us."""
    events, mail = waiting.events, waiting.mail
    parts = [_event(event, agent, moot) for event in events[:SHOWN]]
    if len(events) > SHOWN:
        parts.append(f"and {len(events) - SHOWN} more: `{moot} status`")
    if mail is not None:
        parts.append(mail_part(mail, moot))
    return f"moot: waiting for you: {'; '.join(parts)}"


def mail_part(mail: WaitingMail, moot: str) -> str:
    many = "a message" if mail.count == 1 else f"{mail.count} messages, the newest"
    sender = mail.sender if mail.proved else quoted(mail.sender)
    return f"{many} from {sender}: {quoted(mail.subject)} (`{moot} inbox`)"


def _event(event: WaitingEvent, agent: str, moot: str) -> str:
    verb = _VERBS.get(event.event_type, "from")
    return (
        f"{event.id} {verb} {event.from_agent}: {quoted(event.subject)}"
        f" (`{moot} event accept {event.id} --agent {agent}`)"
    )


def quoted(text: str) -> str:
    """Another's text in one line, cut to a length; what is not printable is escaped."""
    line = " ".join(text.split())[:_LONGEST]
    return json.dumps(line, ensure_ascii=not line.isprintable())
