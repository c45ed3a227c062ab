"""Of a machine's processes one at a time fetches what is new; the others go on meanwhile."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from moot.core.errors import Tampered
from moot.core.ledger import RecordToAppend
from moot.core.record import Record
from moot.hosts import joined_engine
from moot.hosts.opening import SYNC_LOCK
from moot.hosts.sync_state import SyncLock
from tests.hosts.test_host_status import complaints
from tests.hosts.test_several_hosts import CRANE, OTTER
from tests.hosts.test_short_replies import STREAM, BusyMachine, busy
from tests.project import Project


@pytest.fixture(autouse=True)
def _always_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is busy, and whatever the copy lacks should have been there long ago."""
    monkeypatch.setattr("moot.hosts.replica.FRESH_SECONDS", 0.0)
    monkeypatch.setattr(joined_engine, "BUSY_SECONDS", 3_600.0)


def test_one_at_a_time_has_the_lock(tmp_path: Path) -> None:
    first, second = SyncLock(tmp_path / "lock"), SyncLock(tmp_path / "lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    second.release()
    assert not second.try_acquire(), "a process without the lock releases nothing"
    first.release()
    first.release()
    assert second.try_acquire()
    second.release()


def test_where_no_file_can_be_made_everybody_fetches(tmp_path: Path) -> None:
    first, second = SyncLock(tmp_path / "no" / "lock"), SyncLock(tmp_path / "no" / "lock")
    assert first.try_acquire()
    assert second.try_acquire()


def test_while_another_process_fetches_one_goes_on_without(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SyncLock(laptop.root / ".moot" / SYNC_LOCK)
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        assert other.try_acquire()
        for _ in range(4):
            machine.ask_errand()
        assert (machine.brief, machine.seq_in_copy()) == (4, 0)
        other.release()
        machine.ask_errand()
        assert (machine.brief, machine.seq_in_copy()) == (4, 5)
        assert not machine.engine._copy.ahead
        assert other.try_acquire(), "it has given the lock back"
        other.release()
    assert "unknown_file" not in complaints(laptop)


def test_what_another_process_has_fetched_is_not_fetched_again(
    laptop: Project, desktop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        here, sibling = (
            BusyMachine(
                stack.enter_context(busy(laptop, OTTER, monkeypatch)).engine, OTTER, monkeypatch
            )
            for _ in range(2)
        )
        far = stack.enter_context(busy(desktop, CRANE, monkeypatch))
        here.ask_errand()
        here.ask_errand()
        far.ask_errand(stream="example/elsewhere")
        assert here.engine._copy.ahead
        sibling.engine._copy.sync()
        here.ask_errand()
        assert here.brief == 2, "of three: the copy has what it had to have"
        assert len(here.engine._copy.ahead.hashes) == 1
        assert here.engine.load(STREAM).seq == 2


def test_something_else_in_the_copy_than_was_acknowledged_is_found_out(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with busy(laptop, OTTER, monkeypatch) as machine:
        machine.ask_errand()
        machine.ask_errand()
        copy = machine.engine._copy
        (known,) = copy.ahead.newest
        copy.sync()
        other = Record(known.stream, known.seq, known.kid, known.raw, bytes(64))
        copy.ahead.add([RecordToAppend(other)])
        with pytest.raises(Tampered) as found, copy.read_without_sync():
            pass
        assert found.value.code == "another_history"
        copy.ahead._entries.clear()
        copy.ahead._added_at.clear()
