"""Who is being run: asked by many at once, and leaving nothing behind."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.keys import running_names
from moot.keys.folder import KeyFolder
from moot.keys.running_names import hold_name, is_running

ORIGIN = "moot/0011"


@pytest.fixture
def folder(tmp_path: Path) -> KeyFolder:
    folder = KeyFolder(tmp_path / "keys")
    folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    return folder


def test_asking_leaves_nothing_behind(folder: KeyFolder) -> None:
    before = sorted(folder.ledger_folder(ORIGIN).iterdir())
    assert not is_running(folder, ORIGIN, "amber-otter")
    assert not is_running(folder, "moot/other", "amber-otter")
    assert sorted(folder.ledger_folder(ORIGIN).iterdir()) == before


def test_a_name_is_held_until_it_is_released(
    folder: KeyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_names, "WAIT_SECONDS", 0)
    lock = hold_name(folder, ORIGIN, "amber-otter")
    assert is_running(folder, ORIGIN, "amber-otter")
    with pytest.raises(Refused, match="another `moot run`"):
        hold_name(folder, ORIGIN, "amber-otter")
    lock.release()
    assert not is_running(folder, ORIGIN, "amber-otter")


def test_who_asks_is_not_mistaken_for_one_who_runs(folder: KeyFolder) -> None:
    """Two sessions that start at once both ask about the same name."""
    hold_name(folder, ORIGIN, "amber-otter").release()
    (path,) = folder.ledger_folder(ORIGIN).glob("*.running")
    asking = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert not is_running(folder, ORIGIN, "amber-otter")
    finally:
        os.close(asking)
