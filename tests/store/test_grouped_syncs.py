"""Many commits made durable together: held back by one thread, and nobody else's."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.engine.engine import Engine
from moot.protocols.example.model import Ask
from moot.store import batched_syncs
from moot.store.batched_syncs import hold_syncs, make_durable
from moot.store.files import put_own_file, sync_later, syncs_are_held
from moot.store.sqlite import SqliteStore
from tests.store.ledgers import CRANE, OTTER, check_ledger, found_ledger, join

FULL, NORMAL = (2,), (1,)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    found_ledger(tmp_path / "ledger.db")
    with closing(SqliteStore(tmp_path / "ledger.db")) as store:
        yield join(store)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was made durable, in order."""
    names: list[str] = []
    sync = batched_syncs._sync

    def note_and_sync(path: Path) -> None:
        names.append(path.name)
        sync(path)

    monkeypatch.setattr(batched_syncs, "_sync", note_and_sync)
    return names


def append(engine: Engine, title: str = "an errand") -> None:
    engine.execute("example/a", Ask(title=title, of=CRANE), OTTER)


def synchronous(engine: Engine) -> tuple[int]:
    assert isinstance(engine.store, SqliteStore)
    (level,) = engine.store._db.execute("PRAGMA synchronous").fetchone()
    return (level,)


@pytest.mark.requirement("LDG-074")
def test_commits_in_the_block_are_durable_together_when_it_ends(
    engine: Engine, synced: list[str]
) -> None:
    with hold_syncs():
        for number in range(5):
            append(engine, f"errand {number}")
        assert synchronous(engine) == NORMAL
        assert synced == []
    assert synced == ["ledger.db-wal"]
    append(engine)
    assert synchronous(engine) == FULL
    engine.close()


@pytest.mark.requirement("LDG-074")
def test_anyone_who_is_about_to_tell_somebody_makes_it_durable_first(
    engine: Engine, synced: list[str]
) -> None:
    with hold_syncs():
        append(engine)
        make_durable()
        assert synced == ["ledger.db-wal"]
        make_durable()
        assert synced == ["ledger.db-wal"]
    assert synced == ["ledger.db-wal"]


def test_files_are_durable_before_the_log_that_speaks_of_them(
    engine: Engine, synced: list[str], tmp_path: Path
) -> None:
    with hold_syncs():
        append(engine)
        put_own_file(tmp_path / "answer.json", b"{}", 0o600)
        assert synced == []
    assert sorted(synced[:2]) == sorted(["answer.json", tmp_path.name])
    assert synced[2:] == ["ledger.db-wal"]
    assert (tmp_path / "answer.json").read_bytes() == b"{}"


@pytest.mark.requirement("LDG-074")
def test_another_thread_is_not_answered_before_its_commit_is_durable(engine: Engine) -> None:
    levels: list[tuple[int]] = []

    def write() -> None:
        append(engine)
        levels.append(synchronous(engine))

    with hold_syncs():
        append(engine)
        other = threading.Thread(target=write)
        other.start()
        other.join(timeout=30)
        assert levels == [FULL]
        assert syncs_are_held()
    assert not syncs_are_held()


def test_an_error_in_the_block_leaves_what_was_written_durable(
    engine: Engine, synced: list[str]
) -> None:
    def write_and_fail() -> None:
        with hold_syncs():
            append(engine)
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert synced == ["ledger.db-wal"]
    assert not syncs_are_held()


def test_a_block_in_a_block_ends_with_the_outer_one(engine: Engine, synced: list[str]) -> None:
    with hold_syncs():
        with hold_syncs():
            append(engine)
        assert synced == []
    assert synced == ["ledger.db-wal"]


@pytest.mark.requirement("LDG-065")
def test_a_disk_that_fails_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_path: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def write_to_failing_disk() -> None:
        with hold_syncs():
            append(engine)
            monkeypatch.setattr(batched_syncs, "_sync", fail)

    with pytest.raises(StoreFailed) as failed:
        write_to_failing_disk()
    assert failed.value.code == "store_failed"
    assert not syncs_are_held()
    monkeypatch.undo()
    assert check_ledger(engine.store)["example/a"]


def test_what_is_gone_needs_no_sync(tmp_path: Path) -> None:
    with hold_syncs():
        sync_later(tmp_path / "never-there")


@pytest.mark.requirement("LDG-039")
def test_a_checkpoint_is_durable_before_it_is_remembered_elsewhere(
    engine: Engine, synced: list[str]
) -> None:
    remembered: list[list[str]] = []
    engine._on_checkpoint = lambda _made: remembered.append(list(synced))
    with hold_syncs():
        append(engine)
        engine.checkpoint()
    assert remembered == [["ledger.db-wal"]]
