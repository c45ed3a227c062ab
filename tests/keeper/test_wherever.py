"""A store that finds its ledger wherever it was moved to holds the contract of every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core.ledger import Store
from moot.store.sqlite import SqliteStore
from moot.workspace.wherever import StoreWherever, find_place
from tests.store.contract import OpenAgain, StoreContract


def open_there(folder: Path) -> Store:
    place = find_place(folder)
    assert place is not None

    def reopen() -> Store:
        return SqliteStore(folder / "ledger.db")

    store: Store = StoreWherever(folder, reopen(), place, reopen)  # type: ignore[assignment]
    return store


class TestWherever(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        SqliteStore(tmp_path / "ledger.db", create=True).close()
        store = open_there(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def another(self, store: Store, tmp_path: Path) -> Iterator[OpenAgain]:
        opened: list[Store] = []

        def open_again() -> Store:
            opened.append(open_there(tmp_path))
            return opened[-1]

        yield open_again
        assert store is not None
        for each in opened:
            each.close()
