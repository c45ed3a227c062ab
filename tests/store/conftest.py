"""The contract's assertions explain themselves, as in any test file; a new ledger to work on."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.store.sqlite import SqliteStore

for name in ("tests.store.contract", "tests.store.ledgers"):
    if name not in sys.modules:  # another folder's tests may have come first
        pytest.register_assert_rewrite(name)


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """In memory where there is such a place: thousands of files are read back."""
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, create=True)) as opened:
        yield opened


@pytest.fixture
def another(store: SqliteStore, path: Path) -> Iterator[SqliteStore]:
    del store  # made first
    with closing(SqliteStore(path)) as opened:
        yield opened
