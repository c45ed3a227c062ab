"""Does sending cost more when much has been sent? One message, at both lengths, warm."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure, at_most, ratio
from bench.ground import Ground, opened
from bench.letters import filled, sender
from bench.rounds import millis, percentiles, take_turns

SHORT = 1_000
MESSAGES_A_ROUND = 20


def measure(ground: Ground) -> Iterator[Figure]:
    length = ground.pick(100_000, 20_000)
    few, many = filled(ground, "few-letters", SHORT), filled(ground, "many-letters", length)
    with opened(many) as long, opened(few) as short:
        ours = millis(sender(long, length), MESSAGES_A_ROUND)
        raw = millis(sender(short, SHORT), MESSAGES_A_ROUND)
        take_turns(ours, raw, 5)
        rounds = take_turns(ours, raw, ground.pick(60, 20))
    yield ratio(
        f"send a message among {length:,}",
        "ms",
        rounds.ours,
        rounds.raw,
        against=f"among {SHORT:,}",
        target=at_most(1.2),
        more=percentiles(rounds.ours),
    )
