"""Order in the chamber: quiet for a round, and expulsion after two malformed replies.

A quiet seat may not ask, move, amend or be asked until the next round; it still answers earlier
questions, and it votes (C-10). An expelled seat is not heard again and counts as NO.
"""

from __future__ import annotations

from typing import Final

import msgspec

from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages.contents import Ballot, Kind, SessionStatus, Stance, Vote
from moot.protocols.parliament.messages.shapes import make_finding
from moot.protocols.parliament.model import Seat, State

MALFORMED_LIMIT: Final = 2
FORBIDDEN_WHEN_QUIET: Final = frozenset(
    {Kind.QUESTION, Kind.AMENDMENT, Kind.MOTION, Kind.BILL_DRAFT}
)
# Only here a reply of a seat is expected: elsewhere a malformed one is refused and not counted.
STATUSES_THAT_COUNT: Final = frozenset(
    {
        SessionStatus.OPENING_STATEMENTS,
        SessionStatus.DRAFTING,
        SessionStatus.DEBATE,
        SessionStatus.VOTING,
    }
)

replace = msgspec.structs.replace


def counts_against(state: State, seat: Seat | None) -> bool:
    """True if a malformed reply of this seat counts now."""
    return seat is not None and not seat.expelled and state.status in STATUSES_THAT_COUNT


def warn_of_expulsion(seat: Seat) -> Finding:
    """Warn the sender, with the refusal, that the reply was counted, and of the consequence."""
    if seat.malformed + 1 < MALFORMED_LIMIT:
        why = f"this counts against {seat.id}: the next malformed reply in a row expels it"
        hint = "`moot parliament template TYPE` shows a message; a valid one resets the count"
        return make_finding("S-03", "counted", why, "", hint, Severity.WARNING)
    why = f"{seat.id} is expelled: {MALFORMED_LIMIT} malformed replies in a row"
    hint = "it counts as NO in every vote; the others continue"
    return make_finding("S-03", "now_expelled", why, "", hint, Severity.WARNING)


def is_everyone_expelled(state: State) -> bool:
    return all(seat.expelled for seat in state.seats_in_order())


def make_quiet(seat: Seat, round_number: int) -> Seat:
    """PAR-061 and C-10: quiet for the current round."""
    return replace(seat, quiet_until_round=round_number + 1)


def end_quiet(seat: Seat, round_number: int) -> Seat:
    """At the start of a round, end the quiet of a seat that was quiet for an earlier one."""
    until = seat.quiet_until_round
    return seat if until is None or round_number < until else replace(seat, quiet_until_round=None)


def list_expelled_without_vote(state: State) -> list[Seat]:
    """Expelled seats whose NO is not on the open ballot yet."""
    if state.poll is None:
        return []
    return [
        seat for seat in state.seats_in_order() if seat.expelled and seat.id not in state.poll.votes
    ]


def make_default_vote(seat: Seat) -> Vote:
    """Return the NO of an expelled seat; a motive that it never scored gets the lowest score."""
    return Vote(
        vote=Ballot.NO,
        reasoning=f"{seat.id} was expelled after {MALFORMED_LIMIT} malformed replies and counts"
        " as NO.",
        motive_scores={motive: score or 1 for motive, score in seat.scores_by_motive()},
        reservations="",
        conditions=("a representative who can be heard",),
    )


# The concession guard (S-04): no seat concedes before the arguments were exchanged.
#
# In rounds 1 and 2 a seat maintains or challenges, from round 3 it may soften, from round 4
# concede. An early concession is logged as it is; the speaker asks the seat for its argument.

_HOLD: Final = frozenset({Stance.MAINTAIN, Stance.CHALLENGE})
_SOFTEN_FROM, _CONCEDE_FROM = 3, 4


def allowed_stances(round_number: int) -> frozenset[Stance]:
    """Return the stances that may be taken in a round."""
    if round_number < _SOFTEN_FROM:
        return _HOLD
    if round_number < _CONCEDE_FROM:
        return _HOLD | {Stance.SOFTEN}
    return frozenset(Stance)


def is_too_early(stance: Stance, round_number: int) -> bool:
    return stance not in allowed_stances(round_number)


def redirect_text(name: str, stance: Stance, round_number: int) -> str:
    """Return what the speaker says to a seat that gave way too early."""
    in_time = ", ".join(
        candidate for candidate in Stance if candidate in allowed_stances(round_number)
    )
    return (
        f"{name} chose to {stance} in round {round_number}, where the stances are {in_time}. "
        "The answer stands; I ask for the argument before the concession."
    )
