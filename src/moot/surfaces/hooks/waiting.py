"""What waits for an agent, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.core.quoted import OwnText, join, quote, say

if TYPE_CHECKING:
    from moot.api.guard.offered_tools import ToolName
    from moot.api.guard.waiting import Waiting, WaitingEvent, WaitingMail

SHOWN: Final = 3
_VERBS: Final = {"HANDOFF": "passed to you by", "BLOCKED": "your input is needed by"}


def waiting_line(
    waiting: Waiting, agent: str, moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """What waits, which is something.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server.
    """
    events, mail = waiting.events, waiting.mail
    parts = [_event(event, agent, moot, tool_name) for event in events[:SHOWN]]
    if len(events) > SHOWN:
        look = say("{moot} status", moot=moot) if tool_name is None else OwnText(tool_name("now"))
        parts.append(say("and {more} more: `{look}`", more=len(events) - SHOWN, look=look))
    if mail is not None:
        parts.append(mail_part(mail, moot, tool_name))
    return say("moot: waiting for you: {parts}", parts=join("; ", parts))


def mail_part(mail: WaitingMail, moot: OwnText, tool_name: ToolName | None = None) -> OwnText:
    many = "a message" if mail.count == 1 else f"{mail.count} messages, the newest"
    sender = mail.sender if mail.proved else quote(mail.sender)
    read = f"{moot} inbox" if tool_name is None else f'{tool_name("mail")} {{"action":"inbox"}}'
    return say(
        "{many} from {sender}: {subject} (`{read}`)",
        many=OwnText(many),
        sender=sender,
        subject=quote(mail.subject),
        read=OwnText(read),
    )


def _event(event: WaitingEvent, agent: str, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    is_answered = event.event_type == "BLOCKED"  # in words; a handoff is taken on
    accept = say("{moot} event accept {id} --agent {agent}", moot=moot, id=event.id, agent=agent)
    if tool_name is not None:
        notes = ',"summary":"ANSWER"' if is_answered else ""
        accept = OwnText(f'{tool_name("event")} {{"action":"accept","id":"{event.id}"{notes}}}')
    elif is_answered:
        accept = OwnText(f"{accept} --notes ANSWER")
    return say(
        "{id} {verb} {sender}: {subject}{asks} (`{accept}`)",
        id=event.id,
        verb=OwnText(_VERBS.get(event.event_type, "from")),
        sender=event.from_agent or OwnText("someone unknown"),
        subject=quote(event.subject),
        asks=say(", asked: {asks}", asks=quote(event.asks)) if event.asks else OwnText(),
        accept=accept,
    )
