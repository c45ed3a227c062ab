"""The same bad world with several machines: each process is on a machine that joined, with a copy
of its own, and its line to the keeper may break before a question arrives, or before its answer.

A fault may also strike the keeper while it answers: then it is started again, and the client has
lost its line. What is said goes through the real encoding; only the socket is left out, so that a
seed stays a whole history.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from moot.core.ledger import Store
from moot.engine.engine import Engine
from moot.hosts import messages
from moot.hosts.connection import ConnectionLost
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.members import Member
from moot.hosts.replica import LedgerCopy, SyncingStore, keeper_away
from moot.hosts.request_handler import Request, RequestHandler, answer_safely
from moot.store.memory import MemoryStore
from moot.testing.world import CUSTODIAN
from tests.simulation.faults import Crash, Fate, FaultyStore
from tests.simulation.simulator import Process, Simulator

MACHINES = 3
CUT = 0.05  # how often a line breaks before a question arrives, and as often before its answer

T = TypeVar("T", bound=messages.Answer)


class SimulatedLine:
    """A machine's line to the keeper."""

    address = "keeper"
    is_open = True

    def __init__(self, world: JoinedSimulator, member: Member, process: Process) -> None:
        self._world = world
        self._member = member
        self._process = process
        self.offset = 0

    def ask(self, question: messages.Question, kind: type[T], *others: type[messages.Answer]) -> T:
        try:
            return self.ask_once(question, kind, *others)
        except ConnectionLost as error:
            raise keeper_away(self.address, str(error)) from None

    def ask_once(
        self, question: messages.Question, kind: type[T], *others: type[messages.Answer]
    ) -> T:
        self._process.fate.step()
        data = self._world.answer(self, self._member, self._process.fate, messages.encode(question))
        self._process.fate.step()
        answer = messages.decode_answer(data)
        if isinstance(answer, messages.SyncDelta):
            self.measure(answer.now)
        if isinstance(answer, messages.Failed):
            raise messages.unpack_error(answer)
        assert isinstance(answer, (kind, *others))
        return cast("T", answer)

    def measure(self, keepers: int) -> None:
        self.offset = keepers - self._world.local_time(self._process)

    def close(self) -> None:
        self._world.forget(self)


def _answer(
    handler: RequestHandler, member: Member, line: SimulatedLine, question: messages.AnyQuestion
) -> messages.AnyAnswer:
    """Let time pass until there is an answer: somebody else's turn may have to end first."""
    said: list[messages.AnyAnswer] = []
    aside = lambda find: said.append(answer_safely(find))  # noqa: E731 - there is no other thread
    handler.receive(Request(member, line, question, said.append, aside))
    moment = handler.step()
    while not said:
        threading.Event().wait(max(0.0, moment - time.monotonic()))
        moment = handler.step()
    return said[0]


class JoinedSimulator(Simulator):
    def __init__(self, seed: int, open_store: Callable[[], Store], folder: Path) -> None:
        self._folder = folder
        self._copies = [MemoryStore() for _ in range(MACHINES)]
        self._started = 0
        self._keepers_fate = Fate()
        self._handler: RequestHandler | None = None
        self._lines_hold = False
        self.cuts = self.brief = 0
        super().__init__(seed, open_store)
        self._lines_hold = True
        for process in self.processes:  # each has the agents' keys before the weather turns
            process.engine.registry()
        self._lines_hold = False

    def local_time(self, process: Process) -> int:
        return self._clock.now + process.skew

    def answer(self, line: SimulatedLine, member: Member, fate: Fate, data: bytes) -> bytes:
        """What the keeper says; ConnectionLost if the question or its answer was lost."""
        self._cut_now_and_then()
        question = messages.decode_question(data)
        if isinstance(question, messages.Commit):
            self._meanwhile()  # somebody else's arrives first
        handler = self._handler or self._start_keeper()
        try:
            with self._struck_by(fate):
                answer = _answer(handler, member, line, question)
        except Crash:
            self._note("  the keeper dies")
            self._handler = None
            raise ConnectionLost("the connection broke") from None
        self.brief += isinstance(answer, messages.Committed) and answer.delta is None
        self._cut_now_and_then()
        return messages.encode(answer)

    def forget(self, line: SimulatedLine) -> None:
        if self._handler is not None:
            self._handler.forget(line)

    def _start_keeper(self) -> RequestHandler:
        engine = Engine(
            FaultyStore(self._open_store(), self._keepers_fate, lambda: None),
            self._keys,
            self.trust,
            lambda: self._clock.now,
            on_checkpoint=self.account.notes.append,
            artifacts=self._artifacts,
        )
        self._handler = RequestHandler(engine, cast("Any", self._artifacts), self._folder)
        return self._handler

    @contextmanager
    def _struck_by(self, fate: Fate) -> Iterator[None]:
        """Whatever awaits the process that asks may strike the keeper meanwhile."""
        before = self._keepers_fate.instead
        self._keepers_fate.instead = fate
        try:
            yield
        finally:
            self._keepers_fate.instead = before

    def _settle(self) -> None:
        self._lines_hold = True
        super()._settle()

    def check(self) -> None:
        """Let each host sync again, also one that has just done so."""
        for process in self.processes:
            assert isinstance(process.engine, JoinedEngine)
            process.engine._copy.sync()
        super().check()

    def _cut_now_and_then(self) -> None:
        if not self._busy and not self._lines_hold and self.random.random() < CUT:
            self._note("  the line is cut")
            self.cuts += 1
            raise ConnectionLost("the connection broke")

    def _start(self) -> Process:
        number = self._started % MACHINES
        self._started += 1
        member = Member(f"machine-{number}", number + 1, CUSTODIAN, "", 0, 0)
        fate, store = Fate(), self._copies[number]
        process = Process(None, fate, store)  # type: ignore[arg-type]
        line: Any = SimulatedLine(self, member, process)
        line.measure(self._clock.now)
        copy_store: Any = FaultyStore(store, fate, lambda: None)
        following = SyncingStore(copy_store)
        engine = JoinedEngine(
            cast("Store", following),
            self._keys,
            self.trust,
            lambda: self.local_time(process) + line.offset,
            artifacts=self._artifacts,
        )
        copy = LedgerCopy(copy_store, line, self.trust, engine.replay, lambda _: None)
        engine.attach_copy(copy)
        following.copy = copy
        process.engine = engine
        return process
