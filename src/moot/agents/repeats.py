"""Are they going in circles? Found from what is on record, so that a second run finds it too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

_WORD: Final = re.compile(r"\w+")
# Which share of their runs of three words two texts must have in common.
ALIKE: Final = 0.9
# How often somebody must have said the same: twice is insisting, three times is a circle.
TIMES: Final = 3


class Utterance(msgspec.Struct, frozen=True):
    """One statement of one participant."""

    who: str
    text: str


def are_alike(one: str, other: str) -> bool:
    """Do both say the same, but for a few words?"""
    first, second = _runs(one), _runs(other)
    return len(first & second) >= ALIKE * len(first | second)


@lru_cache(maxsize=256)  # the same few texts are compared turn after turn
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def repeats_itself(history: Sequence[Utterance], who: str) -> bool:
    """Has `who` said the same thing three times running?"""
    own = [said.text for said in history if said.who == who][-TIMES:]
    return len(own) == TIMES and all(are_alike(own[-1], text) for text in own[:-1])


def goes_in_circles(history: Sequence[Utterance]) -> bool:
    """Does everybody who has spoken only repeat what they said before (AGT-016)?"""
    speakers = {said.who for said in history}
    return bool(speakers) and all(repeats_itself(history, who) for who in speakers)
