"""Subjects: `TYPE: description`, and `DELTA[role]: description`.

`parse_subject` is strict, as for what we send. `parse_received_subject` reads what others sent: it
takes off `Re:` and says that it did. The rest of a subject is free Unicode text on one line.
"""

from __future__ import annotations

import re

import msgspec

from moot.protocols.mail.types import TYPES, MessageType

MAX_SUBJECT_LENGTH = 120
# Roles that DELTA messages name in practice, and the parts they stand for.
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
# Line ends, control characters, and what turns the direction of the text behind it.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Subject(msgspec.Struct, frozen=True):
    """`description` is the description; `role` is empty except for a DELTA."""

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
    """A subject as it was read; `had_reply_prefix` if `Re:` was taken off."""

    subject: Subject | None
    had_reply_prefix: bool


def parse_subject(text: str) -> Subject | None:
    """The subject, if its prefix is one of the ten; the description may be missing."""
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
    """The subject of a message that we received, without a leading `Re:`."""
    reply = _REPLY.match(text)
    bare = text[reply.end() :] if reply else text
    return ReceivedSubject(parse_subject(bare), reply is not None)


def has_control_characters(text: str) -> bool:
    """True if it holds line breaks or control characters, which could pose as another subject."""
    return _CONTROL.search(text) is not None


def write_ack_subject(subject: str) -> str:
    """The subject of an ACK: it repeats the subject that it answers (BRN-037)."""
    return f"ACK: {to_one_line(subject) or 'message'}"


def to_one_line(text: str) -> str:
    """The text on one line and without control characters, as a subject may hold it."""
    return " ".join(_CONTROL.sub(" ", text).split())
