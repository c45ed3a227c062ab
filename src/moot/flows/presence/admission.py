"""A person's key that was made on another machine, as one word: NAME#REST.

Whoever makes a key where no person's key is cannot have it registered there: a person elsewhere
consents. The word has all that they sign, and the proof that the key is held; nothing in it is
secret. Whoever changed it on its way has another key, and the fingerprint shows that.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import Malformed, Refused
from moot.core.findings import select_errors
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import AGENT, REGISTRY, SYSTEM
from moot.core.registry.commands import AddKey
from moot.core.registry.machine import MACHINE
from moot.core.registry.proofs import (
    ORIGIN_PREFIX,
    is_proof_valid,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import Signer, key_id

if TYPE_CHECKING:
    from moot.engine.engine import Engine

MOST_CHARACTERS: Final = 400
VERSION: Final = 1
_CONSENT: Final = "REG-16"  # the rule that asks for it


class _Packed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What stands behind the name."""

    version: int
    ledger: bytes
    epoch: int
    public: bytes
    custodian: bytes
    proof: bytes


class Admission(msgspec.Struct, frozen=True):
    """A person who asks to be admitted: their name, key and custodian, and the ledger."""

    origin: str
    name: str
    epoch: int
    public: str
    custodian: str
    proof: str

    @property
    def kid(self) -> str:
        return key_id(bytes.fromhex(self.public))

    @property
    def fingerprint(self) -> str:
        """What two people compare, by voice: the key's id, as far as nobody can imitate it."""
        return " ".join(self.kid[at : at + 4] for at in range(0, 20, 4))

    @property
    def statement(self) -> bytes:
        """What the key itself and whoever consents have signed."""
        return key_statement(
            origin=self.origin,
            name=self.name,
            kind=KeyClass.HUMAN,
            epoch=self.epoch,
            public=self.public,
            custodian=self.custodian,
        )

    @property
    def text(self) -> str:
        packed = _Packed(
            VERSION,
            bytes.fromhex(self.origin.removeprefix(ORIGIN_PREFIX)),
            self.epoch,
            bytes.fromhex(self.public),
            bytes.fromhex(self.custodian),
            bytes.fromhex(self.proof),
        )
        rest = base64.urlsafe_b64encode(msgspec.msgpack.encode(packed)).rstrip(b"=")
        return f"{self.name}#{rest.decode()}"

    def command(self, consenting: Signer | None = None) -> AddKey:
        """Register it, with the consent of a person."""
        consent = sign_endorsement(consenting, self.statement) if consenting else None
        return AddKey(
            name=self.name,
            kind=KeyClass.HUMAN,
            public=self.public,
            custodian=self.custodian,
            proof=self.proof,
            endorsement=consent,
            epoch=self.epoch,
        )


def make_admission(origin: str, name: str, signer: Signer, custodian: str) -> Admission:
    asked = Admission(origin, name, 1, signer.public.hex(), custodian, "")
    return msgspec.structs.replace(asked, proof=sign_proof(signer, asked.statement))


def read_admission(text: str) -> Admission:
    """What a word says; Malformed unless it is whole and its key has signed it."""
    text = text.strip()
    name, _, rest = text.partition("#")
    if len(text) > MOST_CHARACTERS or not AGENT.match(name):
        raise _damaged("this is no word of `moot agent register NAME --human`")
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), b"-_", validate=True)
        packed = msgspec.msgpack.decode(data, type=_Packed)
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        raise _damaged("the word is damaged") from None
    if packed.version != VERSION:
        raise _damaged("the word was made by another version of moot")
    asked = Admission(
        ORIGIN_PREFIX + packed.ledger.hex(),
        name,
        packed.epoch,
        packed.public.hex(),
        packed.custodian.hex(),
        packed.proof.hex(),
    )
    if not _is_proved(asked):
        raise _damaged("the word is damaged: its key did not sign it")
    return asked


def _is_proved(asked: Admission) -> bool:
    try:
        return is_proof_valid(asked.public, asked.statement, asked.proof)
    except Malformed:  # a number that nobody signs
        return False


def _damaged(why: str) -> Malformed:
    return Malformed(
        why,
        code="bad_admission",
        hint="take the whole word that `moot agent register NAME --human` printed there",
    )


def require_admissible(engine: Engine, asked: Admission) -> None:
    """Refused if the registry would refuse it even with a person's consent."""
    acting = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, REGISTRY, engine.trust.origin)
    found = MACHINE.decide(engine.registry(), asked.command(), context).findings
    wrong = [finding for finding in select_errors(found) if finding.rule != _CONSENT]
    if wrong:
        raise Refused.of(wrong)
