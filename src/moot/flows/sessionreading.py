"""A session file as it was read, and a memory of it for a process that comes back to it.

To read a session again costs its length; to see that no byte of it has changed costs next to
nothing beside that. So whoever takes many turns in one file holds on to what it read: before each
write every byte is compared, and only what was appended since is read. To look on, between two
writes, the file's size, times and place on disk are enough.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from moot.debate.checker import Checked, check
from moot.debate.growth import grown
from moot.flows.sessionfile import appended_to, read_file

Marks = tuple[int, int, int, int]


class Reading(NamedTuple):
    """The bytes, what they say, and their digest so far, which is only ever copied."""

    data: bytes
    checked: Checked
    sha256: Any

    @property
    def digest(self) -> str:
        return str(self.sha256.hexdigest())

    def followed_by(self, raw: bytes, made: Checked, keep: int) -> Reading:
        """With `raw` behind its first `keep` bytes; `made` is what that says."""
        whole = keep == len(self.data)
        sha256 = self.sha256.copy() if whole else hashlib.sha256(self.data[:keep])
        sha256.update(raw)
        return Reading(self.data[:keep] + raw, made, sha256)


def reading_of(data: bytes, name: str) -> Reading:
    return Reading(data, check(data, file_name=name), hashlib.sha256(data))


class Held:
    """A file, and what was last read of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last: Reading | None = None
        self._marks: Marks | None = None

    def read(self) -> Reading:
        """The file as it is now, whatever happened to it meanwhile."""
        marks = self._seen()
        more = None if self._last is None else appended_to(self.file, self._last.data)
        if self._last is None or more is None:
            reading = reading_of(read_file(self.file), self.file.name)
        else:
            reading = self._longer(self._last, more)
        self.keep(reading, marks)
        return reading

    def look(self) -> Checked:
        """What the file says; for looking on, not for writing."""
        if self._last is None or self._marks is None or self._marks != self._seen():
            return self.read().checked
        return self._last.checked

    def keep(self, reading: Reading, marks: Marks | None = None) -> None:
        """Hold on to what was read, or to what was just written."""
        marks = marks or self._seen()
        self._last = reading
        self._marks = marks if marks and marks[0] == len(reading.data) else None

    def _longer(self, last: Reading, raw: bytes) -> Reading:
        try:
            more = raw.decode()
        except UnicodeDecodeError:
            return reading_of(last.data + raw, self.file.name)
        if not more:
            return last
        made = grown(last.checked, more, file_name=self.file.name)
        return last.followed_by(raw, made, len(last.data))

    def _seen(self) -> Marks | None:
        try:
            found = os.stat(self.file)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
