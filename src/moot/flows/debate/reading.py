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
from typing import Any, Final, NamedTuple

from moot.flows.debate.file import read_behind, read_file
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.longer_file import check_longer
from moot.protocols.debate.model import OddityKind

_BLOCK: Final = 1 << 16
Marks = tuple[int, int, int, int]


class SessionReading(NamedTuple):
    """What a file says, its bytes in blocks, and its digest so far, which is only ever copied.

    In blocks, so that an append costs at most one of them, and not the whole file once more.
    """

    checked: CheckedSession
    size: int
    sha256: Any
    blocks: tuple[bytes, ...]

    @property
    def digest(self) -> str:
        return str(self.sha256.hexdigest())

    @property
    def data(self) -> bytes:
        return b"".join(self.blocks)

    def followed_by(self, raw: bytes, made: CheckedSession, keep: int) -> SessionReading:
        """With `raw` behind its first `keep` bytes; `made` is what that says."""
        if keep < self.size:
            data = self.data[:keep] + raw
            return SessionReading(made, len(data), hashlib.sha256(data), _split(data))
        sha256 = self.sha256.copy()
        sha256.update(raw)
        *full, last = self.blocks or (b"",)
        return SessionReading(made, keep + len(raw), sha256, (*full, *_split(last + raw)))

    @property
    def is_text(self) -> bool:
        return all(one.kind is not OddityKind.ENCODING for one in self.checked.document.oddities)


def make_reading(data: bytes, name: str) -> SessionReading:
    checked = check_session(data, file_name=name)
    return SessionReading(checked, len(data), hashlib.sha256(data), _split(data))


def _split(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))


class CachedFile:
    """A file, and what was last read of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last: SessionReading | None = None
        self._marks: Marks | None = None

    def read(self) -> SessionReading:
        """The file as it is now, whatever happened to it meanwhile."""
        marks = self._current_marks()
        more = None if self._last is None else read_behind(self.file, self._last.blocks)
        if self._last is None or more is None:
            reading = make_reading(read_file(self.file), self.file.name)
        else:
            reading = self._append_to(self._last, more)
        self.remember(reading, marks)
        return reading

    def peek(self) -> SessionReading:
        """The file as it is, for looking on; before a write it is read to the byte."""
        if self._last is None or self._marks is None or self._marks != self._current_marks():
            return self.read()
        return self._last

    def remember(self, reading: SessionReading, marks: Marks | None = None) -> None:
        """Hold on to what was read, or to what was just written."""
        marks = marks or self._current_marks()
        self._last = reading
        self._marks = marks if marks and marks[0] == reading.size else None

    def _append_to(self, last: SessionReading, raw: bytes) -> SessionReading:
        if not raw:
            return last
        try:
            more = raw.decode() if last.is_text else None
        except UnicodeDecodeError:
            more = None
        if more is None:
            return make_reading(last.data + raw, self.file.name)
        made = check_longer(last.checked, more, file_name=self.file.name)
        return last.followed_by(raw, made, last.size)

    def _current_marks(self) -> Marks | None:
        try:
            found = os.stat(self.file)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
