"""The debate clock of a running session: what its round has left, and when a vote is forced.

The numbers themselves are in `messages/limits.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import RulingAction
from moot.protocols.parliament.model import State

# PAR-108: what is left to the speaker once the exchanges are used up.
RULINGS_AFTER_THE_CAP: Final = frozenset({RulingAction.CALL_VOTE, RulingAction.ROUND_END})


def exchange_cap(state: State) -> int:
    """Return the exchanges of the current round."""
    return limits.max_exchanges(len(state.order), state.round.number)


def sentence_budget(state: State) -> int:
    """Return the sentences of a response in the current round."""
    return limits.response_budget(state.round.number)


def all_questions_asked(state: State) -> bool:
    """C-07: an open question counts, or the last answer would break the cap."""
    return state.round.asked >= exchange_cap(state)


def exchanges_used_up(state: State) -> bool:
    """PAR-108: every exchange of the round has taken place."""
    return state.round.running and state.round.exchanges >= exchange_cap(state)


def is_last_round(state: State) -> bool:
    return state.round.number >= state.max_rounds


def forces_a_vote(state: State) -> bool:
    """C-14: the exchanges are used up, or no further round will come."""
    return state.round.exchanges >= exchange_cap(state) or is_last_round(state)


# The temperature of each seat, from 0 (calm) to 100 (hot), drawn again for each round (C-09).
#
# The range narrows from round to round. It is cut into as many bands as there are seats, one value
# is drawn from each, and the values are shuffled: calm and hot seats are always mixed and no two
# are alike. Chance comes from the caller's seed, so that anyone can draw the same again.

# The lowest and highest temperature by round; from the last row on it stays.
RANGES: Final = ((5, 95), (5, 95), (10, 90), (15, 85), (25, 75), (30, 70), (35, 65))
ARCHETYPES: Final = (
    (75, "Visionary"),
    (50, "Pragmatic Advocate"),
    (25, "Rigorous Skeptic"),
    (0, "Principled Guardian"),
)
SHIFTS: Final = ((30, "big shift"), (15, "shift"))


def temperature_range(round_number: int) -> tuple[int, int]:
    return RANGES[min(round_number, len(RANGES) - 1)]


def archetype_of(temperature: int) -> str:
    """Return the character that goes with a temperature."""
    return next(name for least, name in ARCHETYPES if temperature >= least)


def describe_shift(before: int, after: int) -> str:
    """Return how strong a change is: `big shift`, `shift`, or empty if it is small."""
    return next((name for more, name in SHIFTS if abs(after - before) > more), "")


def draw_temperatures(seed: str, round_number: int, seats: int) -> tuple[int, ...]:
    """PAR-094: draw a temperature for each seat, all different, each from its own band."""
    low, high = temperature_range(round_number)
    width = high - low + 1
    edges = [low + width * number // seats for number in range(seats + 1)]
    chance = _random_numbers(f"{seed}\n{round_number}\n{seats}")
    drawn = [start + next(chance) % (end - start) for start, end in pairwise(edges)]
    return tuple(_shuffle(drawn, chance))


def _shuffle(values: list[int], chance: Iterator[int]) -> list[int]:
    """Shuffle in place: otherwise the first seat would always be the calmest."""
    for place in range(len(values) - 1, 0, -1):
        other = next(chance) % (place + 1)
        values[place], values[other] = values[other], values[place]
    return values


def _random_numbers(seed: str) -> Iterator[int]:
    """Yield numbers that depend on the seed alone; `random` may change between Pythons."""
    number = 0
    while True:
        text = f"moot.parliament.temperatures\n{seed}\n{number}"
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        yield int.from_bytes(digest[:8], "big")
        number += 1
