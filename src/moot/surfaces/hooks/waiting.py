"""What waits for an agent, in one line. Others' words are quoted: they are a message, not an
instruction of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.guard.offered_tools import ToolName
    from moot.api.guard.waiting import Waiting, WaitingEvent, WaitingMail

SHOWN: Final = 3
_LONGEST: Final = 120
_VERBS: Final = {"HANDOFF": "passed to you by", "BLOCKED": "your input is needed by"}


def waiting_line(waiting: Waiting, agent: str, moot: str, tool_name: ToolName | None = None) -> str:
    """What waits, which is something.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server.
    """
    events, mail = waiting.events, waiting.mail
    parts = [_event(event, agent, moot, tool_name) for event in events[:SHOWN]]
    if len(events) > SHOWN:
        look = f"{moot} status" if tool_name is None else tool_name("now")
        parts.append(f"and {len(events) - SHOWN} more: `{look}`")
    if mail is not None:
        parts.append(mail_part(mail, moot, tool_name))
    return f"moot: waiting for you: {'; '.join(parts)}"


def mail_part(mail: WaitingMail, moot: str, tool_name: ToolName | None = None) -> str:
    many = "a message" if mail.count == 1 else f"{mail.count} messages, the newest"
    sender = mail.sender if mail.proved else quoted(mail.sender)
    read = f"{moot} inbox" if tool_name is None else f'{tool_name("mail")} {{"action":"inbox"}}'
    return f"{many} from {sender}: {quoted(mail.subject)} (`{read}`)"


def _event(event: WaitingEvent, agent: str, moot: str, tool_name: ToolName | None) -> str:
    verb = _VERBS.get(event.event_type, "from")
    is_answered = event.event_type == "BLOCKED"  # in words; a handoff is taken on
    accept = f"{moot} event accept {event.id} --agent {agent}"
    if tool_name is not None:
        notes = ',"summary":"ANSWER"' if is_answered else ""
        accept = f'{tool_name("event")} {{"action":"accept","id":"{event.id}"{notes}}}'
    elif is_answered:
        accept += " --notes ANSWER"
    asks = f", asked: {quoted(event.asks)}" if event.asks else ""
    return f"{event.id} {verb} {event.from_agent}: {quoted(event.subject)}{asks} (`{accept}`)"


def quoted(text: str) -> str:
    """Another's text in one line, cut to a length; what is not printable is escaped."""
    line = " ".join(text.split())[:_LONGEST]
    return json.dumps(line, ensure_ascii=not line.isprintable())
