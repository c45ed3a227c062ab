"""The production engine in a bad world: crashes, failing disks, rivals, jumping clocks, retries.

Several processes, each with its own engine and cache, share one store. Clients send commands to
any of them; if no answer comes they send the same again under the same key, or give up. The
simulator keeps account of every answer, and `checker.py` compares that with the bytes.

Everything is decided by one random number generator: a seed is a whole history.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from moot.core.errors import Conflict, MootError, Refused, StoreFailed, Unavailable
from moot.core.ledger import Store
from moot.core.machine import Command
from moot.core.names import CHECKPOINT, SYSTEM
from moot.engine.checkpoints import NewCheckpoint
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import found_ledger, register, rotate
from moot.protocols.example.model import Ask, Finish, Withdraw
from moot.store.artifacts import MemoryArtifacts
from moot.testing import FakeClock, MemoryKeys
from moot.testing.world import CUSTODIAN
from tests.simulation import checker
from tests.simulation.faults import Crash, Fate, FaultyStore

AGENTS = ("amber-otter", "teal-crane", "grey-heron")
LISTS = ("example/a", "example/b", "example/c")
UNHEARD = (StoreFailed, Conflict)
NO_ANSWER = (StoreFailed, Unavailable)  # the second: a keeper that cannot be reached


@dataclass
class Request:
    """What a client wants, and what it has been told."""

    number: int
    job: Job
    answer: JobOutcome | MootError | None = None
    tries: int = 0

    @property
    def settled(self) -> bool:
        return self.answer is not None


@dataclass
class Process:
    engine: Engine
    fate: Fate
    store: Store
    skew: int = 0


@dataclass
class Account:
    """Everything that anyone was told."""

    requests: list[Request] = field(default_factory=list)
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    notes: list[NewCheckpoint] = field(default_factory=list)
    crashes: int = 0
    failures: int = 0


class Simulator:
    def __init__(self, seed: int, open_store: Callable[[], Store]) -> None:
        self.random = random.Random(seed)
        self.log: list[str] = []
        self.account = Account()
        self._stores: list[Store] = []
        self._open = open_store
        self._clock = FakeClock()
        self._keys = MemoryKeys()
        self._artifacts = MemoryArtifacts()
        self._busy = True  # nobody else is about until the agents are registered
        self.truth = self._open_store()
        root, pin = self._keys.make(SYSTEM), self._keys.make(CHECKPOINT)
        self.trust = found_ledger(self.truth, root, pin, self._clock, custodian=CUSTODIAN)
        self.processes = [self._start() for _ in range(3)]
        for name in AGENTS:
            signer = self._keys.make(name)
            register(self.processes[0].engine, name, signer, custodian=CUSTODIAN)
        self._busy = False

    # The world

    def _open_store(self) -> Store:
        self._stores.append(self._open())
        return self._stores[-1]

    def close(self) -> None:
        for store in self._stores:
            store.close()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._step()
        self._settle()

    def _step(self) -> None:
        acts: list[tuple[int, Callable[[], None]]] = [
            (10, self._ask_new),
            (6, self._ask_again),
            (3, self._ask_many),
            (2, self._tick),
            (2, self._checkpoint),
            (3, self._move_clock),
            (1, self._new_key),
            (1, self._restart),
        ]
        (act,) = self.random.choices([a for _, a in acts], [weight for weight, _ in acts])
        act()

    def _settle(self) -> None:
        """The weather clears: every client that keeps asking gets its answer."""
        for process in self.processes:
            process.fate.spare()
        for request in self.account.requests:
            if not request.settled and request.job.key is not None:
                self._send(self.random.choice(self.processes), [request], calm=True)
        for process in self.processes:
            process.engine.close()

    def _start(self) -> Process:
        fate, store = Fate(), self._open_store()
        process = Process(None, fate, store)  # type: ignore[arg-type]
        process.engine = Engine(
            FaultyStore(store, fate, self._meanwhile),
            self._keys,
            self.trust,
            lambda: self._clock.now + process.skew,
            on_checkpoint=self.account.notes.append,
            artifacts=self._artifacts,
        )
        return process

    def _meanwhile(self) -> None:
        """Someone else is quicker to the lock, now and then."""
        if self._busy or self.random.random() > 0.15:
            return
        self._busy = True
        self._note("  meanwhile:")
        rival = self._start()
        self._send(rival, [self._fresh()], calm=True)
        rival.store.close()
        self._busy = False

    # What clients do

    def _ask_new(self) -> None:
        self._send(self.random.choice(self.processes), [self._fresh()])

    def _ask_again(self) -> None:
        """A client without an answer repeats itself; one with an answer may do so too."""
        keyed = [request for request in self.account.requests if request.job.key is not None]
        if keyed:
            self._send(self.random.choice(self.processes), [self.random.choice(keyed)])

    def _ask_many(self) -> None:
        fresh = [self._fresh() for _ in range(self.random.randint(2, 6))]
        keyed = [request for request in self.account.requests if request.job.key is not None]
        again = self.random.sample(keyed, min(2, len(keyed)))
        together = fresh + [request for request in again if request not in fresh]
        self.random.shuffle(together)
        self._send(self.random.choice(self.processes), together)

    def _fresh(self) -> Request:
        number = len(self.account.requests)
        key = f"r{number}" if self.random.random() < 0.8 else None
        stream, actor = self.random.choice(LISTS), self.random.choice(AGENTS)
        request = Request(number, Job(stream, self._command(number), actor, key))
        self.account.requests.append(request)
        return request

    def _command(self, number: int) -> Command:
        errand = f"e{self.random.randint(1, 1 + number // 6)}"
        if self.random.random() < 0.5:
            due = self._clock.now + self.random.randint(-60_000, 600_000)
            limit = due if self.random.random() < 0.5 else None
            return Ask(title=f"request {number}", of=self.random.choice(AGENTS), due_at=limit)
        return self.random.choice((Finish, Withdraw))(id=errand)

    def _send(self, process: Process, requests: list[Request], calm: bool = False) -> None:
        self._threaten(process, calm)
        for request in requests:
            request.tries += 1
            if not isinstance(request.answer, JobOutcome):
                request.answer = None  # what was refused once may succeed now, unheard
        jobs = [request.job for request in requests]
        names = ", ".join(f"{r.number}:{type(r.job.command).__name__}" for r in requests)
        try:
            results = process.engine.execute_all(jobs)
        except Crash:
            self._note(f"{names} -> crash")
            self._bury(process)
        except NO_ANSWER:
            self._note(f"{names} -> no answer")
            self.account.failures += 1
        else:
            self._note(f"{names} -> {[_short(result) for result in results]}")
            for request, result in zip(requests, results, strict=True):
                self._hear(request, result)
        process.fate.spare()

    def _hear(self, request: Request, result: JobOutcome | MootError) -> None:
        if isinstance(result, UNHEARD):
            self.account.failures += 1
            return
        if isinstance(result, JobOutcome):
            for recorded in result.recorded:
                place = (recorded.stream, recorded.seq)
                told = self.account.acknowledged.setdefault(place, recorded.hash.hex())
                assert told == recorded.hash.hex(), "two answers about one position"
            assert result.replayed or _is_first_or_same(request.answer, result), "done twice"
        if not isinstance(request.answer, JobOutcome):
            request.answer = result

    # What else happens

    def _threaten(self, process: Process, calm: bool) -> None:
        if not calm and self.random.random() < 0.4:
            crash = self.random.random() < 0.5
            process.fate.strike_after(self.random.randint(1, 60), crash)

    def _guarded(self, what: str, process: Process, act: Callable[[], object]) -> None:
        self._threaten(process, calm=False)
        try:
            act()
            self._note(what)
        except Crash:
            self._note(f"{what} -> crash")
            self._bury(process)
        except (*NO_ANSWER, Refused) as error:
            self._note(f"{what} -> {error.code}")
        process.fate.spare()

    def _tick(self) -> None:
        process, stream = self.random.choice(self.processes), self.random.choice(LISTS)
        self._guarded(f"tick {stream}", process, lambda: process.engine.tick(stream))

    def _checkpoint(self) -> None:
        process = self.random.choice(self.processes)
        self._guarded("checkpoint", process, process.engine.checkpoint)

    def _move_clock(self) -> None:
        minutes = self.random.choice((-30, -1, 0.01, 1, 5, 60))
        self._note(f"clock {minutes:+} min")
        if self.random.random() < 0.5:
            self._clock.forward(minutes=minutes)
        else:
            self.random.choice(self.processes).skew += round(minutes * 60_000)

    def _new_key(self) -> None:
        """A rotation that may or may not have happened: both keys stay at hand."""
        process, name = self.random.choice(self.processes), self.random.choice(AGENTS)
        registry = self.processes[0].engine.registry()
        current = registry.agents[name].kid
        (old,) = (s for s in self._keys.signers[name] if s.kid == current)
        new = self._keys.make(name, salt=str(len(self._keys.signers[name])))
        self._guarded(
            f"new key for {name}",
            process,
            lambda: rotate(
                process.engine, name, new, endorser=old, custodian=CUSTODIAN, reason="time"
            ),
        )

    def _restart(self) -> None:
        process = self.random.choice(self.processes)
        self._guarded("an orderly end", process, process.engine.close)
        if process in self.processes:
            self._bury(process, crash=False)

    def _bury(self, process: Process, crash: bool = True) -> None:
        self.account.crashes += crash
        if process in self.processes:
            self.processes[self.processes.index(process)] = self._start()
        process.store.close()

    def _note(self, line: str) -> None:
        self.log.append(line)

    # What must be true at the end

    def check(self) -> None:
        with self.truth.read() as view:
            ledger = checker.read_ledger(view)
            self._check_answers(ledger)
            self._check_once(ledger)
            self._check_states(view, ledger)
            self._check_notes(view, ledger)

    def _check_answers(self, ledger: dict[str, list[checker.Event]]) -> None:
        """What was acknowledged is where it was said to be."""
        for (stream, seq), told in self.account.acknowledged.items():
            assert ledger[stream][seq].hash == told, f"lost: {stream} event {seq}"

    def _check_once(self, ledger: dict[str, list[checker.Event]]) -> None:
        """Every request happened once if it was accepted, and never more often."""
        by_key: dict[tuple[str, str], int] = {}
        titles: dict[str, int] = {}
        for stream in LISTS:
            for event in ledger.get(stream, []):
                if event.body["key"] is not None:
                    name = event.body["key"].split("/")[1]
                    mark = "refused" if event.body["key"].endswith("!") else "done"
                    by_key[name, mark] = by_key.get((name, mark), 0) + 1
                title = event.body["data"].get("title")
                if title is not None:
                    titles[title] = titles.get(title, 0) + 1
        assert all(count == 1 for count in by_key.values()), by_key
        assert all(count == 1 for count in titles.values()), titles
        for request in self.account.requests:
            self._check_request(request, by_key, titles)

    def _check_request(
        self, request: Request, by_key: dict[tuple[str, str], int], titles: dict[str, int]
    ) -> None:
        done = isinstance(request.answer, JobOutcome)
        meddled = isinstance(request.answer, Refused) and request.answer.code == "not_yours"
        if request.job.key is not None:
            assert request.settled
            assert by_key.get((request.job.key, "done"), 0) == done
            assert by_key.get((request.job.key, "refused"), 0) >= meddled
        elif isinstance(request.job.command, Ask):
            assert titles.get(request.job.command.title, 0) >= done
            assert titles.get(request.job.command.title, 0) <= 1

    def _check_states(self, view: Any, ledger: dict[str, list[checker.Event]]) -> None:
        """Every engine, however it came to know, knows what the events plainly say."""
        engines = [process.engine for process in self.processes]
        engines.append(self._start().engine)
        open_rows = set()
        for stream in LISTS:
            model = checker.errands(ledger.get(stream, []))
            for engine in engines:
                for proved in (False, True):
                    _compare(engine.load(stream, proved).state, model)
            _compare_agenda(engines[-1], stream, model)
            open_rows |= {f"{stream}#{errand}" for errand in model.open}
        assert {row.key for row in view.rows("example.errands")} == open_rows
        assert {row.key for row in view.rows("open")} == {name for name in LISTS if name in ledger}

    def _check_notes(self, view: Any, ledger: dict[str, list[checker.Event]]) -> None:
        newest = checker.check_note(view, ledger, self.trust.origin, self.trust.checkpoint)
        numbers = [kept.checkpoint.number for kept in self.account.notes]
        assert numbers == sorted(set(numbers)), "checkpoint numbers must grow"
        assert max(numbers, default=0) <= newest
        for kept in self.account.notes:
            note = checker.read_note(kept.note, self.trust.origin, self.trust.checkpoint)
            assert note.number == kept.checkpoint.number
            for stream, head in kept.moved:
                assert ledger[stream][head.seq].hash == head.hash.hex(), "a pinned event is gone"


def _compare(state: Any, model: checker.Errands) -> None:
    waiting = state.in_order()
    told = {errand.id: (errand.title, errand.asked_by, errand.asked_of) for errand in waiting}
    due = {errand.id: errand.due_at for errand in waiting}
    assert told == {e: (m["title"], m["by"], m["of"]) for e, m in model.open.items()}
    assert due == {e: m["due_at"] for e, m in model.open.items()}
    assert (state.asked, state.closed) == (model.asked, model.closed)
    assert dict(state.meddlers) == model.meddlers
    limits = [m["due_at"] for m in model.open.values() if m["due_at"] is not None]
    assert state.next_due == min(limits, default=None)


def _compare_agenda(engine: Engine, stream: str, model: checker.Errands) -> None:
    told = [(due.who, due.subject, due.by) for _, due in engine.agenda([stream])]
    assert told == [(m["of"], f"{e}: {m['title']}", m["due_at"]) for e, m in model.open.items()]


def _short(result: JobOutcome | MootError) -> str:
    if isinstance(result, MootError):
        return result.code
    return "again" if result.replayed else "done"


def _is_first_or_same(before: object, result: JobOutcome) -> bool:
    """In the same moment on the same state somebody who does not know that a command was run can
    sign exactly the same record again; it is stored once."""
    if not isinstance(before, JobOutcome):
        return True
    return [one.hash for one in before.recorded] == [one.hash for one in result.recorded]
