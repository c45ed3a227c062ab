"""The concession guard: nobody gives way before the arguments are on the table.

In rounds 1 and 2 a seat holds or challenges, in round 3 it may soften, from round 4 on it may
concede. An early concession stands as it was said; the speaker asks the seat to think again.
"""

from __future__ import annotations

from typing import Final

from moot.protocols.parliament.messages.words import Stance

_HOLD: Final = frozenset({Stance.MAINTAIN, Stance.CHALLENGE})
_SOFTEN_FROM, _CONCEDE_FROM = 3, 4


def allowed(round_number: int) -> frozenset[Stance]:
    """The stances that are in time in a round."""
    if round_number < _SOFTEN_FROM:
        return _HOLD
    if round_number < _CONCEDE_FROM:
        return _HOLD | {Stance.SOFTEN}
    return frozenset(Stance)


def too_early(stance: Stance, round_number: int) -> bool:
    return stance not in allowed(round_number)


def redirect(name: str, stance: Stance, round_number: int) -> str:
    """What the speaker says about it."""
    known = ", ".join(one for one in Stance if one in allowed(round_number))
    return (
        f"{name} chose to {stance} in round {round_number}, where the stances are {known}. "
        "The answer stands; I ask for the argument before the concession."
    )
