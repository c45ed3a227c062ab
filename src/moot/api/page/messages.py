"""Mail as a list for every reader: who wrote to whom, who has seen it, who has answered."""

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


_PAGE: Final = 1000
# Inboxes are sorted by time: the newest messages are looked for in longer and longer windows.
_WINDOWS: Final[tuple[Millis | None, ...]] = (HOUR, DAY, 7 * DAY, 30 * DAY, None)


class Receiver(msgspec.Struct, frozen=True):
    """The delivery status of a message for one receiver: unread, seen or acked, and the answer.

    `copy`: the receiver is in `cc`. `state` is None for an unregistered name.
    """

    agent: str
    state: str | None
    status: str | None
    copy: bool


def list_newest(
    view: View, boxes: Iterable[Box], limit: int, now: Millis, before: tuple[Millis, str] | None
) -> list[str]:
    """Return the ids of the newest messages in these boxes, newest first.

    `before` is the time and id of a message; then only older ones are returned.
    """
    prefixes = [inbox_prefix(box.name, box.epoch) for box in boxes]
    end = before or (max(now, 0) + DAY, "")  # a day more, in case the clock went back
    for window in _WINDOWS:
        since = "" if window is None else time_key(end[0] - window)
        found = {entry for prefix in prefixes for entry in _times_and_ids(view, prefix, since)}
        older = sorted(
            entry for entry in found if before is None or entry < (time_key(end[0]), end[1])
        )
        if len(older) >= limit or window is None:
            return [message_id for _, message_id in reversed(older[-limit:])]
    return []


def _times_and_ids(view: View, prefix: str, since: str) -> Iterable[tuple[str, str]]:
    after = f"{prefix}{since}"
    while page := view.rows(INBOX, prefix, after, _PAGE):
        for row in page:
            time, _, message_id = row.key.removeprefix(prefix).partition("/")
            yield time, message_id
        after = page[-1].key


def find_time_and_id(view: View, message_id: str) -> tuple[Millis, str] | None:
    """Return the time and id of a message, by which lists are sorted; None if there is none."""
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


MOST: Final = 200


class ListedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message without its text, and its delivery status for each receiver.

    With `ack_required` every receiver owes an answer; `owed_by` are those that gave none.
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
    """Newest first. `after` is the last id of this page if there are more; None: no more."""

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
    """List the newest messages of all agents, or of one, with who has seen and answered them.

    `thread` keeps those of one thread and `words` those that contain all of these words. `after` is
    the `after` of the previous page; `limit` is 1 to 200. This marks nothing as seen.
    """
    if not 1 <= limit <= MOST:
        raise Malformed(f"limit is 1 to {MOST}", code="bad_limit", hint="ask for fewer messages")
    if agent is not None:
        session.require_agent(agent)
    wanted = _list_ids(session, agent, thread, words, after, limit + 1)
    with session.workspace.store.read() as view:
        messages = [_describe(view, read_message(view, each)) for each in wanted[:limit]]
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
        before = None if after is None else find_time_and_id(view, after)
        return list_newest(view, _boxes(session, agent), limit, workspace.engine.clock(), before)


def _chosen_ids(session: Session, agent: str | None, thread: str | None, words: str) -> list[str]:
    """Return the ids of messages of one thread, or with all these words; newest first."""
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
