"""A person's key on disk: Argon2id turns the passphrase into a key that encrypts the seed.

The file also has the cost of Argon2id, so that it can be raised later without losing older keys.
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


# A process with a person's key is marked as not dumpable on Linux: it writes no core file, and
# other programs of the same user can neither trace it nor read its memory. Elsewhere it only writes
# no core file. Neither prevents swapping, or an administrator from reading memory.

_PR_SET_DUMPABLE: Final = 4


def forbid_core_dumps() -> None:
    """Forbid core dumps, as far as the system supports it; the key is used anyway."""
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


# Limits on the cost that a key file may ask for: a damaged or hostile file must not exhaust memory.
MAX_MEMORY = 1 << 30
MAX_ROUNDS = 16


MIN_PASSPHRASE_LENGTH = 8


class HashingCost(msgspec.Struct, frozen=True):
    """The work of Argon2id for one guess: rounds, and bytes of memory."""

    rounds: int
    memory: int


# libsodium's "moderate" and minimum, as numbers: only a person's key loads libsodium.
USUAL_COST: Final = HashingCost(rounds=3, memory=256 * 1024 * 1024)
QUICK_COST: Final = HashingCost(rounds=1, memory=8192)  # for tests only
_SALT_BYTES: Final = 16


class LockedSeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An encrypted seed, with everything needed to open it except the passphrase."""

    box: str
    memory: int
    rounds: int
    salt: str


def require_private_file(file: Path) -> None:
    """Raise Refused if other users may read the passphrase file; pipes and devices are allowed.

    As with a key that others may read (LDG-013), Moot does not use it, so that the user notices.
    """
    try:
        found = file.stat()
    except (OSError, ValueError):
        return  # reading it reports the problem
    if os.name != "nt" and stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077:
        from shlex import quote

        raise Refused(
            "passphrase_exposed",
            f"{file} is readable by other users",
            hint=f"chmod 600 {quote(str(file))}; if it may have been read, change the passphrase: "
            "`moot agent rotate NAME`",
        )


def require_long_passphrase(passphrase: str) -> None:
    """Raise Refused if a new passphrase is too short; keys with a shorter one still open.

    An attacker with the file can guess without limit, and a guess costs less than a second.
    """
    if len(passphrase.strip()) < MIN_PASSPHRASE_LENGTH:
        raise Refused(
            "passphrase_too_short",
            f"a person's key needs a passphrase of at least {MIN_PASSPHRASE_LENGTH} characters",
            hint="a few random words are easier to remember than special characters",
        )


def lock_seed(seed: bytes, passphrase: str, cost: HashingCost = USUAL_COST) -> LockedSeed:
    salt = os.urandom(_SALT_BYTES)
    box = _box(passphrase, salt, cost).encrypt(seed)
    return LockedSeed(bytes(box).hex(), cost.memory, cost.rounds, salt.hex())


def unlock_seed(locked: LockedSeed, passphrase: str) -> bytes:
    """Return the seed; Refused if the passphrase is wrong or the box was changed (LDG-014)."""
    if not (0 < locked.memory <= MAX_MEMORY and 0 < locked.rounds <= MAX_ROUNDS):
        raise Malformed("the key file's Argon2id cost is out of range", code="bad_key_file")
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
    """Return the cipher for this passphrase. Loads its libraries only here: most commands use no
    person's key and should start fast."""
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
