"""Read mail: inboxes, single messages with their answers, threads, search."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.mail import inbox as inboxes
from moot.api.mail.inbox import Box, streams_with_mail
from moot.api.mail.lapsed_duties import find_settled
from moot.api.mail.messages import (
    canonical_id,
    read_message,
    read_message_text_unless_erased,
    read_thread,
)
from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.machine import KeyClass
from moot.core.text import Quoted, quote_optional
from moot.protocols.mail.body_writer import read_ack
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.index_keys import (
    ANSWERS,
    LONG_MESSAGES,
    MESSAGES,
    WORK_ITEMS,
    label_sender,
)
from moot.protocols.mail.machine import MACHINE as MAIL
from moot.protocols.mail.message import parse_subject
from moot.protocols.mail.model import normalize_id
from moot.protocols.mail.types import MessageType
from moot.protocols.mail.views import (
    ImportedView,
    SentView,
    StandingView,
    describe_message,
    describe_standing,
    list_owed_by,
    list_pending,
)

if TYPE_CHECKING:
    from moot.api.mail.inbox import InboxEntry
    from moot.api.session import Session
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.workspace.workspace import Workspace


__all__ = [
    "FoundMessages",
    "ImportedView",
    "Inbox",
    "InboxMessage",
    "MailThread",
    "MessageAnswer",
    "MessageLine",
    "SentView",
    "ShownMessage",
    "inbox",
    "search",
    "show",
    "thread",
]


class InboxMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message as an inbox shows it. `state` is unread, seen or acked; `status` the agent's
    answer; `says` what the message itself acknowledges."""

    id: Quoted
    thread: Quoted
    sender: Quoted = msgspec.field(name="from")
    subject: Quoted
    type: str | None
    at: str
    state: str
    status: str | None
    ack_required: bool
    cc: bool
    importance: str
    says: str | None
    proved: bool
    resent: bool

    @property
    def sender_label(self) -> str:
        return label_sender(self.sender, self.proved)

    @property
    def is_owed(self) -> bool:
        """True if the agent was asked for an acknowledgement and has given none."""
        return self.ack_required and not self.status


class Inbox(msgspec.Struct, frozen=True):
    """`more` counts messages that did not fit; `owed` all answers that the agent owes."""

    agent: str
    messages: list[InboxMessage]
    more: int
    owed: int


class MessageAnswer(msgspec.Struct, frozen=True):
    """The latest answer of one agent: `by` is the message that gave it."""

    agent: str
    status: str
    by: str
    at: str
    notes: Quoted


class ShownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message. `whole` is False if its text was erased except for the beginning; `owner` has
    claimed its work item; `standing` is None if the message is no longer tracked."""

    message: SentView | ImportedView
    whole: bool
    answers: list[MessageAnswer]
    item: Quoted | None
    owner: str | None
    standing: StandingView | None


class MessageLine(msgspec.Struct, frozen=True):
    """A message as a list shows it: without its text."""

    id: Quoted
    thread: Quoted
    sender: Quoted = msgspec.field(name="from")
    proved: bool
    to: tuple[Quoted, ...]
    cc: tuple[Quoted, ...]
    subject: Quoted
    type: MessageType | None
    created_at: str
    size: int

    @property
    def sender_label(self) -> str:
        return label_sender(self.sender, self.proved)


class FoundMessages(msgspec.Struct, frozen=True):
    """`unread` counts long texts that the search did not read, because of its limit."""

    messages: list[MessageLine]
    unread: int


class MailThread(msgspec.Struct, frozen=True):
    """A thread, oldest message first; `version` is that of its newest COMPILED."""

    thread: Quoted
    title: Quoted | None
    version: int | None
    messages: list[SentView | ImportedView]
    pending: list[StandingView]


@operation("mail.inbox", also="inbox")
def inbox(
    session: Session,
    agent: str | None = None,
    *,
    everything: bool = False,
    peek: bool = False,
    limit: int = 100,
) -> Inbox:
    """Show what is new for an agent (default: the acting agent), and mark it as seen.

    With `everything` also show what was seen: the newest `limit`. Nothing is marked as seen with
    `everything` or `peek`, in another's inbox, or if the workspace cannot be written. Which mail
    was seen is not in the record.
    """
    name, workspace = agent or session.actor(), session.workspace
    box = inboxes.Box(name, session.require_agent(name).epoch)
    if not (everything or peek) and _may_mark_as_seen(session, box):
        entries, more = inboxes.take_unread(workspace, box, limit)
    else:
        with workspace.store.read() as view:
            if everything:
                entries = inboxes.list_all(view, box)
            else:
                entries = inboxes.list_unread(view, box, workspace.engine.clock())
        more = max(len(entries) - limit, 0)
        entries = entries[-limit:] if everything else entries[:limit]
    messages = [_describe_entry(entry) for entry in entries]
    return Inbox(name, messages, more, len(list_owed(workspace, box)))


def _may_mark_as_seen(session: Session, box: Box) -> bool:
    """Return True for the agent itself and for a caller without a name, if its key is here.

    Reading does not unlock a person's key. So a person must act, at a terminal or with a passphrase
    file: agents may share the key folder.
    """
    workspace = session.workspace
    if workspace.rollback is not None or workspace.write_error is not None:
        return False
    if session.acting is not None and session.actor() != box.name:
        return False
    holder = workspace.engine.registry().agents[box.name]
    is_person = holder.kind is not KeyClass.AGENT
    if is_person and not (session.acting and session.can_ask_passphrase):
        return False
    return workspace.keys.folder.read_key(workspace.keys.origin, box.name, holder.kid) is not None


def _describe_entry(entry: InboxEntry) -> InboxMessage:
    row = entry.value
    return InboxMessage(
        id=row["id"],
        thread=Quoted(entry.thread.partition("/")[2]),
        sender=row["from"],
        subject=row["subject"],
        type=row["type"],
        at=to_text(row["at"]),
        state=entry.state,
        status=entry.status,
        ack_required=row["ack_required"],
        cc=row["cc"],
        importance=row["importance"],
        says=row["says"],
        proved=not row["imported"],
        resent=row["resent"],
    )


@operation("mail.show")
def show(session: Session, message_id: str) -> ShownMessage:
    """Show one message with its whole text, and who has answered it how."""
    workspace = session.workspace
    message_id = canonical_id(workspace, message_id)
    with workspace.store.read() as view:
        recorded = read_message(view, message_id)
        answers = _list_answers(view, message_id)
        claimed = view.row(WORK_ITEMS, recorded.event.item) if recorded.event.item else None
    owner = None if claimed is None else str(msgspec.json.decode(claimed.value)["owner"])
    standing = workspace.engine.state(MAIL, recorded.stream).find_message(message_id)
    body, now = read_message_text_unless_erased(workspace, recorded), workspace.engine.clock()
    return ShownMessage(
        message=describe_message(recorded, body),
        whole=body is not None,
        answers=answers,
        item=quote_optional(recorded.event.item or None),
        owner=owner,
        standing=None if standing is None else describe_standing(standing, now),
    )


def _list_answers(view: View, message_id: str) -> list[MessageAnswer]:
    """Return the latest answer of each receiver that answered."""
    answers = []
    for row in view.rows(ANSWERS, f"{message_id}/"):
        answer = msgspec.json.decode(row.value)
        agent, at = row.key.split("/")[-2], to_text(answer["at"])
        notes = Quoted(_read_notes(view, answer["by"]))
        answers.append(MessageAnswer(agent, answer["status"], answer["by"], at, notes))
    return answers


def _read_notes(view: View, message_id: str) -> str:
    """Return the notes of an ACK; for any other answer, its subject."""
    event = read_message(view, message_id).event
    if event.type is MessageType.ACK:
        ack = read_ack(event.body)
        return ack.notes if ack is not None else ""
    subject = parse_subject(event.subject)
    return subject.description if subject is not None else str(event.subject)


@operation("mail.search")
def search(session: Session, words: str | Sequence[str], *, limit: int = 50) -> FoundMessages:
    """Find messages whose subject or text contains all these words, best first, at most `limit`.

    A search also reads long texts, up to 64 MiB of them.
    """
    text = words if isinstance(words, str) else " ".join(words)
    result = search_messages(session.workspace, text, limit)
    views = (describe_message(recorded) for recorded in result.messages)
    names = MessageLine.__struct_fields__
    lines = [MessageLine(*(getattr(view, name) for name in names)) for view in views]
    return FoundMessages(lines, result.unread)


@operation("mail.thread")
def thread(session: Session, thread_id: str) -> MailThread:
    """Show a whole thread, oldest message first, with the beginning of long texts."""
    workspace, thread_id = session.workspace, normalize_id(thread_id)
    messages = read_thread(workspace, thread_id)
    state = workspace.engine.state(MAIL, messages[0].stream)
    return MailThread(
        Quoted(thread_id),
        quote_optional(state.title or None),
        state.compiled or None,
        [describe_message(recorded) for recorded in messages],
        list_pending(state, workspace.engine.clock()),
    )


# The index knows only the beginning of a long text. A search reads the rest from its artifact; an
# erased text is not found.

BUDGET: Final = 64 * 1024 * 1024  # bytes of long texts that one search reads
_PAGE: Final = 1_000
_WORD: Final = re.compile(r"[^\W_]+")


class SearchResult(NamedTuple):
    """`unread` counts long texts that were not read, because of BUDGET."""

    messages: list[Recorded[MessageKept]]
    unread: int


def search_messages(workspace: Workspace, words: str, limit: int) -> SearchResult:
    """Return messages with all these words: best first, then those found in their long texts."""
    wanted = set(_WORD.findall(_fold(words)))
    bytes_left, unread = BUDGET, 0
    with workspace.store.read() as view:
        ids = dict.fromkeys(view.search(MESSAGES, words, limit))
        for message_id, size in _list_long(view) if wanted else ():
            if message_id in ids or len(ids) >= limit:
                continue
            if size > bytes_left:
                unread += 1
                continue
            bytes_left -= size
            if _contains(workspace, read_message(view, message_id), wanted):
                ids[message_id] = None
        return SearchResult([read_message(view, message_id) for message_id in ids], unread)


def _list_long(view: View) -> Iterator[tuple[str, int]]:
    after = ""
    while page := view.rows(LONG_MESSAGES, after=after, limit=_PAGE):
        for row in page:
            yield row.key, msgspec.json.decode(row.value)["size"]
        after = page[-1].key


def _contains(workspace: Workspace, message: Recorded[MessageKept], wanted: set[str]) -> bool:
    body = read_message_text_unless_erased(workspace, message)
    if body is None:
        return False
    text = _fold(f"{message.event.subject}\n{body}")
    return all(word in text for word in wanted) and wanted <= set(_WORD.findall(text))


def _fold(text: str) -> str:
    """Remove case and accents, as the index does."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def list_owed(workspace: Workspace, box: Box) -> list[str]:
    """Return the ids of all messages that this holder of a name owes an answer, read or not.

    Only the open threads in its inbox are read.
    """
    engine = workspace.engine
    with engine.store.read() as view:
        received = streams_with_mail(view, box)
    settled = find_settled(workspace)
    waiting = (stream for stream in engine.open_streams() if stream in received)
    return [
        message
        for stream in waiting
        for message in list_owed_by(engine.state(MAIL, stream), box.name, box.epoch, settled)
    ]
