"""The statements that new keys and their endorsers sign. docs/format.md section 4."""

from __future__ import annotations

from moot.core.canonical import canonical
from moot.core.errors import Malformed
from moot.core.machine import KeyClass
from moot.core.registry.model import Endorsement, State
from moot.core.signing import ENDORSEMENT, KEY_PROOF, Signer, public_key, verify

ORIGIN_PREFIX = "moot.ledger/"


def statement(
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


def history_statement(*, origin: str, lost: str, reason: str) -> bytes:
    return canonical({"lost": lost, "origin": origin, "reason": reason})


def prove(signer: Signer, said: bytes) -> str:
    return signer.sign(KEY_PROOF, said).hex()


def endorse(signer: Signer, said: bytes) -> Endorsement:
    return Endorsement(kid=signer.kid, sig=signer.sign(ENDORSEMENT, said).hex())


def proof_holds(public: str, said: bytes, proof: str) -> bool:
    """The key is sound and really signed the statement."""
    try:
        return verify(public_key(public), KEY_PROOF, said, _signature(proof))
    except Malformed:
        return False


def endorsement_holds(state: State, said: bytes, endorsement: Endorsement) -> bool:
    """The endorsing key is known and really signed; whether it may is the caller's rule."""
    key = state.keys.get(endorsement.kid)
    if key is None:
        return False
    return verify(bytes.fromhex(key.public), ENDORSEMENT, said, _signature(endorsement.sig))


def _signature(text: str) -> bytes:
    """The bytes of a signature in its one written form, else none, which never hold."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return b""
    return raw if raw.hex() == text else b""
