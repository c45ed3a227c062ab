"""The concession guard (S-04): nobody gives way before the arguments are on the table.

In rounds 1 and 2 a seat maintains or challenges, from round 3 it may soften, from round 4 concede.
An early concession is logged as it is; the speaker asks the seat for its argument.
"""

from __future__ import annotations

from typing import Final

from moot.protocols.parliament.messages.words import Stance

_HOLD: Final = frozenset({Stance.MAINTAIN, Stance.CHALLENGE})
_SOFTEN_FROM, _CONCEDE_FROM = 3, 4


def allowed_stances(round_number: int) -> frozenset[Stance]:
    """The stances that may be taken in a round."""
    if round_number < _SOFTEN_FROM:
        return _HOLD
    if round_number < _CONCEDE_FROM:
        return _HOLD | {Stance.SOFTEN}
    return frozenset(Stance)


def is_too_early(stance: Stance, round_number: int) -> bool:
    return stance not in allowed_stances(round_number)


def redirect_text(name: str, stance: Stance, round_number: int) -> str:
    """What the speaker says to a seat that gave way too early."""
    in_time = ", ".join(
        candidate for candidate in Stance if candidate in allowed_stances(round_number)
    )
    return (
        f"{name} chose to {stance} in round {round_number}, where the stances are {in_time}. "
        "The answer stands; I ask for the argument before the concession."
    )
