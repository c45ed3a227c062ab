"""Why a participant gave no usable answer: one of a closed set of reasons, with numbers only.

The sentence contains nothing that the participant wrote, so a reader can parse it and be sure that
Moot wrote it. The last output of a program is in the record of its call, never here.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec


class FailureKind(StrEnum):
    # It answered, but the answer cannot be used.
    MALFORMED = "malformed"
    REFUSED = "refused"
    TOO_LONG = "too-long"
    # It gave no answer.
    SILENT = "silent"
    TIMED_OUT = "timed-out"
    CRASHED = "crashed"
    NOT_FOUND = "not-found"
    NO_TERMINAL = "no-terminal"
    # The provider of the model did not serve the request.
    DOWN = "provider-down"
    SLOW = "provider-slow"
    RATE_LIMITED = "rate-limited"
    OUT_OF_MONEY = "out-of-money"
    NOT_ALLOWED = "not-allowed"


# DEC-032: each kind of failure has its own text. The texts are in records: do not change them.
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
    """Why an answer failed and after how many seconds; for a crash also exit status or signal."""

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
    """Return the failure that a text begins with, if the sentence is exactly as Moot writes it."""
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
