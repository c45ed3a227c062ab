"""What went on record: the INCURSIONs of a step, by whom and against whom, and the letters in which
holders are told of a change that is not proved to be anybody's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

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


class ToldChange(NamedTuple):
    """`owner` was told that this file changed; `agent` is the only one known, or empty."""

    owner: str
    path: str
    agent: str


class RecordReader:
    """Reads on from where it was."""

    def __init__(self, world: World) -> None:
        self._workspace = Workspace(world.main / ".moot", KeyFolder(world.top / "keys"))
        self._position = -1
        self._mail_position = 0

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

    def read_told(self) -> list[ToldChange]:
        """What letters of the system say since the last time."""
        told = []
        with self._workspace.store.read() as view:
            while records := view.records_after(self._mail_position):
                self._mail_position += len(records)
                for record in records:
                    body = json.loads(record.raw)
                    if record.stream.startswith("mail/") and "subject" in body["data"]:
                        told += list(_read_letter(body["data"]))
        return told


def _read_letter(letter: dict[str, Any]) -> Iterator[ToldChange]:
    only = _ONLY.search(letter["subject"])
    for path in _PATHS.findall(letter["body"]):
        for party in letter["to"]:
            yield ToldChange(party[0], path, only[1] if only else "")


_ONLY: Final = re.compile(r"changed while (\S+)'s command ran")
_PATHS: Final = re.compile(r"^- (.*?) in .*: \w+ \(\S+ -> \S+\)$", re.MULTILINE)
