"""Moot, called from a program by its public library (`moot.open`, `moot.api`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path

from bench.peers.drivers.moot_project import AGENT, OTHER, hold, make_project, open_project
from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_of_process,
    number_words,
    resident_megabytes,
    serve,
)
from moot.api.debates import writing
from moot.api.mail import sending
from moot.api.presence import scopes
from moot.api.workspace import ledger, verification
from moot.protocols.debate.model import ConsensusMode

SIGNED = "signed by the agent's key, chained, and on the disk (fsync) before it is acknowledged"
_ONCE = """
import sys
from bench.peers.drivers.moot_project import AGENT, open_project
from moot.api.presence import scopes
from pathlib import Path
with open_project(Path.cwd(), AGENT) as session:
    scopes.reserve(session, [sys.argv[1]])
"""


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    project, numbers = make_project(folder), count()

    def measure() -> float:
        command = [sys.executable, "-c", _ONCE, f"src/new{next(numbers)}.py"]
        return millis_of_process(command, project, {})

    yield measure


@contextmanager
def append(folder: Path) -> Iterator[Measure]:
    with open_project(make_project(folder), AGENT) as session:
        yield lambda: millis_each(
            lambda: sending.send(session, OTHER, "INFO: a record", text=A_RECORD), 50
        )


@contextmanager
def reserve(folder: Path, held: int) -> Iterator[Measure]:
    project, numbers = make_project(folder), count()
    hold(project, held)
    with open_project(project, AGENT) as session:

        def measure() -> float:
            files = [f"src/mine/f{next(numbers)}.py" for _ in range(20)]
            todo = iter(files)
            spent = millis_each(lambda: scopes.reserve(session, [next(todo)]), len(files))
            scopes.release(session, files)
            return spent

        yield measure


@contextmanager
def turn(folder: Path) -> Iterator[Measure]:
    names = [AGENT, OTHER, "plum-heron"]
    project, numbers = make_project(folder, names), count()
    with open_project(project) as session:
        file = project / "debate.md"
        weighted = ConsensusMode.WEIGHTED
        writing.new(session, file, "Which queue?", names, max_rounds=100, consensus_mode=weighted)

        def say() -> None:
            number = next(numbers)
            words = f"{A_RECORD}\n\n{number_words(range(number, number + 100))}"
            author = names[number % len(names)]
            writing.add(
                session.acting_as(author),
                file,
                stance="reject",
                confidence=Decimal("0.6"),
                summary=f"Point {number}: not yet.",
                body=words,
            )

        yield lambda: millis_each(say, 9)


@contextmanager
def verify(folder: Path) -> Iterator[Measure]:
    project, records = make_project(folder), 1_000
    with open_project(project, AGENT) as session:
        for _ in range(records):
            sending.send(session, OTHER, "INFO: a record", text=A_RECORD)
        ledger.export(session, folder / "record.moot")

        def check() -> None:
            if not verification.verify(session, str(folder / "record.moot")):
                raise RuntimeError("the export was not accepted")

        yield lambda: millis_each(check, 1) * 1_000 / records


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    with open_project(make_project(folder), AGENT) as session:
        sending.send(session, OTHER, "INFO: a record", text=A_RECORD)
        yield resident_megabytes


OFFERED = {
    "start": Offered(
        start,
        "python -c: import, open the workspace, reserve one file, end",
        f"What was reserved is {SIGNED}; the process also signs a checkpoint at its end.",
    ),
    "append": Offered(
        append,
        "moot.api.mail.sending.send in one process",
        f"Each record is {SIGNED}; the text is checked by the protocol's rules first.",
    ),
    "reserve-10": Offered(partial(reserve, held=10), "moot.api.scopes.reserve", f"It is {SIGNED}."),
    "reserve-10000": Offered(
        partial(reserve, held=10_000), "moot.api.scopes.reserve", f"It is {SIGNED}."
    ),
    "turn": Offered(
        turn,
        "moot.api.debates.writing.add, three agents in turn",
        f"The entry is checked, put into the debate's file and {SIGNED}.",
    ),
    "verify": Offered(
        verify,
        "moot.api.verification.verify on an export, one process",
        "Every signature, hash, link and field, and the checkpoint over all of it; keys from a"
        " trust file.",
    ),
    "memory": Offered(memory, "after one record was sent by the library"),
}

if __name__ == "__main__":
    serve(OFFERED)
