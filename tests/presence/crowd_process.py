"""One of a crowd: beats, reserves and releases until its time is over, then says what it did.

Run as a program: WORKSPACE KEYS NAME SECONDS. It begins when a line arrives on standard input.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from moot.core.errors import Refused
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Release, Reserve
from moot.protocols.presence.events import ScopeReleased, ScopeReserved
from moot.workspace.workspace import Workspace

SCOPES = ["src", *(f"src/{x}" for x in "abcd"), *(f"src/{x}/{n}.py" for x in "abcd" for n in "012")]
MOST_HELD = 3
COLD_EVERY = 25


class Worker:
    def __init__(self, place: Path, keys: Path, name: str) -> None:
        self._place, self._keys, self._name = place, KeyFolder(keys), name
        self._root = str(place.parent)
        self._random = random.Random(name)
        self._held: dict[str, int] = {}
        self.told: dict[str, Any] = {"reserved": [], "released": [], "refused": 0, "beats": 0}

    def work(self, until: float) -> dict[str, Any]:
        """From time to time open the workspace again, like a command that has just started."""
        while time.monotonic() < until:
            with Workspace(self._place, self._keys) as space:
                for number in range(COLD_EVERY):
                    if number == 0 or time.monotonic() < until:
                        self._step(space)
        return {**self.told, "held": self._held}

    def _step(self, space: Workspace) -> None:
        if self._random.random() < 0.3:
            space.engine.beat(self._name)
            self.told["beats"] += 1
        elif len(self._held) >= MOST_HELD or (self._held and self._random.random() < 0.4):
            self._release(space, self._random.choice(sorted(self._held)))
        else:
            self._reserve(space, self._random.choice(SCOPES))

    def _reserve(self, space: Workspace, scope: str) -> None:
        try:
            outcome = space.engine.execute(
                STREAM, Reserve(scopes=(scope,), project_root=self._root, once=True), self._name
            )
        except Refused as refused:
            if refused.code != "reservation_conflict":
                raise
            self.told["refused"] += 1
            return
        for one in outcome.recorded:
            assert isinstance(one.event, ScopeReserved)
            self._held[scope] = one.event.fencing
            self.told["reserved"].append(one.event.fencing)

    def _release(self, space: Workspace, scope: str) -> None:
        asked = Release(scopes=(scope,), project_root=self._root)
        (one,) = space.engine.execute(STREAM, asked, self._name).recorded
        assert isinstance(one.event, ScopeReleased)
        assert one.event.fencing == self._held.pop(scope)
        self.told["released"].append(one.event.fencing)


if __name__ == "__main__":
    place, keys, name, seconds = sys.argv[1:]
    worker = Worker(Path(place), Path(keys), name)
    print("ready", flush=True)  # noqa: T201 - its way to speak
    sys.stdin.readline()
    print(json.dumps(worker.work(time.monotonic() + float(seconds))))  # noqa: T201
