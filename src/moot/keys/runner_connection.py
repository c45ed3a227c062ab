"""The connection to the `moot run` that lent this key folder: one question, one answer.

A frame is a line with the lengths of its fields, then the fields: `4 12\\n` and sixteen bytes. The
first field of a question is its kind, the first of an answer `ok`, `refused` or `not_mine`. The run
first sends a `+`. If it is stopped and sends none in time, the asker gives up; when the run
continues, it finds the connection closed and does nothing.
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
ANSWER_SECONDS: Final = 60.0
ACK_SECONDS: Final = 5.0
ACK: Final = b"+"

OK: Final = b"ok"
REFUSED: Final = b"refused"
NOT_MINE: Final = b"not_mine"


class InvalidFrame(Exception):
    """The frame is malformed, too long or too slow."""


def write_frame(connection: socket.socket, *fields: bytes) -> None:
    header = b" ".join(b"%d" % len(field) for field in fields)
    connection.sendall(b"".join((header, b"\n", *fields)))


def read_frame(connection: socket.socket, seconds: float) -> list[bytes]:
    """Return one whole frame, received within the time; else InvalidFrame."""
    until = time.monotonic() + seconds
    data = bytearray()
    while b"\n" not in data:
        if len(data) > MAX_HEADER:
            raise InvalidFrame("the lengths are missing")
        data += _receive(connection, until)
    header, _, rest = bytes(data).partition(b"\n")
    lengths = _read_lengths(header)
    body = bytearray(rest)
    while len(body) < sum(lengths):
        body += _receive(connection, until)
    fields, position = [], 0
    for length in lengths:
        fields.append(bytes(body[position : position + length]))
        position += length
    return fields


def _read_lengths(header: bytes) -> list[int]:
    lengths_text = header.split(b" ")
    if len(lengths_text) > MAX_FIELDS or not all(
        word.isdigit() and len(word) < 12 for word in lengths_text
    ):
        raise InvalidFrame("the lengths are malformed")
    lengths = [int(word) for word in lengths_text]
    if sum(lengths) > MAX_TOTAL:
        raise InvalidFrame("the message is too long")
    return lengths


def _receive(connection: socket.socket, until: float) -> bytes:
    left = until - time.monotonic()
    if left <= 0:
        raise InvalidFrame("no answer in time")
    connection.settimeout(left)
    try:
        data = connection.recv(1 << 16)
    except TimeoutError:
        raise InvalidFrame("no answer in time") from None
    if not data:
        raise InvalidFrame("the connection broke")
    return data


def ask_runner(position: Path, *fields: bytes, seconds: float = ANSWER_SECONDS) -> list[bytes]:
    """Return the answer of `moot run`; Unavailable (`runner_away`) without one."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ACK_SECONDS)
            connection.connect(str(position))
            write_frame(connection, *fields)
            if connection.recv(1) != ACK:
                raise InvalidFrame("the connection broke")
            return read_frame(connection, seconds)
    except (OSError, InvalidFrame) as error:
        raise runner_away(str(error)) from None


def runner_away(why: str) -> Unavailable:
    return Unavailable(
        "runner_away",
        f"this needs the ledger's own key, and the `moot run` that has it does not answer ({why})",
        hint="start the program again with `moot run`, or do this as the user who ran `moot init`",
    )
