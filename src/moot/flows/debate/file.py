"""A session file on disk: read whole, made once, and appended to under a lock.

An append is one write of whole bytes at the end (R5), made durable before it is acknowledged; if
it fails, the file is cut back to what it was. Old bytes are never rewritten (R1); only an entry
that was never yielded may be cut off by its own author, to be written anew (A-34). The lock is in
`lock.py`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

from moot.core.errors import Refused, StoreFailed, Unavailable
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
            "append_failed", f"{path}: {error.strerror or error}", hint="mend the disk, try again"
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
