"""The streams of a bundle (step 4): each from 0, contiguous, every event naming the one before.

One entry a stream is held in memory; the hash of every event goes to a spool, in the order of the
lines, so that the hash at any position can be asked for later.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from moot.verify.event_reader import REGISTRY, ReadEvent, genesis_hash
from moot.verify.verdict import StepFailure, StreamPosition

# A list of equally long records that outgrows memory onto a nameless temporary file: forks, proofs
# and revocations may speak of any earlier event, and memory must not grow with the bundle.

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


@dataclass(slots=True)
class Stream:
    """How far a stream was read: its newest event, and where its first one stands."""

    name: str
    first_line: int
    first_record: int
    seq: int
    hash: bytes
    reg: int
    proved: int | None = None

    def line_of(self, seq: int) -> int:
        """The line of an event; a stream's lines are contiguous."""
        return self.first_line + seq


class Chain:
    """Links events in the order of their lines; raises `StepFailure` at the first that does not
    fit."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._hashes = Spool(32)
        self._newest: Stream | None = None
        self.streams: dict[str, Stream] = {}

    @property
    def events(self) -> int:
        """How many events were linked."""
        return len(self._hashes)

    def append_event(self, event: ReadEvent, line: int) -> None:
        """Step 4; the registry comes first, and no other stream's `reg` is beyond it."""
        newest = self._newest
        if newest is None or event.stream != newest.name:
            self._begin_stream(event, line)
        else:
            self._continue_stream(newest, event)
        self._hashes.append(event.hash)

    def next_position(self) -> StreamPosition:
        """Where the next event would stand if it continued the stream that was read last."""
        newest = self._newest
        return (
            StreamPosition(REGISTRY, 0)
            if newest is None
            else StreamPosition(newest.name, newest.seq + 1)
        )

    def hash_at(self, stream: Stream, seq: int) -> bytes | None:
        """The hash of an event above, or `None` if the stream ends before it."""
        return self._hashes[stream.first_record + seq] if seq <= stream.seq else None

    def last_event_before(self, line: int) -> tuple[int, StreamPosition] | None:
        """The last event line before this one, with its position."""
        for stream in reversed(self.streams.values()):
            if stream.first_line < line:
                last = min(stream.line_of(stream.seq), line - 1)
                return last, StreamPosition(stream.name, last - stream.first_line)
        return None

    def position_of(self, line: int) -> StreamPosition | None:
        """The position of the event on this line, if one was linked there."""
        last = self.last_event_before(line + 1)
        return last[1] if last is not None and last[0] == line else None

    def close(self) -> None:
        """Give the spool back."""
        self._hashes.close()

    def _begin_stream(self, event: ReadEvent, line: int) -> None:
        if not self.streams and event.stream != REGISTRY:
            raise _broken("order_wrong", "the registry comes first", REGISTRY, 0, 1)
        if event.stream in self.streams:
            raise _broken("stream_split", "a stream is in one piece", *self.next_position(), step=1)
        if event.seq != 0:
            raise _broken("seq_broken", "the stream does not start at 0", event.stream, 0)
        # LDG-086
        if event.prev != genesis_hash(self._origin, event.stream):
            raise _broken("prev_broken", "`prev` is not the stream's genesis", event.stream, 0)
        reg = self._checked_reg(event)
        stream = Stream(event.stream, line, len(self._hashes), 0, event.hash, reg)
        self.streams[event.stream] = self._newest = stream

    def _continue_stream(self, stream: Stream, event: ReadEvent) -> None:
        # LDG-082, LDG-084: after a change, only its author can sign the following events again.
        name, seq = stream.name, stream.seq + 1
        if event.seq != seq:
            raise _broken("seq_broken", f"event {seq} was expected here", name, seq)
        if event.prev != stream.hash.hex():
            raise _broken("prev_broken", "`prev` is not the hash of the event before", name, seq)
        reg = self._checked_reg(event)
        if reg < stream.reg:  # LDG-027
            raise _broken("reg_broken", "`reg` decreases along the stream", name, seq)
        stream.seq, stream.hash, stream.reg = event.seq, event.hash, reg

    def _checked_reg(self, event: ReadEvent) -> int:
        """In the registry `reg` is `seq` - 1, told as null at 0; elsewhere within the registry."""
        here = (event.stream, event.seq)
        if event.stream == REGISTRY:
            if event.reg != (event.seq - 1 if event.seq else None):
                raise _broken("reg_broken", "in the registry `reg` is `seq` - 1", *here)
            return event.seq - 1
        if event.reg is None:
            raise _broken("reg_broken", "`reg` is null in event 0 of the registry only", *here)
        if event.reg > self.streams[REGISTRY].seq:
            raise _broken("reg_beyond", "`reg` is beyond the registry of the bundle", *here)
        return event.reg


def _broken(code: str, message: str, stream: str, seq: int, step: int = 4) -> StepFailure:
    return StepFailure(step, code, message).at(position=StreamPosition(stream, seq))
