"""A person's key at rest: Argon2id over the passphrase, secretbox over the seed.

The cost is written beside the box, so that it can be raised without losing older keys.
"""

from __future__ import annotations

import msgspec
from nacl import pwhash, secret, utils
from nacl.exceptions import CryptoError

from moot.core.errors import Malformed, Refused

# Bounds on what a key file may ask for: a damaged or hostile one must not eat the machine.
MAX_MEMORY = 1 << 30
MAX_ROUNDS = 16


class Cost(msgspec.Struct, frozen=True):
    rounds: int
    memory: int


USUAL = Cost(pwhash.argon2id.OPSLIMIT_MODERATE, pwhash.argon2id.MEMLIMIT_MODERATE)
QUICK = Cost(pwhash.argon2id.OPSLIMIT_MIN, pwhash.argon2id.MEMLIMIT_MIN)  # for tests only


class LockedSeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    box: str
    memory: int
    rounds: int
    salt: str


def lock(seed: bytes, passphrase: str, cost: Cost = USUAL) -> LockedSeed:
    salt = utils.random(pwhash.argon2id.SALTBYTES)
    box = secret.SecretBox(_derive(passphrase, salt, cost)).encrypt(seed)
    return LockedSeed(bytes(box).hex(), cost.memory, cost.rounds, salt.hex())


def unlock(locked: LockedSeed, passphrase: str) -> bytes:
    """The seed; Refused if the passphrase is wrong (or the box was changed: they look alike)."""
    if not (0 < locked.memory <= MAX_MEMORY and 0 < locked.rounds <= MAX_ROUNDS):
        raise Malformed("the key file asks for an absurd cost", code="bad_key_file")
    cost = Cost(locked.rounds, locked.memory)
    try:
        key = _derive(passphrase, bytes.fromhex(locked.salt), cost)
        return bytes(secret.SecretBox(key).decrypt(bytes.fromhex(locked.box)))
    except CryptoError:
        raise Refused(
            "wrong_passphrase", "this passphrase does not open the key", hint="try again"
        ) from None
    except (ValueError, TypeError) as error:
        raise Malformed(f"the key file is damaged: {error}", code="bad_key_file") from None


def _derive(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    return bytes(
        pwhash.argon2id.kdf(
            secret.SecretBox.KEY_SIZE,
            passphrase.encode(),
            salt,
            opslimit=cost.rounds,
            memlimit=cost.memory,
        )
    )
