"""What went on record: the INCURSIONs of a step, by whom and against whom."""

from __future__ import annotations

import json
from typing import NamedTuple

from bench.loss.world import World
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM
from moot.workspace.workspace import Workspace


class NotedIncursion(NamedTuple):
    """`agent` reached into what `owner` holds under `key`; `outcome` is what came of it."""

    agent: str
    owner: str
    key: str
    outcome: str

    def covers(self, path: str) -> bool:
        return not self.key or path == self.key or path.startswith(f"{self.key}/")


class RecordReader:
    """Reads on from where it was."""

    def __init__(self, world: World) -> None:
        self._workspace = Workspace(world.main / ".moot", KeyFolder(world.top / "keys"))
        self._position = -1

    def close(self) -> None:
        self._workspace.close()

    def read_new(self) -> list[NotedIncursion]:
        noted = []
        with self._workspace.store.read() as view:
            for record in view.records(STREAM, after=self._position):
                body = json.loads(record.raw)
                self._position = body["seq"]
                if "incursion" in body["type"]:
                    event = body["data"]
                    names = body["actor"]["id"], event["owner"]
                    noted.append(NotedIncursion(*names, event["key"], event["outcome"]))
        return noted
