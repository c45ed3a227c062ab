"""Messages: as a seat sends them (the Agent Response Format) and as they stand in the ledger.

`response_findings` and `message_findings` take a document, as `shapes.read_json` gives it, and
name every breach with its norm and its JSON path. `response_of` and `message_of` give the frozen
value of a document without errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.contents import CONTENT, Content, Motion
from moot.protocols.parliament.messages.schema import (
    ADDRESSED,
    CONTENTS,
    MOTION,
    Document,
    ignored,
    owed,
    seat,
    sender_findings,
)
from moot.protocols.parliament.messages.shapes import breach, join, like, one_of, shown, whole
from moot.protocols.parliament.messages.words import Kind

# A message must fit into one event, which has room for 64 kB.
MAX_MESSAGE: Final = 48 * 1024
FILLED: Final = ("id", "round", "timestamp")
_SENT_FIELDS: Final = ("type", "from", "to", "in_reply_to", "content")
_TOLERATED_CODES: Final = frozenset({"conditions_required"})
_KNOWN_FIELDS: Final = frozenset((*FILLED, *_SENT_FIELDS, "motion"))


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat, the speaker or the prime minister sends; the clerk makes a message of it."""

    type: Kind
    sender: str
    content: Content
    to: str | None = None
    in_reply_to: str | None = None
    motion: Motion | None = None


class Message(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}
):
    """One entry of the ledger, in the order of its keys there."""

    id: str
    type: Kind
    round: int
    timestamp: str
    sender: str
    to: str | None = None
    in_reply_to: str | None = None
    content: Content


def message_id(number: int) -> str:
    """PAR-006: `msg-007`, and `msg-1000` after `msg-999`."""
    return f"msg-{number:03d}"


def timestamp(at: Millis) -> str:
    """PAR-008: whole seconds, as the protocol prints them."""
    return to_text(at)[:19] + "Z"


def made(response: Response, number: int, round_number: int, at: Millis) -> Message:
    """PAR-082: the clerk fills id, round and timestamp; a motion is a message of its own."""
    return Message(
        id=message_id(number),
        type=response.type,
        round=round_number,
        timestamp=timestamp(at),
        sender=response.sender,
        to=response.to,
        in_reply_to=response.in_reply_to,
        content=response.content,
    )


def encode(message: Message) -> bytes:
    """The bytes of a message, the same every time."""
    return msgspec.json.encode(message)


def response_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Everything wrong with a document as an Agent Response (PAR-083: with the sample, nothing)."""
    if not isinstance(document, dict):
        return (_not_an_object("PAR-081", document, path),)
    findings = [ignored(name, path) for name in FILLED if name in document]
    findings += _common_findings(document, path)
    return (*findings, *_motion_findings(document, path))


def message_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Everything wrong with a document as an entry of the ledger (PAR-129)."""
    if not isinstance(document, dict):
        return (_not_an_object("PAR-005", document, path),)
    findings = [
        finding for name in FILLED for finding in _clerk_field_findings(name, document, path)
    ]
    if "motion" in document:  # C-29: the clerk has taken it out
        why, hint = "a motion is an entry of its own", "move it into a MOTION"
        findings.append(breach("PAR-041", "unknown_field", why, join(path, "motion"), hint))
    return (*findings, *map(_soften, _common_findings(document, path)))


def _soften(finding: Finding) -> Finding:
    """Only a warning in files from elsewhere: we refuse to write it, the protocol allows it."""
    if finding.code not in _TOLERATED_CODES:
        return finding
    return msgspec.structs.replace(finding, severity=Severity.WARNING)


def response_of(document: Document) -> Response:
    motion = document.get("motion")
    return Response(
        type=Kind(document["type"]),
        sender=document["from"],
        content=content_of(document["type"], document["content"]),
        to=document.get("to"),
        in_reply_to=document.get("in_reply_to"),
        motion=None if motion is None else msgspec.convert(_motion_content(motion), Motion),
    )


def message_of(document: Document) -> Message:
    return Message(
        id=document["id"],
        type=Kind(document["type"]),
        round=document["round"],
        timestamp=document["timestamp"],
        sender=document["from"],
        to=document.get("to"),
        in_reply_to=document.get("in_reply_to"),
        content=content_of(document["type"], document["content"]),
    )


def content_of(kind: str, document: Document) -> Content:
    """The typed content of a sound document."""
    return msgspec.convert(document, CONTENT[Kind(kind)])


def as_document(value: msgspec.Struct) -> Document:
    """The JSON object of a value, with the keys the protocol prints."""
    return cast("Document", msgspec.json.decode(msgspec.json.encode(value)))


