"""A process that reserves: once, to see how long that takes; or one of a crowd, until time is up.

python -m bench.reserver once FOLDER NAME             says the milliseconds from opening to reserved
python -m bench.reserver crowd FOLDER NAME SECONDS    says how many acts it got done
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.ground import keys_of
from moot.api.presence import agents, scopes
from moot.api.session import Session
from moot.core.errors import Refused
from moot.keys.folder import KeyFolder

SHARED_FILES = 200  # fewer than the crowd could hold: they meet, and are refused


def acting(place: Path, name: str) -> Session:
    return Session(place, acting=name, keys=KeyFolder(keys_of(place)))


def reserve_once(place: Path, name: str) -> float:
    """In milliseconds; what was reserved is given back afterwards."""
    start = time.perf_counter()
    with acting(place, name) as session:
        scopes.reserve(session, ["bench/cold.py"])
        spent = time.perf_counter() - start
        scopes.release(session, ["bench/cold.py"])
    return spent * 1_000


def act_in_crowd(place: Path, name: str, seconds: float) -> int:
    chance, held, done = random.Random(name), set[str](), 0
    with acting(place, name) as session:
        agents.heartbeat(session)
        acts: list[Callable[[], None]] = [
            lambda: _reserve(session, f"bench/f{chance.randrange(SHARED_FILES)}.py", held),
            lambda: _release(session, held),
            lambda: _beat(session),
        ]
        print("ready", flush=True)
        sys.stdin.readline()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            acts[done % len(acts)]()
            done += 1
    return done


def _reserve(session: Session, file: str, held: set[str]) -> None:
    try:
        scopes.reserve(session, [file])
        held.add(file)
    except Refused as refused:
        if refused.code != "reservation_conflict":
            raise


def _release(session: Session, held: set[str]) -> None:
    if held:
        scopes.release(session, [held.pop()])


def _beat(session: Session) -> None:
    agents.heartbeat(session)


def main(kind: str, place: str, name: str, *seconds: str) -> None:
    if kind == "once":
        print(reserve_once(Path(place), name))
    else:
        print(act_in_crowd(Path(place), name, float(seconds[0])))


if __name__ == "__main__":
    main(*sys.argv[1:])
