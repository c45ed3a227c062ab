"""Listing an inbox of 1,000 among 100,000 messages: from opening the workspace to the last row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.figure import Figure, at_most, value
from bench.ground import Ground, opened
from bench.letters import READERS, filled
from bench.rounds import millis, percentiles
from moot.api.mail import inbox

INBOX = 1_000


def measure(ground: Ground) -> Iterator[Figure]:
    messages = ground.pick(100_000, 20_000)
    place = filled(ground, "letters", messages)
    rows = messages // len(READERS)
    readers = iter(READERS)
    listing = [millis(lambda: _everything(place))() for _ in range(ground.pick(30, 10))]
    taking = [millis(lambda: _new(place, next(readers)))() for _ in range(ground.pick(30, 10))]
    for name, times in (("list", listing), ("read for the first time", taking)):
        yield value(
            f"{name} an inbox of {rows:,} among {messages:,}",
            "ms",
            median(times),
            target=at_most(50),
            more=percentiles(times),
        )


def _everything(place: Path) -> None:
    with opened(place) as space:
        box = inbox.box_of(space, READERS[-1])
        assert box is not None
        with space.store.read() as view:
            assert inbox.list_all(view, box)


def _new(place: Path, name: str) -> None:
    with opened(place) as space:
        box = inbox.box_of(space, name)
        assert box is not None
        shown, _more = inbox.take_unread(space, box, INBOX)
        assert shown
