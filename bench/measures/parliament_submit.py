"""Does a long session make its next message slower? And how soon is a whole one read?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.chambers import STREAM, Talk, begun, full_session, newcomer, same_distance, submits
from bench.figure import Figure, at_most, ratio, value
from bench.ground import Ground, opened
from bench.rounds import Rounds, millis, percentiles, take_turns
from moot.api.parliaments.session_files import SessionFiles
from moot.engine.machines import Machines
from moot.engine.replay import Replay

LIMIT = at_most(1.2)
LENGTH = 5_000
FILES = at_most(50)
WHOLE = at_most(1_000)


def measure(ground: Ground) -> Iterator[Figure]:
    short, long = begun(ground, "short-session", 0), begun(ground, "long-session", LENGTH)
    name = f"{LENGTH:,} messages of a session"
    with opened(long) as one, opened(short) as other:
        talks = Talk(one), Talk(other)
        ours, raw = map(submits, talks)
        take_turns(ours, raw, 5)
        yield _figure(f"submit at {name}, warm", take_turns(ours, raw, ground.pick(200, 60)))
        for talk in talks:
            same_distance(talk)
    cold = take_turns(newcomer(long), newcomer(short), ground.pick(31, 11))
    yield _figure(f"open and submit at {name}, cold", cold)
    yield _files(ground, long, name)
    yield _replay(ground)


def _figure(name: str, rounds: Rounds) -> Figure:
    known = percentiles(rounds.ours)
    return ratio(
        name, "ms", rounds.ours, rounds.raw, against="when empty", target=LIMIT, more=known
    )


def _files(ground: Ground, place: Path, name: str) -> Figure:
    """After each message the files are brought up to date."""
    spent: list[float] = []
    folder = place / "papers"
    folder.mkdir()
    with opened(place) as space:
        talk, cabinet = Talk(space), SessionFiles(space, folder, STREAM)
        cabinet.write()
        for _ in range(ground.pick(20, 5)):
            talk.into_a_round()
            for document in talk.exchange():
                talk.say(document)
            spent.append(millis(cabinet.write)())
    spent.sort()
    return value(f"write the four files at {name}", "ms", spent[len(spent) // 2], target=FILES)


def _replay(ground: Ground) -> Figure:
    place = full_session(ground, "whole-session")
    with opened(place) as space, space.store.read() as view:

        def walk() -> None:
            for _ in Replay(space.trust, Machines()).walk(view, STREAM):
                pass

        spent = sorted(millis(walk)() for _ in range(ground.pick(7, 3)))
        events = space.engine.load(STREAM).seq + 1
    name = f"replay nine seats and six rounds ({events} events)"
    return value(name, "ms", spent[len(spent) // 2], target=WHOLE)
