"""Read, create and append to a session file on disk.

An append writes all its bytes at the end (R5) and makes them durable before it is acknowledged; if
it fails, the file is truncated to what it was. Old bytes are never rewritten (R1); only the author
of an unfinished entry may cut it off and write it again (A-34). `locked_session.py` has the lock.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.core.markdown import escape_comments, write_quote
from moot.protocols.debate.checker import CheckedSession, check_longer, check_session
from moot.protocols.debate.model import OddityKind
from moot.store.files import replace_own_file, sync_file, write_new_file

_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows would change line ends
_NONBLOCK: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would never open


def read_file(path: Path) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from None


def open_to_read(path: Path) -> BinaryIO:
    """Open a file for reading; Unavailable for a pipe or a device, which might never end."""
    require_file(path, os.stat(path).st_mode)
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NONBLOCK))


def require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise Unavailable(
            "unreadable_file",
            f"{path} is {kind}, not a file",
            hint="a session is one regular file; save the pipe's output to a file first",
        )


def read_after(path: Path, known: Iterable[bytes]) -> bytes | None:
    """Return what follows `known` in this file; None if the file does not begin with `known`."""
    try:
        with open_to_read(path) as file:
            for part in known:
                if file.read(len(part)) != part:
                    return None
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from None


def with_md_ending(path: Path) -> Path:
    """Return the path with the ending .md, which a session file must have (BNC-002)."""
    return path if path.suffix == ".md" else path.with_name(path.name + ".md")


def create(path: Path, text: str) -> None:
    """Create a file; an existing one is never replaced."""
    try:
        write_new_file(path, text.encode())
    except FileExistsError:
        raise Refused("file_exists", f"{path} exists already", hint="choose another name") from None
    except OSError as error:
        raise unwritable(path, error) from None


def rewrite(path: Path, data: bytes) -> None:
    """Replace the whole file: only to add context, which is not at its end (A-32)."""
    try:
        replace_own_file(real_path(path), data)
    except OSError as error:
        raise unwritable(path, error) from None


def real_path(path: Path) -> Path:
    """Return the file that a path or a link leads to."""
    return Path(os.path.realpath(path))


def append(path: Path, data: bytes, keep: int | None = None) -> None:
    """Append all of `data` or nothing (BNC-005, BNC-102). Call it under the lock.

    With `keep` the file is first truncated to that size: its author rewrites an unfinished entry.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | _BINARY)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        _write_whole(path, descriptor, data, keep)
    except OSError as error:
        raise StoreFailed(
            "append_failed", f"{path}: {error.strerror or error}", hint="fix the disk, try again"
        ) from None
    finally:
        os.close(descriptor)


def _write_whole(path: Path, descriptor: int, data: bytes, keep: int | None) -> None:
    size = os.fstat(descriptor).st_size
    keep = size if keep is None else keep
    cut_off = _read_from(descriptor, keep) if keep < size else b""
    try:
        if cut_off:
            os.ftruncate(descriptor, keep)
        _write(descriptor, data)
        sync_file(descriptor, path)
    except OSError:
        os.ftruncate(descriptor, keep)
        _write(descriptor, cut_off)
        raise


def _read_from(descriptor: int, start: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    return b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def unreadable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
    )


def unwritable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        "unwritable_file", f"{path}: {error.strerror or error}", hint="check the folder"
    )


_BLOCK_SIZE: Final = 1 << 16
FileStamp = tuple[int, int, int, int]


class SessionReading(NamedTuple):
    """A checked file: its session, its size, its bytes in blocks, and its running digest.

    The bytes are in blocks so that an append copies at most one block, not the whole file. The
    digest object is only ever copied, never updated in place.
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

    def with_appended(self, raw: bytes, checked_after: CheckedSession, keep: int) -> SessionReading:
        """Return the reading after `raw` was written behind the first `keep` bytes."""
        if keep < self.size:
            data = self.data[:keep] + raw
            return SessionReading(
                checked_after, len(data), hashlib.sha256(data), _split_into_blocks(data)
            )
        sha256 = self.sha256.copy()
        sha256.update(raw)
        *full, last = self.blocks or (b"",)
        return SessionReading(
            checked_after, keep + len(raw), sha256, (*full, *_split_into_blocks(last + raw))
        )

    @property
    def is_text(self) -> bool:
        return all(one.kind is not OddityKind.ENCODING for one in self.checked.document.oddities)


def make_reading(data: bytes, name: str) -> SessionReading:
    checked = check_session(data, file_name=name)
    return SessionReading(checked, len(data), hashlib.sha256(data), _split_into_blocks(data))


def _split_into_blocks(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[at : at + _BLOCK_SIZE] for at in range(0, len(data), _BLOCK_SIZE))


class CachedFile:
    """A file and its last reading, for a process that takes many turns in it.

    Before each write `read` compares every byte, but parses only what was appended. Between writes
    `peek` relies on the file's size, times and inode.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._last: SessionReading | None = None
        self._stamp: FileStamp | None = None

    def read(self) -> SessionReading:
        """Return the file as it is now, compared byte by byte."""
        stamp = self._current_stamp()
        more = None if self._last is None else read_after(self.file, self._last.blocks)
        if self._last is None or more is None:
            reading = make_reading(read_file(self.file), self.file.name)
        else:
            reading = self._append_to(self._last, more)
        self.remember(reading, stamp)
        return reading

    def peek(self) -> SessionReading:
        """Return the last reading if size, times and inode are unchanged; else read again."""
        if self._last is None or self._stamp is None or self._stamp != self._current_stamp():
            return self.read()
        return self._last

    def remember(self, reading: SessionReading, stamp: FileStamp | None = None) -> None:
        """Keep what was read or just written for the next call."""
        stamp = stamp or self._current_stamp()
        self._last = reading
        self._stamp = stamp if stamp and stamp[0] == reading.size else None

    def _append_to(self, last: SessionReading, raw: bytes) -> SessionReading:
        if not raw:
            return last
        try:
            more = raw.decode() if last.is_text else None
        except UnicodeDecodeError:
            more = None
        if more is None:
            return make_reading(last.data + raw, self.file.name)
        checked_after = check_longer(last.checked, more, file_name=self.file.name)
        return last.with_appended(raw, checked_after, last.size)

    def _current_stamp(self) -> FileStamp | None:
        try:
            found = os.stat(self.file)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


# Texts of others in a session file (XPR-09): no line of them can be a heading, a fence or a mark of
# the protocol, and no control character for a terminal gets into the file.

MAX_TITLE: Final = 150


def make_title(text: str) -> str:
    line = " ".join(escape_comments(_replace_unprintable(text)).split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"


def quote_lines(text: str) -> str:
    """Return the text as a markdown quotation; a blank line must follow it."""
    return write_quote(_replace_unprintable(text).strip("\n") + "\n")


def _replace_unprintable(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in plain)
