"""The last vote counted by how often each was right before: a line beside, never binding.

Whoever was right in r of its calls and wrong in w weighs log((r + 1) / (w + 1)): nothing if it was
right half the time, and against its own vote if it was mostly wrong. That would be the best count
if they erred independently, which they do not; so it decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from moot.protocols.decision.independence import FEWEST_OUTCOMES
from moot.protocols.decision.track_record import Record

_SIGNS: Final = {"approve": 1, "reject": -1}


class CalibratedVote(NamedTuple):
    """`balance` is above 0 for the motion, below 0 against; `counted` are those with a record."""

    balance: float
    counted: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def sentence(self) -> str:
        side = "for" if self.balance > 0 else "against" if self.balance < 0 else "split over"
        left = f"; without a record: {', '.join(self.left_out)}" if self.left_out else ""
        return (
            f"counted by how often each was right before, it is {side} the motion "
            f"({', '.join(self.counted)}{left}); this binds nobody"
        )


def calibrate_vote(records: Iterable[Record], stances: Mapping[str, str]) -> CalibratedVote | None:
    """None if nobody who voted has been judged often enough."""
    known = {record.name: record for record in records if record.scored >= FEWEST_OUTCOMES}
    voting = [name for name, stance in stances.items() if stance in _SIGNS]
    counted = tuple(name for name in voting if name in known)
    if not counted:
        return None
    balance = math.fsum(_SIGNS[stances[name]] * _weight(known[name]) for name in counted)
    return CalibratedVote(balance, counted, tuple(name for name in voting if name not in known))


def _weight(record: Record) -> float:
    wrong = record.scored - record.right
    return math.log((record.right + 1) / (wrong + 1))
