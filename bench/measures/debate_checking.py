"""Checking a long session, with either kind of line end; its status; and how much it holds.

The raw limit is what cannot be left out: decoding the bytes and going through the lines.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import msgspec

from bench.debates import beginning, entries, rules
from bench.figure import Figure, at_least, at_most, ratio, value
from bench.ground import Ground
from bench.rounds import millis, rate, take_turns
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.views import view_status

NOW = 1_772_355_600_000


def measure(ground: Ground) -> Iterator[Figure]:
    count = ground.pick(10_000, 2_000)
    of = rules(agents=10)
    text = beginning(of, now=NOW) + "".join(entries(of, count, NOW))
    assert check_session(text).valid
    for name, ends in (("LF", "\n"), ("CR LF", "\r\n")):
        data = text.replace("\n", ends).encode()
        yield _speed(ground, f"debate check, {count} entries, {name}", data)
    data = text.encode()
    checked = check_session(data)
    took = millis(lambda: view_status(check_session(data), NOW))()
    limit = at_most(1_000 * count / 10_000)
    yield value(f"debate status, {count} entries", "ms", took, target=limit)
    del checked
    tracemalloc.start()
    kept = check_session(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept.valid
    size = len(data)
    yield value("debate check, memory", "x the file", peak / size, target=at_most(12))


def _speed(ground: Ground, name: str, data: bytes) -> Figure:
    size = len(data) / 1e6

    def lines(_: int) -> None:
        for _line in data.decode().splitlines():
            pass

    rounds = take_turns(rate(lambda _: check_session(data), 1), rate(lines, 1), ground.pick(5, 3))
    ours = [size * passes for passes in rounds.ours]
    made = ratio(name, "MB/s", ours, [size * one for one in rounds.raw], against="splitlines")
    met = at_least(10).met_by(sorted(ours)[len(ours) // 2])
    return msgspec.structs.replace(made, target=">= 10 MB/s", met=met)
