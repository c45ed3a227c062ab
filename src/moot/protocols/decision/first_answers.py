"""The distinct first answers: who gave each, who has yet to rank them, and in which order.

Agents rank the answers without names, and each agent sees them in a different order. Otherwise a
name, or the first place in the list, would attract votes.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import msgspec

from moot.core.canonical import canonical
from moot.core.record import frame
from moot.protocols.decision.model import ChamberKind, DecisionMotion, FirstAnswer, State

# Which answer is put to the vote: the most frequent one, else the first listed (DEC-008).


def normalize_answer(text: str) -> str:
    """Drop case, spacing and punctuation: answers with the same rest count as equal."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain)) or plain.strip()


def group_answers(answers: Iterable[FirstAnswer]) -> list[list[FirstAnswer]]:
    """Group equal answers, in the order of their first appearance; skip missing answers."""
    by_meaning: dict[str, list[FirstAnswer]] = {}
    for first in answers:
        if first.answer is not None:
            by_meaning.setdefault(normalize_answer(first.answer), []).append(first)
    return list(by_meaning.values())


def choose_motion(answers: Iterable[FirstAnswer]) -> DecisionMotion | None:
    """Choose the most frequent answer, in the words of the first agent that gave it.

    Answers come in the order of the seats, and a tie goes to the first of them. None if there is no
    answer.
    """
    groups = group_answers(answers)
    if not groups:
        return None
    most = max(groups, key=len)  # in a tie `max` returns the first one
    return DecisionMotion(most[0].answer or "", tuple(first.agent for first in most))


_DOMAIN: Final = "moot-order-of-answers-1"


class AnswerOption(msgspec.Struct, frozen=True):
    """A distinct answer, in the words of the first agent that gave it; `by` are all who did."""

    text: str
    by: tuple[str, ...]


def list_options(state: State) -> tuple[AnswerOption, ...]:
    """List the distinct answers, in the order of the seats."""
    firsts = (state.answers[seat.agent] for seat in state.seats if seat.agent in state.answers)
    return tuple(_option(same) for same in group_answers(firsts))


def _option(same: list[FirstAnswer]) -> AnswerOption:
    return AnswerOption(same[0].answer or "", tuple(first.agent for first in same))


def find_own_option(options: Iterable[AnswerOption], agent: str) -> int | None:
    """Return the number of the answer that this agent gave."""
    return next((at for at, option in enumerate(options) if agent in option.by), None)


def list_unranked(state: State) -> tuple[str, ...]:
    """List the agents that answered but have not ranked; empty if fewer than two answers differ.

    A parliament writes its own bill, so its answers are not ranked.
    """
    if state.chamber is not ChamberKind.DEBATE or state.unanswered or len(list_options(state)) < 2:
        return ()
    return tuple(
        seat.agent
        for seat in state.seats
        if state.answers[seat.agent].answer is not None and seat.agent not in state.rankings
    )


def order_for(question: str, agent: str, options: Iterable[AnswerOption]) -> tuple[int, ...]:
    """Return the numbers of the answers in the order in which this agent sees them.

    A hash decides the order, so it is the same on every call.
    """
    texts = [option.text for option in options]

    def sort_key(number: int) -> bytes:
        parts = (_DOMAIN, question, agent, texts[number])
        framed = b"".join(len(raw).to_bytes(8, "big") + raw for raw in map(str.encode, parts))
        return hashlib.sha256(framed).digest()

    return tuple(sorted(range(len(texts)), key=sort_key))


# Sealed first answers: an author commits to its answer before it sees any other.
#
# The commitment is the SHA-256 over a domain, the stream, the author, 32 random bytes and the text,
# each preceded by its length; the text is the canonical JSON of answer, motives and reasons.
# docs/format.md section 9.

DOMAIN: Final = b"moot.sealed-answer.v1"
NONCE_BYTES: Final = 32
HEX_32_BYTES: Final = re.compile(r"[0-9a-f]{64}")


def commit_to_answer(
    stream: str, author: str, nonce: str, answer: str, why: str, motives: tuple[str, ...]
) -> str:
    """Return the commitment in hex; `nonce` is 32 bytes in hex."""
    text = canonical({"answer": answer, "motives": list(motives), "why": why})
    parts = (DOMAIN, stream.encode(), author.encode(), bytes.fromhex(nonce), text)
    return hashlib.sha256(frame(*parts)).hexdigest()
