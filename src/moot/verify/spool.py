"""A list of equally long records that outgrows memory onto a nameless temporary file.

Forks, proofs and revocations come after the events they speak of and may speak of any of them.
Remembering a few bytes of every event answers them; keeping those bytes out of memory keeps the
memory of a check the same for a bundle of any length.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from typing import IO, Final

_BUFFER: Final = 1 << 18


class Spool:
    """Append and read back records of `width` bytes."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._tail = bytearray()
        self._file: IO[bytes] | None = None
        self._spilled = 0

    def __len__(self) -> int:
        return (self._spilled + len(self._tail)) // self._width

    def append(self, record: bytes) -> None:
        """Add one record; it must be `width` bytes long."""
        self._tail += record
        if len(self._tail) >= _BUFFER:
            self._spill()

    def __getitem__(self, index: int) -> bytes:
        start = index * self._width
        if start >= self._spilled:
            start -= self._spilled
            return bytes(self._tail[start : start + self._width])
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(self._width)

    def __iter__(self) -> Iterator[bytes]:
        return (self[index] for index in range(len(self)))

    def close(self) -> None:
        """Give the temporary file back."""
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        if self._file is None:
            self._file = _temporary()
        self._file.seek(self._spilled)
        self._file.write(self._tail)
        self._spilled += len(self._tail)
        self._tail.clear()


def _temporary() -> IO[bytes]:
    # A machine with no place to write can still check a bundle: it then costs memory.
    with contextlib.suppress(OSError):
        return tempfile.TemporaryFile(prefix="moot-verify-")
    return io.BytesIO()
