"""People's keys locked at the lowest cost, in every process that runs tests: hundreds are made, and
the usual cost is meant to be felt. What such a process starts locks them as `moot` does for people.
"""

from __future__ import annotations

from moot.keys.folder import KeyFolder
from moot.keys.passphrase_lock import QUICK_COST


def make_locks_cheap() -> None:
    """Argon2id at its lowest cost, unless a test names another."""
    defaults = KeyFolder.add_key.__kwdefaults__
    assert defaults is not None
    defaults["cost"] = QUICK_COST
