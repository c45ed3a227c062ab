"""The same command twice is one event, however often and wherever it is asked."""

from __future__ import annotations

import pytest

from moot.core.errors import Conflict, Malformed, Refused
from moot.engine.job import Job, JobOutcome
from moot.protocols.example.model import Ask, Finish
from moot.testing import World
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, Complain, Jot, Ponder, jot, toy_world

OTTER, CRANE = "amber-otter", "teal-crane"


def texts(world: World) -> list[str]:
    return [record.body.data["text"] for record in chain(world, STREAM)]


@pytest.mark.requirement("LDG-043")
def test_the_same_command_under_the_same_key_is_one_event() -> None:
    world = toy_world()
    first = world.engine.execute(STREAM, jot("a", "b"), OTTER, key="k")
    before = everything(world)
    second = world.engine.execute(STREAM, jot("a", "b"), OTTER, key="k")
    assert everything(world) == before
    assert (first.replayed, second.replayed) == (False, True)
    assert second.recorded == first.recorded


@pytest.mark.requirement("LDG-043")
def test_the_repeat_returns_what_was_recorded_then_and_the_state_of_now() -> None:
    world = toy_world()
    first = world.engine.execute(STREAM, jot("a"), OTTER, key="k", corr="then")
    world.engine.execute(STREAM, jot("b"), OTTER)
    second = world.engine.execute(STREAM, jot("a"), OTTER, key="k", corr="now")
    assert second.recorded == first.recorded
    assert second.recorded[0].corr == "then"
    assert TOY.require_state(second.state).texts == ("a", "b")


@pytest.mark.requirement("LDG-043")
def test_a_key_is_remembered_after_a_restart_and_by_other_processes() -> None:
    world = toy_world()
    first = world.engine.execute(STREAM, jot("a"), OTTER, key="k")
    for engine in (world.another_engine(), world.another_engine()):
        again = engine.execute(STREAM, jot("a"), OTTER, key="k")
        assert again.replayed
        assert again.recorded == first.recorded
    assert texts(world) == ["a"]


@pytest.mark.requirement("LDG-043")
def test_within_one_batch_too() -> None:
    world = toy_world()
    job = Job(STREAM, jot("a", "b"), OTTER, "k")
    results = world.engine.execute_all([job, job, Job(STREAM, jot("c"), OTTER), job])
    outcomes = [result for result in results if isinstance(result, JobOutcome)]
    assert [outcome.replayed for outcome in outcomes] == [False, True, False, True]
    assert outcomes[1].recorded == outcomes[3].recorded == outcomes[0].recorded
    assert texts(world) == ["a", "b", "c"]


@pytest.mark.requirement("LDG-044")
@pytest.mark.parametrize("other", [jot("b"), Jot(texts=("a", "")), Complain(text="a")])
def test_the_same_key_for_another_command_is_a_conflict(other: Jot | Complain) -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER, key="k")
    before = everything(world)
    with pytest.raises(Conflict) as caught:
        world.engine.execute(STREAM, other, OTTER, key="k")
    assert caught.value.code == "key_reused"
    assert everything(world) == before


@pytest.mark.requirement("LDG-044")
def test_commands_of_the_same_content_and_another_kind_are_not_the_same() -> None:
    world = toy_world()
    stream = "example/today"
    world.engine.execute(stream, Ask(title="tea", of=OTTER), OTTER)
    world.engine.execute(stream, Finish(id="e1"), OTTER, key="k")
    from moot.protocols.example.model import Withdraw

    with pytest.raises(Conflict) as caught:
        world.engine.execute(stream, Withdraw(id="e1"), OTTER, key="k")
    assert caught.value.code == "key_reused"


@pytest.mark.requirement("LDG-043")
def test_keys_belong_to_their_actor_and_their_stream() -> None:
    world = toy_world(OTTER, CRANE)
    for stream, actor in [(STREAM, OTTER), (STREAM, CRANE), ("toy/other", OTTER)]:
        assert not world.engine.execute(stream, jot("a"), actor, key="k").replayed
    assert texts(world) == ["a", "a"]


