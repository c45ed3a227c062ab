"""One act that two protocols record: both or neither, the second made from the first."""

from __future__ import annotations

import pytest

from moot.core.errors import Refused, Tampered
from moot.engine.job import Job, JobOutcome
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Ask, ErrandAsked, Finish, Withdraw
from moot.testing import World
from tests.engine import tampering

FIRST, SECOND = "example/first", "example/second"
OTTER, CRANE = "amber-otter", "teal-crane"


@pytest.fixture
def world() -> World:
    made = World()
    made.agent(OTTER)
    made.agent(CRANE)
    return made


def count(world: World) -> int:
    with world.store.read() as view:
        return view.count_streams_and_events()[1]


def ask(title: str) -> Ask:
    return Ask(title=title, of=CRANE)


def test_the_second_is_made_from_what_the_first_recorded(world: World) -> None:
    def then(done: JobOutcome) -> Job:
        (first,) = done.recorded
        assert isinstance(first.event, ErrandAsked)
        return Job(SECOND, ask(f"after {first.event.id}"), OTTER, cause=first.hash.hex())

    one, two = world.engine.execute_chain(Job(FIRST, ask("x"), OTTER), then)
    assert two.newest(ErrandAsked).event.title == "after e1"
    assert two.recorded[0].cause == one.recorded[0].hash.hex()
    assert (
        world.engine.state(EXAMPLE, FIRST).asked == world.engine.state(EXAMPLE, SECOND).asked == 1
    )


def test_if_one_is_refused_none_is_recorded(world: World) -> None:
    before = count(world)
    with pytest.raises(Refused) as refused:
        world.engine.execute_chain(
            Job(FIRST, ask("x"), OTTER), lambda _: Job(SECOND, Finish(id="e9"), CRANE)
        )
    assert refused.value.code == "errand_not_open"
    assert count(world) == before
    assert world.engine.state(EXAMPLE, FIRST).asked == 0


def test_a_chain_under_a_key_is_done_once(world: World) -> None:
    for _ in range(2):
        world.engine.execute_chain(
            Job(FIRST, ask("x"), OTTER, key="k1"),
            lambda _: Job(SECOND, ask("y"), OTTER, key="k1"),
        )
    assert (
        world.engine.state(EXAMPLE, FIRST).asked,
        world.engine.state(EXAMPLE, SECOND).asked,
    ) == (1, 1)


def test_only_the_first_may_need_a_proved_history(world: World) -> None:
    world.engine.execute(FIRST, ask("x"), OTTER)
    before = count(world)
    with pytest.raises(TypeError, match="must come first"):
        world.engine.execute_chain(
            Job(SECOND, ask("y"), OTTER), lambda _: Job(FIRST, Withdraw(id="e1"), OTTER)
        )
    assert count(world) == before
    done = world.engine.execute_chain(
        Job(FIRST, Withdraw(id="e1"), OTTER), lambda _: Job(SECOND, ask("y"), OTTER)
    )
    assert [len(outcome.recorded) for outcome in done] == [1, 1]


def test_a_further_one_may_need_it_if_its_history_is_named(world: World) -> None:
    for stream in (FIRST, SECOND):
        world.engine.execute(stream, ask("x"), OTTER)
    world.engine.execute_chain(
        Job(FIRST, Withdraw(id="e1"), OTTER),
        lambda _: Job(SECOND, Withdraw(id="e1"), OTTER),
        proved=[SECOND],
    )
    assert [world.engine.state(EXAMPLE, stream).closed for stream in (FIRST, SECOND)] == [1, 1]


def test_a_named_history_that_does_not_hold_stops_the_whole_chain(world: World) -> None:
    for stream in (FIRST, SECOND):
        world.engine.execute(stream, ask("x"), OTTER)
    tampering.rewrite(world, SECOND, 0, corr="forged")
    before = tampering.everything(world)
    with pytest.raises(Tampered):
        world.another_engine().execute_chain(
            Job(FIRST, Withdraw(id="e1"), OTTER),
            lambda _: Job(SECOND, Withdraw(id="e1"), OTTER),
            proved=[SECOND],
        )
    assert tampering.everything(world) == before


def test_what_must_hold_beside_it_may_stop_a_chain_at_the_last_moment(world: World) -> None:
    def check(done: list[JobOutcome]) -> None:
        assert [outcome.stream for outcome in done] == [FIRST, SECOND]
        raise Refused("changed", "something else happened", hint="look again")

    before = count(world)
    with pytest.raises(Refused):
        world.engine.execute_chain(
            Job(FIRST, ask("x"), OTTER),
            lambda _: Job(SECOND, ask("y"), OTTER),
            before_commit=check,
        )
    assert count(world) == before
    assert world.engine.state(EXAMPLE, FIRST).asked == 0


def test_what_is_shown_and_how_far_one_got_are_one_step(world: World) -> None:
    shown = world.engine.deliver(OTTER, lambda view: (view.cursor(OTTER, "box"), {"box": 7}))
    again = world.engine.deliver(OTTER, lambda view: (view.cursor(OTTER, "box"), {}))
    assert (shown, again) == (0, 7)
