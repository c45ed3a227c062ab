"""Messages as a list, newest first: of everybody or of one holder of a name, with who has seen and
answered each.

Inboxes are sorted by time, so the newest are found by looking at ever longer times back until there
are enough; nothing is marked as seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.clock import DAY, HOUR, Millis
from moot.flows.mail.inbox import ACKED, SEEN, UNREAD, Box
from moot.flows.mail.messages import read_message
from moot.protocols.mail.keys import ANSWERS, INBOX, MESSAGES, answer_key, inbox_prefix, time_key

if TYPE_CHECKING:
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.protocols.mail.events import MessageKept

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
