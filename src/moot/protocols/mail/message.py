"""A message as the rules look at it: subject and body read once, and the names known here."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cached_property

import msgspec

from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.deltas import DeltaBlock, read_delta_blocks
from moot.protocols.mail.types import TYPES, MessageType, TypeSpec, is_ack_owed

# Subjects: `TYPE: description`, and `DELTA[role]: description`.
#
# `parse_subject` is strict, for messages that we send. `parse_received_subject` reads messages of
# others: it removes `Re:` and reports that. The rest of a subject is Unicode text on one line.

MAX_SUBJECT_LENGTH = 120
# Roles that DELTA messages name in practice -> the role of the document.
KNOWN_ROLES = {
    "opus": "test_designer",
    "claude": "test_designer",
    "gpt": "hypothesis_generator",
    "codex": "hypothesis_generator",
    "human": "hypothesis_generator",
    "gemini": "adversarial_critic",
    "hypothesis_generator": "hypothesis_generator",
    "test_designer": "test_designer",
    "adversarial_critic": "adversarial_critic",
}

_PLAIN = "|".join(kind.value for kind in MessageType if kind is not MessageType.DELTA)
_PREFIX = re.compile(  # BRN-004: a type and a colon; a DELTA has its role in brackets (BRN-015)
    rf"(?:(?P<type>{_PLAIN})|DELTA\[(?P<role>[a-z][a-z0-9_-]*)\]):(?= \S|[ \t]*\Z)[ \t]*"
)
_REPLY = re.compile(r"(?:\s*+re:)++\s*+", re.IGNORECASE)
_HANDOFF = re.compile(r"(?P<item>\S(?:.*\S)?) to (?P<agent>\S+)")
# Line ends, control characters, and marks that change the direction of text.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Subject(msgspec.Struct, frozen=True):
    """A subject after its prefix was read; `role` is empty except for a DELTA."""

    type: MessageType
    description: str
    role: str = ""

    @property
    def prefix(self) -> str:
        return f"DELTA[{self.role}]" if self.type is MessageType.DELTA else self.type.value

    def __str__(self) -> str:
        return f"{self.prefix}: {self.description}"

    @property
    def handoff_parts(self) -> tuple[str, str] | None:
        """The item and the agent of `HANDOFF: {item} to {agent}`, if both are there (BRN-048)."""
        match = _HANDOFF.fullmatch(self.description.strip())
        return (match["item"], match["agent"]) if match else None


class ReceivedSubject(msgspec.Struct, frozen=True):
    """A received subject; `had_reply_prefix` if `Re:` was removed."""

    subject: Subject | None
    had_reply_prefix: bool


def parse_subject(text: str) -> Subject | None:
    """Return the subject, if its prefix is one of the ten; the description may be missing."""
    match = _PREFIX.match(text)
    if match is None:
        return None
    kind = MessageType(match["type"]) if match["type"] else MessageType.DELTA
    return Subject(kind, text[match.end() :], match["role"] or "")


PREFIX_HINT = (
    f"begin with one of {', '.join(spec.prefix for spec in TYPES.values())} in capitals, "
    "then a colon, one space and a few words"
)


def parse_received_subject(text: str) -> ReceivedSubject:
    """Return the subject of a message that we received, without a leading `Re:`."""
    reply = _REPLY.match(text)
    bare = text[reply.end() :] if reply else text
    return ReceivedSubject(parse_subject(bare), reply is not None)


def has_control_characters(text: str) -> bool:
    """True if it has line breaks or control characters, which could pose as another subject."""
    return _CONTROL.search(text) is not None


def write_ack_subject(subject: str) -> str:
    """Return the subject of an ACK: it repeats the subject that it answers (BRN-037)."""
    return f"ACK: {to_one_line(subject) or 'message'}"


def to_one_line(text: str) -> str:
    """Return the text on one line and without control characters, as a subject may hold it."""
    return " ".join(_CONTROL.sub(" ", text).split())


class MessageDraft:
    """One message to check. It only reads; the rules say what is right or wrong."""

    def __init__(
        self,
        subject: str,
        body: str | bytes,
        ack_required: bool | None = None,
        *,
        received: bool = False,
        sender: str = "",
        agents: Container[str] | None = None,
        items: Container[str] | None = None,
    ) -> None:
        self.subject_line = subject
        self.received = received
        self.sender = sender
        self.agents = agents
        self.items = items
        self.had_reply_prefix = False
        self.subject = self._read_subject()
        self.undecodable_line, text = _decode(body)
        self.has_byte_order_mark = text.startswith(BYTE_ORDER_MARK)
        self.body = MessageBody(text)
        self.ack_required = self._resolve_ack_flag(ack_required)

    def _read_subject(self) -> Subject | None:
        if not self.received:
            return parse_subject(self.subject_line)
        read = parse_received_subject(self.subject_line)
        self.had_reply_prefix = read.had_reply_prefix
        return read.subject

    def _resolve_ack_flag(self, flag: bool | None) -> bool:
        """Return the sender's flag; for a message of ours without one, the type's (BRN-074).

        A received message without a flag asks for no ACK.
        """
        if flag is not None:
            return flag
        return not self.received and self.subject is not None and is_ack_owed(self.subject.type)

    @property
    def type(self) -> MessageType | None:
        return self.subject.type if self.subject else None

    @property
    def spec(self) -> TypeSpec | None:
        return TYPES[self.subject.type] if self.subject else None

    @cached_property
    def deltas(self) -> list[DeltaBlock]:
        return read_delta_blocks(self.body)


def _decode(body: str | bytes) -> tuple[int | None, str]:
    """Return the text, and the line of the first byte that is not UTF-8."""
    if isinstance(body, str):
        return None, body
    try:
        return None, body.decode()
    except UnicodeDecodeError as error:
        return body.count(b"\n", 0, error.start) + 1, body.decode(errors="replace")
