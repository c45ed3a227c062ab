"""Why a participant gave no usable answer: one of a closed set of reasons, with numbers only.

Nothing in such a sentence is the participant's own: so it can be read back, and recognised to the
letter as the machine's. What a program said last stands in the record of its call, never here.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec


class FailureKind(StrEnum):
    # It spoke, and what it said cannot be used.
    MALFORMED = "malformed"
    REFUSED = "refused"
    TOO_LONG = "too-long"
    # It did not speak.
    SILENT = "silent"
    TIMED_OUT = "timed-out"
    CRASHED = "crashed"
    NOT_FOUND = "not-found"
    NO_TERMINAL = "no-terminal"
    # Whoever runs the model did not serve us.
    DOWN = "provider-down"
    SLOW = "provider-slow"
    RATE_LIMITED = "rate-limited"
    OUT_OF_MONEY = "out-of-money"
    NOT_ALLOWED = "not-allowed"


# DEC-032: each way not to answer has its own words.
REASONS: Final[dict[FailureKind, str]] = {
    FailureKind.MALFORMED: "could not be read, asked twice",
    FailureKind.REFUSED: "broke the rules, asked twice",
    FailureKind.TOO_LONG: "too long to be read",
    FailureKind.SILENT: "said nothing",
    FailureKind.TIMED_OUT: "out of time",
    FailureKind.CRASHED: "crashed",
    FailureKind.NOT_FOUND: "not found",
    FailureKind.NO_TERMINAL: "nobody at the terminal",
    FailureKind.DOWN: "the provider was down",
    FailureKind.SLOW: "the provider was too slow",
    FailureKind.RATE_LIMITED: "the provider took no more requests",
    FailureKind.OUT_OF_MONEY: "out of money at the provider",
    FailureKind.NOT_ALLOWED: "refused by the provider",
}
_KINDS: Final = {reason: kind for kind, reason in REASONS.items()}
_SENTENCE: Final = re.compile(
    rf"No usable answer: ({'|'.join(map(re.escape, _KINDS))})"
    r"(?:, exit ([0-9]{1,10})|, signal ([0-9]{1,3}))?, after ([0-9]{1,9}) s\."
)


class FailedAnswer(msgspec.Struct, frozen=True):
    """What failed, and after how many seconds; a program that crashed left a number, too."""

    kind: FailureKind
    seconds: int = 0
    exit_status: int | None = None
    signal: int | None = None

    @property
    def reason(self) -> str:
        """`crashed, exit 1, after 3 s`."""
        number = ""
        if self.kind is FailureKind.CRASHED and self.signal is not None:
            number = f", signal {self.signal}"
        elif self.kind is FailureKind.CRASHED and self.exit_status is not None:
            number = f", exit {self.exit_status}"
        return f"{REASONS[self.kind]}{number}, after {self.seconds} s"

    @property
    def sentence(self) -> str:
        """`No usable answer: crashed, exit 1, after 3 s.`"""
        return f"No usable answer: {self.reason}."


def find_failed_answer(text: str) -> FailedAnswer | None:
    """The failure that a text begins with, if it is told exactly as we tell it."""
    match = _SENTENCE.match(text)
    if match is None:
        return None
    reason, exit_status, signal, seconds = match.groups()
    failure = FailedAnswer(
        _KINDS[reason],
        int(seconds),
        None if exit_status is None else int(exit_status),
        None if signal is None else int(signal),
    )
    return failure if failure.sentence == match.group() else None
