"""The statements that new keys and their endorsers sign (docs/format.md section 4).

A statement names the ledger, so that a proof made for one ledger is worth nothing in another.
"""

from __future__ import annotations

from moot.core.canonical import canonical
from moot.core.errors import Malformed
from moot.core.machine import KeyClass
from moot.core.registry.model import KeyEndorsement, State
from moot.core.signing import ENDORSEMENT, KEY_PROOF, Signer, public_key, verify

ORIGIN_PREFIX = "moot.ledger/"


def key_statement(
    *, origin: str, name: str, kind: KeyClass, epoch: int, public: str, custodian: str
) -> bytes:
    return canonical(
        {
            "class": str(kind),
            "custodian": custodian,
            "epoch": epoch,
            "name": name,
            "origin": origin,
            "public": public,
        }
    )


def loss_statement(*, origin: str, lost: str, reason: str) -> bytes:
    return canonical({"lost": lost, "origin": origin, "reason": reason})


def sign_proof(signer: Signer, statement: bytes) -> str:
    return signer.sign(KEY_PROOF, statement).hex()


def sign_endorsement(signer: Signer, statement: bytes) -> KeyEndorsement:
    return KeyEndorsement(kid=signer.kid, sig=signer.sign(ENDORSEMENT, statement).hex())


def is_proof_valid(public: str, statement: bytes, proof: str) -> bool:
    """True if the key is safe to use and signed the statement."""
    try:
        return verify(public_key(public), KEY_PROOF, statement, _signature(proof))
    except Malformed:
        return False


def is_endorsement_valid(state: State, statement: bytes, endorsement: KeyEndorsement) -> bool:
    """True if the endorsing key is known and signed. Whether it may endorse is for the rules."""
    key = state.keys.get(endorsement.kid)
    if key is None:
        return False
    return verify(bytes.fromhex(key.public), ENDORSEMENT, statement, _signature(endorsement.sig))


def _signature(text: str) -> bytes:
    """The bytes of a signature; none, which hold for nothing, unless it is in lower-case hex.

    With two spellings of one signature, two different records would verify for the same consent.
    """
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return b""
    return raw if raw.hex() == text else b""
