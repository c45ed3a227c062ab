"""Group commit: one thread writes for many, and every caller gets exactly one answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest

from moot.core.errors import Conflict, MootError, Refused, StoreFailed
from moot.engine import engine as engine_module
from moot.engine.job import Job, JobOutcome
from moot.engine.writer import CAP, Writer
from moot.store.memory import MemoryStore, MemoryTransaction
from moot.testing import World
from tests import own_loop
from tests.engine.forge import chain
from tests.engine.jotter import MACHINE as JOTTER
from tests.engine.jotter import STREAM, Complain, Jotted, desk, jot

OTTER = "amber-otter"
LONG = 20  # seconds after which a test gives up on a thread that should have answered


class Gate(MemoryStore):
    """A store whose write lock can be held by the test, and whose commits can fail."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.commits = 0
        self.trouble: BaseException | None = None

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        self.entered.set()
        assert self.open.wait(LONG)
        with super().write() as change:
            yield change
            if self.trouble is not None:
                raise self.trouble
        self.commits += 1


def gated() -> tuple[World, Gate]:
    store = Gate()
    return desk(store=store), store


def job(text: str, key: str | None = None) -> Job:
    return Job(STREAM, jot(text), OTTER, key)


def texts(world: World) -> list[str]:
    return [record.body.data["text"] for record in chain(world, STREAM)]


def held_back(writer: Writer, store: Gate, jobs: list[Job]) -> list[Future[JobOutcome]]:
    """One job that waits at the gate, and these behind it: they will form one group."""
    store.open.clear()
    store.entered.clear()
    first = writer.submit(job("first"))
    assert store.entered.wait(LONG)
    waiting = [writer.submit(each) for each in jobs]
    store.open.set()
    return [first, *waiting]


@pytest.mark.requirement("LDG-063")
def test_what_waits_together_is_committed_together_and_in_order() -> None:
    world, store = gated()
    with Writer(world.engine) as writer:
        before = store.commits
        futures = held_back(writer, store, [job(str(n)) for n in range(20)])
        told = [future.result(LONG).newest(Jotted).event.text for future in futures]
    assert told == texts(world) == ["first", *map(str, range(20))]
    assert store.commits == before + 2


@pytest.mark.requirement("LDG-063")
def test_a_group_has_a_limit() -> None:
    world, store = gated()
    with Writer(world.engine) as writer:
        before = store.commits
        futures = held_back(writer, store, [job("x") for _ in range(CAP + 1)])
        for future in futures:
            future.result(LONG)
    # The first alone, a full group, its checkpoint, and the one that was too many.
    assert store.commits - before == 4
    assert len(texts(world)) == CAP + 2


@pytest.mark.requirement("LDG-063")
def test_an_answer_comes_only_after_the_commit() -> None:
    world, _ = gated()
    with Writer(world.engine) as writer:
        seen: list[int] = []
        future = writer.submit(job("a"))
        future.add_done_callback(lambda _: seen.append(len(texts(world))))
        future.result(LONG)
    assert seen == [1]


