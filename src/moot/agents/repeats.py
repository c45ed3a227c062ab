"""Are they going in circles? Told from what was said, so that a second run sees it too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

_WORD: Final = re.compile(r"\w+")
# How much of two texts must be the same, in runs of three words.
ALIKE: Final = 0.9
# How often one must have said it: twice is insisting, three times is a circle.
TIMES: Final = 3


class Said(msgspec.Struct, frozen=True):
    who: str
    text: str


def alike(one: str, other: str) -> bool:
    """Do both say the same, but for a few words?"""
    first, second = _runs(one), _runs(other)
    return len(first & second) >= ALIKE * len(first | second)


@lru_cache(maxsize=256)  # the same few texts are compared turn after turn
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def repeats(history: Sequence[Said], who: str) -> bool:
    """Has `who` said the same thing three times running?"""
    own = [said.text for said in history if said.who == who][-TIMES:]
    return len(own) == TIMES and all(alike(own[-1], text) for text in own[:-1])


def in_circles(history: Sequence[Said]) -> bool:
    """Everybody who has spoken repeats only what he said before."""
    speakers = {said.who for said in history}
    return bool(speakers) and all(repeats(history, who) for who in speakers)
