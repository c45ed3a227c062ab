"""The few facts of a body that the ledger goes by: the item, the title, the version."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from moot.protocols.mail.body import Body, is_unfilled, read_body
from moot.protocols.mail.types import MessageType

_VERSION: Final = re.compile(r"\bv([0-9]+)\b")
_LONGEST: Final = 200
_LONGEST_NUMBER: Final = 9  # digits; no thread has so many versions


class Facts(msgspec.Struct, frozen=True):
    """`item` is work that is blocked, or claimed by or passed on to `taker`; `title` a question."""

    item: str = ""
    taker: str = ""
    title: str = ""
    version: int | None = None


def facts_of(kind: MessageType | None, text: str) -> Facts:
    read = _READERS.get(kind) if kind is not None else None
    return read(read_body(text)) if read is not None else Facts()


def _item(body: Body) -> Facts:
    return Facts(item=_value(body, "Item"))


def _claimed(body: Body) -> Facts:
    return Facts(item=_value(body, "Item"), taker=_value(body, "Agent").lstrip("@"))


def _handed_over(body: Body) -> Facts:
    return Facts(item=_value(body, "Item"), taker=_value(body, "To").lstrip("@"))


def _value(body: Body, section: str) -> str:
    part = body.part(section)
    return part.value[:_LONGEST] if part is not None else ""


def _title(body: Body) -> Facts:
    """The Research Question becomes the title of the thread, else the heading does (BRN-012)."""
    asked = " ".join(body.said("Research Question").split())
    heading = body.title.value.strip() if body.title is not None else ""
    return Facts(title=(asked or ("" if is_unfilled(heading) else heading))[:_LONGEST])


def _version(body: Body) -> Facts:
    """In the title or the summary (D-18)."""
    title = body.title.value if body.title is not None else ""
    found = _VERSION.search(title) or _VERSION.search(body.said("Summary"))
    return Facts(version=int(found[1][:_LONGEST_NUMBER]) if found else None)


_READERS: Final[dict[MessageType, Callable[[Body], Facts]]] = {
    MessageType.KICKOFF: _title,
    MessageType.COMPILED: _version,
    MessageType.CLAIM: _claimed,
    MessageType.HANDOFF: _handed_over,
    MessageType.BLOCKED: _item,
}
