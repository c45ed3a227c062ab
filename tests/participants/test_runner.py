"""The runner: agenda, participant, execute; every way it can end has a name and is on record."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from moot.agents.cost import Cost
from moot.agents.outcome import CallEnding, NoAnswer, RunEnd, StopReason
from moot.agents.runnable import Budget, PassOverResult, Spent
from moot.agents.runner import Runner
from moot.core.clock import SECOND
from moot.core.errors import StoreFailed
from moot.core.machine import Due
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Finish
from moot.testing import World
from tests.participants.errands import LIST, RunnableErrands
from tests.participants.scripted_participants import Together, Voice

OTTER, CRANE = "amber-otter", "teal-crane"
DONE = {"done": True}


@pytest.fixture
def world() -> World:
    made = World()
    made.agent(OTTER)
    made.agent(CRANE)
    return made


def run(errands: RunnableErrands, seats: Mapping[str, Any], **more: Any) -> RunEnd:
    clock = errands.world.clock
    kept: dict[str, Any] = {"pause": lambda seconds: clock.forward(seconds=seconds)}
    return Runner(errands, seats, clock, **{**kept, **more}).run()


@pytest.mark.requirement("AGT-010")
def test_what_is_due_is_asked_and_executed_until_nothing_is(world: World) -> None:
    errands = RunnableErrands(world)
    for _ in range(3):
        errands.ask(CRANE)
    ended = run(errands, {CRANE: Voice(DONE)})
    assert ended == RunEnd(StopReason.SETTLED, 3, Cost(calls=3))
    assert errands.endings == [ended]
    assert world.engine.state(EXAMPLE, LIST).closed == 3
    assert [one.ending for one in errands.outcomes] == [CallEnding.ANSWERED] * 3


@pytest.mark.requirement("AGT-011")
def test_a_malformed_reply_is_asked_for_again_with_the_findings(world: World) -> None:
    errands, voice = RunnableErrands(world), Voice({"nonsense": 1}, DONE)
    errands.ask(CRANE)
    assert run(errands, {CRANE: voice}).stop is StopReason.SETTLED
    first, second = voice.briefs
    assert (first.attempt, second.attempt) == (1, 2)
    assert [finding.code for finding in second.findings] == ["bad_reply"]
    endings = [(one.ending, one.attempt) for one in errands.outcomes]
    assert endings == [
        (CallEnding.ANSWERED, 1),
        (CallEnding.MALFORMED, 1),
        (CallEnding.ANSWERED, 2),
    ]


@pytest.mark.requirement("AGT-011")
def test_after_the_second_one_the_protocols_own_timeout_decides(world: World) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE, due_at=world.clock() + 60 * SECOND)
    ended = run(errands, {CRANE: Voice({"nonsense": 1})})
    assert ended.stop is StopReason.SETTLED
    assert ended.turns == 0
    state = world.engine.state(EXAMPLE, LIST)
    assert (state.closed, len(state.open)) == (1, 0)
    assert [one.ending for one in errands.outcomes].count(CallEnding.MALFORMED) == 2


@pytest.mark.requirement("AGT-012")
@pytest.mark.parametrize(
    "ending",
    [
        CallEnding.CRASHED,
        CallEnding.DOWN,
        CallEnding.SILENT,
        CallEnding.OUT_OF_MONEY,
        CallEnding.TIMED_OUT,
    ],
)
def test_no_answer_is_never_taken_for_an_opinion(world: World, ending: CallEnding) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE, due_at=world.clock() + 60 * SECOND)
    voice = Voice(NoAnswer(ending, "why", Cost(calls=1, tokens_in=5)))
    ended = run(errands, {CRANE: voice})
    assert len(voice.briefs) == 1
    assert errands.said == []
    (outcome,) = errands.outcomes
    assert (outcome.ending, outcome.detail, outcome.cost.tokens_in) == (ending, "why", 5)
    assert ended.cost.tokens_in == 5


@pytest.mark.requirement("AGT-013")
def test_where_the_protocol_waits_for_ever_the_run_is_stuck_and_says_why(world: World) -> None:
    errands = RunnableErrands(world)
    errands.passes = PassOverResult.NEVER
    errands.ask(CRANE)
    errands.ask(OTTER)
    ended = run(errands, {CRANE: Voice(NoAnswer(CallEnding.CRASHED, "exit 1")), OTTER: Voice(DONE)})
    assert (ended.stop, ended.turns, ended.waits_for) == (StopReason.STUCK, 1, (CRANE,))
    assert "crashed, exit 1" in ended.detail


@pytest.mark.requirement("AGT-013")
def test_a_clock_that_stands_still_is_no_endless_loop(world: World) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE, due_at=world.clock() + 60 * SECOND)
    voice = Voice(NoAnswer(CallEnding.CRASHED, "exit 1"))
    ended = run(errands, {CRANE: voice}, pause=lambda _seconds: None)
    assert ended.stop is StopReason.STUCK


@pytest.mark.requirement("AGT-013")
def test_what_is_due_for_others_is_named(world: World) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE)
    ended = run(errands, {OTTER: Voice(DONE)})
    assert (ended.stop, ended.waits_for) == (StopReason.WAITING, (CRANE,))


@pytest.mark.requirement("AGT-013")
def test_an_answer_that_changes_nothing_is_not_asked_for_without_end(world: World) -> None:
    class Unmoved(RunnableErrands):
        def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
            """Take the answer and leave the errand as it is."""

    errands = Unmoved(world)
    errands.ask(CRANE)
    ended = run(errands, {CRANE: Voice(DONE)}, budget=Budget(turns=3))
    assert (ended.stop, ended.turns, ended.waits_for) == (StopReason.STUCK, 1, (CRANE,))
    assert "answered, and it still waits" in ended.detail


@pytest.mark.requirement("AGT-014")
def test_someone_who_did_it_meanwhile_is_no_failure(world: World) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE)

    def meanwhile(_brief: Any) -> dict[str, Any]:
        world.engine.execute(LIST, Finish(id="e1"), CRANE)
        return DONE

    ended = run(errands, {CRANE: Voice(meanwhile)})
    assert (ended.stop, ended.turns) == (StopReason.SETTLED, 0)
    assert errands.outcomes[-1].ending is CallEnding.OVERTAKEN
    assert world.engine.state(EXAMPLE, LIST).closed == 1


@pytest.mark.requirement("AGT-015")
@pytest.mark.parametrize(
    ("budget", "stop"),
    [
        (Budget(turns=2), StopReason.TURNS),
        (Budget(tokens=20), StopReason.TOKENS),
        (Budget(micros=4), StopReason.MONEY),
    ],
)
def test_a_budget_stops_the_run_by_name(world: World, budget: Budget, stop: StopReason) -> None:
    errands = RunnableErrands(world)
    for _ in range(5):
        errands.ask(CRANE)
    voice = Voice(DONE, cost=Cost(calls=1, tokens_in=6, tokens_out=4, micros=2))
    ended = run(errands, {CRANE: voice}, budget=budget)
    assert (ended.stop, ended.turns) == (stop, 2)
    assert len(world.engine.state(EXAMPLE, LIST).open) == 3


@pytest.mark.requirement("AGT-015")
def test_seconds_are_a_budget_too_and_bound_each_call(world: World) -> None:
    errands = RunnableErrands(world)
    for _ in range(5):
        errands.ask(CRANE)
    passed = [0.0]

    def slow(_brief: Any) -> dict[str, Any]:
        passed[0] += 40
        return DONE

    voice = Voice(slow)
    ended = run(errands, {CRANE: voice}, budget=Budget(seconds=100), timer=lambda: passed[0])
    assert (ended.stop, ended.turns) == (StopReason.TIME, 3)
    assert voice.seconds == [100, 60, 20]


@pytest.mark.requirement("AGT-015")
def test_what_was_spent_before_counts(world: World) -> None:
    errands = RunnableErrands(world)
    errands.before = Spent(1, Cost(calls=1, tokens_in=10))
    for _ in range(5):
        errands.ask(CRANE)
    ended = run(errands, {CRANE: Voice(DONE)}, budget=Budget(turns=3))
    assert (ended.stop, ended.turns) == (StopReason.TURNS, 2)


@pytest.mark.requirement("AGT-016")
def test_going_in_circles_stops_the_run(world: World) -> None:
    errands = RunnableErrands(world)
    for _ in range(9):
        errands.ask(CRANE)
    ended = run(errands, {CRANE: Voice(DONE)})
    assert (ended.stop, ended.turns) == (StopReason.CIRCLES, 3)


@pytest.mark.requirement("AGT-017")
def test_where_the_protocol_allows_it_all_are_asked_at_once(world: World) -> None:
    errands = RunnableErrands(world, together=True)
    gate = threading.Barrier(2)
    errands.ask(CRANE)
    errands.ask(OTTER)
    ended = run(errands, {CRANE: Together(gate, DONE), OTTER: Together(gate, DONE)})
    assert (ended.stop, ended.turns) == (StopReason.SETTLED, 2)
    assert [said.who for said in errands.said] == [
        CRANE,
        OTTER,
    ]  # executed in the order of the dues


@pytest.mark.requirement("AGT-017")
def test_at_once_never_goes_beyond_the_turns_that_are_left(world: World) -> None:
    errands = RunnableErrands(world, together=True)
    errands.ask(CRANE)
    errands.ask(OTTER)
    ended = run(errands, {CRANE: Voice(DONE), OTTER: Voice(DONE)}, budget=Budget(turns=1))
    assert (ended.stop, ended.turns) == (StopReason.TURNS, 1)


@pytest.mark.requirement("AGT-018")
def test_an_interruption_is_an_ending_and_everybody_is_told_to_stop(world: World) -> None:
    def interrupt(_brief: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    errands, voice = RunnableErrands(world), Voice(interrupt)
    errands.ask(CRANE)
    ended = run(errands, {CRANE: voice})
    assert ended.stop is StopReason.INTERRUPTED
    assert errands.endings == [ended]
    assert voice.stopped
    assert len(world.engine.state(EXAMPLE, LIST).open) == 1


@pytest.mark.requirement("AGT-018")
def test_trouble_of_our_own_is_no_participants_fault(world: World) -> None:
    def broken(_brief: Any) -> dict[str, Any]:
        raise StoreFailed("disk_full", "no space", hint="make some")

    errands, voice = RunnableErrands(world), Voice(broken)
    errands.ask(CRANE)
    with pytest.raises(StoreFailed):
        run(errands, {CRANE: voice})
    assert voice.stopped
    assert errands.outcomes == []


@pytest.mark.requirement("AGT-019")
def test_a_second_run_goes_on_where_the_record_stands(world: World) -> None:
    """Stateless: what one runner did not finish another one does, and nothing is done twice."""
    for _ in range(4):
        RunnableErrands(world).ask(CRANE)

    class Killed(BaseException):
        """kill -9 leaves no time for anything."""

    def dies(_brief: Any) -> dict[str, Any]:
        raise Killed

    with pytest.raises(Killed):
        run(RunnableErrands(world), {CRANE: Voice(DONE, DONE, dies)})
    again = RunnableErrands(world)
    ended = run(again, {CRANE: Voice(DONE)})
    assert (ended.stop, ended.turns) == (StopReason.SETTLED, 2)
    assert world.engine.state(EXAMPLE, LIST).closed == 4


@pytest.mark.requirement("AGT-020")
@pytest.mark.parametrize("field", ["author", "from", "agent"])
def test_a_reply_in_anothers_name_is_not_executed(world: World, field: str) -> None:
    errands = RunnableErrands(world)
    errands.passes = PassOverResult.NEVER
    errands.ask(CRANE)
    ended = run(errands, {CRANE: Voice({**DONE, field: OTTER})})
    assert ended.stop is StopReason.STUCK
    assert errands.said == []
    assert {one.ending for one in errands.outcomes} == {CallEnding.ANSWERED, CallEnding.MALFORMED}
    assert "claims to be by 'amber-otter'" in errands.outcomes[-1].detail


def test_ones_own_name_in_a_reply_is_no_forgery(world: World) -> None:
    errands = RunnableErrands(world)
    errands.ask(CRANE)
    assert run(errands, {CRANE: Voice({**DONE, "author": CRANE})}).stop is StopReason.SETTLED


def test_whose_time_was_up_before_is_passed_over_without_being_asked(world: World) -> None:
    errands, voice = RunnableErrands(world), Voice(DONE)
    errands.ask(CRANE, due_at=world.clock() + SECOND)
    world.clock.forward(seconds=2)
    assert run(errands, {CRANE: voice}).stop is StopReason.SETTLED
    assert voice.briefs == []
