"""Which answer is put to the vote: the most frequent one, else the first listed (DEC-008)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from moot.protocols.decision.model import FirstAnswer, Motion


def meaning(text: str) -> str:
    """Two answers are the same if they differ in case, spacing and punctuation only."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain)) or plain.strip()


def choose(answers: Iterable[FirstAnswer]) -> Motion | None:
    """The motion, in the words of whoever gave that answer first; None if nobody answered.

    Answers come in the order of the seats: among equally frequent ones the first listed counts.
    """
    given: dict[str, list[FirstAnswer]] = {}
    for one in answers:
        if one.answer is not None:
            given.setdefault(meaning(one.answer), []).append(one)
    if not given:
        return None
    most = max(given.values(), key=len)  # the first of several, as they were listed
    return Motion(most[0].answer or "", tuple(one.agent for one in most))
