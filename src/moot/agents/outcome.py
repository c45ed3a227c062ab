"""How a call ended, and how a run ended.

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
    # It replied, but the reply cannot be used.
    MALFORMED = "malformed"
    REFUSED = "refused"
    TOO_LONG = "too-long"
    # It did not reply.
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
    # It is no longer due: another process did it meanwhile.
    OVERTAKEN = "overtaken"
    # Noted in addition to an answer: its format was changed to fit its place.
    FITTED = "fitted"


class StopReason(StrEnum):
    """`SETTLED`: nothing is due any more. `WAITING`: what is due is for others."""

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

    `stance` and `words` are the answer in short, for a person who watches; they are not recorded.
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
    """How a run ended; `waits_for` names the agents whose turns are still due."""

    stop: StopReason
    turns: int
    cost: Cost
    detail: str = ""
    waits_for: tuple[str, ...] = ()


class NoAnswer(Exception):
    """A participant gave no usable answer; `ending` says why, and `detail` in one line.

    `cost` is what the call cost anyway. `findings` are for a second attempt. A program that crashed
    left an exit status, or the signal that ended it.
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

    `detail` may contain a program's output; `as_failed_answer`, which other participants see, does
    not.
    """

    ending: CallEnding
    detail: str
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    exit_status: int | None = None
    signal: int | None = None

    @property
    def as_failed_answer(self) -> FailedAnswer:
        kind = FailureKind(self.ending.value)
        return FailedAnswer(kind, int(self.seconds), self.exit_status, self.signal)


def unreadable_reply(error: MootError, cost: Cost) -> NoAnswer:
    """Return the error for a reply that cannot be read."""
    return NoAnswer(CallEnding.MALFORMED, str(error), cost, findings_of(error))


def findings_of(error: MootError) -> tuple[Finding, ...]:
    """Return what was wrong with a reply, to show it with the second attempt."""
    where = getattr(error, "where", "") or None
    own = Finding(rule="reply", code=error.code, message=str(error), where=where, hint=error.hint)
    return error.findings or (own,)
