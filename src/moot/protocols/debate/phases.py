"""The automaton of a session (R16 to R18): what happened moves it from one phase to another.

    not-started --> active <--> entry-open --> waiting-human
                       \\            |             /
                        `--------> ended: consensus, deadlock, max-rounds, closed-by-operator

A session has no state outside its file: `course.py` reads what happened off the entries, in their
order, and the table says where that leads. `turns.py` adds what depends on the time: that a turn
has timed out. What happens in an ended session changes nothing; the checker remarks on it (R18).
"""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Final


class Phase(StrEnum):
    NOT_STARTED = "not-started"  # BNC-064, BNC-119: no entry yet, and a session all the same
    ACTIVE = "active"
    ENTRY_OPEN = "entry-open"
    WAITING_HUMAN = "waiting-human"
    CONSENSUS = "ended:consensus"
    DEADLOCK = "ended:deadlock"
    MAX_ROUNDS = "ended:max-rounds"
    CLOSED = "ended:closed-by-operator"

    @property
    def has_ended(self) -> bool:
        return not TRANSITIONS[self]


class Happening(StrEnum):
    """`TIMED_OUT` is only for the policy that waits for a person (A-59)."""

    OPENED = auto()
    YIELDED = auto()
    TIMED_OUT = auto()
    RESUMED = auto()
    AGREED = auto()
    ALL_DEFERRED = auto()
    LAST_ROUND_OVER = auto()
    CLOSED = auto()


# R17; which of them a round brings is decided in `course.py`.
_ENDS = {
    Happening.AGREED: Phase.CONSENSUS,
    Happening.ALL_DEFERRED: Phase.DEADLOCK,
    Happening.LAST_ROUND_OVER: Phase.MAX_ROUNDS,
    Happening.CLOSED: Phase.CLOSED,
}
_GOES_ON = {
    Happening.OPENED: Phase.ENTRY_OPEN,
    Happening.YIELDED: Phase.ACTIVE,
    Happening.TIMED_OUT: Phase.WAITING_HUMAN,
}
TRANSITIONS: Final[dict[Phase, dict[Happening, Phase]]] = {
    Phase.NOT_STARTED: {**_GOES_ON, **_ENDS},
    Phase.ACTIVE: {**_GOES_ON, **_ENDS},
    Phase.ENTRY_OPEN: {**_GOES_ON, **_ENDS},
    Phase.WAITING_HUMAN: {**_GOES_ON, **_ENDS, Happening.RESUMED: Phase.ACTIVE},
    Phase.CONSENSUS: {},
    Phase.DEADLOCK: {},
    Phase.MAX_ROUNDS: {},
    Phase.CLOSED: {},
}


def phase_after(phase: Phase, happening: Happening) -> Phase:
    """Where this leads; an ended session stays as it ended."""
    return TRANSITIONS[phase].get(happening, phase)
