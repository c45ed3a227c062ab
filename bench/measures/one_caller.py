"""One caller, one after the other: each append, and each whole command, is durable when it returns.

An append is the ledger's own part: lock, read the head, seal (encode, sign, hash), write the record
and what it changes in the index, commit. A command does that and everything a protocol wants: load,
check who asks, what is overdue, decide, evolve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.figure import Figure, Target, at_least, ratio
from bench.ground import AGENT, Errands, Ground, executor, opened, record_size
from bench.raw import RawCommits
from bench.rounds import percentiles, rate, take_turns
from moot.core.clock import to_text
from moot.core.ledger import RecordToAppend
from moot.core.machine import Drop, Put, RowChange, Words
from moot.core.record import Body, genesis, seal
from moot.engine.signers import find_signatory
from moot.workspace.workspace import Workspace

COMMITS_A_ROUND = 50
# Until its log has reached full length and is written over, SQLite is slower: that is not measured.
WARM_UP = 2_500


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("one-caller")
    with opened(place) as space:
        command = executor(space, Errands())
        for _ in range(10):
            command()
        raw = RawCommits(ground.folder / "raw-commits.db", record_size(place))
        raw.many(WARM_UP)
        rounds = ground.pick(120, 20)
        appending = "one caller, signed durable append"
        yield _figure(appending, _appender(space), raw, rounds, at_least(0.5))
        yield _figure("one caller, whole command", command, raw, rounds)
        raw.close()


def _figure(
    name: str, one: Callable[[], None], raw: RawCommits, rounds: int, target: Target | None = None
) -> Figure:
    many, latencies = _timed(one)
    many(WARM_UP)
    latencies.clear()
    done = take_turns(rate(many, COMMITS_A_ROUND), rate(raw.many, COMMITS_A_ROUND), rounds)
    return ratio(
        name,
        "events/s",
        done.ours,
        done.raw,
        against="SQLite commits",
        target=target,
        more=percentiles(latencies),
    )


def _timed(one: Callable[[], None]) -> tuple[Callable[[int], None], list[float]]:
    latencies: list[float] = []

    def many(count: int) -> None:
        for _ in range(count):
            start = time.perf_counter()
            one()
            latencies.append((time.perf_counter() - start) * 1_000)

    return many, latencies


def _appender(space: Workspace) -> Callable[[], None]:
    """Events as the errands' protocol would make them, asked and done by turns."""
    stream, origin, clock = "example/appended", space.trust.origin, space.engine.clock
    registry = space.engine.registry()
    hand = find_signatory(registry, space.keys, AGENT)
    errand = _errand(f"{stream}#e1")

    def one() -> None:
        with space.store.write() as change:
            head = change.head(stream)
            seq = 0 if head is None else head.seq + 1
            kind, data, changes = errand[seq % 2]
            body = Body(
                origin=origin,
                stream=stream,
                seq=seq,
                prev=genesis(origin, stream) if head is None else head.hash.hex(),
                reg=registry.position,
                key=None,
                type=kind,
                at=to_text(clock()),
                actor=hand.actor,
                data=data,
            )
            change.append([RecordToAppend(seal(body, hand.signer), None, changes)])

    return one


Said = tuple[str, dict[str, Any], tuple[RowChange, ...]]


def _errand(place: str) -> tuple[Said, Said]:
    title = "look into the auth of the cache (1234)"
    data = {"id": "e1", "title": title, "of": AGENT, "due_at": None}
    row = Put("example.errands", place, {"of": AGENT, "title": title})
    asked = ("example.errand_asked", data, (row, Words("example.errands", place, title)))
    return asked, ("example.errand_done", {"id": "e1"}, (Drop("example.errands", place),))
