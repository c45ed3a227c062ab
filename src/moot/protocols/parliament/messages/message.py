"""Messages: as a seat sends them (the Agent Response Format) and as the ledger has them.

`response_findings` and `message_findings` take a document, as `shapes.read_json` gives it, and
name every breach with its norm and its JSON path. `read_response` and `read_message` give the
frozen value of a document without errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.findings import Finding
from moot.core.machine import fill_from
from moot.core.paged_map import prepare_type
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.contents import (
    CONTENT_TYPES,
    PRIME_MINISTER,
    SPEAKER,
    Content,
    Kind,
    Motion,
)
from moot.protocols.parliament.messages.schema import (
    ADDRESSED,
    CONTENT_SHAPES,
    MOTION,
    Document,
    find_disagreements,
    seat_id,
    sender_findings,
    warn_of_ignored_field,
)
from moot.protocols.parliament.messages.shapes import (
    join_path,
    make_finding,
    one_of,
    show_value,
    text_like,
    whole_number,
)

# A message must fit into one event, which has room for 64 kB.
MAX_MESSAGE: Final = 48 * 1024
FILLED_BY_CLERK: Final = ("id", "round", "timestamp")
_SENT_FIELDS: Final = ("type", "from", "to", "in_reply_to", "content")
_KNOWN_FIELDS: Final = frozenset((*FILLED_BY_CLERK, *_SENT_FIELDS, "motion"))


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat, the speaker or the prime minister sends; the clerk makes a message of it."""

    type: Kind
    sender: str
    content: Content
    to: str | None = None
    in_reply_to: str | None = None
    motion: Motion | None = None


