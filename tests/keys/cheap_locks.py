"""People's keys locked at the lowest cost, for tests that make many."""

from __future__ import annotations

import pytest

from moot.keys.folder import KeyFolder
from moot.keys.passphrase_lock import QUICK_COST


def make_locks_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id at its lowest cost, in this process only, until the test ends."""
    defaults = KeyFolder.add_key.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "cost", QUICK_COST)
