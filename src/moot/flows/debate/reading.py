"""A session file as it was read, and a memory of it for a process that comes back to it.

To read a session again costs its length; to see that no byte of it has changed costs next to
nothing beside that. So whoever takes many turns in one file holds on to what it read: before each
write every byte is compared, and only what was appended since is read. To look on, between two
writes, the file's size, times and place on disk are enough.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.flows.debate.file import read_behind, read_file
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.longer_file import check_longer
from moot.protocols.debate.model import OddityKind

_PORTION: Final = 1 << 16
Marks = tuple[int, int, int, int]


class SessionReading(NamedTuple):
    """What a file says, its size, and its digest so far, which is only ever copied.

    `raw` is left out where the text says it as well: of a file that was appended to.
    """

    checked: CheckedSession
    size: int
    sha256: Any
    raw: bytes | None = None

    @property
    def digest(self) -> str:
        return str(self.sha256.hexdigest())

    @property
    def data(self) -> bytes:
        return b"".join(self.portions()) if self.raw is None else self.raw

    def portions(self) -> Iterator[bytes]:
        """The bytes, a few at a time."""
        if self.raw is not None:
            yield from (self.raw[at : at + _PORTION] for at in range(0, self.size, _PORTION))
            return
        document = self.checked.document
        yield document.byte_order_mark.encode()
        for at in range(0, len(document.text), _PORTION):
            yield document.text[at : at + _PORTION].encode()

    def followed_by(self, raw: bytes, made: CheckedSession, keep: int) -> SessionReading:
        """With `raw` behind its first `keep` bytes; `made` is what that says. For text only."""
        sha256 = self.sha256.copy() if keep == self.size else hashlib.sha256(self.data[:keep])
        sha256.update(raw)
        return SessionReading(made, keep + len(raw), sha256)

    @property
    def is_text(self) -> bool:
        return all(one.kind is not OddityKind.ENCODING for one in self.checked.document.oddities)


def make_reading(data: bytes, name: str) -> SessionReading:
    return SessionReading(
        check_session(data, file_name=name), len(data), hashlib.sha256(data), data
    )


class CachedFile:
    """A file, and what was last read of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last: SessionReading | None = None
        self._marks: Marks | None = None

    def read(self) -> SessionReading:
        """The file as it is now, whatever happened to it meanwhile."""
        marks = self._current_marks()
        more = None if self._last is None else read_behind(self.file, self._last.portions())
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
