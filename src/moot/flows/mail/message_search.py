"""Finding messages by their words: in the index, and in long texts that stand beside the record.

An event holds the beginning of a long text, so the index knows no more of it. The rest is read when
someone searches, and only from where it is stored: what was erased there is not found any more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.flows.mail.messages import read_message, read_message_text_unless_erased
from moot.protocols.mail.events import MessageKept
from moot.protocols.mail.keys import LONG_MESSAGES, MESSAGES

if TYPE_CHECKING:
    from moot.core.ledger import View
    from moot.core.machine import Recorded
    from moot.workspace.workspace import Workspace

BUDGET: Final = 64 * 1024 * 1024  # bytes of long texts that one search reads
_PAGE: Final = 1_000
_WORD: Final = re.compile(r"[^\W_]+")


class SearchResult(NamedTuple):
    """`unread` is how many long texts were too much to look through."""

    messages: list[Recorded[MessageKept]]
    unread: int


def search_messages(workspace: Workspace, words: str, limit: int) -> SearchResult:
    """Messages that hold all these words: best first, then those found in their long texts."""
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
    """Without regard to case and accents, as the index compares words."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
