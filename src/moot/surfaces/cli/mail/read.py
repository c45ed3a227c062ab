"""`moot mail show`, `search` and `thread`: reading what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from moot.api.mail import reading
from moot.api.mail.reading import ImportedView, MessageLine, SentView
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command


@command(None, "show", "mail.show")
@click.argument("message_id", metavar="ID")
def show(shell: Shell, message_id: str) -> Answer:
    """One message with its whole text, and who has answered it how.

    Examples:
      moot mail show auth-cache:1
      moot mail show auth-cache:1 --json
    """
    shown = reading.show(shell.session, message_id)
    return Answer(shown, lambda: _message_lines(shown))


def _message_lines(shown: reading.ShownMessage) -> Iterable[str]:
    message = shown.message
    yield from _head_lines(shown)
    for answer in shown.answers:
        notes = f": {' '.join(answer.notes.split())}" if answer.notes else ""
        yield f"answer   {visible(f'{answer.agent}: {answer.status}{notes}')} ({answer.by})"
    missing = shown.standing.missing if shown.standing else ()
    if missing:
        yield f"owed by  {', '.join(map(visible, missing))}"
    for flag in message.flags if isinstance(message, ImportedView) else ():
        yield f"{flag.severity:8} {flag.rule}: {visible(flag.message)}"
    yield ""
    yield from (visible(line.expandtabs(4)) for line in message.body.splitlines())
    if not shown.whole:
        yield ""
        yield f"only the beginning is left: the text of {message.size} bytes was erased"


def _head_lines(shown: reading.ShownMessage) -> Iterable[str]:
    message = shown.message
    proof = "" if message.proved else " (not proved: taken in from outside)"
    yield f"id       {message.id}"
    yield f"from     {visible(message.sender)}{proof}"
    yield f"to       {', '.join(map(visible, message.to))}"
    if message.cc:
        yield f"cc       {', '.join(map(visible, message.cc))}"
    yield f"subject  {visible(message.subject)}"
    yield f"sent     {message.created_at}"
    if isinstance(message, ImportedView):
        own = (
            ("id", message.outside_id),
            ("thread", message.outside_thread),
            ("sent", message.sent),
        )
        told = ", ".join(f"{name} {value}" for name, value in own if value)
        yield f"outside  {visible(told)}"
    if shown.owner:
        yield f"work     {visible(shown.item or '')}, now {shown.owner}'s"


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
    found = reading.search(shell.session, words, limit=limit)
    return Answer(found, lambda: _found_lines(found))


def _found_lines(found: reading.FoundMessages) -> Iterable[str]:
    yield from _list_lines(found.messages)
    if found.unread:
        yield f"{found.unread} long texts were not looked through"


@command(None, "thread", "mail.thread")
@click.argument("thread_id", metavar="ID")
def thread(shell: Shell, thread_id: str) -> Answer:
    """A whole thread, in the order it was written.

    Examples:
      moot mail thread auth-cache
      moot mail thread RS-20260218-cell-fate --json
    """
    shown = reading.thread(shell.session, thread_id)
    return Answer(shown, lambda: _thread_lines(shown))


def _thread_lines(shown: reading.MailThread) -> Iterable[str]:
    if shown.title:
        yield visible(shown.title)
    yield from _list_lines(shown.messages)
    for message in shown.pending:
        yield f"{message.id} waits for {', '.join(map(visible, message.agents_owing))}"


def _list_lines(messages: Sequence[MessageLine | SentView | ImportedView]) -> Iterable[str]:
    if not messages:
        return ["nothing was found"]
    rows = [
        (
            message.id,
            message.sender_label,
            ", ".join(message.to),
            message.subject,
            message.created_at,
        )
        for message in messages
    ]
    return listing(rows, ("ID", "FROM", "TO", "SUBJECT", "SENT"))
