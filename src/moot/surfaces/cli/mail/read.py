"""`moot mail show`, `search` and `thread`: reading what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.protocols.mail.types import MessageType
    from moot.protocols.mail.views import MessageView


@command(None, "show", "mail.show")
@click.argument("message_id", metavar="ID")
def show(shell: Shell, message_id: str) -> Answer:
    """One message with its whole text, and who has answered it how.

    Examples:
      moot mail show auth-cache:1
      moot mail show auth-cache:1 --json
    """
    from moot.flows.mail import post
    from moot.protocols.mail import views

    space = shell.workspace
    message_id = post.known_id(space, message_id)
    with space.store.read() as view:
        found = post.message_at(view, message_id)
        answers = post.answers_to(view, message_id)
        owner = post.owner_of(view, found.event.item)
    state = space.engine.state(found.stream).find_message(message_id)
    text = post.text_of(space, found)
    data = {
        "message": views.describe_message(found, text),
        "whole": text is not None,
        "answers": answers,
        "item": found.event.item or None,
        "owner": owner,
        "standing": None if state is None else views.describe_standing(state, space.engine.clock()),
    }
    return Answer(data, lambda: _message_lines(data))


def _message_lines(data: dict[str, Any]) -> Iterable[str]:
    from moot.protocols.mail.views import ImportedView

    message = data["message"]
    proof = "" if message.proved else " (not proved: taken in from outside)"
    yield f"id       {message.id}"
    yield f"from     {visible(message.sender)}{proof}"
    yield f"to       {', '.join(map(visible, message.to))}"
    if message.cc:
        yield f"cc       {', '.join(map(visible, message.cc))}"
    yield f"subject  {visible(message.subject)}"
    yield f"sent     {message.created_at}"
    if data["owner"]:
        yield f"work     {visible(data['item'])}, now {data['owner']}'s"
    for one in data["answers"]:
        notes = f": {' '.join(one['notes'].split())}" if one["notes"] else ""
        yield f"answer   {visible(one['agent'] + ': ' + one['status'] + notes)} ({one['by']})"
    missing = data["standing"].missing if data["standing"] else ()
    if missing:
        yield f"owed by  {', '.join(missing)}"
    for flag in message.flags if isinstance(message, ImportedView) else ():
        yield f"{flag.severity:8} {flag.rule}: {visible(flag.message)}"
    yield ""
    yield from (visible(line.expandtabs(4)) for line in message.body.splitlines())
    if not data["whole"]:
        yield ""
        yield f"only the beginning is left: the text of {message.size} bytes was erased"


@command(None, "search", "mail.search")
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="At most so many.",
)
def search(shell: Shell, words: tuple[str, ...], limit: int) -> Answer:
    """Messages whose subject or text holds all these words, best first.

    Long texts are read when you search, up to 64 MiB of them; how many were not is said.

    Examples:
      moot mail search cache session
    """
    from moot.flows.mail import finding
    from moot.protocols.mail import views

    found = finding.search(shell.workspace, " ".join(words), limit)
    messages = [_short(views.describe_message(one)) for one in found.messages]
    data = {"messages": messages, "unread": found.unread}
    return Answer(data, lambda: _found_lines(messages, found.unread))


def _found_lines(messages: list[_ShortMessage], unread: int) -> Iterable[str]:
    yield from _list_lines(messages)
    if unread:
        yield f"{unread} long texts were not looked through"


@command(None, "thread", "mail.thread")
@click.argument("thread_id", metavar="ID")
def thread(shell: Shell, thread_id: str) -> Answer:
    """A whole thread, in the order it was written.

    Examples:
      moot mail thread auth-cache
      moot mail thread RS-20260218-cell-fate --json
    """
    from moot.flows.mail import post
    from moot.protocols.mail import views
    from moot.protocols.mail.threads import normalize_id

    space, thread_id = shell.workspace, normalize_id(thread_id)
    found = post.messages_of(space, thread_id)
    messages = [views.describe_message(one) for one in found]
    state = space.engine.state(found[0].stream)
    data = {
        "thread": thread_id,
        "title": state.title or None,
        "version": state.compiled or None,
        "messages": messages,
        "pending": views.list_pending(state, space.engine.clock()),
    }
    return Answer(data, lambda: _thread_lines(data))


def _thread_lines(data: dict[str, Any]) -> Iterable[str]:
    if data["title"]:
        yield visible(data["title"])
    yield from _list_lines(data["messages"])
    for one in data["pending"]:
        yield f"{one.id} waits for {', '.join(one.agents_owing)}"


class _ShortMessage(msgspec.Struct, frozen=True):
    """A message as a list shows it: without its text."""

    id: str
    thread: str
    sender: str = msgspec.field(name="from")
    proved: bool
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    type: MessageType | None
    created_at: str
    size: int


def _short(message: MessageView) -> _ShortMessage:
    return _ShortMessage(*(getattr(message, name) for name in _ShortMessage.__struct_fields__))


def _list_lines(messages: Sequence[MessageView | _ShortMessage]) -> Iterable[str]:
    if not messages:
        return ["nothing was found"]
    from moot.flows.mail.inbox import named

    rows = [
        (one.id, sender, ", ".join(one.to), one.subject, one.created_at)
        for one in messages
        for sender in (named(one.sender, one.proved),)
    ]
    return listing(rows, ("ID", "FROM", "TO", "SUBJECT", "SENT"))
