"""A session file on disk: read whole, made once, and appended to under a lock.

An append is one write of whole bytes at the end (R5), made durable before it is acknowledged; if
it fails, the file is cut back to what it was. Old bytes are never rewritten (R1); only an entry
that was never yielded may be cut off by its own author, to be written again (A-34). The lock is in
`locked_session.py`.
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

_BYTES: Final = getattr(os, "O_BINARY", 0)  # Windows would change line ends
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would never open


def read_file(path: Path) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from None


def open_to_read(path: Path) -> BinaryIO:
    """The file, to be read; OSError, or Unavailable for a pipe or device, which might never end."""
    require_file(path, os.stat(path).st_mode)
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))


def require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise Unavailable(
            "unreadable_file",
            f"{path} is {kind}, not a file",
            hint="a session is one ordinary file; copy what the pipe gives into one",
        )


def read_behind(path: Path, known: Iterable[bytes]) -> bytes | None:
    """What stands behind `known` in this file; None if it does not begin with it, to the byte."""
    try:
        with open_to_read(path) as file:
            for part in known:
                if file.read(len(part)) != part:
                    return None
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from None


def with_md_ending(path: Path) -> Path:
    """BNC-002: a session file's name ends with .md (3)."""
    return path if path.suffix == ".md" else path.with_name(path.name + ".md")


def create(path: Path, text: str) -> None:
    """A new file; an old one is never replaced."""
    try:
        write_new_file(path, text.encode())
    except FileExistsError:
        raise Refused(
            "file_exists", f"{path} is there already", hint="choose another name"
        ) from None
    except OSError as error:
        raise unwritable(path, error) from None


def rewrite(path: Path, data: bytes) -> None:
    """The whole file at once: only for more context, which is not at its end (A-32)."""
    try:
        replace_own_file(real_path(path), data)
    except OSError as error:
        raise unwritable(path, error) from None


def real_path(path: Path) -> Path:
    """The file itself, where its name is a link to it."""
    return Path(os.path.realpath(path))


def append(path: Path, data: bytes, keep: int | None = None) -> None:
    """BNC-005, BNC-102: put `data` at the end, whole or not at all. Call it under the lock.

    `keep` cuts off first what stands beyond it: an entry that its author never yielded.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | _BYTES)
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


_BLOCK: Final = 1 << 16
Marks = tuple[int, int, int, int]


class SessionReading(NamedTuple):
    """What a file says, its bytes in blocks, and its digest so far, which is only ever copied.

    In blocks, so that an append costs at most one of them, and not the whole file again.
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
    """A file, and what was last read of it, for a process that takes many turns in it.

    Before each write every byte is compared, and only what was appended since is read. To look on,
    between two writes, the file's size, times and place on disk are enough.
    """

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


# Others' words in a session's file (XPR-09): no line of them can be a heading, a fence or a mark of
# the protocol, and nothing in them that a terminal would obey gets into the file.

MOST_TITLE: Final = 150


def make_title(text: str) -> str:
    line = " ".join(escape_comments(_printable(text)).split())
    return line if len(line) <= MOST_TITLE else f"{line[: MOST_TITLE - 1]}…"


def quote_lines(text: str) -> str:
    """Inside a quotation from the first line to the last; a blank line must follow it."""
    return write_quote(_printable(text).strip("\n") + "\n")


def _printable(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in plain)
