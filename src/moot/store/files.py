"""Files that are whole or absent: written beside, made durable, then put in place."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def write_new(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Create `path` with `data`; FileExistsError if it is there. Durable when it returns."""
    temporary = _beside(path, data, mode)
    try:
        os.link(temporary, path)
    finally:
        temporary.unlink()
    sync_folder(path.parent)


def replace(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Set `path` to `data`, whole or not at all."""
    os.replace(_beside(path, data, mode), path)
    sync_folder(path.parent)


def replace_with(path: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Set `path` to `pieces` without holding them all; returns their SHA-256 and size."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    digest, size = hashlib.sha256(), 0
    try:
        with temporary.open("xb") as file:
            for piece in pieces:
                digest.update(piece)
                size += file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return digest.hexdigest(), size


def _beside(path: Path, data: bytes, mode: int) -> Path:
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return temporary


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
