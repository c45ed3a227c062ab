"""AG2: a round-robin discussion in its Network, whose hub keeps every message in SQLite."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ag2.knowledge import SqliteKnowledgeStore
from ag2.network import EV_TEXT, Hub, HubClient, LocalLink, Passport

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

_MODULE = "bench.peers.drivers.ag2_driver"
_ONCE = f"""
from pathlib import Path
from {_MODULE} import Talk
talk = Talk(Path.cwd(), "discussion", ("otter", "crane", "heron"))
talk.say()
talk.close()
"""


class Talk:
    """Participants without a model, who say in turn what is laid down beforehand."""

    def __init__(self, folder: Path, kind: str, names: tuple[str, ...]) -> None:
        self._loop, self._numbers = asyncio.new_event_loop(), count()
        self._loop.run_until_complete(self._open(folder / "store.db", kind, names))

    async def _open(self, folder: Path, kind: str, names: tuple[str, ...]) -> None:
        self._hub = await Hub.open(SqliteKnowledgeStore(folder), ttl_sweep_interval=0)
        self._connection = HubClient(LocalLink(self._hub), hub=self._hub)
        self._speakers = [
            await self._connection.register_human(Passport(name=name)) for name in names
        ]
        channel = await self._speakers[0].open(type=kind, target=list(names[1:]))
        self._channel = channel.channel_id

    def say(self) -> None:
        """The next one speaks; the hub has it in its log when this returns."""
        number = next(self._numbers)
        words = f"{A_RECORD}\n\n{number_words(range(number, number + 100))}"
        speaker = self._speakers[number % len(self._speakers)]
        self._loop.run_until_complete(speaker.send(self._channel, words))

    def count_kept(self) -> int:
        log = self._loop.run_until_complete(self._hub.read_wal(self._channel))
        return sum(envelope.event_type == EV_TEXT for envelope in log)

    def close(self) -> None:
        self._loop.run_until_complete(self._connection.close())
        self._loop.run_until_complete(self._hub.close())
        self._loop.close()


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    numbers = count()

    def measure() -> float:
        place = folder / f"start-{next(numbers)}"
        place.mkdir()
        return millis_of_process([sys.executable, "-c", _ONCE], place, {})

    yield measure


@contextmanager
def turn(folder: Path) -> Iterator[Measure]:
    talk, turns, done = Talk(folder, "discussion", ("otter", "crane", "heron")), 9, count(1)

    def measure() -> float:
        spent = millis_each(talk.say, turns)
        if talk.count_kept() != next(done) * turns:
            raise RuntimeError("not everything was kept")
        return spent

    yield measure
    talk.close()


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    talk = Talk(folder, "discussion", ("otter", "crane", "heron"))
    talk.say()
    yield resident_megabytes
    talk.close()


OFFERED = {
    "start": Offered(start, "python -c: import, open a hub, three register, one turn, end"),
    "turn": Offered(
        turn,
        "a discussion channel of the Network, SqliteKnowledgeStore",
        "Several commits of SQLite a turn, each on the disk; a channel's log is one value that"
        " grows; not signed.",
    ),
    "memory": Offered(memory, "after one turn"),
}

if __name__ == "__main__":
    serve(OFFERED)
