"""Lines in and out. What is too long, too deep or no JSON at all never reaches the SDK.

Each refused line is answered with an error of JSON-RPC, under its id where that can be read: the
SDK would drop it, and its sender would wait. Standard output carries the protocol and nothing else:
whatever prints there by accident is led to standard error.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import BinaryIO, Final

import msgspec

MAX_LINE: Final = 1024 * 1024
MAX_DEPTH: Final = 32
MOST_WAITING: Final = 64  # lines that are read before the first of them is taken
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# A text, also one that does not end, or a bracket: each byte is looked at once.
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


class _Addressed(msgspec.Struct):
    """What a refusal needs of a request: under which id it is awaited."""

    id: str | int | None = None


class _RpcError(msgspec.Struct, frozen=True):
    code: int
    message: str


class _RpcRefusal(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: str | int | None
    error: _RpcError


def find_flaw(line: bytes) -> tuple[int, str] | None:
    """The code and the reason for which a line is refused; None if the SDK may read it."""
    if len(line) > MAX_LINE:
        return INVALID_REQUEST, f"a message has at most {MAX_LINE} bytes"
    if depth_of(line) > MAX_DEPTH:
        return INVALID_REQUEST, f"a message is at most {MAX_DEPTH} deep"
    try:
        decoded = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return PARSE_ERROR, "this is not JSON"
    return None if isinstance(decoded, dict) else (INVALID_REQUEST, "a message is one JSON object")


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


def refuse_line(line: bytes, code: int, message: str) -> bytes:
    """The answer to a line that was refused; a deep one may be too deep to find its id."""
    address = None
    if len(line) <= MAX_LINE:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            address = msgspec.json.decode(line, type=_Addressed).id
    return msgspec.json.encode(_RpcRefusal("2.0", address, _RpcError(code, message))) + b"\n"


class Output:
    """Standard output, taken away from everything else in this process."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._file = os.dup(1)
        os.dup2(2, 1)
        self._turn = threading.Lock()

    async def write(self, text: str) -> None:
        """One whole line, from the SDK. A thread for it would cost as much as the call itself."""
        self.write_line(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Nothing is held back, so there is nothing to do."""

    def write_line(self, data: bytes) -> None:
        """A client that has gone hears nothing; the end of its input says so in a moment."""
        with self._turn, suppress(OSError):
            while data:
                data = data[os.write(self._file, data) :]


class Input:
    """The lines of standard input, for the SDK.

    They are read by a thread that nobody waits for, so that `end` ends them although the client
    may neither write nor close: a signal does.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._file: BinaryIO = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_WAITING)

    def end(self) -> None:
        """Nothing more is read; called in the event loop."""
        self._lines.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        reader = threading.Thread(target=self._read, args=(loop,), name="moot-input", daemon=True)
        reader.start()
        while (line := await self._lines.get()) is not None:
            self._room.release()
            yield line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError, OSError):  # the loop has ended, or the input is gone
            for line in self._sound_lines():
                self._room.acquire()
                loop.call_soon_threadsafe(self._lines.put_nowait, line)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self.end)

    def _sound_lines(self) -> Iterator[str]:
        for line in self._whole_lines():
            flaw = find_flaw(line)
            if flaw is None:
                yield line.decode()
            else:
                self._output.write_line(refuse_line(line, *flaw))

    def _whole_lines(self) -> Iterator[bytes]:
        """Each line; of one that is too long only the beginning is kept."""
        while line := self._file.readline(MAX_LINE + 2):
            rest = line
            while not rest.endswith(b"\n") and (rest := self._file.readline(MAX_LINE)):
                pass
            if line.strip():
                yield line.rstrip(b"\r\n")