class LedgerMessage(
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


def format_message_id(number: int) -> str:
    """PAR-006: `msg-007`, and `msg-1000` after `msg-999`."""
    return f"msg-{number:03d}"


def format_timestamp(at: Millis) -> str:
    """PAR-008: whole seconds, as the protocol prints them."""
    return to_text(at)[:19] + "Z"


def make_message(response: Response, number: int, round_number: int, at: Millis) -> LedgerMessage:
    """PAR-082: the clerk fills id, round and timestamp; a motion is a separate message."""
    return fill_from(
        LedgerMessage,
        response,
        id=format_message_id(number),
        round=round_number,
        timestamp=format_timestamp(at),
    )


def encode_message(message: LedgerMessage) -> bytes:
    """Return the bytes of a message, the same every time."""
    return msgspec.json.encode(message)


def response_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Everything wrong with a document as an Agent Response (PAR-083: with the sample, nothing)."""
    if not isinstance(document, dict):
        return (_not_an_object("PAR-081", document, path),)
    findings = [warn_of_ignored_field(name, path) for name in FILLED_BY_CLERK if name in document]
    findings += _common_findings(document, path)
    return (*findings, *_motion_findings(document, path))


def message_findings(document: Any, path: str = "") -> tuple[Finding, ...]:
    """Return everything wrong with a document as an entry of the ledger (PAR-129)."""
    if not isinstance(document, dict):
        return (_not_an_object("PAR-005", document, path),)
    findings = [
        finding
        for name in FILLED_BY_CLERK
        for finding in _clerk_field_findings(name, document, path)
    ]
    if "motion" in document:  # C-29: the clerk makes it a message
        why, hint = "a motion is a separate entry", "move it into a MOTION"
        findings.append(
            make_finding("PAR-041", "unknown_field", why, join_path(path, "motion"), hint)
        )
    return (*findings, *_common_findings(document, path))


def read_response(document: Document) -> Response:
    motion = document.get("motion")
    return Response(
        type=Kind(document["type"]),
        sender=document["from"],
        content=read_content(document["type"], document["content"]),
        to=document.get("to"),
        in_reply_to=document.get("in_reply_to"),
        motion=None if motion is None else msgspec.convert(_motion_content(motion), Motion),
    )


def read_message(document: Document) -> LedgerMessage:
    return LedgerMessage(
        id=document["id"],
        type=Kind(document["type"]),
        round=document["round"],
        timestamp=document["timestamp"],
        sender=document["from"],
        to=document.get("to"),
        in_reply_to=document.get("in_reply_to"),
        content=read_content(document["type"], document["content"]),
    )


def read_content(kind: str, document: Document) -> Content:
    """Return the typed content of a sound document."""
    content = CONTENT_TYPES[Kind(kind)]
    prepare_type(content)
    return msgspec.convert(document, content)


def to_document(value: msgspec.Struct) -> Document:
    """Return the JSON object of a value, with the keys the protocol prints."""
    return cast("Document", msgspec.json.decode(msgspec.json.encode(value)))


_CLERK_FIELDS: Final = {
    "id": ("PAR-006", text_like("PAR-006", contents.MESSAGE_ID, "msg-001")),
    "round": ("PAR-007", whole_number("PAR-007", 0)),
    "timestamp": ("PAR-008", text_like("PAR-008", contents.TIMESTAMP, "2026-02-10T14:30:00Z")),
}


def _clerk_field_findings(name: str, document: Document, path: str) -> Iterator[Finding]:
    where = join_path(path, name)
    if name not in document:
        yield make_finding("PAR-005", "missing_field", f"{name} is missing", where, f'add "{name}"')
        return
    yield from _CLERK_FIELDS[name][1](document[name], where)


def _common_findings(document: Document, path: str) -> Iterator[Finding]:
    for name in document:
        if name not in _KNOWN_FIELDS:
            why, hint = (
                f"{show_value(name)} is unknown here",
                f"known here: {', '.join(_SENT_FIELDS)}",
            )
            yield make_finding("PAR-005", "unknown_field", why, join_path(path, name), hint)
    for name in ("type", "from", "content"):
        if name not in document:
            where, hint = join_path(path, name), f'add "{name}"'
            yield make_finding("PAR-005", "missing_field", f"{name} is missing", where, hint)
    kind = document.get("type")
    if "type" in document:
        yield from one_of("PAR-011", Kind)(kind, join_path(path, "type"))
    if "from" in document and isinstance(kind, str):
        yield from sender_findings(kind, document["from"], path)
    if isinstance(kind, str):
        yield from _address_findings(kind, document, path)
    if "content" in document:
        yield from _content_findings(kind, document["content"], join_path(path, "content"))


def _content_findings(kind: Any, content: Any, path: str) -> Iterator[Finding]:
    if not isinstance(content, dict):
        why = f"an object is needed, not {show_value(content)}"
        yield make_finding("PAR-010", "bad_type", why, path, "write an object here")
        return
    if not isinstance(kind, str) or kind not in CONTENT_SHAPES:
        return
    findings = tuple(CONTENT_SHAPES[kind](content, path))
    yield from findings
    if not findings:
        yield from find_disagreements(kind, content, path)


def _address_findings(kind: str, document: Document, path: str) -> Iterator[Finding]:
    """`to` and `in_reply_to`: who is asked, and what is answered."""
    rule = "PAR-027" if kind == Kind.ANSWER else "PAR-024"
    to, reply = join_path(path, "to"), join_path(path, "in_reply_to")
    if kind in ADDRESSED:
        yield from _require_field(document, "to", rule, to)
        yield from seat_id(rule)(document["to"], to) if "to" in document else ()
        if "to" in document and document["to"] == document.get("from"):
            yield make_finding(rule, "asks_itself", "this goes to oneself", to, "name another seat")
    elif document.get("to") is not None:
        why = f"{kind} has no receiver"
        yield make_finding("PAR-005", "unknown_field", why, to, 'leave "to" away')
    if kind == Kind.ANSWER:
        yield from _require_field(document, "in_reply_to", rule, reply)
    if document.get("in_reply_to") is None:
        if kind == Kind.ANSWER and "in_reply_to" in document:
            yield from text_like(rule, contents.MESSAGE_ID, "msg-001")(None, reply)
    elif kind in (Kind.ANSWER, Kind.MOTION):
        yield from text_like(rule, contents.MESSAGE_ID, "msg-001")(document["in_reply_to"], reply)
    else:
        why = f"{kind} replies to nothing"
        yield make_finding("PAR-005", "unknown_field", why, reply, 'leave "in_reply_to" away')


def _require_field(document: Document, name: str, rule: str, where: str) -> Iterator[Finding]:
    if name not in document:
        yield make_finding(rule, "missing_field", f"{name} is missing", where, f'add "{name}"')


def _motion_findings(document: Document, path: str) -> Iterator[Finding]:
    motion, where = document.get("motion"), join_path(path, "motion")
    if motion is None:
        return
    if document.get("type") not in ADDRESSED:
        why = "only a question or an answer carries a motion"
        yield make_finding("PAR-040", "motion_not_allowed", why, where, "send a separate MOTION")
    yield from MOTION(_motion_content(motion), where)


def _motion_content(motion: Any) -> Any:
    """Return a motion as its content, or as the whole message whose content it is."""
    whole_message = isinstance(motion, dict) and motion.get("type") == Kind.MOTION
    return motion.get("content") if whole_message else motion


def _not_an_object(rule: str, document: Any, path: str) -> Finding:
    why = f"a message is a JSON object, not {show_value(document)}"
    return make_finding(rule, "not_an_object", why, path, "send exactly one JSON object")


# A message of each type, to be filled in: every field, and in words what belongs there.

_BRIEFING: Final = {
    "facts": ["<what is known>"],
    "constraints": [],
    "precedents": [],
    "open_questions": [],
}
_DIRECTION: Final = {
    "approach": "<what you would do, in 3 to 5 sentences>",
    "principle": "<in one sentence>",
    "trade_offs": "<what it costs>",
}
_SECTIONS: Final = {
    "problem": "<what is wrong>",
    "scope": {"in_scope": ["<what>"], "out_of_scope": [], "assumptions": [], "definitions": []},
    "solution": "<what is done>",
    "implementation": "<how and when>",
}
BLANK_CONTENTS: Final[dict[Kind, dict[str, Any]]] = {
    Kind.OPENING_STATEMENT: {"briefing": _BRIEFING, "direction": _DIRECTION},
    Kind.BILL_DRAFT: {
        "bill_version": 1,
        "title": "<title>",
        "summary": "<in a sentence or two>",
        "sections": _SECTIONS,
    },
    Kind.QUESTION: {
        "topic": "<what it is about>",
        "question": "<the question>",
        "motive_context": "<why your motives make you ask>",
    },
    Kind.ANSWER: {
        "answer": "<the answer>",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": {"<a motive of yours>": 3},
    },
    Kind.AMENDMENT: {
        "amendment_id": "amend-001",
        "target_section": "solution",
        "action": "add",
        "description": "<what changes>",
        "rationale": "<why>",
        "proposed_text": "<the exact text>",
    },
    Kind.MOTION: {"motion_type": "call_vote", "reason": "<why>"},
    Kind.VOTE: {
        "vote": "YES",
        "reasoning": "<why>",
        "motive_scores": {"<a motive of yours>": 3},
        "reservations": "",
        "conditions": ["<what would change a NO>"],
    },
    Kind.SPEAKER_RULING: {
        "ruling_type": "procedure",
        "action": "round_start",
        "target": None,
        "ruling": "<what is ruled>",
    },
    Kind.VOTE_TALLY: {
        "bill_version": 1,
        "yes_votes": ["rep_1", "rep_2"],
        "no_votes": [],
        "tally": {"yes": 2, "no": 0, "total": 2},
        "passed": True,
        "key_objections": [],
        "next_action": "advance_to_pm",
    },
    Kind.PM_DECISION: {"decision": "approve", "reason": "<why>", "guidance": ""},
}
_SENDERS: Final = {
    Kind.SPEAKER_RULING: SPEAKER,
    Kind.VOTE_TALLY: SPEAKER,
    Kind.PM_DECISION: PRIME_MINISTER,
}
_ADDRESSES: Final[dict[Kind, dict[str, str]]] = {
    Kind.QUESTION: {"to": "rep_2"},
    Kind.ANSWER: {"to": "rep_2", "in_reply_to": "msg-007"},
}


def make_template(kind: Kind) -> dict[str, Any]:
    """Return a response of this type; what is not in angle brackets is an example."""
    head = {"type": str(kind), "from": _SENDERS.get(kind, "rep_1")}
    return {**head, **_ADDRESSES.get(kind, {}), "content": BLANK_CONTENTS[kind]}
