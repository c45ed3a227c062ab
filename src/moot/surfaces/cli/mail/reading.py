"""`moot inbox`, `moot mail inbox`, `show`, `search` and `thread`: reading what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from moot.api.mail import reading
from moot.api.mail.reading import ImportedView, MessageLine, SentView
from moot.core.text import plural
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.listing import listing

LIMIT = 1000
OWED = "owed"

_INBOX = f"""
    --agent NAME        Whose inbox (default: yours).
    --all = everything  Also what you have seen.
    --peek              Look without marking anything as seen.
    --limit 1..{LIMIT}      Show at most this many.
"""


@derive("inbox", reading.inbox, _INBOX)
def inbox(box: reading.Inbox, everything: bool) -> Iterable[str]:
    """Show new messages for you. What is shown counts as seen.

    Examples:
      moot inbox
      moot inbox --all --json
    """
    return _inbox_lines(box, everything)


@derive("mail.inbox", reading.inbox, _INBOX)
def mail_inbox(box: reading.Inbox, everything: bool) -> Iterable[str]:
    """Show new messages for an agent. Reading another agent's inbox marks nothing as seen.

    Examples:
      moot mail inbox --agent teal-crane
    """
    return _inbox_lines(box, everything)


def _inbox_lines(box: reading.Inbox, everything: bool) -> Iterable[str]:
    if not box.messages:
        none = "no mail" if everything else "no new mail"
        older = "" if everything else " (`moot inbox --all` shows older messages)"
        yield f"{none}; {_answers(box.owed)}" if box.owed else none + older
        return
    yield from listing(map(_row, box.messages), ("ID", "FROM", "SUBJECT", "STATE", "ANSWER"))
    if box.more:
        which = "older ones" if everything else "more: `moot inbox` again"
        yield f"and {box.more} {which}"
    not_listed = box.owed - sum(message.is_owed for message in box.messages)
    if not_listed > 0:
        yield _answers(not_listed, "more ")
    yield "`moot mail show ID` reads one, `moot mail ack ID --status STATUS` answers it"


def _row(message: reading.InboxMessage) -> tuple[str, ...]:
    subject = f"{message.subject} ({message.says})" if message.says else message.subject
    state = f"{message.state}, sent again" if message.resent else message.state
    answer = OWED if message.is_owed else message.status or "-"
    return message.id, message.sender_label, subject, state, answer


def _answers(count: int, more: str = "") -> str:
    return f"{plural(count, f'{more}answer')} owed: `moot mail pending`"


@derive("mail.show", reading.show, "ID = message_id")
def show(shown: reading.ShownMessage) -> Iterator[str]:
    """Show one message in full, and who answered it how.

    Examples:
      moot mail show auth-cache:1
      moot mail show auth-cache:1 --json
    """
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
        yield f"this is only the beginning: the text of {message.size} bytes was erased"


def _head_lines(shown: reading.ShownMessage) -> Iterable[str]:
    message = shown.message
    proof = "" if message.proved else " (not proved: imported)"
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
        shown_ids = ", ".join(f"{name} {value}" for name, value in own if value)
        yield f"outside  {visible(shown_ids)}"
    if shown.owner:
        yield f"work     {visible(shown.item or '')}, now {shown.owner}'s"


@derive("mail.search", reading.search, """
    WORDS...
    --limit 1..1000  Show at most this many.
""")  # fmt: skip
def search(found: reading.FoundMessages) -> Iterator[str]:
    """Find messages whose subject or text contains all these words, best match first.

    It searches at most 64 MiB of long texts, and says how many it did not search.

    Examples:
      moot mail search cache session
    """
    yield from _list_lines(found.messages)
    if found.unread:
        yield f"{found.unread} long texts were not searched"


@derive("mail.thread", reading.thread, "ID = thread_id")
def thread(shown: reading.MailThread) -> Iterator[str]:
    """Show a whole thread, in order.

    Examples:
      moot mail thread auth-cache
      moot mail thread RS-20260218-cell-fate --json
    """
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
