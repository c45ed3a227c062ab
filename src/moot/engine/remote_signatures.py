"""Signatures of other machines: the keeper decides again what they signed.

A machine that joined decides a command on its copy of the ledger, signs the events, and sends
command and signatures. The keeper decides the same command again, for the same time, and uses a
signature only for exactly the bytes that it computes itself. So neither side has to trust the
other: the machine signed only what it decided, and the keeper records only what its rules allow.

Only the keeper has the ledger's own key. It signs the ledger's records of a command, and shows a
signature only after the commit: a signature that was shown but not committed would be a second
history. It sends the record's hash, which later records name, before the commit.
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


class DecidedDifferently(Conflict):
    """The keeper's decision differs from what was signed. `hashes`: bytes of a record of the
    ledger's own -> its hash; `problem`: why the keeper refused, if it did."""

    def __init__(self, hashes: Mapping[bytes, bytes], problem: MootError | None = None) -> None:
        super().__init__("moved_on", "the ledger has changed meanwhile", hint="try again")
        self.hashes = dict(hashes)
        self.problem = problem


class WithheldSignature(bytes):
    """A placeholder for a signature by the ledger's key, which the keeper shows after commit."""

    record_hash: bytes


class WithheldSigner(Signer):
    """A placeholder for the ledger's own key on a machine that does not have it.

    `known`: bytes of a record -> its hash, from the keeper. Any other record gets a random hash,
    and whatever was decided with that must be decided again.
    """

    def __init__(self, public: bytes, known: Mapping[bytes, bytes]) -> None:  # has no secret
        self.public = public
        self.kid = key_id(public)
        self._known = known
        self._placeholders: list[bytes] = []  # hexadecimal, as records name them

    @property
    def is_complete(self) -> bool:
        """Return whether no random hash was needed."""
        return not self._placeholders

    def names_placeholder_hash(self, raw: bytes) -> bool:
        """Return whether a record names a random hash. Its signature must not be sent then."""
        return any(placeholder in raw for placeholder in self._placeholders)

    def sign(self, _payload_type: bytes, raw: bytes) -> bytes:
        signature = WithheldSignature(raw[:1])
        known = self._known.get(raw)
        if known is None:
            known = os.urandom(HASH_BYTES)
            self._placeholders.append(known.hex().encode())
        signature.record_hash = known
        return signature


class KeysWithoutLedgerKey:
    """The keys of a machine that joined: its own, and a placeholder for the ledger's."""

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


class RemoteSigner(Signer):
    """Returns the signatures that a machine sent, each only for the bytes that it signs."""

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


class LedgerSigner(Signer):
    """The ledger's own key at the keeper; notes the hash of each record that it signs."""

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


class RemoteKeys:
    """The keys for deciding a machine's command at the keeper: the ledger's own keys, and for all
    other names the signatures that the machine sent."""

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
        # The registry as the running command sees it, which may have given a name a new key.
        self.registry: Callable[[], Registry] | None = None

    def find(self, name: str, kid: str) -> PrivateKey | None:
        if name in (SYSTEM, CHECKPOINT):
            held = self._own.find(name, kid)
            return None if held is None else PrivateKey(LedgerSigner(held, self.hashes))
        public = self._public_key(kid)
        if public is None:
            return None
        signer = RemoteSigner(kid, public, self._given, lambda: DecidedDifferently(self.hashes))
        return PrivateKey(signer, attended=kid in self._attended)

    def _public_key(self, kid: str) -> bytes | None:
        key = None if self.registry is None else self.registry().keys.get(kid)
        usable = key is not None and key.kind in (KeyClass.AGENT, KeyClass.HUMAN)
        return bytes.fromhex(key.public) if key is not None and usable else None
