"""Which events of a revoked key still count: those up to the heads that its revocation cites.

If that artifact is missing or cannot be read, none of them counts. docs/format.md section 4.
"""

from __future__ import annotations

import msgspec

from moot.core.errors import NotFound, Tampered
from moot.store.artifacts import Artifacts

_decode = msgspec.json.Decoder(dict[str, tuple[int, str]]).decode
_NONE = -1


class CitedHeads:
    """Reads each cited artifact once; there are as many as there were revocations."""

    def __init__(self, artifacts: Artifacts | None) -> None:
        self._artifacts = artifacts
        # hash of an artifact -> what it says: stream -> (seq, hash) of its newest event then
        self._known: dict[str, dict[str, tuple[int, str]]] = {}

    def last_counted(self, sha256: str, stream: str) -> int:
        """The last position of `stream` that counts; -1 if none does."""
        if sha256 not in self._known:
            heads = self._read(sha256)
            if heads is None:
                return _NONE
            self._known[sha256] = heads
        return self._known[sha256].get(stream, (_NONE, ""))[0]

    def _read(self, sha256: str) -> dict[str, tuple[int, str]] | None:
        if self._artifacts is None:
            return None
        try:
            return _decode(b"".join(self._artifacts.chunks(sha256)))
        except (NotFound, Tampered, msgspec.DecodeError, UnicodeDecodeError):
            return None
