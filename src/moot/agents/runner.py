"""The runner: asks participants for what is due, and executes replies with each agent's own key.

    while something is due for a seat and no limit is reached:
        the brief -> the participant -> a reply       several at once if the protocol allows it
        the reply -> the runnable, which executes it  always in the order of the dues
        an unusable reply: ask again, with the findings; then pass over the turn as the protocol
        does, at once or when its time is up

The runner stores nothing: every step asks the runnable again. So it can be killed and started again
at any moment: a recorded turn is no longer due, any other is asked for again. The cost of a call is
recorded before its reply is executed, so that no failure hides it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Final, NamedTuple

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import NO_COST, Cost
from moot.agents.outcome import (
    CallEnding,
    CallFailure,
    CallOutcome,
    NoAnswer,
    RunEnd,
    StopReason,
    findings_of,
)
from moot.agents.participant import Participant, ParticipantReply
from moot.agents.reply import shorten_reply, without_author
from moot.agents.runnable import (
    Budget,
    NoWatcher,
    PassOverResult,
    Runnable,
    RunWatcher,
    Spent,
    find_reached_limit,
    goes_in_circles,
    time_left,
    turns_left,
)
from moot.core.clock import SECOND, Clock
from moot.core.errors import Conflict, Malformed, MootError, NotFound, Refused
from moot.core.machine import Due

MOST_AT_ONCE: Final = 16
ATTEMPTS: Final = 2  # AGT-011: once, and again with the findings
TURN_SECONDS: Final = 300.0
LEAST_SECONDS: Final = 1.0
# How long to wait beyond a deadline: time is up after it, not at it.
MARGIN_SECONDS: Final = 0.002
_OUT_OF_TIME: Final = (CallEnding.TIMED_OUT, CallEnding.SLOW)
# Errors by which a protocol rejects a reply; any other is our own failure and ends the run.
_REFUSALS: Final = (Refused, Malformed, Conflict, NotFound)


class ParticipantCall(NamedTuple):
    """One call: what is due, its brief, its time limit and how long the earlier attempt took."""

    due: Due
    brief: Brief
    seconds: float
    seconds_before: float = 0.0


class CallResult(NamedTuple):
    """The answer of a call, and how long this due has taken so far."""

    answer: ParticipantReply | NoAnswer
    seconds: float


def identity(due: Due) -> tuple[str, str, str]:
    """Return what identifies a due when the runnable is asked again."""
    return due.who, due.what, due.subject


class Runner:
    """One run, from the first question to the recorded end."""

    def __init__(
        self,
        runnable: Runnable,
        seats: Mapping[str, Participant],
        clock: Clock,
        *,
        budget: Budget | None = None,
        turn_seconds: float = TURN_SECONDS,
        watch: RunWatcher | None = None,
        before_asking: Callable[[], None] = lambda: None,
        timer: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._runnable = runnable
        self._seats = seats
        self._clock = clock
        self._budget = budget or Budget()
        self._turn_seconds = turn_seconds
        self._watch = watch or NoWatcher()
        self._before_asking = before_asking
        self._timer = timer
        self._began = timer()
        self._spent = runnable.spent()  # by earlier runs of the same session (AGT-015)
        self._here = Spent()  # by this run
        self._pause = pause
        # Dues that are not asked for again, by identity. Silent: passed over when their time is up;
        # the value is the last failure. Stuck: they cannot be passed over; the value says why.
        self._silent: dict[tuple[str, str, str], CallFailure] = {}
        self._stuck: dict[tuple[str, str, str], str] = {}

    def run(self) -> RunEnd:
        """Run until nothing is due here or a limit is reached, and record how it ended."""
        self._began = self._timer()
        try:
            ended = self._loop()
        except KeyboardInterrupt:  # AGT-018
            self._stop_all()
            ended = self._make_end(StopReason.INTERRUPTED, "interrupted; run it again to go on")
        except MootError as error:  # our own failure (AGT-018): recorded with its reason, raised
            self._stop_all()
            with suppress(MootError):  # the same failure may prevent writing
                self._runnable.record_end(self._make_end(StopReason.FAILED, str(error)))
            raise
        except BaseException:
            self._stop_all()
            raise
        self._runnable.record_end(ended)
        return ended

    def _loop(self) -> RunEnd:
        # AGT-010: ask for and execute what is due until nothing is. AGT-019: every step reads the
        # record again, so that a second run continues where the first was killed.
        while True:
            self._runnable.advance()
            dues = self._runnable.dues()
            end = self._end_if_over(dues)
            if end is not None:
                return end
            askable = self._askable(dues)
            if not askable:
                end = self._wait(dues)
                if end is not None:
                    return end
            elif not self._pass_over_late(askable):
                self._ask_and_execute(self._next_wave(askable))

    # When to stop, when to wait -------------------------------------------------------------------

    def _end_if_over(self, dues: Sequence[Due]) -> RunEnd | None:
        if not dues:
            return self._make_end(StopReason.SETTLED)
        if not any(identity(due) in self._silent for due in dues) and not self._askable(dues):
            return self._left_waiting(dues)
        limit = find_reached_limit(self._budget, self._spent_in_all(), self._seconds_so_far())
        if limit is not None:
            return self._make_end(*limit)
        if goes_in_circles(self._runnable.history()):  # AGT-016
            return self._make_end(StopReason.CIRCLES, "everybody only repeats what was said before")
        return None

    def _wait(self, dues: Sequence[Due]) -> RunEnd | None:
        """Wait until the first silent due's time is up: no other due is left."""
        silent = [due for due in dues if identity(due) in self._silent]
        first = min(silent, key=lambda due: due.by or 0)
        seconds = max(0, (first.by or 0) - self._clock()) / SECOND + MARGIN_SECONDS
        left = time_left(self._budget, self._seconds_so_far())
        if left is not None and seconds >= left:
            return self._make_end(
                StopReason.TIME, f"the time of {first.who}'s turn is not up before ours"
            )
        self._watch.on_waiting(first, seconds)
        self._pause(seconds)
        failure = self._silent.pop(identity(first))
        if self._pass_over(first, failure, keep=False) is not PassOverResult.DONE:
            self._stuck[identity(first)] = _describe_stuck(first, failure)
        return None

    def _pass_over_late(self, askable: list[Due]) -> bool:
        """Pass over dues whose time was up before they were asked for, if the protocol allows."""
        late = [due for due in askable if due.is_overdue(self._clock())]
        why = "the time of this turn was up before it was asked for"
        failure = CallFailure(CallEnding.TIMED_OUT, why)
        passed = [self._pass_over(due, failure, keep=False) for due in late]
        return PassOverResult.DONE in passed

    def _left_waiting(self, dues: Sequence[Due]) -> RunEnd:
        """End a run whose dues are for others, or can be neither answered nor passed over
        (AGT-013)."""
        stuck = [self._stuck[identity(due)] for due in dues if identity(due) in self._stuck]
        names = tuple(dict.fromkeys(due.who for due in dues))
        if stuck:
            return self._make_end(StopReason.STUCK, stuck[0], names)
        return self._make_end(StopReason.WAITING, f"waiting for {', '.join(names)}", names)

    def _make_end(
        self, stop: StopReason, detail: str = "", waits_for: tuple[str, ...] = ()
    ) -> RunEnd:
        return RunEnd(stop, self._here.turns, self._here.cost, detail, waits_for)

    def _spent_in_all(self) -> Spent:
        return self._spent.plus(self._here.cost, self._here.turns)

    def _seconds_so_far(self) -> float:
        return self._timer() - self._began

    # One wave -------------------------------------------------------------------------------------

    def _askable(self, dues: Sequence[Due]) -> list[Due]:
        """Return the dues for which a participant here can be asked."""
        given_up = {*self._stuck, *self._silent}
        return [due for due in dues if due.who in self._seats and identity(due) not in given_up]

    def _next_wave(self, askable: list[Due]) -> list[ParticipantCall]:
        """Return what to ask now: the first due, and all that may be asked together (AGT-017)."""
        first = askable[0]
        if not self._runnable.may_be_asked_together(first):
            return [self._prepare_call(first)]
        together: dict[str, Due] = {}  # one due for each participant
        for due in askable:
            if self._runnable.may_be_asked_together(due):
                together.setdefault(due.who, due)
        left = turns_left(self._budget, self._spent_in_all())
        most = MOST_AT_ONCE if left is None else min(MOST_AT_ONCE, max(1, left))
        return [self._prepare_call(due) for due in list(together.values())[:most]]

    def _prepare_call(self, due: Due) -> ParticipantCall:
        return ParticipantCall(due, self._runnable.brief(due), self._time_for(due))

    def _time_for(self, due: Due) -> float:
        """Return the seconds for one call: the least that the run, the turn and the budget leave.

        An overdue turn gets as much as others: the participant did not cause the delay.
        """
        limits = [self._turn_seconds]
        left = time_left(self._budget, self._seconds_so_far())
        limits += [left] if left is not None else []
        until = (due.by - self._clock()) / SECOND if due.by is not None else 0
        limits += [until] if until > 0 else []
        return max(LEAST_SECONDS, min(limits))

    def _ask_and_execute(self, wave: list[ParticipantCall]) -> None:
        """Ask, execute, ask again if that may help, then pass over what is still open.

        Passing over comes last: passing over one turn may end the round for all.
        """
        given_up: list[tuple[Due, CallFailure]] = []
        for attempt in range(1, ATTEMPTS + 1):
            with closing(self._ask_all(wave)) as results:
                tried = [
                    (call, self._execute(call, result, attempt))
                    for call, result in zip(wave, results, strict=True)
                ]
            failed = [(call, failure) for call, failure in tried if failure is not None]
            is_last = attempt == ATTEMPTS
            given_up += [
                (call.due, failure) for call, failure in failed if is_last or not failure.findings
            ]
            wave = [
                self._prepare_second_call(call, failure)
                for call, failure in failed
                if failure.findings
            ]
            if is_last or not wave:
                break
        for due, failure in given_up:
            self._pass_over(due, failure)  # AGT-011

    def _prepare_second_call(self, call: ParticipantCall, failure: CallFailure) -> ParticipantCall:
        # AGT-011
        brief = call.brief.again(failure.findings)
        return ParticipantCall(call.due, brief, self._time_for(call.due), failure.seconds)

    # Asking ---------------------------------------------------------------------------------------

    def _ask_all(self, wave: list[ParticipantCall]) -> Generator[CallResult, None, None]:
        """Yield the results in the order of the wave, each as soon as possible: a reply that was
        paid for is executed even if a later call fails."""
        self._before_asking()
        for call in wave:
            nature = self._seats[call.due.who].nature
            self._watch.on_asking(call.due, nature, call.brief.attempt)
        if len(wave) == 1:
            yield self._ask(wave[0])
            return
        from concurrent.futures import ThreadPoolExecutor  # loads logging: slow

        with ThreadPoolExecutor(len(wave), "moot-participant") as pool:
            try:
                yield from pool.map(self._ask, wave)  # AGT-017: in the order of the dues
            except BaseException:
                self._stop_all()  # otherwise the pool would wait for the open calls
                raise

    def _ask(self, call: ParticipantCall) -> CallResult:
        began = self._timer()
        answer: ParticipantReply | NoAnswer
        try:
            answer = self._seats[call.due.who].reply(call.brief, call.seconds)
        except NoAnswer as none:
            answer = none
        seconds = self._timer() - began
        self._watch.on_call_ended(call.due, seconds)
        return CallResult(answer, call.seconds_before + seconds)

    def _stop_all(self) -> None:
        for participant in self._seats.values():
            participant.stop()

    # Executing ------------------------------------------------------------------------------------

    def _execute(
        self, call: ParticipantCall, result: CallResult, attempt: int
    ) -> CallFailure | None:
        """Execute one answer; None if the due is done, by us or by another process."""
        due, (answer, seconds) = call.due, result
        if isinstance(answer, NoAnswer):  # AGT-012: recorded, and never executed
            outcome = self._note(due, answer.ending, attempt, answer.cost, answer.detail)
            self._watch.on_outcome(outcome)
            return _failure_of(answer, seconds)
        answered = self._note(due, CallEnding.ANSWERED, attempt, answer.cost)
        try:
            self._runnable.submit(due, without_author(answer.reply, due.who))  # AGT-020
        except _REFUSALS as error:
            failure = self._note_refusal(due, error, attempt, answer.cost)
            return failure and msgspec.structs.replace(failure, seconds=seconds)
        self._here = self._here.plus(NO_COST, 1)
        if self._still_due(due):  # otherwise it would be asked for without end (AGT-013)
            self._stuck[identity(due)] = f"{due.who}: answered, and it still waits"
        short = shorten_reply(answer.reply)
        outcome = msgspec.structs.replace(answered, stance=short.stance, words=short.words)
        self._watch.on_outcome(outcome)
        self._watch.on_progress(due, self._runnable.standing)
        return None

    def _note_refusal(
        self, due: Due, error: MootError, attempt: int, cost: Cost
    ) -> CallFailure | None:
        """Note a reply that the protocol rejected; its cost was noted with the answer."""
        ending = CallEnding.MALFORMED if isinstance(error, Malformed) else CallEnding.REFUSED
        is_overtaken = not self._still_due(due)  # AGT-014
        ending = CallEnding.OVERTAKEN if is_overtaken else ending
        outcome = self._note(due, ending, attempt, detail=str(error))
        self._watch.on_outcome(msgspec.structs.replace(outcome, cost=cost))
        return None if is_overtaken else CallFailure(ending, str(error), findings_of(error))

    def _still_due(self, due: Due) -> bool:
        return identity(due) in map(identity, self._runnable.dues())

    def _pass_over(self, due: Due, failure: CallFailure, keep: bool = True) -> PassOverResult:
        """Continue without an answer, as the protocol does. `keep`: if the protocol refuses,
        remember that, so that the due is not asked for again."""
        if not self._still_due(due):
            return PassOverResult.DONE  # AGT-014
        if self._ran_out_of_our_time(failure):
            self._silent[identity(due)] = failure
            return PassOverResult.LATER
        passed = self._runnable.pass_over(due, failure)
        if passed is PassOverResult.DONE:
            self._watch.on_progress(due, self._runnable.standing)
        elif keep and passed is PassOverResult.LATER and due.by is not None:
            self._silent[identity(due)] = failure
        elif keep:
            self._stuck[identity(due)] = _describe_stuck(due, failure)
        return passed

    def _ran_out_of_our_time(self, failure: CallFailure) -> bool:
        """Return True if the run's own time limit ended the call: no participant has failed."""
        return failure.ending in _OUT_OF_TIME and (
            time_left(self._budget, self._seconds_so_far()) == 0
        )

    def _note(
        self, due: Due, ending: CallEnding, attempt: int, cost: Cost = NO_COST, detail: str = ""
    ) -> CallOutcome:
        """Record how a call ended and what it cost, before anything else is done (AGT-012)."""
        outcome = CallOutcome(
            agent=due.who,
            what=due.what,
            subject=due.subject,
            ending=ending,
            attempt=attempt,
            cost=cost,
            detail=detail[:500],
            model=self._seats[due.who].nature.model,
        )
        self._here = self._here.plus(cost)
        self._runnable.record_outcome(outcome)
        return outcome


def _failure_of(answer: NoAnswer, seconds: float) -> CallFailure:
    findings = answer.findings if answer.ending is CallEnding.MALFORMED else ()
    return CallFailure(
        answer.ending, answer.detail, findings, seconds, answer.exit_status, answer.signal
    )


def _describe_stuck(due: Due, failure: CallFailure) -> str:
    return f"{due.who}: {failure.ending.value}, {failure.detail}"
