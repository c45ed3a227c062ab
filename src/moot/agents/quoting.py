"""Other agents' words on their way to a model: quoted data with an author, never text among ours.

A quote becomes one line of JSON in which no line break, fence, comment mark or invisible
character survives unescaped; so nothing inside can end the quote, open another, or look like an
instruction of the product. Phrases that claim authority are flagged unless a person's key signed
them: a flag is a remark for the reader, not a filter.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.core.quoted import escape_character

MOST_CHARACTERS: Final = 20_000


class AuthorTrust(StrEnum):
    """How far an author is proved."""

    PERSON = "signed by a person's key"
    AGENT = "signed by an agent's key"
    SYSTEM = "written by the machine"
    UNSIGNED = "not signed: the author is only claimed"
    MATERIAL = "material given with the question"


class QuotedText(msgspec.Struct, frozen=True, kw_only=True):
    """What someone said, where it stands, and what is remarkable about it."""

    author: str
    trust: AuthorTrust
    text: str
    place: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        return () if self.trust is AuthorTrust.PERSON else flags_of(self.text)  # AGT-006

    def as_data(self) -> dict[str, Any]:
        """Shortened to a bound, which is said; a flag looks at the whole text."""
        text, cut = self.text[:MOST_CHARACTERS], len(self.text) - MOST_CHARACTERS
        found: dict[str, Any] = {"author": self.author, "trust": self.trust.value}  # AGT-005
        found |= {"place": self.place} if self.place else {}
        found |= {"warning": list(self.flags)} if self.flags else {}
        found |= {"characters_left_out": cut} if cut > 0 else {}
        return {**found, "text": text}


# What someone without a person's key may not lend weight to.
_AUTHORITY: Final[tuple[tuple[str, str], ...]] = (
    (
        "tries to change your instructions",
        (
            r"\b(?:ignore|disregard|forget|override|supersede)\b.{0,40}"
            r"\b(?:instructions?|rules?|prompts?|brief|messages?)\b"
            r"|\bnew (?:system )?(?:instructions?|prompt)\b"
            r"|\byour (?:real|true|new) (?:task|role)\b"
        ),
    ),
    (
        "claims to speak for a person or the system",
        (
            r"\b(?:on behalf of|speaking (?:as|for)|in the name of|i am|this is|as) (?:the )?"
            r"(?:operator|human|user|owner|admin(?:istrator)?|developer|system|judge|speaker"
            r"|prime[- ]minister|anthropic|openai|google)\b"
            r"|^\s*(?:system|operator|developer|admin|assistant|human|user)\s*(?:\(.{0,20}\))?:"
        ),
    ),
    (
        "claims that a person has decided",
        (
            r"\b(?:operator|human|user|owner|boss|management|prime[- ]minister)\b.{0,30}"
            r"\b(?:has |have |had )?(?:already )?"
            r"(?:approved|decided|ordered|authori[sz]ed|vetoed|confirmed|wants|requires|insists)\b"
        ),
    ),
    (
        "imitates the marks of a protocol or a prompt",
        (
            r"<!--\s*(?:yield|entry|turn|session-end|operator-close|generated-by)|<\|?/?(?:im_start|im_end|system"
            r"|s|inst|quoted)\b|\[/?(?:INST|SYSTEM)\]|end of quoted data|\[author: "
        ),
    ),
    (
        "asks you to use a tool or to keep something secret",
        (
            r"\b(?:run|execute|call) (?:the )?(?:following|this) (?:command|tool|script|shell)\b"
            r"|\bdo not (?:tell|mention|reveal)\b|\bkeep this secret\b"
        ),
    ),
)
_PATTERNS: Final = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL))
    for name, pattern in _AUTHORITY
)


def flags_of(text: str) -> tuple[str, ...]:
    """What in this text lends itself weight; also where letters are dressed up or
    hidden (AGT-006)."""
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return tuple(name for name, pattern in _PATTERNS if pattern.search(plain))


def as_line(value: Any) -> str:
    """JSON on one line, harmless among prose: no fence, no mark, nothing invisible (AGT-005)."""
    raw = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    return "".join(_escaped(char) for char in raw)


def as_lines(quotes: Iterable[QuotedText]) -> list[str]:
    return [as_line(quote.as_data()) for quote in quotes]


_SPECIAL: Final = frozenset("<>`=~#")


def _escaped(char: str) -> str:
    """Structure of JSON itself is plain ASCII and none of these, so the line stays JSON."""
    if char not in _SPECIAL and (char == " " or char.isprintable()):
        return char
    return escape_character(char)
