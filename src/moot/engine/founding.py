"""Beginning a ledger: event 0 of the registry, signed by the root key it names."""

from __future__ import annotations

from moot.core.clock import Clock
from moot.core.ledger import Store
from moot.core.machine import KeyClass
from moot.core.names import CHECKPOINT, REGISTRY, SYSTEM
from moot.core.registry.commands import CreateLedger
from moot.core.registry.proofs import ORIGIN_PREFIX, key_statement, sign_proof
from moot.core.signing import Signer
from moot.engine.engine import Engine
from moot.engine.keys import LedgerTrust, PrivateKey


class FoundingKeys:
    """The two keys that a ledger begins with, and no others."""

    def __init__(self, root: Signer, checkpoint: Signer) -> None:
        self._held = {SYSTEM: PrivateKey(root), CHECKPOINT: PrivateKey(checkpoint)}

    def find(self, name: str, kid: str) -> PrivateKey | None:
        held = self._held.get(name)
        return held if held is not None and held.signer.kid == kid else None


def found_ledger(
    store: Store,
    root: Signer,
    checkpoint: Signer,
    clock: Clock,
    *,
    custodian: str,
    fixed_clock: bool = False,
) -> LedgerTrust:
    """Write event 0 into an empty store and return what to trust from now on."""
    trust = LedgerTrust(ORIGIN_PREFIX + root.kid, root.public, checkpoint.public)
    proof_text = key_statement(
        origin=trust.origin,
        name=CHECKPOINT,
        kind=KeyClass.CHECKPOINT,
        epoch=1,
        public=checkpoint.public.hex(),
        custodian=custodian,
    )
    command = CreateLedger(
        root=root.public.hex(),
        checkpoint=checkpoint.public.hex(),
        checkpoint_proof=sign_proof(checkpoint, proof_text),
        clock="fixed" if fixed_clock else "system",
        custodian=custodian,
    )
    Engine(store, FoundingKeys(root, checkpoint), trust, clock).execute(REGISTRY, command, SYSTEM)
    return trust
