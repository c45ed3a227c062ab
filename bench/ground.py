"""Workspaces to measure in: real ones, with keys, on the disk of the temporary folder.

The traffic is the example protocol's: someone asks for an errand and does it, so that the state
stays small, index rows come and go, and texts become findable, as they do in the real protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from moot.core.clock import system_clock
from moot.core.errors import MootError
from moot.core.machine import Command, KeyClass
from moot.engine.batch import Result
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask, ErrandAsked, Finish
from moot.workspace.create import create_workspace
from moot.workspace.workspace import Workspace

AGENT = "amber-otter"
STREAM = "example/errands"
BATCH = 1_000

_WORDS = ("auth", "cache", "session", "token", "parser", "ledger", "report", "merge", "branch")


class Ground:
    """A folder for one run; everything measured lives below it."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder = folder
        self.quick = quick

    def new(self, name: str, agents: Sequence[str] = (AGENT,)) -> Path:
        """A fresh workspace; `opened` opens it."""
        place = self.folder / name
        place.mkdir()
        keys = KeyFolder(keys_of(place))
        create_workspace(place, keys, system_clock)
        with opened(place) as space:
            for agent in agents:
                signer = keys.add_key(space.trust.origin, agent, KeyClass.AGENT)
                register(space.engine, agent, signer, custodian=keys.custodian)
        return place

    def pick(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def keys_of(place: Path) -> Path:
    """The key folder of the workspace there: beside it, for in it agents work."""
    return place.with_name(f"{place.name}-keys")


def opened(place: Path) -> Workspace:
    return Workspace(place / ".moot", KeyFolder(keys_of(place)))


class Errands:
    """One agent's errands on one stream: asked, done, asked, done."""

    def __init__(self, stream: str = STREAM, agent: str = AGENT) -> None:
        self.stream = stream
        self.agent = agent
        self._count = 0
        self._open = ""

    def command(self) -> Command:
        if self._open:
            return Finish(id=self._open)
        self._count += 1
        first, second = _WORDS[self._count % 9], _WORDS[self._count // 9 % 9]
        return Ask(title=f"look into the {first} of the {second} ({self._count})", of=self.agent)

    def job(self) -> Job:
        return Job(self.stream, self.command(), self.agent)

    def heard(self, outcome: JobOutcome) -> None:
        """What came of the last command decides the next."""
        self._open = "" if self._open else outcome.newest(ErrandAsked).event.id


def executor(space: Workspace, errands: Errands) -> Callable[[], None]:
    """One durable append by one caller."""

    def one() -> None:
        outcome = space.engine.execute(errands.stream, errands.command(), errands.agent)
        errands.heard(outcome)

    return one


def fill(space: Workspace, streams: Sequence[str], events: int) -> None:
    """Append `events` events, evenly over `streams`, in large commits."""
    for jobs in _batches(streams, events):
        _require(space.engine.execute_all(jobs))


def _batches(streams: Sequence[str], events: int) -> Iterator[list[Job]]:
    """Each stream's ids are counted from e1, so a batch need not wait for the one before."""
    jobs: list[Job] = []
    for number in range(events):
        turn, place = divmod(number, len(streams))
        asked, done = divmod(turn, 2)
        words = f"the {_WORDS[asked % 9]} of the {_WORDS[asked // 9 % 9]}"
        ask = Ask(title=f"look into {words} ({asked})", of=AGENT)
        jobs.append(Job(streams[place], Finish(id=f"e{asked + 1}") if done else ask, AGENT))
        if len(jobs) == BATCH:
            yield jobs
            jobs = []
    yield jobs


def _require(results: list[Result]) -> None:
    for result in results:
        if isinstance(result, MootError):
            raise result


def record_size(place: Path) -> int:
    """What one event of this traffic weighs: its signed bytes and its signature."""
    with opened(place) as space, space.store.read() as view:
        sizes = [len(r.raw) + len(r.signature) for r in view.records(STREAM)]
    return sum(sizes) // len(sizes)
