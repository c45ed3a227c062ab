"""How a call ended, and how a run ended. Each way has a name; nothing ends without one.

`CallEnding` is about one participant and one turn, `StopReason` about a whole run. A provider that
is down or a program that crashed has no opinion: only `ANSWERED` carries one.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from moot.agents.cost import NO_COST, Cost
from moot.core.errors import MootError
from moot.core.failed_answer import FailedAnswer, FailureKind
from moot.core.findings import Finding


class CallEnding(StrEnum):
    ANSWERED = "answered"
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
    # The model's provider did not serve us.
    DOWN = "provider-down"
    SLOW = "provider-slow"
    RATE_LIMITED = "rate-limited"
    OUT_OF_MONEY = "out-of-money"
    NOT_ALLOWED = "not-allowed"
    # Someone else did it meanwhile; what was asked for is no longer due.
    OVERTAKEN = "overtaken"
    # Noted beside an answer: its form was changed to fit where it stands.
    FITTED = "fitted"


class StopReason(StrEnum):
    """`SETTLED`: nothing is due any more. `WAITING`: what is due is for someone who is not here."""

    SETTLED = "settled"
    WAITING = "waiting"
    STUCK = "stuck"
    CIRCLES = "going-in-circles"
    TURNS = "turns-spent"
    TOKENS = "tokens-spent"
    MONEY = "money-spent"
    TIME = "time-spent"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class CallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One call of one participant: for which turn, how it ended, what it cost.

    `stance` and `words` are what was answered, in short: shown to a person who watches, not
    recorded.
    """

    agent: str
    what: str
    subject: str
    ending: CallEnding
    attempt: int = 1
    cost: Cost = NO_COST
    detail: str = ""
    model: str | None = None
    stance: str = ""
    words: str = ""


class RunEnd(msgspec.Struct, frozen=True):
    """How a run ended; `waits_for` names those it would still have to wait for."""

    stop: StopReason
    turns: int
    cost: Cost
    detail: str = ""
    waits_for: tuple[str, ...] = ()


class NoAnswer(Exception):
    """A participant gave no usable answer; `ending` says why, and `detail` in one line.

    The call was paid for all the same: `cost` says how much. `findings` are for a second attempt.
    A program that crashed left an exit status, or the signal that ended it.
    """

    def __init__(
        self,
        ending: CallEnding,
        detail: str,
        cost: Cost = NO_COST,
        findings: tuple[Finding, ...] = (),
        *,
        exit_status: int | None = None,
        signal: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.ending = ending
        self.detail = detail
        self.cost = cost
        self.findings = findings
        self.exit_status = exit_status
        self.signal = signal


class CallFailure(msgspec.Struct, frozen=True):
    """Why a due has no usable answer; if there are findings, asking again may help.

    `detail` may hold a program's own words; what is told in its place is `as_told`, which has none.
    """

    ending: CallEnding
    detail: str
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    exit_status: int | None = None
    signal: int | None = None

    @property
    def as_told(self) -> FailedAnswer:
        kind = FailureKind(self.ending.value)
        return FailedAnswer(kind, int(self.seconds), self.exit_status, self.signal)


def unreadable_reply(error: MootError, cost: Cost) -> NoAnswer:
    """The error for a reply that came and cannot be read."""
    return NoAnswer(CallEnding.MALFORMED, str(error), cost, findings_of(error))


def findings_of(error: MootError) -> tuple[Finding, ...]:
    """What was wrong with a reply, to be shown with the second attempt."""
    where = getattr(error, "where", "") or None
    own = Finding(rule="reply", code=error.code, message=str(error), where=where, hint=error.hint)
    return error.findings or (own,)