@pytest.mark.requirement("LDG-043")
def test_a_key_that_begins_like_another_is_another() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER, key="k")
    assert not world.engine.execute(STREAM, jot("b"), OTTER, key="k1").replayed
    assert not world.engine.execute(STREAM, jot("c"), OTTER, key="K").replayed
    assert texts(world) == ["a", "b", "c"]


@pytest.mark.requirement("LDG-045")
def test_a_repeated_refusal_is_recorded_once_and_refused_again() -> None:
    world = toy_world()
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            world.engine.execute(STREAM, Complain(text="no"), OTTER, key="k")
        assert caught.value.code == "unhappy"
    with pytest.raises(Refused):
        world.another_engine().execute(STREAM, Complain(text="no"), OTTER, key="k")
    assert texts(world) == ["no"]


@pytest.mark.requirement("LDG-045")
def test_a_refusal_without_a_key_is_recorded_each_time() -> None:
    world = toy_world()
    for _ in range(2):
        with pytest.raises(Refused):
            world.engine.execute(STREAM, Complain(text="no"), OTTER)
    assert texts(world) == ["no", "no"]


@pytest.mark.requirement("LDG-044")
def test_a_refused_commands_key_does_not_serve_another_command() -> None:
    world = toy_world()
    with pytest.raises(Refused):
        world.engine.execute(STREAM, Complain(text="no"), OTTER, key="k")
    before = everything(world)
    with pytest.raises(Conflict) as caught:
        world.engine.execute(STREAM, Complain(text="never"), OTTER, key="k")
    assert caught.value.code == "key_reused"
    assert everything(world) == before


@pytest.mark.requirement("LDG-045")
def test_what_was_refused_may_succeed_later_under_its_key_and_then_once() -> None:
    world = toy_world(OTTER, CRANE)
    stream = "example/today"
    world.engine.execute(stream, Ask(title="tea", of=CRANE), OTTER)
    with pytest.raises(Refused) as caught:
        world.engine.execute(stream, Finish(id="e2"), OTTER, key="k")
    assert caught.value.code == "errand_not_open"
    world.engine.execute(stream, Ask(title="more tea", of=OTTER), CRANE)
    first = world.engine.execute(stream, Finish(id="e2"), OTTER, key="k")
    second = world.engine.execute(stream, Finish(id="e2"), OTTER, key="k")
    assert (first.replayed, second.replayed) == (False, True)
    assert second.recorded == first.recorded


@pytest.mark.requirement("LDG-045")
def test_a_meddlers_refusal_under_a_key_then_its_success_keeps_both_on_record() -> None:
    world = toy_world(OTTER, CRANE)
    stream = "example/today"
    world.engine.execute(stream, Ask(title="tea", of=CRANE), OTTER)
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            world.engine.execute(stream, Finish(id="e1"), OTTER, key="k")
        assert caught.value.code == "not_yours"
    world.engine.execute(stream, Finish(id="e1"), CRANE, key="k")
    kinds = [record.body.type.removeprefix("example.") for record in chain(world, stream)]
    assert kinds == ["errand_asked", "meddled", "errand_done"]


@pytest.mark.parametrize("key", ["", "a/b", "a!", "k" * 97, "é", "a b", "k\n"])
def test_a_caller_key_outside_its_grammar_is_malformed(key: str) -> None:
    world = toy_world()
    before = everything(world)
    with pytest.raises(Malformed) as caught:
        world.engine.execute(STREAM, jot("a"), OTTER, key=key)
    assert caught.value.code == "bad_key"
    assert everything(world) == before


def test_the_longest_caller_key_works() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER, key="k" * 96)
    assert world.engine.execute(STREAM, jot("a"), OTTER, key="k" * 96).replayed


def test_an_accepted_command_without_events_is_simply_asked_again() -> None:
    world = toy_world()
    assert not world.engine.execute(STREAM, Ponder(), OTTER, key="k").replayed
    assert not world.engine.execute(STREAM, Ponder(), OTTER, key="k").replayed


@pytest.mark.requirement("LDG-043")
def test_the_key_is_part_of_what_is_signed() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("a"), OTTER, key="k")
    key = chain(world, STREAM)[0].body.key
    assert key is not None
    assert key.startswith("amber-otter/k/")
    assert len(key.rsplit("/", 1)[1]) == 16
