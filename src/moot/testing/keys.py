"""Private keys in memory, by name."""

from __future__ import annotations

import hashlib

from moot.core.signing import Signer
from moot.engine.keys import PrivateKey


class MemoryKeys:
    def __init__(self) -> None:
        self.signers: dict[str, list[Signer]] = {}
        self.attended: set[str] = set()

    def make(self, name: str, salt: str = "") -> Signer:
        """A key that is the same in every run: tests with a fixed clock give the same bytes."""
        signer = Signer(hashlib.sha256(f"test key of {name} {salt}".encode()).digest())
        self.signers.setdefault(name, []).append(signer)
        return signer

    def find(self, name: str, kid: str) -> PrivateKey | None:
        for signer in self.signers.get(name, ()):
            if signer.kid == kid:
                return PrivateKey(signer, name in self.attended)
        return None
