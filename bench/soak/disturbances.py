"""What goes wrong, or goes on, while agents work: each is one call, and says what it has seen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import moot
from bench.soak import keys_beside
from bench.soak.crew import Crew
from moot.verify.verdict import BundleVerdict

MOOT = (sys.executable, "-P", "-m", "moot")
TIMES = (
    "2026-03-01T09:00:00Z",
    "2026-03-01T08:00:00Z",
    "2031-01-01T00:00:00Z",
    "1999-12-31T23:59:59Z",
)


def require_sound(verdict: BundleVerdict, what: str) -> None:
    """A killed process signed no checkpoint, so the newest events may still lack one: that the
    end is there is not proved then, but nothing may be wrong."""
    if verdict.first_bad is not None or verdict.verdict not in ("valid", "unproven"):
        raise RuntimeError(f"{what}: {verdict}")


class Disturbances:
    def __init__(self, place: Path, crew: Crew) -> None:
        self.place = place
        self.crew = crew
        self.counts: dict[str, int] = {}

    def back_up(self) -> None:
        """A copy, checked by the command itself while others write."""
        file = self.place.parent / f"backup-{self._count('backups')}.db"
        with self._open() as session:
            moot.api.ledger.backup(session, file)
        file.unlink()

    def verify(self) -> None:
        with self._open() as session:
            require_sound(moot.api.verification.verify(session), "the record, while others write")
        self._count("verifications")

    def export(self) -> None:
        file = self.place.parent / f"export-{self._count('exports')}.moot"
        with self._open() as session:
            moot.api.ledger.export(session, file)
            verdict = moot.api.verification.verify(session, str(file))
            require_sound(verdict, "an export made while others write")
        file.unlink()

    def fill_disk(self) -> None:
        """A worker whose files may hardly grow: it is refused, and nothing is damaged."""
        ledger = self.place / ".moot" / "ledger.db"
        room = max(ledger.stat().st_size, 1) // 2 + 4096 * self.crew.random.randrange(1, 64)
        before = dict(self.crew.refusals)
        name = self.crew.start(most_bytes=room)
        self.crew.listen(2)
        if name in self.crew.running:
            self.crew.end(name)
        self._count("full disks")
        self.counts["refusals on a full disk"] = self.counts.get("refusals on a full disk", 0) + (
            sum(self.crew.refusals.values()) - sum(before.values())
        )

    def jump_clock(self) -> None:
        """In a workspace that was made under a fixed clock, where the clock may be set at all."""
        place = self.place.parent / "clock"
        number = self._count("clock jumps")
        if number == 0:
            place.mkdir()
            self._run(place, TIMES[0], "init")
            self._run(place, TIMES[0], "agent", "register", "amber-otter")
        now = TIMES[number % len(TIMES)]
        self._run(
            place, now, "reserve", f"src/a{number}.py", "--agent", "amber-otter", "--ttl", "5"
        )
        self._run(place, now, "tick")
        self._run(place, now, "verify")

    def _run(self, place: Path, now: str, *words: str) -> None:
        env = {**os.environ, "MOOT_CLOCK": now, "MOOT_KEYS": str(keys_beside(place))}
        done = subprocess.run(
            [*MOOT, *words], cwd=place, env=env, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"at {now}, moot {' '.join(words)}: {done.stdout}{done.stderr}")

    def _open(self) -> moot.Session:
        return moot.open(self.place, keys=keys_beside(self.place))

    def _count(self, what: str) -> int:
        before = self.counts.get(what, 0)
        self.counts[what] = before + 1
        return before
