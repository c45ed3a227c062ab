"""One ledger for several machines: what a command costs, and what one keeper carries.

Keeper and machines are processes of this one machine, so that they share its processors; the line
is TLS on loopback. Each is compared with the same work on a ledger of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.figure import Figure, at_least, at_most, ratio, value
from bench.ground import STREAM, Errands, Ground, executor, keys_of, opened
from bench.lender import lender
from bench.measures.hook import AS_STARTED, DIRECT, THIN, free_file_figure
from bench.measures.many_processes import PROCESSES, crowd, fairness
from bench.rounds import millis, take_turns
from bench.shared import SharedGround, shared
from bench.tls_echo import tls_round_trips
from bench.tool_server import tool_server

MACHINES = 4
HOOK_LIMIT = at_most(5)
LEAST_SHARE = 0.8
AGENTS = [f"writer-{number:02d}" for number in range(PROCESSES)]


def measure(ground: Ground) -> Iterator[Figure]:
    local = ground.new("machines-local", AGENTS)
    with shared(ground.new("machines-kept")) as kept:
        machines = [kept.join(f"machine-{n}", AGENTS[n::MACHINES]) for n in range(MACHINES)]
        homes = {agent: machines[place % MACHINES] for place, agent in enumerate(AGENTS)}
        yield from _one_command(ground, local, machines[0])
        yield from _crowds(ground, local, kept, homes)
        hook = kept.join("hooked", ["coral-finch"])
        yield from _hooks(ground, hook, "coral-finch")


def _hooks(ground: Ground, place: Path, agent: str) -> Iterator[Figure]:
    """Beside a `moot run` or the tool's `moot mcp`, which have a line already; and alone."""
    with lender(place, agent) as lent:
        name = "thin hook over the run's connection, a free file is reserved"
        yield free_file_figure(ground, place, name, THIN, lent, HOOK_LIMIT)
    settings = {"MOOT_KEYS": str(keys_of(place)), "MOOT_AGENT": agent}
    with tool_server(place, settings):
        for words, what in ((THIN, "thin hook"), (DIRECT, "hook")):
            name = f"{what} over the connection of the tool's `moot mcp`, a free file is reserved"
            yield free_file_figure(ground, place, name, words, settings, HOOK_LIMIT)
    name = "hook over its own connection, a free file is reserved"
    yield free_file_figure(ground, place, name, DIRECT, settings, HOOK_LIMIT)
    name = f"{AS_STARTED}, over its own connection, a free file is reserved"
    yield free_file_figure(ground, place, name, THIN, settings, HOOK_LIMIT)


def _one_command(ground: Ground, local: Path, joined: Path) -> Iterator[Figure]:
    with (
        opened(local) as here,
        opened(joined) as there,
        tls_round_trips(ground.folder) as round_trip,
    ):
        ours = executor(there, Errands("example/one-joined", AGENTS[0]))
        raw = executor(here, Errands("example/one-local", AGENTS[0]))
        for _ in range(50):
            ours()
            raw()
            round_trip()
        bare: list[float] = []

        def without_round_trips() -> float:
            """What is left of a command if the two times it waits for the line cost nothing."""
            bare.append(millis(round_trip, 20)())
            return millis(ours, 20)() - 2 * bare[-1]

        rounds = take_turns(without_round_trips, millis(raw, 20), ground.pick(40, 10))
    whole = [left + 2 * trip for left, trip in zip(rounds.ours, bare, strict=True)]
    trip = median(bare)
    against = "the same here"
    yield ratio(
        "a joined machine's command, without two bare round trips",
        "ms",
        rounds.ours,
        rounds.raw,
        against=against,
        target=at_most(2.5),
        note=f"a bare round trip {trip:.2f} ms",
    )
    yield ratio("a joined machine's command", "ms", whole, rounds.raw, against=against)


def _crowds(
    ground: Ground, local: Path, kept: SharedGround, homes: dict[str, Path]
) -> Iterator[Figure]:
    """Many at once, each on a stream of its own, and all on one."""
    several = [f"{STREAM}-{agent}" for agent in AGENTS]
    where = f"{PROCESSES} streams"
    yield from _crowd(ground, local, kept, homes, several, where, beside_one=True)
    yield from _crowd(
        ground, local, kept, homes, [STREAM] * PROCESSES, "one stream", beside_one=False
    )


def _crowd(
    ground: Ground,
    local: Path,
    kept: SharedGround,
    homes: dict[str, Path],
    streams: list[str],
    where: str,
    *,
    beside_one: bool,
) -> Iterator[Figure]:
    what, seconds = f"joined, {PROCESSES} clients on {where}", ground.pick(4, 2)
    pairs = list(zip(AGENTS, streams, strict=True))
    joined: list[list[int]] = []
    here: list[list[int]] = []
    one_caller: list[list[int]] = []
    keepers_time: list[float] = []
    for _ in range(ground.pick(3, 1)):
        here.append(crowd([_words(local, *pair, seconds) for pair in pairs]))
        before = kept.processor_seconds()
        joined.append(crowd([_words(homes[pair[0]], *pair, seconds) for pair in pairs]))
        keepers_time.append(kept.processor_seconds() - before)
        if beside_one:
            one_caller.append(crowd([_words(local, AGENTS[0], "example/alone", seconds)]))
    rates = [sum(counts) / seconds for counts in joined]
    yield ratio(
        what,
        "events/s",
        rates,
        [sum(counts) / seconds for counts in here],
        against=f"{PROCESSES} processes here",
    )
    if beside_one:
        alone = [sum(counts) / seconds for counts in one_caller]
        against = "one caller here"
        yield ratio(what, "events/s", rates, alone, against=against)
        carried = [sum(counts) / time for counts, time in zip(joined, keepers_time, strict=True)]
        name = f"{what}, for a second of the keeper's processor time"
        yield ratio(name, "events", carried, alone, against=against)
    share, note = fairness(joined), f"of {PROCESSES} processes here: {fairness(here):.2f}"
    name = f"{what}, smallest share / largest"
    wanted = None if beside_one else at_least(LEAST_SHARE)
    yield value(name, "", share, target=wanted, note=note)
    failed = sum(counts.count(-1) for counts in joined)
    yield value(f"{what}, failed", "clients", failed, target=at_most(0))


def _words(place: Path, agent: str, stream: str, seconds: int) -> list[str]:
    return ["ours", str(place), agent, str(seconds), stream]
