"""What waits for an agent, and what became of its own requests, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.core.quoted import MOST_CHARACTERS, OwnText, join, quote, say, shell_word
from moot.surfaces.hooks.reasons import as_arguments

if TYPE_CHECKING:
    from moot.api.guard.offered_tools import ToolName
    from moot.api.guard.waiting import SettledRequest, Waiting, WaitingEvent, WaitingMail

SHOWN: Final = 3
_MOST_OF_PATH: Final = 500
_VERBS: Final = {"HANDOFF": "passed to you by", "BLOCKED": "your input is needed by"}


def waiting_line(
    waiting: Waiting, agent: str, moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """What waits, and what became of the agent's own requests; one of them is there.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server.
    """
    events, mail = waiting.events, waiting.mail
    parts = [_event(event, agent, moot, tool_name) for event in events[:SHOWN]]
    if len(events) > SHOWN:
        look = say("{moot} status", moot=moot) if tool_name is None else OwnText(tool_name("now"))
        parts.append(say("and {more} more: `{look}`", more=len(events) - SHOWN, look=look))
    if mail is not None:
        parts.append(mail_part(mail, moot, tool_name))
    lines = [_settled(each) for each in waiting.settled[:SHOWN]]
    if len(waiting.settled) > SHOWN:
        more = len(waiting.settled) - SHOWN
        lines.append(say("moot: {more} more of your requests are settled.", more=more))
    if parts:
        lines.append(say("moot: waiting for you: {parts}", parts=join("; ", parts)))
    return join("\n", lines)


def mail_part(mail: WaitingMail, moot: OwnText, tool_name: ToolName | None = None) -> OwnText:
    many = "a message" if mail.count == 1 else f"{mail.count} messages, the newest"
    sender = mail.sender if mail.proved else quote(mail.sender)
    read = f"{moot} inbox" if tool_name is None else f'{tool_name("mail")} {{"action":"inbox"}}'
    return say(
        "{many} from {sender}: {subject} (`{read}`)",
        many=OwnText(many),
        sender=sender,
        subject=_quote(mail.subject, _way_to_read(mail.newest, moot, tool_name)),
        read=OwnText(read),
    )


def _settled(request: SettledRequest) -> OwnText:
    """What was asked for is free now, or the next holder was asked."""
    words = {"asked": request.asked, "id": request.id, "holder": request.holder or ""}
    words |= {"scope": quote(request.scope, _MOST_OF_PATH), "sent": request.sent or ""}
    if request.holder is None:
        template = (
            "moot: free now: {scope}; you had asked {asked} for it ({id}). Your next edit of it"
            " reserves it."
        )
    else:
        template = "moot: {scope} is held by {holder} now; you had asked {asked} for it ({id}). "
        if request.sent is None:
            template += "Nobody has asked {holder}."
        else:
            template += "{holder} was asked for you in the same words ({sent})."
    return say(template, **words)


def _event(event: WaitingEvent, agent: str, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    is_answered = event.event_type == "BLOCKED"  # in words; a handoff is taken on
    accept = say("{moot} event accept {id} --agent {agent}", moot=moot, id=event.id, agent=agent)
    if tool_name is not None:
        notes = ',"summary":"ANSWER"' if is_answered else ""
        accept = OwnText(f'{tool_name("event")} {{"action":"accept","id":"{event.id}"{notes}}}')
    elif is_answered:
        accept = OwnText(f"{accept} --notes ANSWER")
    more, asks, about = _way_to_read(event.message, moot, tool_name), OwnText(), OwnText()
    if event.asks:
        asks = say(", asked: {asks}", asks=_quote(event.asks, more))
    if event.scope and event.scope != event.subject:
        about = say(" about {scope}", scope=quote(event.scope, _MOST_OF_PATH))
    return say(
        "{id} {verb} {sender}: {subject}{about}{asks} (`{accept}`{giving})",
        id=event.id,
        verb=OwnText(_VERBS.get(event.event_type, "from")),
        sender=event.from_agent or OwnText("someone unknown"),
        subject=_quote(event.subject, more),
        about=about,
        asks=asks,
        accept=accept,
        giving=_way_to_give(event, moot, tool_name),
    )


def _quote(text: str, more: OwnText) -> OwnText:
    """The text, and if it is too long for a line, how all of it is read."""
    shown = quote(text)
    if not more or len(" ".join(text.split())) <= MOST_CHARACTERS:
        return shown
    return say("{shown} (all of it: `{more}`)", shown=shown, more=more)


def _way_to_read(message: str | None, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    if not message:
        return OwnText()
    if tool_name is None:
        return say("{moot} mail show {message}", moot=moot, message=shell_word(message, "ID"))
    return OwnText(f"{tool_name('mail')} {as_arguments({'action': 'show', 'id': message})}")


def _way_to_give(event: WaitingEvent, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    """How what a BLOCKED asks for is given back, which settles it."""
    if not event.held:
        return OwnText()
    if tool_name is None:
        release = say("{moot} release {held}", moot=moot, held=event.typed_held)
    else:
        asked = {"action": "release", "paths": [event.held]}
        release = OwnText(f"{tool_name('scope')} {as_arguments(asked)}")
    return say("; if you are done with it: `{release}`", release=release)
