"""A session file on disk: read whole, made once, and appended to under a lock.

An append is one write of whole bytes at the end (R5), made durable before it is acknowledged; if
it fails, the file is cut back to what it was. Old bytes are never rewritten (R1). The lock file
beside it holds nothing and may be deleted at any time nobody writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.clock import Clock, fixed_clock, system_clock
from moot.core.errors import Refused, StoreFailed, Unavailable
from moot.store.files import write_new
from moot.surfaces.cli.page import unwritable

if TYPE_CHECKING:
    from moot.debate.checker import Checked
    from moot.surfaces.cli.shell import Shell

LOCK_SECONDS = 30


def session_clock(shell: Shell) -> Clock:
    """The time for a bare file; MOOT_CLOCK counts unless a workspace here forbids it."""
    text = shell.env.get("MOOT_CLOCK")
    if not text:
        return system_clock
    try:
        shell.place  # noqa: B018 - looked up for its error
    except Unavailable:
        return fixed_clock(text)
    return shell.workspace.engine.clock


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{path}: {error.strerror or error}", hint="check the path"
        ) from None


def checked_file(path: Path, strict_uuid: bool = False) -> Checked:
    from moot.debate.checker import check

    return check(read_file(path), strict_uuid=strict_uuid, file_name=path.name)


def create_file(path: Path, text: str) -> Path:
    """A new file, named .md; an old one is never replaced."""
    path = path if path.suffix == ".md" else path.with_name(path.name + ".md")
    try:
        write_new(path, text.encode())
    except FileExistsError:
        raise Refused(
            "file_exists", f"{path} is there already", hint="choose another name"
        ) from None
    except OSError as error:
        raise unwritable(path, error) from None
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One writer at a time, for all programs that use the same lock file."""
    from filelock import FileLock, Timeout

    read_file(path)  # a file that is not there gets no lock file either
    try:
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise StoreFailed(
            "lock_timeout", f"{path} is being written by another program", hint="try again"
        ) from None


def append(path: Path, text: str) -> None:
    """Put the text at the end, whole or not at all. Call it under the lock."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        _write_whole(descriptor, text.encode())
    except OSError as error:
        raise StoreFailed(
            "append_failed", f"{path}: {error.strerror or error}", hint="mend the disk, try again"
        ) from None
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, data: bytes) -> None:
    size = os.fstat(descriptor).st_size
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
