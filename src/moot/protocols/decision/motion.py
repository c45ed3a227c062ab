"""Which answer is put to the vote: the most frequent one, else the first listed (DEC-008)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from moot.protocols.decision.model import DecisionMotion, FirstAnswer


def normalize_answer(text: str) -> str:
    """The text without case, spacing and punctuation: two answers with the same one are equal."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain)) or plain.strip()


def group_answers(answers: Iterable[FirstAnswer]) -> list[list[FirstAnswer]]:
    """Equal answers together, in the order in which they are listed; missing ones are left out."""
    by_meaning: dict[str, list[FirstAnswer]] = {}
    for first in answers:
        if first.answer is not None:
            by_meaning.setdefault(normalize_answer(first.answer), []).append(first)
    return list(by_meaning.values())


def choose_motion(answers: Iterable[FirstAnswer]) -> DecisionMotion | None:
    """The motion, in the words of whoever gave that answer first; None if nobody answered.

    Answers come in the order of the seats: among equally frequent ones the first listed counts.
    """
    groups = group_answers(answers)
    if not groups:
        return None
    most = max(groups, key=len)  # among equals the first, as they were listed
    return DecisionMotion(most[0].answer or "", tuple(first.agent for first in most))
