"""What an event keeps of a text that it cannot hold: its beginning, and the words of the rest.

The whole text is stored beside the record; the words are there so that a message is found by them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from moot.core.record import MAX_TEXT_BYTES, ArtifactRef
from moot.mail.asked import fits, text_bytes

EXCERPT_BYTES: Final = 4_096
_SEARCHED: Final = 1_000_000  # characters; nobody looks for a word in the middle of a data dump
_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST_WORD: Final = 64


class Kept(NamedTuple):
    """`sha256` is set if `text` is only the beginning; `words` are those of the rest."""

    text: str
    size: int
    sha256: str | None
    words: str


def kept(body: str, artifact: ArtifactRef | None) -> Kept:
    """The text if an event can hold it, else its beginning and the hash of all."""
    data = text_bytes(body)
    if artifact is None or fits(body, data):
        return Kept(body, len(data), None, "")
    beginning = data[:EXCERPT_BYTES].decode("utf-8", "ignore")
    return Kept(beginning, len(data), artifact.sha256, _words(body, len(beginning)))


def _words(body: str, start: int) -> str:
    """Each word that the beginning does not hold, once, as many as an event may hold."""
    known, words, room = set[str](), list[str](), MAX_TEXT_BYTES
    for found in _WORD.finditer(body[: start + _SEARCHED]):
        word = found[0].casefold()
        if word in known or len(word) > _LONGEST_WORD:
            continue
        known.add(word)
        if found.end() < start:
            continue
        room -= len(text_bytes(word)) + 1
        if room < 0:
            break
        words.append(word)
    return " ".join(words)
