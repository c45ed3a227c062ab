"""Does a long trace make its next event slower? Warm and cold, at 10 and at 100,000 events."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure, at_most, ratio
from bench.ground import Ground, opened
from bench.rounds import Rounds, millis, percentiles, take_turns
from bench.traces import begun, executor, newcomer

SHORT = 10
LIMIT = at_most(1.3)
COMMANDS_A_ROUND = 66


def measure(ground: Ground) -> Iterator[Figure]:
    length = ground.pick(100_000, 20_000)
    short, long = begun(ground, "short-trace", SHORT), begun(ground, "long-trace", length)
    name = f"{length:,} events of a trace"
    with opened(long) as one, opened(short) as other:
        ours = millis(executor(one), COMMANDS_A_ROUND)
        raw = millis(executor(other), COMMANDS_A_ROUND)
        take_turns(ours, raw, 2)
        yield _figure(f"append at {name}, warm", take_turns(ours, raw, ground.pick(30, 10)))
    cold = take_turns(millis(newcomer(long)), millis(newcomer(short)), ground.pick(31, 11))
    yield _figure(f"open and append three at {name}, cold", cold)


def _figure(name: str, rounds: Rounds) -> Figure:
    against, known = f"at {SHORT}", percentiles(rounds.ours)
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=LIMIT, more=known)
