"""Mail as a list that anybody may look at: who wrote to whom, who has seen it, who has answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed
from moot.core.quoted import Quoted
from moot.flows.mail.message_list import Receiver
from moot.protocols.mail.types import MessageType

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.flows.mail.inbox import Box
    from moot.protocols.mail.events import MessageKept

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
        from moot.flows.mail.message_list import read_messages

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
    from moot.flows.mail.message_list import list_newest, place_of

    workspace = session.workspace
    if thread is not None or words:
        return _after(_chosen_ids(session, agent, thread, words), after)[:limit]
    with workspace.store.read() as view:
        before = None if after is None else place_of(view, after)
        return list_newest(view, _boxes(session, agent), limit, workspace.engine.clock(), before)


def _chosen_ids(session: Session, agent: str | None, thread: str | None, words: str) -> list[str]:
    """Of one thread, or with all these words; newest first."""
    from moot.flows.mail.message_search import search_messages
    from moot.flows.mail.messages import read_thread
    from moot.protocols.mail.threads import normalize_id

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
    from moot.flows.mail.inbox import Box

    agents = session.workspace.engine.registry().agents
    names = [agent] if agent is not None else list(agents)
    return [Box(name, epoch) for name in names for epoch in range(1, agents[name].epoch + 1)]


def _describe(view: View, message: Recorded[MessageKept]) -> ListedMessage:
    from moot.flows.mail.message_list import list_receivers
    from moot.protocols.mail.views import describe_message

    shown, receivers = describe_message(message), list_receivers(view, message)
    owing = (each.agent for each in receivers if not (each.status or each.copy))
    return ListedMessage(
        id=shown.id,
        thread=shown.thread,
        sender=shown.sender,
        proved=shown.proved,
        subject=shown.subject,
        type=shown.type,
        created_at=shown.created_at,
        ack_required=shown.ack_required,
        importance=str(shown.importance),
        receivers=receivers,
        owed_by=tuple(owing) if shown.ack_required else (),
    )
