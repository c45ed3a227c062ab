"""Workspaces that stay open in a server leave no file open when they are let go."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from moot.api.opening import OpenWorkspaces
from moot.core.clock import system_clock
from moot.core.machine import KeyClass
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.workspace.create import create_workspace
from moot.workspace.workspace import Workspace

DESCRIPTORS = Path("/proc/self/fd")


@pytest.fixture
def keys(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys")


@pytest.fixture
def home(tmp_path: Path, keys: KeyFolder) -> Path:
    (tmp_path / "project").mkdir()
    create_workspace(tmp_path / "project", keys, system_clock)
    home = tmp_path / "project" / ".moot"
    with Workspace(home, keys) as space:
        signer = keys.add_key(space.trust.origin, "amber-otter", KeyClass.AGENT)
        register(space.engine, "amber-otter", signer, custodian=keys.custodian)
    return home


def open_files(below: Path) -> list[str]:
    """Of databases in use. One descriptor of each ledger stays for reading its first bytes."""
    if not DESCRIPTORS.exists():
        pytest.skip("this system does not list a process's open files")
    links = [each for each in DESCRIPTORS.iterdir() if each.is_symlink()]
    files = [Path(os.readlink(each).removesuffix(" (deleted)")) for each in links]
    names = sorted(file.name for file in files if file.is_relative_to(below))
    return [name for name in names if name in ("kept.db", "ledger.db-wal")]


def test_what_is_dropped_after_a_failure_is_closed(
    home: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    shared = OpenWorkspaces()
    shared.find(home / "ledger.db", "", lambda: Workspace(home, keys))
    assert open_files(tmp_path) == ["kept.db", "ledger.db-wal"]
    shared.drop()
    assert open_files(tmp_path) == []


def test_so_is_one_whose_file_another_has_taken_the_place_of(
    home: Path, keys: KeyFolder, tmp_path: Path
) -> None:
    shared = OpenWorkspaces()
    first = shared.find(home / "ledger.db", "", lambda: Workspace(home, keys))
    assert shared.find(home / "ledger.db", "", lambda: Workspace(home, keys)) is first
    shutil.copy(home / "ledger.db", tmp_path / "copy")
    os.replace(tmp_path / "copy", home / "ledger.db")
    assert shared.find(home / "ledger.db", "", lambda: Workspace(home, keys)) is not first
    shared.close()
    assert open_files(tmp_path) == []
