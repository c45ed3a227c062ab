"""The few facts of a body that the record needs: the item, its taker, the title, the version."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from moot.protocols.mail.body import MessageBody, is_unfilled, read_body
from moot.protocols.mail.types import MessageType

_VERSION: Final = re.compile(r"\bv([0-9]+)\b")
_MAX_CHARACTERS: Final = 200
_MAX_DIGITS: Final = 9  # digits; no thread has so many versions


class MessageFacts(msgspec.Struct, frozen=True):
    """`item` is work that is blocked, or claimed by or passed on to `taker`; `title` a question."""

    item: str = ""
    taker: str = ""
    title: str = ""
    version: int | None = None


def read_facts(kind: MessageType | None, text: str) -> MessageFacts:
    """Read what a message of this type says; types without such facts give empty ones."""
    read = _READERS.get(kind) if kind is not None else None
    return read(read_body(text)) if read is not None else MessageFacts()


def _read_item(body: MessageBody) -> MessageFacts:
    return MessageFacts(item=_read_section(body, "Item"))


def _read_claim(body: MessageBody) -> MessageFacts:
    return MessageFacts(
        item=_read_section(body, "Item"), taker=_read_section(body, "Agent").lstrip("@")
    )


def _read_handoff(body: MessageBody) -> MessageFacts:
    return MessageFacts(
        item=_read_section(body, "Item"), taker=_read_section(body, "To").lstrip("@")
    )


def _read_section(body: MessageBody, section: str) -> str:
    part = body.find_section(section)
    return part.plain_value[:_MAX_CHARACTERS] if part is not None else ""


def _read_title(body: MessageBody) -> MessageFacts:
    """The Research Question becomes the title of the thread, else the heading does (BRN-012)."""
    question = " ".join(body.text_of("Research Question").split())
    heading = body.title.value.strip() if body.title is not None else ""
    return MessageFacts(
        title=(question or ("" if is_unfilled(heading) else heading))[:_MAX_CHARACTERS]
    )


def _read_version(body: MessageBody) -> MessageFacts:
    """The version that the title or the summary names (D-18)."""
    title = body.title.value if body.title is not None else ""
    match = _VERSION.search(title) or _VERSION.search(body.text_of("Summary"))
    return MessageFacts(version=int(match[1][:_MAX_DIGITS]) if match else None)


_READERS: Final[dict[MessageType, Callable[[MessageBody], MessageFacts]]] = {
    MessageType.KICKOFF: _read_title,
    MessageType.COMPILED: _read_version,
    MessageType.CLAIM: _read_claim,
    MessageType.HANDOFF: _read_handoff,
    MessageType.BLOCKED: _read_item,
}
