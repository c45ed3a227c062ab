"""One agent at work until it is killed: `python -m bench.soak.worker PLACE NAME SEED DEBATE`.

After each operation that writes, a line on stdout says what was acknowledged: its kind, an id that
the record must hold for ever, and how many milliseconds it took. A refusal is a line too.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import moot
from bench.soak import keys_beside
from moot.api.session import Session

FILES = tuple(f"src/part{number}.py" for number in range(6))


class Worker:
    def __init__(self, session: Session, name: str, seed: int, debate: Path) -> None:
        self.session = session
        self.name = name
        self.random = random.Random(seed)
        self.debate = debate

    def reserve(self) -> str:
        scope = self.random.choice(FILES)
        stale = self.random.random() < 0.2
        held = moot.api.scopes.reserve(self.session, [scope], take_stale=stale)
        return f"{scope} {held.reserved[0].fencing}" if held.reserved else scope

    def release(self) -> str:
        moot.api.scopes.release(self.session, everything=True)
        return self.name

    def send(self) -> str:
        to = self.random.choice(self._others())
        sent = moot.api.mail.sending.send(self.session, to, f"QUESTION: Which part, {self.name}?")
        return str(sent.id)

    def acknowledge(self) -> str:
        everything = moot.api.mail.answers.pending(self.session, agent=self.name).pending
        waiting = [one for one in everything if one.sender != self.name]
        if not waiting:
            return ""
        return str(moot.api.mail.answers.ack(self.session, waiting[0].id, "Received").id)

    def argue(self) -> str:
        stance = self.random.choice(("approve", "reject", "neutral"))
        added = moot.api.debates.writing.add(
            self.session, self.debate, author=self.name, stance=stance, confidence="0.5",
            summary="A point was made.", body="Words about it.",
        )  # fmt: skip
        return str(added.entry)

    def beat(self) -> str:
        moot.api.agents.heartbeat(self.session)
        return self.name

    def _others(self) -> list[str]:
        names = [one.agent for one in moot.api.agents.list_agents(self.session).agents]
        return [name for name in names if name != self.name] or [self.name]


def choose_acts(worker: Worker) -> tuple[tuple[str, Callable[[], str], int], ...]:
    return (
        ("reserve", worker.reserve, 6),
        ("release", worker.release, 3),
        ("send", worker.send, 2),
        ("acknowledge", worker.acknowledge, 2),
        ("argue", worker.argue, 2),
        ("beat", worker.beat, 2),
    )


def main(place: Path, name: str, seed: int, debate: Path, most_bytes: int = 0) -> None:
    with moot.open(place, agent=name, keys=keys_beside(place)) as session:
        worker = Worker(session, name, seed, debate)
        acts = choose_acts(worker)
        if most_bytes:  # as on a disk with that much room; SIGXFSZ is ignored by Python
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        while True:
            kind, act, _ = worker.random.choices(acts, [weight for *_, weight in acts])[0]
            began = time.monotonic()
            try:
                told = f"ok {kind} {act()}"
            except moot.MootError as error:
                told = f"no {kind} {error.code}"
            took = (time.monotonic() - began) * 1000
            sys.stdout.write(f"{took:.1f} {told}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(
        Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), *map(int, sys.argv[5:])
    )
