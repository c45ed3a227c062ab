"""The line to the `moot run` that lent this key folder: one question, one answer, then it ends.

A frame is a line with the lengths of its fields, and the fields: `4 12\\n` and sixteen bytes. The
first field of a question is what is asked, the first of an answer `ok`, `refused` or `not_mine`.
Before it does anything the run sends a `+`: one that was stopped is as good as away, and when it
goes on it finds nobody who waits, and does nothing.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Final

from moot.core.errors import Unavailable

MAX_HEADER: Final = 512
MAX_FIELDS: Final = 16
MAX_TOTAL: Final = 40 * 1024 * 1024
SECONDS: Final = 60.0
HEARD_SECONDS: Final = 5.0
HEARD: Final = b"+"

OK: Final = b"ok"
REFUSED: Final = b"refused"
NOT_MINE: Final = b"not_mine"


class BrokenFrame(Exception):
    """What came is no frame, is too long, or came too slowly."""


def write_frame(line: socket.socket, *fields: bytes) -> None:
    header = b" ".join(b"%d" % len(field) for field in fields)
    line.sendall(b"".join((header, b"\n", *fields)))


def read_frame(line: socket.socket, seconds: float) -> list[bytes]:
    """One whole frame, within the time; BrokenFrame if it does not come so."""
    until = time.monotonic() + seconds
    data = bytearray()
    while b"\n" not in data:
        if len(data) > MAX_HEADER:
            raise BrokenFrame("no lengths come")
        data += _receive(line, until)
    header, _, rest = bytes(data).partition(b"\n")
    lengths = _read_lengths(header)
    body = bytearray(rest)
    while len(body) < sum(lengths):
        body += _receive(line, until)
    fields, place = [], 0
    for length in lengths:
        fields.append(bytes(body[place : place + length]))
        place += length
    return fields


def _read_lengths(header: bytes) -> list[int]:
    words = header.split(b" ")
    if len(words) > MAX_FIELDS or not all(word.isdigit() and len(word) < 12 for word in words):
        raise BrokenFrame("these are no lengths")
    lengths = [int(word) for word in words]
    if sum(lengths) > MAX_TOTAL:
        raise BrokenFrame("it is too long")
    return lengths


def _receive(line: socket.socket, until: float) -> bytes:
    left = until - time.monotonic()
    if left <= 0:
        raise BrokenFrame("it came too slowly")
    line.settimeout(left)
    try:
        data = line.recv(1 << 16)
    except TimeoutError:
        raise BrokenFrame("it came too slowly") from None
    if not data:
        raise BrokenFrame("it broke off")
    return data


def ask_runner(place: Path, *fields: bytes, seconds: float = SECONDS) -> list[bytes]:
    """What `moot run` answers; Unavailable (`runner_away`) if nobody does."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(HEARD_SECONDS)
            line.connect(str(place))
            write_frame(line, *fields)
            if line.recv(1) != HEARD:
                raise BrokenFrame("it broke off")
            return read_frame(line, seconds)
    except (OSError, BrokenFrame) as error:
        raise runner_away(str(error)) from None


def runner_away(why: str) -> Unavailable:
    return Unavailable(
        "runner_away",
        f"this needs the ledger's own key, and the `moot run` that has it does not answer ({why})",
        hint="it stays due; start the program anew with `moot run`, or let whoever ran `moot init`"
        " do this",
    )
