"""Messages in and out, a line each. What is too long, too deep or no message is refused here.

Each refused line is answered with an error of JSON-RPC, under its id where that can be read: else
its sender would wait. Standard output carries the protocol and nothing else: whatever prints there
by accident is led to standard error.

The streams of the SDK are not used: they hand each message through four tasks, which costs as much
as a reservation. Nothing is read while a message is dealt with, so nothing piles up.
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
# A text, also one that does not end, or a bracket: each byte is looked at once.
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Message(msgspec.Struct, frozen=True):
    """A request; a notification, which has no id; or an answer, which has no method."""

    jsonrpc: Literal["2.0"]
    method: str = ""
    id: str | int | UnsetType = UNSET
    params: dict[str, Any] | UnsetType | None = UNSET


class Flaw(msgspec.Struct, frozen=True):
    """Why a line is refused: the code of JSON-RPC and the sentence."""

    code: int
    message: str


class _Addressed(msgspec.Struct):
    """What a refusal needs of a request: under which id it is awaited."""

    id: str | int | None = None


class _RpcRefusal(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: str | int | None
    error: Flaw


_READ_MESSAGE: Final = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | Flaw:
    """The message on a line, or why there is none."""
    if len(line) > MAX_LINE:
        return Flaw(INVALID_REQUEST, f"a message has at most {MAX_LINE} bytes")
    if depth_of(line) > MAX_DEPTH:
        return Flaw(INVALID_REQUEST, f"a message is at most {MAX_DEPTH} deep")
    try:
        return _READ_MESSAGE.decode(line)
    except msgspec.ValidationError as error:
        return Flaw(INVALID_REQUEST, f"this is no message of JSON-RPC 2.0: {error}"[:300])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Flaw(PARSE_ERROR, "this is not JSON")


def depth_of(line: bytes) -> int:
    """How deep lists and objects stand in each other, whatever stands in texts."""
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
    """The answer to a line that was refused; a deep one may be too deep to find its id."""
    address = None
    if len(line) <= MAX_LINE:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            address = msgspec.json.decode(line, type=_Addressed).id
    return msgspec.json.encode(_RpcRefusal("2.0", address, flaw))


class Output:
    """Standard output, taken away from everything else in this process."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._file = os.dup(1)
        os.dup2(2, 1)

    def write_line(self, line: bytes) -> None:
        """A client that has gone hears nothing; the end of its input says so in a moment."""
        data = line + b"\n"
        with suppress(OSError):
            while data:
                data = data[os.write(self._file, data) :]


class LineSplitter:
    """Puts lines together from what was read; of one that is too long it keeps only so much."""

    def __init__(self) -> None:
        self._begun = b""

    def split(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk."""
        *ends, begun = chunk.split(b"\n")
        lines = [self._complete(end) for end in ends]
        self._begun = self._add(begun)
        return lines

    def take_rest(self) -> bytes:
        """The last line, if the input ended in the middle of it."""
        return self._complete(b"")

    def _complete(self, end: bytes) -> bytes:
        line, self._begun = self._add(end), b""
        return line.rstrip(b"\r")

    def _add(self, part: bytes) -> bytes:
        return self._begun + part[: MAX_LINE + 1 - len(self._begun)]


class Input:
    """The messages on standard input. `end` ends them although the client neither writes nor
    closes: a signal does."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._file = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._next: asyncio.Future[bytes] | None = None  # what is read next, while it is awaited
        self._is_watched = False
        self._has_ended = False

    def end(self) -> None:
        """Nothing more is read; called in the event loop."""
        self._has_ended = True
        self._hand_over(b"")

    async def messages(self) -> AsyncIterator[Message]:
        """Each message as it comes; lines that are none are answered here."""
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
        """What there is to read, as soon as there is something; nothing at the end."""
        loop = asyncio.get_running_loop()
        self._next = loop.create_future()
        try:
            if not self._is_watched:
                loop.add_reader(self._file, self._take_chunk, loop)
                self._is_watched = True
        except (NotImplementedError, PermissionError):  # a plain file, or no such way to wait
            reader = threading.Thread(target=self._read_in_thread, args=(loop,), daemon=True)
            reader.start()
        return await self._next

    def _take_chunk(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over what came; while nobody awaits it, leave it where it is."""
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
