"""Artifacts: files by their hash, for content that is too long for an event.

`artifacts/ab/cdef...` has the bytes whose SHA-256 is its name. An artifact is durable before any
event can cite it. Erasing removes the bytes; the hash stays in the events that cite it, and the
registry records who erased it and why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from moot.core.errors import Malformed, NotFound, Refused, StoreFailed, Tampered
from moot.core.record import ArtifactRef
from moot.core.sha256 import sha256 as hash_bytes
from moot.store.files import sync_folder

MAX_BYTES = 256 * 1024 * 1024
MAX_THREADS = 16
CHUNK = 786_432  # a multiple of 3, so that chunks join in base64 as well
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class Artifacts(Protocol):
    def put(self, data: bytes, media_type: str) -> ArtifactRef: ...
    def has(self, sha256: str) -> bool: ...
    def size(self, sha256: str) -> int | None: ...
    def chunks(self, sha256: str) -> Iterator[bytes]:
        """Yield its bytes in pieces of CHUNK; NotFound without it, Tampered if it was changed."""
        ...

    def erase(self, sha256: str) -> bool: ...


def require_hash(sha256: str) -> str:
    if not _SHA256.match(sha256):
        raise Malformed("an artifact's id is 64 lower-case hex digits", code="bad_hash")
    return sha256


def artifact_not_found(sha256: str) -> NotFound:
    return NotFound(
        "artifact_not_found",
        f"no artifact {sha256[:12]}… is stored here",
        hint="`moot ledger log registry` shows whether it was erased",
    )


class FileArtifacts:
    """Artifacts as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes, media_type: str) -> ArtifactRef:
        return self.put_stream(iter((data,)), media_type)

    def put_all(self, texts: Sequence[bytes], media_type: str) -> list[ArtifactRef]:
        """Store several at the same time, so that the disk syncs them together."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(MAX_THREADS, len(texts)), "moot-artifact") as pool:
            return list(pool.map(lambda data: self.put(data, media_type), texts))

    def put_stream(self, pieces: Iterator[bytes], media_type: str) -> ArtifactRef:
        """Store pieces without holding them all in memory; equal bytes are stored once."""
        with _disk_errors("stored"):
            return self._write_pieces(pieces, media_type)

    def _write_pieces(self, pieces: Iterator[bytes], media_type: str) -> ArtifactRef:
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = self._folder / f".{os.urandom(8).hex()}"
        try:
            with temporary.open("xb") as file:
                digest, size = _copy_hashed(pieces, file)
            self._put_in_place(temporary, digest)
        finally:
            temporary.unlink(missing_ok=True)
        return ArtifactRef(digest, size, media_type)

    def _put_in_place(self, temporary: Path, digest: str) -> None:
        """Rename the file to its final name, even over an existing one, which may be damaged or not
        durable (LDG-077)."""
        path = self._path_of(digest)
        path.parent.mkdir(exist_ok=True)
        os.replace(temporary, path)
        sync_folder(path.parent)
        sync_folder(self._folder)

    def has(self, sha256: str) -> bool:
        with _disk_errors("read"):
            return self._path_of(sha256).is_file()

    def size(self, sha256: str) -> int | None:
        place = self._path_of(sha256)
        with _disk_errors("read"):
            return place.stat().st_size if place.is_file() else None

    def chunks(self, sha256: str) -> Iterator[bytes]:
        place = self._path_of(sha256)
        if not place.is_file():
            raise artifact_not_found(sha256)
        import hashlib  # for a whole file OpenSSL is worth loading

        digest = hashlib.sha256()
        with _disk_errors("read"), place.open("rb") as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
                yield piece
        if digest.hexdigest() != sha256:
            raise Tampered(f"artifact {sha256[:12]}… was changed on disk", code="artifact_damaged")

    def piece(self, sha256: str, offset: int) -> tuple[int, bytes]:
        """Return its size, and at most CHUNK of its bytes from `offset`; NotFound without it.

        The caller checks the hash after the last piece.
        """
        place = self._path_of(sha256)
        if not place.is_file():
            raise artifact_not_found(sha256)
        with _disk_errors("read"), place.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, offset))
            return size, file.read(CHUNK)

    def erase(self, sha256: str) -> bool:
        place = self._path_of(sha256)
        if not place.is_file():
            return False
        with _disk_errors("erased"):
            place.unlink()
            sync_folder(place.parent)
        return True

    def hashes_with_prefix(self, prefix: str) -> Iterator[str]:
        """Yield stored hashes that begin with `prefix`, which has at least three digits."""
        for place in sorted((self._folder / prefix[:2]).glob(f"{prefix[2:]}*")):
            yield place.parent.name + place.name

    def all_hashes(self) -> Iterator[str]:
        """Yield every stored hash, for `doctor`."""
        for place in sorted(self._folder.glob("??/*")):
            yield place.parent.name + place.name

    def _path_of(self, sha256: str) -> Path:
        require_hash(sha256)
        return self._folder / sha256[:2] / sha256[2:]


@contextmanager
def _disk_errors(done: str) -> Iterator[None]:
    """Translate disk errors into ours; `done` names what could not be done."""
    try:
        yield
    except OSError as error:
        raise StoreFailed(
            f"artifact_not_{done}",
            f"the artifact could not be {done}: {error.strerror or error}",
            hint="check space and permissions of the .moot folder",
        ) from error


def _copy_hashed(pieces: Iterator[bytes], file: BinaryIO) -> tuple[str, int]:
    import hashlib

    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_BYTES:
            raise Refused("artifact_too_large", f"an artifact has at most {MAX_BYTES} bytes")
        digest.update(piece)
        file.write(piece)
    file.flush()
    os.fsync(file.fileno())  # LDG-077
    return digest.hexdigest(), size


class MemoryArtifacts:
    """Artifacts in memory, for tests."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def put(self, data: bytes, media_type: str) -> ArtifactRef:
        digest = hash_bytes(data).hexdigest()
        self.blobs[digest] = data
        return ArtifactRef(digest, len(data), media_type)

    def has(self, sha256: str) -> bool:
        return require_hash(sha256) in self.blobs

    def size(self, sha256: str) -> int | None:
        data = self.blobs.get(require_hash(sha256))
        return None if data is None else len(data)

    def chunks(self, sha256: str) -> Iterator[bytes]:
        data = self.blobs.get(require_hash(sha256))
        if data is None:
            raise artifact_not_found(sha256)
        if hash_bytes(data).hexdigest() != sha256:
            raise Tampered(f"artifact {sha256[:12]}… was changed", code="artifact_damaged")
        for start in range(0, len(data), CHUNK):
            yield data[start : start + CHUNK]

    def erase(self, sha256: str) -> bool:
        return self.blobs.pop(require_hash(sha256), None) is not None
