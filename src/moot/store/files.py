"""Files that are whole or absent: written beside, made durable, then put in place."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path


def write_new(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Create `path` with `data`; FileExistsError if it is there. Durable when it returns."""
    _put(path, (data,), os.link, mode)


def replace(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Set `path`, a file of ours, to `data`, whole or not at all. A link there is not followed:
    whoever can put one into a folder does not choose what we write over."""
    _put(path, (data,), os.replace, mode)


def replace_with(path: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Set what somebody named to `pieces`, not held all at once; their SHA-256 and size.

    A link stays one: what it points to is written. A device or a pipe is no file that could be
    put in place of another: it is written to as it is.
    """
    if _is_kept(path):
        return _put(Path(os.path.realpath(path)), pieces, os.replace, 0o666)
    with path.open("wb") as stream:
        return _pour(pieces, stream.write)


def _is_kept(path: Path) -> bool:
    """Is it a file, or nothing yet? What else cannot be opened says so itself."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _put(
    path: Path, pieces: Iterable[bytes], put: Callable[[Path, Path], None], mode: int
) -> tuple[str, int]:
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, mode)) as file:
            told = _pour(pieces, file.write)
            file.flush()
            os.fsync(file.fileno())
        put(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return told


def _pour(pieces: Iterable[bytes], write: Callable[[bytes], int]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += write(piece)
    return digest.hexdigest(), size


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
