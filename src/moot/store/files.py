"""Atomic file writes: under a temporary name, made durable, then renamed.

A process that dies meanwhile leaves the old file or none, never half of the new one.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, Unavailable


def write_new_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Create `path` with `data`, durably; FileExistsError if it exists."""
    _write_and_place(path, (data,), os.link, mode)


def replace_own_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace `path`, a file of Moot's own, with `data`, atomically.

    A symbolic link is replaced, not followed: else its maker could choose which file we overwrite.
    """
    _write_and_place(path, (data,), os.replace, mode)


def put_own_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Like `replace_own_file`, but synced later with the rest if this thread delays its syncs."""
    _write_and_place(path, (data,), os.replace, mode, durable=not syncs_are_held())
    sync_later(path)
    sync_later(path.parent)


def replace_named_file(path: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Replace a file that a user named with `pieces`, without holding them all in memory.

    Returns SHA-256 and size. A symbolic link is followed. A device or a pipe cannot be replaced, so
    it is written to directly.
    """
    from hashlib import sha256

    digest, size = sha256(), 0

    def hash_each() -> Iterator[bytes]:
        nonlocal size
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            yield piece

    if _is_replaceable(path):
        _write_and_place(Path(os.path.realpath(path)), hash_each(), os.replace, 0o666)
    else:
        with path.open("wb") as stream:
            stream.writelines(hash_each())
    return digest.hexdigest(), size


def _is_replaceable(path: Path) -> bool:
    """Return whether the path is a regular file or does not exist yet."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _write_and_place(
    path: Path,
    pieces: Iterable[bytes],
    place: Callable[[Path, Path], None],
    mode: int,
    durable: bool = True,
) -> None:
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, mode)) as file:
            file.writelines(pieces)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Delayed syncs (`batched_syncs.py`) --------------------------------------------------------------


class ThisThread(threading.local):
    """What this thread has written and not synced; None if it syncs every write at once."""

    unsynced: dict[Path, None] | None = None
    unsynced_logs: dict[Path, None] | None = None


this_thread: Final = ThisThread()


def syncs_are_held() -> bool:
    """Return whether this thread delays its syncs."""
    return this_thread.unsynced is not None


def sync_file(descriptor: int, path: Path) -> None:
    """Sync an open file, now or with the rest."""
    if syncs_are_held():
        sync_later(path)
    else:
        os.fsync(descriptor)


def sync_later(path: Path) -> None:
    """Note a file or folder to be synced, if this thread delays its syncs."""
    if this_thread.unsynced is not None:
        this_thread.unsynced[path.absolute()] = None


def sync_log_later(path: Path) -> None:
    """Note a database's log to be synced, after a commit without a sync."""
    if this_thread.unsynced_logs is not None:
        this_thread.unsynced_logs[path] = None


# Files that a user named: read up to a limit, written atomically. Errors become Unavailable or
# Malformed with a hint; no caller handles OSError.

MAX_BYTES: Final = 16 * 1024 * 1024
_HINTS: Final = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EISDIR: "name a file in it",
}


def read_bounded(file: Path, most: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file; Malformed if there are more than `most`."""
    return require_bounded(read_at_most(file, most + 1), str(file), most)


def read_at_most(file: Path, most: int) -> bytes:
    """Return the first bytes of a file, for callers with their own limit."""
    try:
        with file.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise unreadable_file(file, error) from None


def require_bounded(data: bytes, where: str, most: int = MAX_BYTES) -> bytes:
    """Return the same bytes; Malformed if there are more than `most`."""
    if len(data) > most:
        hint = "put the long part into a file and name it"
        raise Malformed(f"{where} is longer than {most} bytes", code="too_large", hint=hint)
    return data


def decode_text(data: bytes, where: str) -> str:
    """Decode UTF-8 text; Malformed, with its source `where`, if it is not."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"{where} is not UTF-8: {error.reason}"
        raise Malformed(problem, code="not_utf8", hint="save it as UTF-8 text") from None


def write_file(file: Path, data: bytes) -> None:
    """Write a file that a user named, atomically."""
    write_pieces(file, (data,))


def write_own_file(file: Path, data: bytes) -> None:
    """Write a file whose path Moot chose; a symbolic link is not followed."""
    try:
        replace_own_file(file, data)
    except OSError as error:
        raise unwritable_file(file, error) from None


def write_pieces(file: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Write a named file from pieces, without holding them all; return their SHA-256 and size.

    Creates its folder if it does not exist.
    """
    try:
        Path(os.path.realpath(file)).parent.mkdir(parents=True, exist_ok=True)
        return replace_named_file(file, pieces)
    except OSError as error:
        raise unwritable_file(file, error) from None


def unreadable_file(file: Path, error: OSError) -> Unavailable:
    problem = f"{file}: {error.strerror or error}"
    return Unavailable("unreadable_file", problem, hint="check the path")


def unwritable_file(file: Path, error: OSError) -> Unavailable:
    hint = _HINTS.get(error.errno or 0, "check the folder and its permissions")
    return Unavailable("unwritable_file", f"{file}: {error.strerror or error}", hint=hint)
