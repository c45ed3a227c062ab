"""The workers as processes: started, listened to, killed without warning, replaced by others."""

from __future__ import annotations

import os
import random
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import moot
from bench.soak import keys_beside

WORDS = ("amber", "teal", "coral", "jade", "plum", "slate", "ruby", "olive", "umber", "ivory")
BEASTS = ("otter", "crane", "finch", "heron", "wren", "lark", "raven", "swift", "robin", "stork")


# How many of those who die are started again under their own name.
COME_BACK = 0.7


class Acknowledged(NamedTuple):
    """What a worker was told: by name, and as a fact that the record must hold (or None)."""

    name: str
    fact: tuple[str, ...] | None
    millis: float


class Crew:
    def __init__(self, place: Path, debate: Path, seed: int) -> None:
        self.place = place
        self.debate = debate
        self.random = random.Random(seed)
        self.running: dict[str, subprocess.Popen[str]] = {}
        self.acknowledged: list[Acknowledged] = []
        self.refusals: dict[str, int] = {}
        self.latencies: list[float] = []
        self.started = self.killed = 0
        self._selector = selectors.DefaultSelector()

    def start(self, name: str | None = None, most_bytes: int = 0) -> str:
        """Register a new name, or start a further process under a known one, and let it work."""
        if name is None:
            pair = f"{self.random.choice(WORDS)}-{self.random.choice(BEASTS)}"
            name = f"{pair}-{self.started}"
            with moot.open(self.place, keys=keys_beside(self.place)) as session:
                moot.api.joining.join(session, register=name)
        self.started += 1
        command = [sys.executable, "-m", "bench.soak.worker", str(self.place), name]
        command += [str(self.random.randrange(10**9)), str(self.debate)]
        command += [str(most_bytes)] if most_bytes else []
        program = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )
        assert program.stdout is not None
        os.set_blocking(program.stdout.fileno(), False)
        self._selector.register(program.stdout, selectors.EVENT_READ, name)
        self.running[name] = program
        return name

    def listen(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self.running:
            for key, _ in self._selector.select(left):
                program = self.running.get(key.data)
                if program is not None:
                    self._read(key.data, program)

    def kill_one(self) -> None:
        """As a machine would: no warning, in the middle of whatever it does."""
        name = self.random.choice(sorted(self.running))
        self.end(name)
        self.killed += 1
        if self.random.random() < COME_BACK:
            self.start(name)

    def end_all(self) -> None:
        for name in sorted(self.running):
            self.end(name)

    def pids(self) -> list[int]:
        return [program.pid for program in self.running.values()]

    def end(self, name: str) -> None:
        program = self.running[name]
        if program.poll() is None:
            os.kill(program.pid, signal.SIGKILL)
        program.wait(timeout=60)
        try:
            self._read(name, program)
        finally:
            self._forget(name)

    def _forget(self, name: str) -> None:
        program = self.running.pop(name)
        assert program.stdout is not None
        assert program.stderr is not None
        self._selector.unregister(program.stdout)
        program.stdout.close()
        program.stderr.close()

    def _read(self, name: str, program: subprocess.Popen[str]) -> None:
        assert program.stdout is not None
        lines = program.stdout.readlines()
        for line in lines:
            if line.endswith("\n"):  # half a line is of one who was killed while saying it
                self._take(name, line.split())
        if not lines and program.poll() is not None and program.returncode != -signal.SIGKILL:
            assert program.stderr is not None
            raise RuntimeError(f"{name} ended with {program.returncode}: {program.stderr.read()}")

    def _take(self, name: str, words: list[str]) -> None:
        millis, outcome, kind, *rest = words
        if outcome == "no":
            self.refusals[rest[0]] = self.refusals.get(rest[0], 0) + 1
            return
        is_fact = kind in ("reserve", "send", "acknowledge", "argue") and rest
        fact = (kind, *rest) if is_fact and not (kind == "reserve" and len(rest) < 2) else None
        self.acknowledged.append(Acknowledged(name, fact, float(millis)))
        if kind == "reserve":
            self.latencies.append(float(millis))
