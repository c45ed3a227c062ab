"""Subjects: `TYPE: description`, and `DELTA[role]: description`.

`find_subject` is strict, as for what we send. `read_received` reads what others sent: it takes off
`Re:` and says that it did. The rest of a subject is free Unicode text on one line.
"""

from __future__ import annotations

import re

import msgspec

from moot.protocols.mail.types import MessageType

MAX_LENGTH = 120
# Roles that DELTA messages name in practice, and the parts they stand for.
ROLES = {
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
    """`rest` is the description; `role` is empty except for a DELTA."""

    type: MessageType
    rest: str
    role: str = ""

    @property
    def prefix(self) -> str:
        return f"DELTA[{self.role}]" if self.type is MessageType.DELTA else self.type.value

    def __str__(self) -> str:
        return f"{self.prefix}: {self.rest}"

    @property
    def handoff(self) -> tuple[str, str] | None:
        """The item and the agent of `HANDOFF: {item} to {agent}`, if both are there (BRN-048)."""
        match = _HANDOFF.fullmatch(self.rest.strip())
        return (match["item"], match["agent"]) if match else None


class Received(msgspec.Struct, frozen=True):
    """A subject as it was read; `replied` if `Re:` was taken off."""

    subject: Subject | None
    replied: bool


def find_subject(text: str) -> Subject | None:
    """The subject, if its prefix is one of the ten; the description may be missing."""
    match = _PREFIX.match(text)
    if match is None:
        return None
    kind = MessageType(match["type"]) if match["type"] else MessageType.DELTA
    return Subject(kind, text[match.end() :], match["role"] or "")


PREFIX_HINT = (
    "begin with one of KICKOFF, DELTA[role], COMPILED, CRITIQUE, ACK, CLAIM, HANDOFF, BLOCKED, "
    "QUESTION, INFO in capitals, then a colon, one space and a few words"
)


def read_received(text: str) -> Received:
    """The subject of a message that we received, without a leading `Re:`."""
    reply = _REPLY.match(text)
    bare = text[reply.end() :] if reply else text
    return Received(find_subject(bare), reply is not None)


def has_control(text: str) -> bool:
    """True if it holds line breaks or control characters, which could pose as another subject."""
    return _CONTROL.search(text) is not None


def ack_subject(subject: str) -> str:
    """The subject of an ACK: it repeats the subject that it answers (BRN-037)."""
    return f"ACK: {one_line(subject) or 'message'}"


def one_line(text: str) -> str:
    """The text on one line and without control characters, as a subject may hold it."""
    return " ".join(_CONTROL.sub(" ", text).split())
