"""The eventsourcing library, with its SQLite module, as its documentation's tutorial uses it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_of_process,
    resident_megabytes,
    serve,
)

_MODULE = "bench.peers.drivers.eventsourcing_driver"
_ONCE = f"from {_MODULE} import Journal; Journal().begin()"


class Log(Aggregate):
    """One aggregate whose every event holds a record."""

    @event("Begun")
    def __init__(self) -> None:
        self.length = 0

    @event("Noted")
    def note(self, text: str) -> None:
        self.length += len(text)


class Journal(Application[UUID]):
    """As in the tutorial: change the aggregate, save it."""

    def begin(self) -> Log:
        log: Log = Log()
        self.save(log)
        return log

    def note(self, log: Log) -> None:
        log.note(A_RECORD)
        self.save(log)


def surroundings(folder: Path) -> dict[str, str]:
    return {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": str(folder / "events.db"),
    }


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    command = [sys.executable, "-c", _ONCE]
    yield lambda: millis_of_process(command, folder, surroundings(folder))


@contextmanager
def append(folder: Path) -> Iterator[Measure]:
    journal = Journal(env={**os.environ, **surroundings(folder)})
    log = journal.begin()
    yield lambda: millis_each(lambda: journal.note(log), 50)
    journal.close()


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    journal = Journal(env={**os.environ, **surroundings(folder)})
    journal.note(journal.begin())
    yield resident_megabytes
    journal.close()


OFFERED = {
    "start": Offered(start, "python -c: import, open SQLite, save one new aggregate, end"),
    "append": Offered(
        append,
        "Application.save after one event, eventsourcing.sqlite on a file",
        "On the disk when it returns (SQLite, WAL, synchronous FULL); not signed, not chained.",
    ),
    "memory": Offered(memory, "after one event was saved"),
}

if __name__ == "__main__":
    serve(OFFERED)
