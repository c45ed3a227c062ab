"""Finding messages by their words: in the index, and in long texts that stand beside the record.

An event holds the beginning of a long text, so the index knows no more of it. The rest is read when
someone searches, and only from where it is stored: what was erased there is not found any more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.flows.mail.post import message_at, text_of
from moot.protocols.mail.keys import LONG_MESSAGES, MESSAGES

if TYPE_CHECKING:
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.workspace.workspace import Workspace

BUDGET: Final = 64 * 1024 * 1024  # bytes of long texts that one search reads
_PAGE: Final = 1_000
_WORD: Final = re.compile(r"[^\W_]+")


class Found(NamedTuple):
    """`unread` is how many long texts were too much to look through."""

    messages: list[Recorded[Any]]
    unread: int


def search(space: Workspace, words: str, limit: int) -> Found:
    """Messages that hold all these words: best first, then those found in their long texts."""
    wanted = set(_WORD.findall(_plain(words)))
    room, unread = BUDGET, 0
    with space.store.read() as view:
        ids = dict.fromkeys(view.search(MESSAGES, words, limit))
        for id_, size in _long(view) if wanted else ():
            if id_ in ids or len(ids) >= limit:
                continue
            if size > room:
                unread += 1
                continue
            room -= size
            if _holds(space, message_at(view, id_), wanted):
                ids[id_] = None
        return Found([message_at(view, id_) for id_ in ids], unread)


def _long(view: View) -> Iterator[tuple[str, int]]:
    after = ""
    while page := view.rows(LONG_MESSAGES, after=after, limit=_PAGE):
        for row in page:
            yield row.key, msgspec.json.decode(row.value)["size"]
        after = page[-1].key


def _holds(space: Workspace, message: Recorded[Any], wanted: set[str]) -> bool:
    body = text_of(space, message)
    if body is None:
        return False
    text = _plain(f"{message.event.subject}\n{body}")
    return all(word in text for word in wanted) and wanted <= set(_WORD.findall(text))


def _plain(text: str) -> str:
    """Without regard to case and accents, as the index compares words."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