_CLERK_FIELDS: Final = {
    "id": ("PAR-006", like("PAR-006", words.MESSAGE_ID, "msg-001")),
    "round": ("PAR-007", whole("PAR-007", 0)),
    "timestamp": ("PAR-008", like("PAR-008", words.TIMESTAMP, "2026-02-10T14:30:00Z")),
}


def _clerk_field_findings(name: str, document: Document, path: str) -> Iterator[Finding]:
    where = join(path, name)
    if name not in document:
        yield breach("PAR-005", "missing_field", f"{name} is missing", where, f'add "{name}"')
        return
    yield from _CLERK_FIELDS[name][1](document[name], where)


def _common_findings(document: Document, path: str) -> Iterator[Finding]:
    for name in document:
        if name not in _KNOWN_FIELDS:
            why, hint = f"{shown(name)} is unknown here", f"known here: {', '.join(_SENT_FIELDS)}"
            yield breach("PAR-005", "unknown_field", why, join(path, name), hint)
    for name in ("type", "from", "content"):
        if name not in document:
            where, hint = join(path, name), f'add "{name}"'
            yield breach("PAR-005", "missing_field", f"{name} is missing", where, hint)
    kind = document.get("type")
    if "type" in document:
        yield from one_of("PAR-011", Kind)(kind, join(path, "type"))
    if "from" in document and isinstance(kind, str):
        yield from sender_findings(kind, document["from"], path)
    if isinstance(kind, str):
        yield from _address_findings(kind, document, path)
    if "content" in document:
        yield from _content_findings(kind, document["content"], join(path, "content"))


def _content_findings(kind: Any, content: Any, path: str) -> Iterator[Finding]:
    if not isinstance(content, dict):
        why = f"an object is needed, not {shown(content)}"
        yield breach("PAR-010", "bad_type", why, path, "write an object here")
        return
    if not isinstance(kind, str) or kind not in CONTENTS:
        return
    findings = tuple(CONTENTS[kind](content, path))
    yield from findings
    if not findings:
        yield from owed(kind, content, path)


def _address_findings(kind: str, document: Document, path: str) -> Iterator[Finding]:
    """`to` and `in_reply_to`: who is asked, and what is answered."""
    rule = "PAR-027" if kind == Kind.ANSWER else "PAR-024"
    to, reply = join(path, "to"), join(path, "in_reply_to")
    if kind in ADDRESSED:
        yield from _require_field(document, "to", rule, to)
        yield from seat(rule)(document["to"], to) if "to" in document else ()
        if "to" in document and document["to"] == document.get("from"):
            yield breach(rule, "asks_itself", "this goes to oneself", to, "name another seat")
    elif document.get("to") is not None:
        why = f"{kind} is addressed to nobody"
        yield breach("PAR-005", "unknown_field", why, to, 'leave "to" away')
    if kind == Kind.ANSWER:
        yield from _require_field(document, "in_reply_to", rule, reply)
    if document.get("in_reply_to") is None:
        if kind == Kind.ANSWER and "in_reply_to" in document:
            yield from like(rule, words.MESSAGE_ID, "msg-001")(None, reply)
    elif kind in (Kind.ANSWER, Kind.MOTION):
        yield from like(rule, words.MESSAGE_ID, "msg-001")(document["in_reply_to"], reply)
    else:
        why = f"{kind} replies to nothing"
        yield breach("PAR-005", "unknown_field", why, reply, 'leave "in_reply_to" away')


def _require_field(document: Document, name: str, rule: str, where: str) -> Iterator[Finding]:
    if name not in document:
        yield breach(rule, "missing_field", f"{name} is missing", where, f'add "{name}"')


def _motion_findings(document: Document, path: str) -> Iterator[Finding]:
    motion, where = document.get("motion"), join(path, "motion")
    if motion is None:
        return
    if document.get("type") not in ADDRESSED:
        why = "only a question or an answer carries a motion"
        yield breach("PAR-040", "motion_not_allowed", why, where, "send a MOTION of its own")
    yield from MOTION(_motion_content(motion), where)


def _motion_content(motion: Any) -> Any:
    """A motion as its content, or as the whole message whose content it is."""
    whole_message = isinstance(motion, dict) and motion.get("type") == Kind.MOTION
    return motion.get("content") if whole_message else motion


def _not_an_object(rule: str, document: Any, path: str) -> Finding:
    why = f"a message is a JSON object, not {shown(document)}"
    return breach(rule, "not_an_object", why, path, "send exactly one JSON object")
