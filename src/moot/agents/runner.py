"""The runner: asks participants for what is due, and executes replies under each agent's own key.

    while something is due for a seat and no limit is reached:
        the brief -> the participant -> a reply      at the same time where the protocol allows
        the reply -> the desk, which executes it     in the order of the dues, always
        a reply that cannot be used: asked again, with the findings; then the protocol's own
        way to go on without one, at once or when that turn's time is up

It stores nothing of its own: every step begins by asking the desk again. So it can be killed at any
moment and started again: a turn that is recorded is no longer due, one that is not is asked for
again. What a call cost is recorded before its reply is executed, so that no failure hides it.
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
SHORTEST: Final = 1.0
# Seconds to wait beyond a deadline: time is up after it, not at it.
TICK: Final = 0.002
_OUT_OF_TIME: Final = (CallEnding.TIMED_OUT, CallEnding.SLOW)
# Errors by which a protocol rejects a reply; any other is our own trouble and ends the run.
_REFUSALS: Final = (Refused, Malformed, Conflict, NotFound)


class ParticipantCall(NamedTuple):
    """One call: what is due, its brief, how long it may take and how long earlier ones took."""

    due: Due
    brief: Brief
    seconds: float
    seconds_before: float = 0.0


class HeardCall(NamedTuple):
    """What a call brought, and how long this due has taken by now."""

    answer: ParticipantReply | NoAnswer
    seconds: float


def identity(due: Due) -> tuple[str, str, str]:
    """By what a due is recognised when the desk is asked again: for whom, what, about what."""
    return due.who, due.what, due.subject


class Runner:
    """One run: from the first question to the end, which is on record."""

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
        # Dues that are not asked for again, by identity: those that are passed over once their time
        # is up, with how the last call ended; and those that can never be, with why.
        self._silent: dict[tuple[str, str, str], CallFailure] = {}
        self._stuck: dict[tuple[str, str, str], str] = {}

    def run(self) -> RunEnd:
        """Run until nothing is due here or a limit is reached; how it ended is recorded."""
        self._began = self._timer()
        try:
            ended = self._loop()
        except KeyboardInterrupt:  # AGT-018
            self._stop_all()
            ended = self._make_end(StopReason.INTERRUPTED, "interrupted; run it again to go on")
        except MootError as error:  # our own trouble (AGT-018): recorded by its name, and raised
            self._stop_all()
            with suppress(MootError):  # what broke may also keep us from writing
                self._runnable.record_end(self._make_end(StopReason.FAILED, str(error)))
            raise
        except BaseException:
            self._stop_all()
            raise
        self._runnable.record_end(ended)
        return ended

    def _loop(self) -> RunEnd:
        # AGT-010: what is due is asked for and executed until nothing is. AGT-019: every step reads
        # the record again, so that a second run goes on where the first was killed.
        while True:
            self._runnable.advance()
            dues = self._runnable.dues()
            over = self._end_if_over(dues)
            if over is not None:
                return over
            mine = self._askable(dues)
            if not mine:
                over = self._wait(dues)
                if over is not None:
                    return over
            elif not self._pass_over_late(mine):
                self._ask_and_execute(self._next_wave(mine))

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
        """Only dues without an answer are left: wait until the first one's time is up."""
        silent = [due for due in dues if identity(due) in self._silent]
        first = min(silent, key=lambda due: due.by or 0)
        seconds = max(0, (first.by or 0) - self._clock()) / SECOND + TICK
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

    def _pass_over_late(self, mine: list[Due]) -> bool:
        """Pass over dues whose time was up before anybody was asked, where the protocol allows."""
        late = [due for due in mine if due.is_overdue(self._clock())]
        why = "the time of this turn was up before it was asked for"
        failure = CallFailure(CallEnding.TIMED_OUT, why)
        passed = [self._pass_over(due, failure, keep=False) for due in late]
        return PassOverResult.DONE in passed

    def _left_waiting(self, dues: Sequence[Due]) -> RunEnd:
        """The end of a run whose dues are others', or can be neither answered nor passed over
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
        """The dues that somebody here can be asked for."""
        given_up = {*self._stuck, *self._silent}
        return [due for due in dues if due.who in self._seats and identity(due) not in given_up]

    def _next_wave(self, mine: list[Due]) -> list[ParticipantCall]:
        """What to ask now: the first due, and all that may be answered at once (AGT-017)."""
        first = mine[0]
        if not self._runnable.may_be_asked_together(first):
            return [self._prepare_call(first)]
        each = {due.who: due for due in reversed(mine) if self._runnable.may_be_asked_together(due)}
        beside = [due for due in mine if each.get(due.who) is due]
        left = turns_left(self._budget, self._spent_in_all())
        most = MOST_AT_ONCE if left is None else min(MOST_AT_ONCE, max(1, left))
        return [self._prepare_call(due) for due in beside[:most]]

    def _prepare_call(self, due: Due) -> ParticipantCall:
        return ParticipantCall(due, self._runnable.brief(due), self._time_for(due))

    def _time_for(self, due: Due) -> float:
        """Seconds for one call: the least that the run, the turn and the budget leave. One whose
        turn is overdue gets as much as others: its lateness is not its own fault."""
        limits = [self._turn_seconds]
        left = time_left(self._budget, self._seconds_so_far())
        limits += [left] if left is not None else []
        until = (due.by - self._clock()) / SECOND if due.by is not None else 0
        limits += [until] if until > 0 else []
        return max(SHORTEST, min(limits))

    def _ask_and_execute(self, wave: list[ParticipantCall]) -> None:
        """Ask, execute, ask again where that may help, then pass over what is still open.

        Passing over comes last: going on without one may end the round for the others as well.
        """
        given_up: list[tuple[Due, CallFailure]] = []
        for attempt in range(1, ATTEMPTS + 1):
            with closing(self._ask_all(wave)) as heard:
                tried = [
                    (asked, self._execute(asked, said, attempt))
                    for asked, said in zip(wave, heard, strict=True)
                ]
            failed = [(asked, wrong) for asked, wrong in tried if wrong is not None]
            last = attempt == ATTEMPTS
            given_up += [(one.due, wrong) for one, wrong in failed if last or not wrong.findings]
            wave = [
                self._prepare_second_call(asked, wrong) for asked, wrong in failed if wrong.findings
            ]
            if last or not wave:
                break
        for due, wrong in given_up:
            self._pass_over(due, wrong)  # AGT-011

    def _prepare_second_call(self, asked: ParticipantCall, wrong: CallFailure) -> ParticipantCall:
        # AGT-011
        brief = asked.brief.again(wrong.findings)
        return ParticipantCall(asked.due, brief, self._time_for(asked.due), wrong.seconds)

    # Asking ---------------------------------------------------------------------------------------

    def _ask_all(self, wave: list[ParticipantCall]) -> Generator[HeardCall, None, None]:
        """The answers in the order of the wave, each as soon as it can be: one that has been paid
        for is executed even if a later one fails."""
        self._before_asking()
        for asked in wave:
            nature = self._seats[asked.due.who].nature
            self._watch.on_asking(asked.due, nature, asked.brief.attempt)
        if len(wave) == 1:
            yield self._ask(wave[0])
            return
        from concurrent.futures import ThreadPoolExecutor  # loads logging: slow

        with ThreadPoolExecutor(len(wave), "moot-participant") as pool:
            try:
                yield from pool.map(self._ask, wave)  # AGT-017: in the order of the dues
            except BaseException:
                self._stop_all()  # otherwise the pool would wait for the calls still under way
                raise

    def _ask(self, asked: ParticipantCall) -> HeardCall:
        began = self._timer()
        answer: ParticipantReply | NoAnswer
        try:
            answer = self._seats[asked.due.who].reply(asked.brief, asked.seconds)
        except NoAnswer as none:
            answer = none
        seconds = self._timer() - began
        self._watch.on_heard(asked.due, seconds)
        return HeardCall(answer, asked.seconds_before + seconds)

    def _stop_all(self) -> None:
        for participant in self._seats.values():
            participant.stop()

    # Executing ------------------------------------------------------------------------------------

    def _execute(
        self, asked: ParticipantCall, heard: HeardCall, attempt: int
    ) -> CallFailure | None:
        """Execute one answer; None if the due is done, by us or by someone else."""
        due, (answer, seconds) = asked.due, heard
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
        told = msgspec.structs.replace(answered, stance=short.stance, words=short.words)
        self._watch.on_outcome(told)
        self._watch.on_progress(due, self._runnable.standing)
        return None

    def _note_refusal(
        self, due: Due, error: MootError, attempt: int, cost: Cost
    ) -> CallFailure | None:
        """Note a reply that the protocol rejected; its cost was noted with the answer itself."""
        ending = CallEnding.MALFORMED if isinstance(error, Malformed) else CallEnding.REFUSED
        overtaken = not self._still_due(due)  # AGT-014
        ending = CallEnding.OVERTAKEN if overtaken else ending
        outcome = self._note(due, ending, attempt, detail=str(error))
        self._watch.on_outcome(msgspec.structs.replace(outcome, cost=cost))
        return None if overtaken else CallFailure(ending, str(error), findings_of(error))

    def _still_due(self, due: Due) -> bool:
        return identity(due) in map(identity, self._runnable.dues())

    def _pass_over(self, due: Due, failure: CallFailure, keep: bool = True) -> PassOverResult:
        """Go on without an answer, in the protocol's own way. `keep`: if it does not let us,
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
        """Was it ended because this run may not take longer? Then nobody has failed."""
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
    again = answer.findings if answer.ending is CallEnding.MALFORMED else ()
    return CallFailure(
        answer.ending, answer.detail, again, seconds, answer.exit_status, answer.signal
    )


def _describe_stuck(due: Due, failure: CallFailure) -> str:
    return f"{due.who}: {failure.ending.value}, {failure.detail}"
