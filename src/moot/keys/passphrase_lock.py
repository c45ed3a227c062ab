"""A person's key on disk: Argon2id turns the passphrase into a key that encrypts the seed.

The cost of Argon2id is written beside the box, so that it can be raised later without losing older
keys.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.core.errors import Malformed, Refused

if TYPE_CHECKING:
    from nacl.secret import SecretBox


# A process that holds a person's key is marked as not dumpable on Linux: no core file is written,
# and other programs of the same user can neither trace it nor read its memory. Elsewhere no core
# file is written. Neither keeps the system from swapping, or its administrator from reading memory.

_PR_SET_DUMPABLE: Final = 4


def forbid_core_dumps() -> None:
    """As far as the system lets us: a key is used all the same where it does not."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    elif sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1])
            )


# Bounds on the cost that a key file may ask for: a damaged or hostile one must not exhaust memory.
MAX_MEMORY = 1 << 30
MAX_ROUNDS = 16


SHORTEST_PASSPHRASE = 8


class HashingCost(msgspec.Struct, frozen=True):
    """How much work Argon2id makes of one guess: rounds, and bytes of memory."""

    rounds: int
    memory: int


# As libsodium recommends: "moderate", and the least it takes. Written out, because only a person's
# key needs its library.
USUAL_COST: Final = HashingCost(rounds=3, memory=256 * 1024 * 1024)
QUICK_COST: Final = HashingCost(rounds=1, memory=8192)  # for tests only
_SALT_BYTES: Final = 16


class LockedSeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An encrypted seed, with all that is needed to open it but the passphrase."""

    box: str
    memory: int
    rounds: int
    salt: str


def require_private_file(file: Path) -> None:
    """Refused if others may read the file with a passphrase; a pipe or a device has no such rights.

    As with a key that others may read (LDG-013): it is not used, so that somebody notices.
    """
    try:
        found = file.stat()
    except (OSError, ValueError):
        return  # reading it says what is wrong
    if os.name != "nt" and stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077:
        from shlex import quote

        raise Refused(
            "passphrase_exposed",
            f"others may read {file}",
            hint=f"chmod 600 {quote(str(file))}; if somebody may have read it, change it: "
            "`moot agent rotate NAME`",
        )


def require_long_passphrase(passphrase: str) -> None:
    """Refused if a new passphrase is too short; keys locked with a shorter one still open.

    Whoever has the file can guess without end, and a guess costs less than a second.
    """
    if len(passphrase.strip()) < SHORTEST_PASSPHRASE:
        raise Refused(
            "passphrase_too_short",
            f"a person's key needs a passphrase of at least {SHORTEST_PASSPHRASE} characters",
            hint="a few words that nobody would guess are easier to keep in mind than signs",
        )


def lock_seed(seed: bytes, passphrase: str, cost: HashingCost = USUAL_COST) -> LockedSeed:
    salt = os.urandom(_SALT_BYTES)
    box = _box(passphrase, salt, cost).encrypt(seed)
    return LockedSeed(bytes(box).hex(), cost.memory, cost.rounds, salt.hex())


def unlock_seed(locked: LockedSeed, passphrase: str) -> bytes:
    """The seed; Refused if the passphrase is wrong. A changed box looks the same and is refused
    too (LDG-014)."""
    if not (0 < locked.memory <= MAX_MEMORY and 0 < locked.rounds <= MAX_ROUNDS):
        raise Malformed("the key file asks for an absurd cost", code="bad_key_file")
    from nacl.exceptions import CryptoError

    cost = HashingCost(locked.rounds, locked.memory)
    forbid_core_dumps()
    try:
        box = _box(passphrase, bytes.fromhex(locked.salt), cost)
        return bytes(box.decrypt(bytes.fromhex(locked.box)))
    except CryptoError:
        raise Refused(
            "wrong_passphrase", "this passphrase does not open the key", hint="try again"
        ) from None
    except (ValueError, TypeError) as error:
        raise Malformed(f"the key file is damaged: {error}", code="bad_key_file") from None


def _box(passphrase: str, salt: bytes, cost: HashingCost) -> SecretBox:
    """The cipher for this passphrase. Its libraries are loaded only here: most commands use no
    person's key, and all of them should start fast."""
    from nacl.pwhash import argon2id
    from nacl.secret import SecretBox

    key = argon2id.kdf(
        SecretBox.KEY_SIZE,
        passphrase.encode(),
        salt,
        opslimit=cost.rounds,
        memlimit=cost.memory,
    )
    return SecretBox(key)
