"""Mail as a list that anybody may look at: who wrote to whom, who has seen it, who has answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.mail.inbox import ACKED, SEEN, UNREAD, Box
from moot.api.mail.messages import read_message, read_thread
from moot.api.operation import operation
from moot.core.clock import DAY, HOUR, Millis
from moot.core.errors import Malformed
from moot.core.machine import fill_from
from moot.core.text import Quoted
from moot.protocols.mail.index_keys import (
    ANSWERS,
    INBOX,
    MESSAGES,
    answer_key,
    inbox_prefix,
    time_key,
)
from moot.protocols.mail.model import normalize_id
from moot.protocols.mail.types import MessageType

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.protocols.mail.events import MessageKept


# Messages, newest first, with who has seen and answered each. Inboxes are sorted by time: ever
# longer times back are looked at until there are enough. Nothing is marked as seen.

_PAGE: Final = 1000
_LOOKS_BACK: Final[tuple[Millis | None, ...]] = (HOUR, DAY, 7 * DAY, 30 * DAY, None)


class Receiver(msgspec.Struct, frozen=True):
    """How far a message has come with one receiver: unread, seen or acked, and what was answered.

    `copy`: it was only copied in. `state` is None for a name that nobody here has.
    """

    agent: str
    state: str | None
    status: str | None
    copy: bool


def list_newest(
    view: View, boxes: Iterable[Box], limit: int, now: Millis, before: tuple[Millis, str] | None
) -> list[str]:
    """Ids of the newest messages in these boxes, newest first; `before`: older than this one."""
    prefixes = [inbox_prefix(box.name, box.epoch) for box in boxes]
    end = before or (max(now, 0) + DAY, "")  # a clock that went back hides nothing of today
    for span in _LOOKS_BACK:
        since = "" if span is None else time_key(end[0] - span)
        found = {place for prefix in prefixes for place in _places(view, prefix, since)}
        older = sorted(
            place for place in found if before is None or place < (time_key(end[0]), end[1])
        )
        if len(older) >= limit or span is None:
            return [message_id for _, message_id in reversed(older[-limit:])]
    return []


def _places(view: View, prefix: str, since: str) -> Iterable[tuple[str, str]]:
    after = f"{prefix}{since}"
    while page := view.rows(INBOX, prefix, after, _PAGE):
        for row in page:
            time, _, message_id = row.key.removeprefix(prefix).partition("/")
            yield time, message_id
        after = page[-1].key


def place_of(view: View, message_id: str) -> tuple[Millis, str] | None:
    """Where a message stands in the list; None if there is none."""
    row = view.row(MESSAGES, message_id)
    return None if row is None else (msgspec.json.decode(row.value)["at"], message_id)


def list_receivers(view: View, message: Recorded[MessageKept]) -> tuple[Receiver, ...]:
    event = message.event
    parties = [(party, False) for party in event.to] + [(party, True) for party in event.cc]
    return tuple(
        _receiver(view, message, Box(party.name, party.epoch), copy) for party, copy in parties
    )


def _receiver(view: View, message: Recorded[MessageKept], box: Box, copy: bool) -> Receiver:
    if not box.epoch:
        return Receiver(box.name, None, None, copy)
    answer = view.row(ANSWERS, answer_key(message.event.id, box.name, box.epoch))
    status = None if answer is None else msgspec.json.decode(answer.value)["status"]
    is_seen = message.seq < view.cursor(box.cursor, message.stream)
    return Receiver(box.name, ACKED if status else SEEN if is_seen else UNREAD, status, copy)


def read_messages(view: View, ids: Iterable[str]) -> list[Recorded[MessageKept]]:
    return [read_message(view, message_id) for message_id in ids]


__all__ = ["ListedMessage", "MessageList", "Receiver", "list_messages"]
MOST: Final = 200


class ListedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message without its text, and how far it has come with each receiver.

    `ack_required` asks every receiver for an answer; `owed_by` are those who have given none.
    """

    id: str
    thread: str
    sender: Quoted = msgspec.field(name="from")
    proved: bool
    subject: Quoted
    type: MessageType | None
    created_at: str
    ack_required: bool
    importance: str
    receivers: tuple[Receiver, ...]
    owed_by: tuple[str, ...]


class MessageList(msgspec.Struct, frozen=True):
    """Newest first. `after` is the id that the next page goes on after; None: that was all."""

    messages: tuple[ListedMessage, ...]
    after: str | None


@operation("mail.list")
def list_messages(
    session: Session,
    *,
    agent: str | None = None,
    thread: str | None = None,
    words: str = "",
    after: str | None = None,
    limit: int = 50,
) -> MessageList:
    """The newest messages of everybody, or of one agent, with who has seen and answered them.

    `thread` keeps those of one thread and `words` those that hold all of these words. `after` is
    where the page before ended; `limit` is 1 to 200. Nothing counts as seen because of it.
    """
    if not 1 <= limit <= MOST:
        raise Malformed(f"limit is 1 to {MOST}", code="bad_limit", hint="ask for fewer messages")
    if agent is not None:
        session.require_agent(agent)
    wanted = _list_ids(session, agent, thread, words, after, limit + 1)
    with session.workspace.store.read() as view:
        messages = [_describe(view, each) for each in read_messages(view, wanted[:limit])]
    next_page = wanted[limit - 1] if len(wanted) > limit else None
    return MessageList(tuple(messages), next_page)


def _list_ids(
    session: Session,
    agent: str | None,
    thread: str | None,
    words: str,
    after: str | None,
    limit: int,
) -> list[str]:

    workspace = session.workspace
    if thread is not None or words:
        return _after(_chosen_ids(session, agent, thread, words), after)[:limit]
    with workspace.store.read() as view:
        before = None if after is None else place_of(view, after)
        return list_newest(view, _boxes(session, agent), limit, workspace.engine.clock(), before)


def _chosen_ids(session: Session, agent: str | None, thread: str | None, words: str) -> list[str]:
    """Of one thread, or with all these words; newest first."""
    from moot.api.mail.reading import search_messages

    found: list[Recorded[MessageKept]] = []
    if words:
        found = search_messages(session.workspace, words, MOST).messages
    elif thread is not None:
        found = read_thread(session.workspace, normalize_id(thread))
    stream = None if thread is None else f"mail/{normalize_id(thread)}"
    chosen = [
        each
        for each in found
        if stream in (None, each.stream) and (agent is None or _concerns(each, agent))
    ]
    return [each.event.id for each in sorted(chosen, key=_time, reverse=True)]


def _time(message: Recorded[MessageKept]) -> tuple[int, int]:
    return message.at, message.seq


def _concerns(message: Recorded[MessageKept], agent: str) -> bool:
    event = message.event
    return agent in {message.actor.id, *(party.name for party in (*event.to, *event.cc))}


def _after(ids: list[str], after: str | None) -> list[str]:
    return ids[ids.index(after) + 1 :] if after in ids else ids


def _boxes(session: Session, agent: str | None) -> list[Box]:
    agents = session.workspace.engine.registry().agents
    names = [agent] if agent is not None else list(agents)
    return [Box(name, epoch) for name in names for epoch in range(1, agents[name].epoch + 1)]


def _describe(view: View, message: Recorded[MessageKept]) -> ListedMessage:
    from moot.protocols.mail.views import describe_message

    shown, receivers = describe_message(message), list_receivers(view, message)
    owing = (each.agent for each in receivers if not (each.status or each.copy))
    return fill_from(
        ListedMessage,
        shown,
        importance=str(shown.importance),
        receivers=receivers,
        owed_by=tuple(owing) if shown.ack_required else (),
    )
