"""Signatures from elsewhere: whoever keeps a ledger for others decides again what they signed.

A machine that joined decides its command on its own copy of the ledger, signs what comes out, and
sends command and signatures. The keeper decides the same command again, at the same time given, and
takes a signature only for exactly the bytes that it arrives at itself. So neither side has to
believe the other: the machine signed only what it decided, and the keeper records only what its
rules allow.

The ledger's own key is the keeper's. A record of the ledger's within a command is signed there, and
its signature is shown only once it is committed: one that was shown and then not committed would be
a second history. Its hash, which later records name, is told before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from moot.core.errors import Conflict, MootError
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, SYSTEM
from moot.core.record import record_hash
from moot.core.registry.model import State as Registry
from moot.core.signing import EVENT, Signer, key_id, verify
from moot.engine.signers import Keys, PrivateKey

HASH_BYTES: Final = 32


class DecidedOtherwise(Conflict):
    """The keeper's decision differs from what was signed. `hashes` are those of the ledger's own
    records on the way there, by their bytes; `problem` is why it refused, if it did."""

    def __init__(self, hashes: Mapping[bytes, bytes], problem: MootError | None = None) -> None:
        super().__init__("moved_on", "the ledger has moved on meanwhile", hint="try again")
        self.hashes = dict(hashes)
        self.problem = problem


class WithheldSignature(bytes):
    """Stands for a signature of the ledger's own that the keeper shows only after the commit."""

    record_hash: bytes


class WithheldSigner(Signer):
    """Stands for the ledger's own key on a machine that does not have it.

    `known` are the hashes that the keeper has told, by the record's bytes. For others a random hash
    stands in, and what was decided on it must be decided again.
    """

    def __init__(self, public: bytes, known: Mapping[bytes, bytes]) -> None:  # has no secret
        self.public = public
        self.kid = key_id(public)
        self._known = known
        self._stand_ins: list[bytes] = []  # as they stand in records that name them

    @property
    def is_complete(self) -> bool:
        """True if no hash had to be made up."""
        return not self._stand_ins

    def rests_on_stand_in(self, raw: bytes) -> bool:
        """Does a record name a hash that was made up? Then its signature is shown to nobody."""
        return bool(self._stand_ins) and any(stand_in in raw for stand_in in self._stand_ins)

    def sign(self, _payload_type: bytes, raw: bytes) -> bytes:
        signature = WithheldSignature(raw[:1])
        known = self._known.get(raw)
        if known is None:
            known = os.urandom(HASH_BYTES)
            self._stand_ins.append(known.hex().encode())
        signature.record_hash = known
        return signature


class KeysWithoutLedgers:
    """The keys of a machine that joined: its own, and a stand-in for the ledger's."""

    def __init__(self, own: Keys, ledgers: WithheldSigner) -> None:
        self._own = own
        self._ledgers = PrivateKey(ledgers)
        self.attended: set[str] = set()  # keys that a person has unlocked just now

    def find(self, name: str, kid: str) -> PrivateKey | None:
        if name == SYSTEM:
            return self._ledgers if kid == self._ledgers.signer.kid else None
        if name == CHECKPOINT:
            return None
        held = self._own.find(name, kid)
        if held is not None and held.attended:
            self.attended.add(kid)
        return held


class GivenSigner(Signer):
    """Gives the signatures that came with a command, each only for the bytes it was made for."""

    def __init__(
        self, kid: str, public: bytes, given: Mapping[bytes, bytes], missing: Callable[[], Conflict]
    ) -> None:
        self.kid = kid
        self.public = public
        self._given = given
        self._missing = missing

    def sign(self, payload_type: bytes, raw: bytes) -> bytes:
        signature = self._given.get(raw)
        if signature is None or not verify(self.public, payload_type, raw, signature):
            raise self._missing()
        return signature


class LedgersSigner(Signer):
    """The ledger's own key at the keeper, which notes the hash of each record that it signs."""

    def __init__(self, held: PrivateKey, hashes: dict[bytes, bytes]) -> None:
        self._held = held.signer
        self.public = held.signer.public
        self.kid = held.signer.kid
        self._hashes = hashes

    def sign(self, payload_type: bytes, raw: bytes) -> bytes:
        signature = self._held.sign(payload_type, raw)
        if payload_type == EVENT:
            self._hashes[raw] = record_hash(raw, self.kid, signature)
        return signature


class GivenKeys:
    """What the keeper decides a machine's command with: the ledger's own keys, and for everyone
    else the signatures that came with it."""

    def __init__(
        self,
        own: Keys,
        given: Mapping[bytes, bytes],
        attended: frozenset[str],
    ) -> None:
        self._own = own
        self._given = given
        self._attended = attended
        self.hashes: dict[bytes, bytes] = {}
        # The registry as the command under way sees it: it may just have given somebody a new key.
        self.registry: Callable[[], Registry] | None = None

    def find(self, name: str, kid: str) -> PrivateKey | None:
        if name in (SYSTEM, CHECKPOINT):
            held = self._own.find(name, kid)
            return None if held is None else PrivateKey(LedgersSigner(held, self.hashes))
        public = self._public_key(kid)
        if public is None:
            return None
        signer = GivenSigner(kid, public, self._given, lambda: DecidedOtherwise(self.hashes))
        return PrivateKey(signer, attended=kid in self._attended)

    def _public_key(self, kid: str) -> bytes | None:
        key = None if self.registry is None else self.registry().keys.get(kid)
        usable = key is not None and key.kind in (KeyClass.AGENT, KeyClass.HUMAN)
        return bytes.fromhex(key.public) if key is not None and usable else None
