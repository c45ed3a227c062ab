"""JSON-RPC messages on standard input and output, one in each line.

Lines that are too long, too deep or no message are refused here, with a JSON-RPC error under their
id if it can be read: otherwise the sender would wait. Standard output carries only the protocol:
other prints go to standard error.

The streams of the SDK are not used: they pass each message through four tasks, which costs as much
as a reservation. Nothing is read while a message is handled, so no queue can grow.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

MAX_LINE: Final = 1024 * 1024
MAX_DEPTH: Final = 32
CHUNK: Final = 64 * 1024
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# A string (also one without an end) or a bracket; each byte is read once.
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Message(msgspec.Struct, frozen=True):
    """A request; a notification, which has no id; or an answer, which has no method."""

    jsonrpc: Literal["2.0"]
    method: str = ""
    id: str | int | UnsetType = UNSET
    params: dict[str, Any] | UnsetType | None = UNSET


class Flaw(msgspec.Struct, frozen=True):
    """Why a line is refused: the JSON-RPC code and a message."""

    code: int
    message: str


class _RequestId(msgspec.Struct):
    """The id of a request, which a refusal repeats."""

    id: str | int | None = None


class _RpcRefusal(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: str | int | None
    error: Flaw


_READ_MESSAGE: Final = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | Flaw:
    """Return the message in a line, or why there is none."""
    if len(line) > MAX_LINE:
        return Flaw(INVALID_REQUEST, f"a message has at most {MAX_LINE} bytes")
    if depth_of(line) > MAX_DEPTH:
        return Flaw(INVALID_REQUEST, f"a message is at most {MAX_DEPTH} levels deep")
    try:
        return _READ_MESSAGE.decode(line)
    except msgspec.ValidationError as error:
        return Flaw(INVALID_REQUEST, f"this is not a JSON-RPC 2.0 message: {error}"[:300])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Flaw(PARSE_ERROR, "this is not JSON")


def depth_of(line: bytes) -> int:
    """Return how deep lists and objects are nested; brackets in strings do not count."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(line):
        bracket = found[0]
        if bracket in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in (b"]", b"}"):
            depth -= 1
    return deepest


def refuse_line(line: bytes, flaw: Flaw) -> bytes:
    """Return the answer to a refused line; a very deep line may be too deep to find its id."""
    address = None
    if len(line) <= MAX_LINE:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            address = msgspec.json.decode(line, type=_RequestId).id
    return msgspec.json.encode(_RpcRefusal("2.0", address, flaw))


class Output:
    """Standard output for the protocol alone: other prints of this process go to standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._file = os.dup(1)
        os.dup2(2, 1)

    def write_line(self, line: bytes) -> None:
        """Write a line; ignore a client that has disconnected, as its input ends soon."""
        data = line + b"\n"
        with suppress(OSError):
            while data:
                data = data[os.write(self._file, data) :]


class LineSplitter:
    """Joins chunks into lines; of a line that is too long it keeps only MAX_LINE + 1 bytes."""

    def __init__(self) -> None:
        self._partial = b""

    def split(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in this chunk."""
        *ends, partial = chunk.split(b"\n")
        lines = [self._complete(end) for end in ends]
        self._partial = self._add(partial)
        return lines

    def take_rest(self) -> bytes:
        """Return the last line, if the input ended without a newline."""
        return self._complete(b"")

    def _complete(self, end: bytes) -> bytes:
        line, self._partial = self._add(end), b""
        return line.rstrip(b"\r")

    def _add(self, part: bytes) -> bytes:
        return self._partial + part[: MAX_LINE + 1 - len(self._partial)]


class Input:
    """The messages on standard input. A signal handler calls `end` to stop reading them."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._file = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._next: asyncio.Future[bytes] | None = None  # the next chunk, while it is awaited
        self._is_watched = False
        self._has_ended = False

    def end(self) -> None:
        """Stop reading; called in the event loop."""
        self._has_ended = True
        self._hand_over(b"")

    async def messages(self) -> AsyncIterator[Message]:
        """Yield each message as it comes; answer invalid lines here."""
        splitter, read = LineSplitter(), b"\n"
        while read and not self._has_ended:
            read = await self._read()
            for line in splitter.split(read) if read else [splitter.take_rest()]:
                message = read_message(line) if line.strip() else None
                if isinstance(message, Flaw):
                    self._output.write_line(refuse_line(line, message))
                elif message is not None:
                    yield message

    async def _read(self) -> bytes:
        """Return the next chunk; empty at the end of the input."""
        loop = asyncio.get_running_loop()
        self._next = loop.create_future()
        try:
            if not self._is_watched:
                loop.add_reader(self._file, self._take_chunk, loop)
                self._is_watched = True
        except (NotImplementedError, PermissionError):  # a plain file, or no add_reader here
            reader = threading.Thread(target=self._read_in_thread, args=(loop,), daemon=True)
            reader.start()
        return await self._next

    def _take_chunk(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over the next chunk; if none is awaited, leave it in the pipe."""
        if self._next is None or self._next.done():
            loop.remove_reader(self._file)
            self._is_watched = False
        else:
            self._hand_over(self._read_chunk())

    def _read_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        chunk = self._read_chunk()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._hand_over, chunk)

    def _read_chunk(self) -> bytes:
        try:
            return os.read(self._file, CHUNK)
        except OSError:  # the input is gone
            return b""

    def _hand_over(self, chunk: bytes) -> None:
        if self._next is not None and not self._next.done():
            self._next.set_result(chunk)
