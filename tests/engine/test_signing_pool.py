"""Signing two at a time: the same signatures, the same record, and no thread left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.clock import parse_time
from moot.core.errors import MootError
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.commands import RetireAgent
from moot.core.signing import EVENT, Signer, verify
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.machines import Machines
from moot.engine.signatures import UnsignedEvent, sign_one_by_one
from moot.engine.signing_pool import FEWEST_EVENTS, SigningPool
from moot.engine.writer import Writer
from moot.protocols.example.commands import Ask, Finish
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.store.memory import MemoryStore
from moot.testing import World
from tests.engine.forge import everything
from tests.engine.jotter import MACHINE as JOTTER
from tests.engine.jotter import Complain, Ponder, Spend, desk, jot

OTTER, CRANE = "amber-otter", "teal-crane"
MANY = 5 * FEWEST_EVENTS


@pytest.fixture(scope="module")
def pens() -> Iterator[SigningPool]:
    pens = SigningPool()
    yield pens
    pens.close()


class Forgetful(Signer):
    """Raises instead of signing whatever holds `!`."""

    def sign(self, payload_type: bytes, body: bytes) -> bytes:
        if b"!" in body:
            raise MemoryError
        return super().sign(payload_type, body)


def asked(count: int, *, bad: frozenset[int] = frozenset()) -> list[UnsignedEvent]:
    signers = [Forgetful(bytes([n]) * 32) for n in range(3)]
    return [
        UnsignedEvent(signers[n % 3], f"event {n}{'!' if n in bad else ''}".encode())
        for n in range(count)
    ]


@pytest.mark.requirement("LDG-063")
@pytest.mark.parametrize("count", [0, 1, FEWEST_EVENTS - 1, FEWEST_EVENTS, FEWEST_EVENTS + 1, 200])
def test_each_gets_its_own_signature_in_its_place(pens: SigningPool, count: int) -> None:
    unsigned = asked(count)
    signatures = pens.sign_all(unsigned)
    assert signatures == sign_one_by_one(unsigned)
    for event, signature in zip(unsigned, signatures, strict=True):
        assert verify(event.signer.public, EVENT, event.raw, signature)


@pytest.mark.parametrize("bad", [{0}, {MANY - 1}, {MANY // 2}, set(range(MANY))])
def test_whichever_thread_fails_the_caller_hears_of_it_and_can_go_on(
    pens: SigningPool, bad: set[int]
) -> None:
    with pytest.raises(MemoryError):
        pens.sign_all(asked(MANY, bad=frozenset(bad)))
    assert pens.sign_all(asked(MANY)) == sign_one_by_one(asked(MANY))


def test_pens_may_be_closed_twice_and_leave_no_thread() -> None:
    before = set(threading.enumerate())
    pens = SigningPool()
    pens.close()
    pens.close()
    assert set(threading.enumerate()) == before


def test_a_closed_writer_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with Writer(desk().engine):
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) == before


ON_ONE_CORE = """
import os, threading
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from tests.engine.test_signing_pool import MANY, asked
from moot.engine.signing_pool import SigningPool
from moot.engine.signatures import sign_one_by_one
pool = SigningPool()
assert pool.sign_all(asked(MANY)) == sign_one_by_one(asked(MANY))
print(threading.active_count())
pool.close()
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen here")
def test_on_one_core_the_caller_signs_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_ONE_CORE], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


# A group, and the same jobs one after another

START = parse_time("2026-02-18T16:00:00.000Z")
PADS = st.sampled_from([f"jotter/{name}" for name in "abcdefgh"])
ERRANDS = st.sampled_from(["example/a", "example/b"])
WHO = st.sampled_from([OTTER, CRANE])
KEYS = st.none() | st.sampled_from("kl")
TEXTS = st.lists(st.sampled_from(["x", "y", "z" * 70_000]), max_size=3)
JOT = TEXTS.map(lambda texts: jot(*texts))
ON_PADS = st.one_of(JOT, st.just(Complain(text="no")), st.just(Ponder()), st.just(Spend()))
DUE = st.none() | st.integers(START - 1_000, START + 1_000)
ON_ERRANDS = st.one_of(
    st.builds(Ask, title=st.just("t"), of=WHO, due_at=DUE),
    st.builds(Finish, id=st.sampled_from(["e1", "e2"])),
)
RETIRED = st.builds(RetireAgent, name=WHO)
JOBS = st.one_of(
    st.builds(Job, PADS, ON_PADS, WHO, KEYS),
    st.builds(Job, ERRANDS, ON_ERRANDS, WHO, KEYS),
    st.builds(Job, st.just(REGISTRY), RETIRED, st.just(SYSTEM)),
)


def two_alike() -> tuple[World, World]:
    """The same ledger twice, with overdue errands in it."""
    world = World(machines=Machines(JOTTER, EXAMPLE))
    for name in (OTTER, CRANE):
        world.agent(name)
    for stream in ("example/a", "example/b"):
        world.engine.execute(stream, Ask(title="t", of=CRANE, due_at=START + 500), OTTER)
    world.clock.forward(seconds=2)
    twin = World(machines=world.machines)
    assert isinstance(twin.store, MemoryStore)
    vars(twin.store._tables).update(everything(world))
    twin.keys, twin.trust, twin.clock = world.keys, world.trust, world.clock
    twin.engine = twin.another_engine()
    return world, twin


def told(engine: Engine, jobs: list[Job], pens: SigningPool | None = None) -> list[object]:
    """What the callers hear: the records' hashes and the state, or the error."""
    results = engine.execute_all(jobs, sign_all=pens.sign_all if pens is not None else None)
    return [
        (type(result), result.code, str(result))
        if isinstance(result, MootError)
        else ([one.hash for one in result.recorded], result.state, result.replayed)
        for result in results
    ]


@pytest.mark.requirement("LDG-060")
@settings(max_examples=150, deadline=None)
@given(jobs=st.lists(JOBS, max_size=40))
def test_a_group_leaves_and_tells_what_its_jobs_would_one_after_another(
    pens: SigningPool, jobs: list[Job]
) -> None:
    grouped, single = two_alike()
    together = told(grouped.engine, jobs, pens)
    alone = [answer for job in jobs for answer in told(single.engine, [job])]
    assert together == alone
    assert everything(grouped) == everything(single)


def test_many_streams_of_one_group_are_signed_by_two_threads_and_hold(pens: SigningPool) -> None:
    world = desk()
    jobs = [Job(f"jotter/{n}", jot("one", "two"), OTTER) for n in range(MANY)]
    results = world.engine.execute_all(jobs, sign_all=pens.sign_all)
    assert [len(r.recorded) for r in results if isinstance(r, JobOutcome)] == [2] * MANY
    for job in jobs:
        assert world.another_engine().load(job.stream, proved=True).seq == 1


AT_THE_END = """
import threading
from tests.engine.jotter import desk, jot
from moot.engine.job import Job
from moot.engine.writer import Writer
writer = Writer(desk().engine)

def work():
    threading.main_thread().join()
    jobs = [Job(f"jotter/{n}", jot("late"), "amber-otter") for n in range(40)]
    print(sum(len(future.result().recorded) for future in [writer.submit(job) for job in jobs]))
    writer.close()

threading.Thread(target=work).start()
"""


def test_where_no_second_thread_can_be_had_any_more_the_caller_signs_alone() -> None:
    """Python starts none once its main thread has ended, though others still work."""
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("40\n", "")
