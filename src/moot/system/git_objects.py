"""Git's objects: the id of some bytes, a copy of them in the repository, and the copy read back.

A copy is a loose object that nothing refers to: it is never pushed, and git prunes it by itself
after some weeks. The bytes are stored as they are, without the filters of a checkout.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed

MOST_BYTES: Final = 64 * 1024 * 1024
SECONDS: Final = 10.0
# An edit waits for the copy: above this size, speed matters more than space.
_COMPRESSED_UP_TO: Final = 1 << 20
_LONGEST_HEADER: Final = 32
_READABLE: Final = 0o444
_PRIVATE: Final = 0o400
_OTHERS_READ: Final = 0o044


def blob_id(data: bytes, algorithm: str = "sha1") -> str:
    """The id under which git knows these bytes as a file."""
    return hashlib.new(algorithm, _header(data) + data).hexdigest()


def object_format(common_folder: Path) -> str:
    """`sha1`, or `sha256` in a repository that says so."""
    try:
        config = (common_folder / "config").read_text("utf-8", "replace")
    except OSError:
        return "sha1"
    return "sha256" if "objectformat = sha256" in config.lower() else "sha1"


def store_blob(common_folder: Path, data: bytes, mode: int = 0o644) -> str:
    """Keep the bytes as a loose object of the repository, and give its id.

    The object is not writable, and for the owner alone if the file, whose mode is given, can be
    read neither by its group nor by others. One that git has already stays as it is. StoreFailed if
    they could not be stored: then nobody may count on them.
    """
    name = blob_id(data, object_format(common_folder))
    folder = common_folder / "objects" / name[:2]
    file = folder / name[2:]
    if file.exists():
        with suppress(OSError):  # as new, so that git does not prune it earlier than others
            os.utime(file)
        return name
    fresh = folder / f"tmp_obj_moot_{os.getpid()}_{threading.get_ident()}"
    try:
        folder.mkdir(exist_ok=True)
        fresh.unlink(missing_ok=True)
        with open(fresh, "xb", opener=lambda name, how: os.open(name, how, _PRIVATE)) as copy:
            copy.write(zlib.compress(_header(data) + data, int(len(data) <= _COMPRESSED_UP_TO)))
            copy.flush()
            os.fsync(copy.fileno())
        fresh.chmod(_READABLE if mode & _OTHERS_READ else _PRIVATE)
        fresh.replace(file)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StoreFailed(
            "copy_failed",
            f"no copy could be kept in {folder}: {error.strerror or error}",
            hint="free some space on this disk",
        ) from error
    return name


def read_loose_blob(common_folder: Path, name: str) -> bytes | None:
    """The bytes of a loose object, without starting git, which refuses another user's folder.

    None if there is none, or it is not what its name says.
    """
    try:
        packed = (common_folder / "objects" / name[:2] / name[2:]).read_bytes()
        whole = zlib.decompressobj().decompress(packed, MOST_BYTES + _LONGEST_HEADER)
    except (OSError, zlib.error):
        return None
    _, _, data = whole.partition(b"\0")
    return data if blob_id(data, object_format(common_folder)) == name else None


def read_blob(root: Path, name: str) -> bytes | None:
    """The bytes under this id; None if git does not have them (any more)."""
    import subprocess  # a hook that only stores starts no program

    from moot.system.git_status import git_environment

    try:
        done = subprocess.run(
            ["git", "cat-file", "blob", name],
            cwd=root,
            env=git_environment(),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _header(data: bytes) -> bytes:
    return b"blob %d\0" % len(data)
