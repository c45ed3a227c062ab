"""Following a session: a new entry costs the same behind ten entries and behind ten thousand."""

from __future__ import annotations

from collections.abc import Iterator

from bench.debates import beginning, entries, rules
from bench.figure import Figure, at_most, ratio
from bench.ground import Ground
from bench.rounds import millis, take_turns
from moot.protocols.debate.session_follower import SessionFollower

NOW = 1_772_355_600_000
EACH = 100


def measure(ground: Ground) -> Iterator[Figure]:
    count = ground.pick(10_000, 2_000)
    of = rules(agents=10)
    pieces = [one.encode() for one in entries(of, count + 20 * EACH, NOW)]
    head = beginning(of, now=NOW).encode()
    long = _after(head, pieces[:count])
    short = _after(head, pieces[:10])
    late, early = iter(pieces[count:]), iter(pieces[10:])
    rounds = take_turns(
        millis(lambda: list(long.feed(next(late))), EACH),
        millis(lambda: list(short.feed(next(early))), EACH),
        ground.pick(9, 5),
    )
    yield ratio(
        f"debate, following an entry behind {count}",
        "ms",
        rounds.ours,
        rounds.raw,
        against="behind 10",
        target=at_most(1.5),
    )


def _after(head: bytes, pieces: list[bytes]) -> SessionFollower:
    follower = SessionFollower()
    list(follower.feed(head + b"".join(pieces)))
    return follower