@pytest.mark.requirement("LDG-036")
@pytest.mark.parametrize(
    "trouble", [None, StoreFailed("disk_full", "no room"), RuntimeError("bug")]
)
def test_nobody_waits_for_a_checkpoint(
    trouble: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _ = gated()
    monkeypatch.setattr(engine_module, "EVERY_EVENTS", 1)
    answered = threading.Event()
    seen: list[bool] = []

    def checkpoint() -> None:
        seen.append(answered.wait(LONG))
        if trouble is not None:
            raise trouble

    monkeypatch.setattr(world.engine, "checkpoint", checkpoint)
    with Writer(world.engine) as writer:
        outcome = writer.submit(job("a")).result(LONG)
        answered.set()
        assert writer.submit(job("b")).result(LONG).recorded  # the writer goes on
    assert outcome.recorded
    assert seen == [True, True]
    assert texts(world) == ["a", "b"]


@pytest.mark.requirement("LDG-063")
def test_one_callers_failure_is_its_own() -> None:
    world, store = gated()
    with Writer(world.engine) as writer:
        complain = Job(STREAM, Complain(text="no"), OTTER)
        futures = held_back(writer, store, [complain, job("k", "k"), job("l", "k"), job("m")])
        errors = [future.exception(LONG) for future in futures]
    assert [type(error) for error in errors] == [
        type(None),
        Refused,
        type(None),
        Conflict,
        type(None),
    ]
    assert texts(world) == ["first", "no", "k", "m"]


@pytest.mark.requirement("LDG-064")
@pytest.mark.parametrize(
    ("trouble", "code"),
    [(StoreFailed("disk_full", "no room"), "disk_full"), (RuntimeError("bug"), "store_failed")],
)
def test_if_the_commit_fails_everyone_in_the_group_fails_and_the_writer_goes_on(
    trouble: Exception, code: str
) -> None:
    world, store = gated()
    with Writer(world.engine) as writer:
        writer.submit(job("before")).result(LONG)
        store.trouble = trouble
        futures = held_back(writer, store, [job(str(n)) for n in range(3)])
        for future in futures:
            error = future.exception(LONG)
            assert isinstance(error, MootError)
            assert error.code == code
        store.trouble = None
        assert texts(world) == ["before"]
        outcome = writer.submit(job("after")).result(LONG)
        assert JOTTER.require_state(outcome.state).texts == ("before", "after")
    assert world.another_engine().state(JOTTER, STREAM) == world.engine.state(JOTTER, STREAM)


@pytest.mark.requirement("LDG-063")
def test_a_caller_that_gave_up_does_not_stop_the_writer_for_the_others() -> None:
    world, store = gated()
    with Writer(world.engine) as writer:
        store.open.clear()
        store.entered.clear()
        first = writer.submit(job("first"))
        assert store.entered.wait(LONG)
        given_up, patient = writer.submit(job("given up")), writer.submit(job("patient"))
        assert given_up.cancel()
        store.open.set()
        assert first.result(LONG)
        assert patient.result(LONG)
        assert writer.submit(job("later")).result(LONG)
    assert texts(world) == ["first", "given up", "patient", "later"]


@pytest.mark.requirement("LDG-063")
def test_closing_finishes_what_waits_and_then_takes_nothing_more() -> None:
    world, store = gated()
    writer = Writer(world.engine)
    futures = held_back(writer, store, [job(str(n)) for n in range(5)])
    writer.close()
    assert all(future.done() for future in futures)
    assert len(texts(world)) == 6
    with pytest.raises(StoreFailed) as caught:
        writer.submit(job("late"))
    assert caught.value.code == "writer_closed"
    assert len(texts(world)) == 6


class Hesitant(Writer):
    """Lets the test hold a caller just after it has seen that the writer is open."""

    def __init__(self, *parts: Any) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        super().__init__(*parts)

    @property
    def _closed(self) -> bool:
        closed: bool = self.__dict__["closed"]
        if not closed:
            self.reached.set()
            assert self.go.wait(LONG)
        return closed

    @_closed.setter
    def _closed(self, closed: bool) -> None:
        self.__dict__["closed"] = closed


@pytest.mark.requirement("LDG-063")
def test_a_job_that_is_taken_while_the_writer_closes_is_answered() -> None:
    world, _ = gated()
    writer = Hesitant(world.engine)
    answers: list[Future[JobOutcome]] = []
    caller = threading.Thread(target=lambda: answers.append(writer.submit(job("just in time"))))
    caller.start()
    assert writer.reached.wait(LONG)
    closer = threading.Thread(target=writer.close)
    closer.start()
    closer.join(0.2)  # a writer that does not wait for the caller has ended by now
    writer.go.set()
    caller.join(LONG)
    closer.join(LONG)
    assert answers[0].result(LONG)
    assert texts(world) == ["just in time"]


@pytest.mark.requirement("LDG-063")
def test_coroutines_and_threads_share_one_writer() -> None:
    world, _ = gated()

    async def many(writer: Writer) -> list[Any]:
        jobs = [writer.execute(job(str(n))) for n in range(20)]
        refused = writer.execute(Job(STREAM, Complain(text="no"), OTTER))
        return await asyncio.gather(*jobs, refused, return_exceptions=True)

    with Writer(world.engine) as writer:
        *done, refused = own_loop.run(many(writer))
        writer.submit(job("from a thread")).result(LONG)
    assert all(isinstance(outcome, JobOutcome) for outcome in done)
    assert isinstance(refused, Refused)
    assert len(texts(world)) == 22


@pytest.mark.requirement("LDG-063")
def test_a_cancelled_coroutine_leaves_the_others_and_its_command_in_place() -> None:
    world, store = gated()

    async def some(writer: Writer) -> JobOutcome:
        store.open.clear()
        store.entered.clear()
        given_up = asyncio.ensure_future(writer.execute(job("given up")))
        await asyncio.sleep(0)
        given_up.cancel()
        patient = asyncio.ensure_future(writer.execute(job("patient")))
        await asyncio.sleep(0)
        store.open.set()
        return await patient

    with Writer(world.engine) as writer:
        assert own_loop.run(some(writer)).recorded
    assert texts(world) == ["given up", "patient"]


@pytest.mark.requirement("LDG-063")
def test_many_threads_each_get_their_own_answer_once() -> None:
    world, _ = gated()
    answers: dict[str, str] = {}

    def call(name: str, writer: Writer) -> None:
        for number in range(10):
            text = f"{name} {number}"
            outcome = writer.submit(job(text, f"k-{name}-{number}")).result(LONG)
            answers[text] = outcome.newest(Jotted).event.text

    with Writer(world.engine) as writer:
        threads = [threading.Thread(target=call, args=(str(n), writer)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
    assert all(asked == told for asked, told in answers.items())
    assert sorted(texts(world)) == sorted(answers)
    assert len(answers) == 80
