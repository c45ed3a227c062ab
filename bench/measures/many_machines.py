"""One ledger for several machines: what a command costs over the line, and what one keeper carries.

Keeper and machines are processes of this one machine, so that they share its processors; the line
is TLS on loopback. Each is compared with the same work on a ledger of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, at_least, at_most, ratio, value
from bench.ground import STREAM, Errands, Ground, executor, keys_of, opened
from bench.measures.hook import DIRECT, free_file_figure
from bench.measures.many_processes import PROCESSES, crowd, fairness
from bench.rounds import millis, take_turns
from bench.shared import shared

MACHINES = 4
AGENTS = [f"writer-{number:02d}" for number in range(PROCESSES)]


def measure(ground: Ground) -> Iterator[Figure]:
    local = ground.new("machines-local", AGENTS)
    with shared(ground.new("machines-kept")) as kept:
        machines = [kept.join(f"machine-{n}", AGENTS[n::MACHINES]) for n in range(MACHINES)]
        homes = {agent: machines[place % MACHINES] for place, agent in enumerate(AGENTS)}
        yield from _one_command(ground, local, machines[0])
        yield from _crowds(ground, local, homes)
        hook = kept.join("hooked", ["coral-finch"])
        settings = {"MOOT_KEYS": str(keys_of(hook)), "MOOT_AGENT": "coral-finch"}
        name = "hook over the line, a free file is reserved"
        yield free_file_figure(ground, hook, name, DIRECT, settings, at_most(5))


def _one_command(ground: Ground, local: Path, joined: Path) -> Iterator[Figure]:
    with opened(local) as here, opened(joined) as there:
        ours = executor(there, Errands("example/one-joined", AGENTS[0]))
        raw = executor(here, Errands("example/one-local", AGENTS[0]))
        for _ in range(50):
            ours()
            raw()
        rounds = take_turns(millis(ours, 20), millis(raw, 20), ground.pick(40, 10))
    yield ratio(
        "a joined machine's command",
        "ms",
        rounds.ours,
        rounds.raw,
        against="the same here",
        target=at_most(2.5),
    )


def _crowds(ground: Ground, local: Path, homes: dict[str, Path]) -> Iterator[Figure]:
    """Many at once, each on a stream of its own, and all on one."""
    seconds = ground.pick(4, 2)
    for what, streams, least in (
        (f"{PROCESSES} clients on {PROCESSES} streams", [f"{STREAM}-{a}" for a in AGENTS], 1.5),
        (f"{PROCESSES} clients on one stream", [STREAM] * PROCESSES, 1.0),
    ):
        joined: list[list[int]] = []
        alone: list[list[int]] = []
        pairs = list(zip(AGENTS, streams, strict=True))
        for _ in range(ground.pick(3, 1)):
            alone.append(crowd([_words(local, *pair, seconds) for pair in pairs]))
            joined.append(crowd([_words(homes[pair[0]], *pair, seconds) for pair in pairs]))
        yield ratio(
            f"joined, {what}",
            "events/s",
            [sum(counts) / seconds for counts in joined],
            [sum(counts) / seconds for counts in alone],
            against=f"{PROCESSES} processes here",
            target=at_least(least),
            more={"share": fairness(joined), "share_here": fairness(alone)},
            note="share: smallest / largest",
        )
        failed = sum(counts.count(-1) for counts in joined)
        yield value(f"joined, {what}, failed", "clients", failed, target=at_most(0))


def _words(place: Path, agent: str, stream: str, seconds: int) -> list[str]:
    return ["ours", str(place), agent, str(seconds), stream]
