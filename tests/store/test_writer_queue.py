"""Writers of several processes take turns in the order in which they came."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.store.sqlite import SqliteStore, lock_waiting
from moot.store.sqlite.lock_waiting import WriterQueue, waiting_at_most
from tests.store.ledgers import found_ledger

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no line on Windows")

LINE = "ledger.db-line"
# Another process that stands in line until it is told to go on, or is stopped there.
_STANDING = """
import sys
from pathlib import Path
from moot.store.sqlite import lock_waiting
lock_waiting.MAX_QUEUE_SECONDS = 60.0
queue = lock_waiting.WriterQueue(Path(sys.argv[1]))
print("coming", flush=True)
queue.enter(60.0)
print("first" if queue.is_first else "in vain", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ledger.db"
    found_ledger(path)
    monkeypatch.setattr(lock_waiting, "LOOK_EVERY_SECONDS", 0.0)
    return path


@contextmanager
def another_in_line(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _STANDING, str(path)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert next_word(process) == "coming"
        yield process
    finally:
        process.communicate("go\n", timeout=60)


@contextmanager
def first_in_line(path: Path) -> Iterator[None]:
    with another_in_line(path) as process:
        assert next_word(process) == "first"
        yield


def next_word(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def write(store: SqliteStore, position: int) -> None:
    with store.write() as change:
        change.put_cursor("amber-otter", "inbox", position)


def written(store: SqliteStore) -> int:
    with store.read() as view:
        return view.cursor("amber-otter", "inbox")


def test_the_first_time_nobody_stands_in_line(path: Path) -> None:
    store = SqliteStore(path)
    with first_in_line(path):
        write(store, 1)
        assert written(store) == 1
    store.close()


def test_there_is_no_line_as_long_as_nobody_has_to_wait(path: Path) -> None:
    one, other = SqliteStore(path), SqliteStore(path)
    for position in range(1, 4):
        write(one, position)
        write(other, -position)
    assert written(one) == -3
    assert not path.with_name(LINE).exists()
    one.close()
    other.close()


def test_who_writes_again_lets_those_who_wait_go_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_waiting, "MAX_QUEUE_SECONDS", 60.0)
    store = SqliteStore(path)
    write(store, 1)
    with first_in_line(path):
        again = threading.Thread(target=write, args=(store, 2))
        again.start()
        newcomer = SqliteStore(path)
        write(newcomer, 7)  # the lock itself is free
        assert written(newcomer) == 7
    again.join(60)
    assert not again.is_alive()
    assert written(newcomer) == 2
    store.close()
    newcomer.close()


def test_who_is_let_in_too_late_lets_the_next_one_in(path: Path) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(another_in_line(path))
        assert next_word(first) == "first"
        mine = WriterQueue(path)
        mine.enter(0.01)
        assert not mine.is_first
        behind = stack.enter_context(another_in_line(path))
        first.kill()
        assert next_word(behind) == "first"
        mine.close()


def test_a_line_that_does_not_move_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(path)
    write(store, 1)
    with first_in_line(path):
        monkeypatch.setattr(lock_waiting, "MAX_QUEUE_SECONDS", 0.01)
        write(store, 2)
        monkeypatch.setattr(lock_waiting, "MAX_QUEUE_SECONDS", 3_600.0)
        write(store, 3)
        assert written(store) == 3
    store.close()


def test_a_thread_may_wait_less_than_the_others(path: Path) -> None:
    holder, waiting = SqliteStore(path), SqliteStore(path)
    with holder.write(), waiting_at_most(0.01), pytest.raises(StoreFailed) as refused:
        write(waiting, 2)
    assert refused.value.code == "store_busy"
    with waiting_at_most(0.01):
        write(waiting, 3)
    assert written(holder) == 3
    holder.close()
    waiting.close()


def test_the_place_is_given_up_with_the_attempt(path: Path) -> None:
    holder, waiting = SqliteStore(path), SqliteStore(path, busy_seconds=0.01)
    write(waiting, 1)
    with holder.write(), pytest.raises(StoreFailed) as refused:
        write(waiting, 2)
    assert refused.value.code == "store_busy"
    assert path.with_name(LINE).exists()
    with first_in_line(path):  # in vain, if the place were still taken
        assert written(holder) == 1
    holder.close()
    waiting.close()


def test_who_dies_in_line_holds_up_nobody(path: Path) -> None:
    with another_in_line(path) as first:
        assert next_word(first) == "first"
        with another_in_line(path) as behind:
            first.kill()
            assert next_word(behind) == "first"


def test_without_a_line_everyone_still_writes(path: Path) -> None:
    path.with_name(LINE).mkdir()  # nothing can be locked there
    one, other = SqliteStore(path), SqliteStore(path)
    for position in range(1, 6):
        write(one, position)
        write(other, -position)
    assert written(one) == -5
    one.close()
    other.close()


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff\xff", b"not a number", b"\0" * 9])
def test_whatever_the_file_holds_the_line_moves(path: Path, content: bytes) -> None:
    path.with_name(LINE).write_bytes(content)
    with another_in_line(path) as first:
        assert next_word(first) == "first"
    with first_in_line(path):
        pass


@pytest.mark.parametrize(("turn", "passes"), [(60.0, True), (0.0, False)])
def test_who_was_first_may_write_on_until_its_turn_is_over(
    path: Path, monkeypatch: pytest.MonkeyPatch, turn: float, passes: bool
) -> None:
    monkeypatch.setattr(lock_waiting, "TURN_SECONDS", turn)
    line = WriterQueue(path)
    line.enter(60.0)
    assert line.is_first
    line.leave()
    assert line.can_skip()  # nobody else is there
    with first_in_line(path):
        assert line.can_skip() is passes
    line.close()
