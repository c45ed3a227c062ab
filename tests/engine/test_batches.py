"""Many jobs in one commit: each gets its own answer, and none disturbs another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from moot.core.errors import (
    Conflict,
    Malformed,
    MootError,
    NotFound,
    Refused,
    StoreFailed,
    Tampered,
)
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.model import RetireAgent
from moot.engine.job import Job, JobOutcome
from moot.engine.signs_of_life import SEEN
from moot.protocols.example.model import Finish
from moot.store.memory import MemoryStore, MemoryTransaction
from moot.testing import World
from tests.engine.tampering import chain, everything, spoil_signature
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, Complain, Jotted, Ponder, Spend, jot, toy_world

OTTER, CRANE = "amber-otter", "teal-crane"
GOOD = Job(STREAM, jot("good"), OTTER)

BAD: dict[str, tuple[Job, type[MootError], str]] = {
    "refused": (Job("example/a", Finish(id="e1"), OTTER), Refused, "errand_not_open"),
    "too large": (Job(STREAM, jot("fine", "x" * 70_000), OTTER), Refused, "too_large"),
    "not canonical": (Job(STREAM, jot("fine", "\ud800"), OTTER), Malformed, "not_canonical"),
    "not canonical, keyed": (Job(STREAM, jot("\ud800"), OTTER, "k"), Malformed, "not_canonical"),
    "a bad stream": (Job("no stream", jot("x"), OTTER), Malformed, "bad_id"),
    "an unknown protocol": (Job("nobody/x", jot("x"), OTTER), NotFound, "unknown_protocol"),
    "a foreign command": (Job(REGISTRY, jot("x"), OTTER), Malformed, "unknown_command"),
    "an unknown agent": (Job(STREAM, jot("x"), "nobody-here"), NotFound, "agent_not_found"),
    "a missing key": (Job(STREAM, jot("x"), CRANE), Refused, "key_missing"),
    "a bad caller's key": (Job(STREAM, jot("x"), OTTER, "no/key"), Malformed, "bad_key"),
    "a long correlation": (Job(STREAM, jot("x"), OTTER, corr="c" * 129), Malformed, "malformed"),
}


def world_without_cranes_key() -> World:
    world = toy_world(OTTER, CRANE)
    world.keys.signers[CRANE] = []
    return world


@pytest.mark.requirement("LDG-060")
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", BAD)
def test_a_failing_job_does_not_disturb_the_others(name: str, place: int) -> None:
    world = world_without_cranes_key()
    bad, kind, code = BAD[name]
    jobs = [GOOD, GOOD]
    jobs.insert(place, bad)
    results = world.engine.execute_all(jobs)
    failed = results.pop(place)
    assert type(failed) is kind
    assert failed.code == code
    assert all(isinstance(result, JobOutcome) for result in results)
    assert [record.body.data for record in chain(world, STREAM)] == [{"text": "good"}] * 2
    assert world.engine.state(TOY, STREAM) == world.another_engine().state(TOY, STREAM)


@pytest.mark.requirement("LDG-060")
@pytest.mark.parametrize("name", BAD)
def test_a_batch_of_failures_stores_nothing(name: str) -> None:
    world = world_without_cranes_key()
    before = everything(world)
    bad, kind, _ = BAD[name]
    results = world.engine.execute_all([bad, bad])
    assert [type(result) for result in results] == [kind, kind]
    assert everything(world) == before


@pytest.mark.requirement("LDG-060")
@pytest.mark.parametrize("place", [0, 1])
def test_a_damaged_stream_fails_only_the_job_that_relies_on_its_proof(place: int) -> None:
    world = toy_world(OTTER)
    world.engine.execute("toy/other", jot("one"), OTTER)
    damaged = chain(world, "toy/other")
    damaged[-1] = spoil_signature(damaged[-1])
    engine = world.another_engine()
    jobs = [GOOD, Job("toy/other", jot("still read"), OTTER)]
    jobs.insert(place, Job("toy/other", Spend(), OTTER))
    results = engine.execute_all(jobs)
    unproved = results.pop(place)
    assert isinstance(unproved, Tampered)
    assert unproved.code == "unproved_record"
    assert all(isinstance(result, JobOutcome) for result in results)
    assert [record.body.data["text"] for record in chain(world, STREAM)] == ["good"]


@pytest.mark.requirement("LDG-060")
def test_a_job_that_is_undone_leaves_no_sign_of_life() -> None:
    world = toy_world(OTTER, CRANE)
    world.engine.execute_all(
        [Job(STREAM, jot("fine", "x" * 70_000), OTTER), Job(STREAM, jot("x"), CRANE)]
    )
    with world.store.read() as view:
        assert view.row(SEEN, OTTER) is None
        assert view.row(SEEN, CRANE) is not None
    assert OTTER not in world.engine.signs([OTTER])


def test_each_job_sees_what_its_predecessors_in_the_batch_left() -> None:
    world = toy_world()
    results = world.engine.execute_all([Job(STREAM, jot(text), OTTER) for text in "abc"])
    outcomes = [result for result in results if isinstance(result, JobOutcome)]
    states = [TOY.require_state(outcome.state) for outcome in outcomes]
    assert [state.texts for state in states] == [("a",), ("a", "b"), ("a", "b", "c")]
    assert [record.seq for record in chain(world, STREAM)] == [0, 1, 2]


def test_results_stand_in_the_order_of_the_jobs() -> None:
    world = toy_world()
    jobs = [Job(f"toy/{n % 3}", jot(str(n)), OTTER) for n in range(9)]
    results = world.engine.execute_all(jobs)
    told = [r.newest(Jotted).event.text for r in results if isinstance(r, JobOutcome)]
    assert told == [str(n) for n in range(9)]


def test_a_refusal_with_events_is_stored_with_the_rest() -> None:
    world = toy_world()
    results = world.engine.execute_all([GOOD, Job(STREAM, Complain(text="no"), OTTER), GOOD])
    assert [type(result) for result in results] == [JobOutcome, Refused, JobOutcome]
    kinds = [record.body.type for record in chain(world, STREAM)]
    assert kinds == ["toy.jotted", "toy.complained", "toy.jotted"]


@pytest.mark.requirement("LDG-041")
def test_a_key_that_ends_in_a_batch_signs_nothing_after_that_place() -> None:
    world = toy_world(OTTER, CRANE)
    retire = Job(REGISTRY, RetireAgent(name=OTTER), SYSTEM)
    before, ended, after = world.engine.execute_all([GOOD, retire, GOOD])
    assert isinstance(before, JobOutcome)
    assert isinstance(ended, JobOutcome)
    assert isinstance(after, Refused)
    assert after.code == "agent_retired"
    assert len(chain(world, STREAM)) == 1


def test_an_empty_batch_and_one_that_records_nothing_change_nothing() -> None:
    world = toy_world()
    before = everything(world)
    assert world.engine.execute_all([]) == []
    (result,) = world.engine.execute_all([Job(STREAM, Ponder(), OTTER)])
    assert isinstance(result, JobOutcome)
    assert everything(world) == before


def test_index_rows_are_written_with_the_events_and_not_for_what_was_undone() -> None:
    world = toy_world()
    world.engine.execute_all([GOOD, Job(STREAM, jot("late", "x" * 70_000), OTTER)])
    with world.store.read() as view:
        (row,) = view.rows("toy.last")
    assert (row.key, row.value, row.stream, row.seq) == (STREAM, b'{"text":"good"}', STREAM, 0)


def test_a_conflict_over_one_key_is_that_jobs_own() -> None:
    world = toy_world()
    jobs = [
        Job(STREAM, jot("a"), OTTER, "k"),
        Job(STREAM, jot("b"), OTTER, "k"),
        Job(STREAM, jot("c"), OTTER),
    ]
    first, second, third = world.engine.execute_all(jobs)
    assert isinstance(first, JobOutcome)
    assert isinstance(second, Conflict)
    assert second.code == "key_reused"
    assert isinstance(third, JobOutcome)
    assert [record.body.data["text"] for record in chain(world, STREAM)] == ["a", "c"]


class FailingStore(MemoryStore):
    """A store whose commits can fail."""

    trouble: BaseException | None = None

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        with super().write() as change:
            yield change
            if self.trouble is not None:
                raise self.trouble


@pytest.mark.requirement("LDG-064")
@pytest.mark.parametrize("trouble", [StoreFailed("disk_full", "no room"), RuntimeError("bug")])
def test_if_the_commit_fails_every_job_fails_and_nothing_stays_in_memory(
    trouble: Exception,
) -> None:
    store = FailingStore()
    world = toy_world(store=store)
    world.engine.execute(STREAM, jot("before"), OTTER)
    store.trouble = trouble
    with pytest.raises(type(trouble)):
        world.engine.execute_all([GOOD, GOOD, GOOD])
    store.trouble = None
    assert [record.body.data for record in chain(world, STREAM)] == [{"text": "before"}]
    outcome = world.engine.execute(STREAM, jot("after"), OTTER)
    assert TOY.require_state(outcome.state).texts == ("before", "after")
    assert world.another_engine().state(TOY, STREAM) == world.engine.state(TOY, STREAM)
