"""A ledger is looked at where nothing may be written, and what moved meanwhile gets no answer."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.protocols.example.model import Ask
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.read_only import SqliteReader
from tests.store.ledgers import CRANE, OTTER, found_ledger, join
from tests.store.read_only_process import Looker
from tests.unprivileged import (
    contents,
    forbid_writing,
    has_read_only_disks,
    on_a_read_only_disk,
    open_folder,
)

FOUNDED = 3
ERRANDS = 5
MOVED = ["StoreFailed", "changed_meanwhile"]
LOG_UNREADABLE = ["StoreFailed", "log_unreadable"]


@pytest.fixture
def path() -> Iterator[Path]:
    """A founded ledger with a few errands, closed, where any user may look."""
    with open_folder() as folder:
        path = folder / "ledger.db"
        found_ledger(path)
        add_errands(path)
        yield path


def add_errands(path: Path, count: int = ERRANDS) -> None:
    engine = join(SqliteStore(path))
    for number in range(count):
        engine.execute("example/a", Ask(title=f"errand {number}", of=CRANE), OTTER)
    engine.close()


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def leave_log(path: Path) -> None:
    """As a killed process does: the newest errands are in the log, and only there."""
    engine = join(SqliteStore(path))
    engine.execute("example/a", Ask(title="in the log", of=CRANE), OTTER)
    kept = {file: file.read_bytes() for file in path.parent.iterdir()}
    engine.close()
    for file, data in kept.items():
        file.write_bytes(data)
    assert beside(path, "-wal").stat().st_size > 0


def leave_hot_journal(path: Path) -> None:
    """Of another program, which had changed the file's mode and was killed while it wrote."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.execute("CREATE TABLE theirs (x)")
        db.executemany("INSERT INTO theirs VALUES (?)", [("x" * 900,)] * 500)
        kept = {file: file.read_bytes() for file in path.parent.iterdir()}
    for file, data in kept.items():
        file.write_bytes(data)
    assert beside(path, "-journal").stat().st_size > 0


# Where nothing may be written ---------------------------------------------------------------------


@pytest.mark.requirement("LDG-096")
def test_a_ledger_in_a_read_only_folder_is_read_and_nothing_appears_there(path: Path) -> None:
    forbid_writing(path.parent)
    before = contents(path.parent)
    assert Looker(path).outcome() == ["read", str(FOUNDED + ERRANDS)]
    assert contents(path.parent) == before


def test_a_ledger_on_a_read_only_disk_is_read(path: Path) -> None:
    if not has_read_only_disks(path.parent):
        pytest.skip("no read-only disk can be mounted here; permissions are tested anyway")
    disk = on_a_read_only_disk(path.parent)
    assert Looker(path, within=disk).outcome() == ["read", str(FOUNDED + ERRANDS)]
    leave_log(path)
    assert Looker(path, within=disk).outcome() == ["read", str(FOUNDED + ERRANDS + 1)]
    beside(path, "-shm").unlink()
    assert Looker(path, within=disk).outcome() == LOG_UNREADABLE


@pytest.mark.parametrize("left", [("-wal",), ("-shm",), ("-wal", "-shm"), ("-journal",)])
def test_what_earlier_readers_left_behind_does_not_matter(path: Path, left: tuple[str]) -> None:
    SqliteReader(path).close()
    kept = {ending: beside(path, ending) for ending in ("-wal", "-shm")}
    for ending, file in kept.items():
        if ending not in left:
            file.unlink()
    if "-journal" in left:
        beside(path, "-journal").touch()
    forbid_writing(path.parent)
    assert Looker(path).outcome() == ["read", str(FOUNDED + ERRANDS)]


def test_a_log_that_can_be_read_counts(path: Path) -> None:
    leave_log(path)
    forbid_writing(path.parent)
    before = contents(path.parent)
    assert Looker(path).outcome() == ["read", str(FOUNDED + ERRANDS + 1)]
    assert contents(path.parent) == before


def without_its_index(path: Path) -> None:
    leave_log(path)
    beside(path, "-shm").unlink()


def not_readable(path: Path) -> None:
    leave_log(path)
    beside(path, "-wal").chmod(0)


@pytest.mark.requirement("LDG-078")
@pytest.mark.parametrize("leave", [without_its_index, not_readable, leave_hot_journal])
def test_a_log_that_cannot_be_read_is_never_passed_over(
    path: Path, leave: Callable[[Path], None]
) -> None:
    leave(path)
    kept = [file for file in path.parent.iterdir() if not file.stat().st_mode & 0o400]
    forbid_writing(path.parent)
    for file in kept:
        file.chmod(0)
    assert Looker(path).outcome() == LOG_UNREADABLE


@pytest.mark.requirement("LDG-078")
def test_the_log_of_a_linked_ledger_lies_beside_the_file_itself(path: Path) -> None:
    without_its_index(path)
    with open_folder() as elsewhere:
        (elsewhere / "ledger.db").symlink_to(path)
        path.parent.chmod(0o555)
        assert Looker(elsewhere / "ledger.db").outcome() == LOG_UNREADABLE
        assert os.listdir(elsewhere) == ["ledger.db"]


def test_a_copy_of_all_files_can_be_read_where_the_folder_could_not(
    path: Path, tmp_path: Path
) -> None:
    without_its_index(path)
    copy = tmp_path / "copy"
    shutil.copytree(path.parent, copy)
    with SqliteReader(copy / "ledger.db") as reader, reader.read() as view:
        assert view.count_streams_and_events()[1] == FOUNDED + ERRANDS + 1


def test_a_damaged_ledger_in_a_read_only_folder_is_damaged(path: Path) -> None:
    path.write_bytes(b"this was a database once" * 100)
    forbid_writing(path.parent)
    assert Looker(path).outcome() == ["StoreFailed", "store_damaged"]


def test_what_may_not_be_read_is_a_clear_error(path: Path) -> None:
    path.chmod(0)
    assert Looker(path).outcome() == ["StoreFailed", "store_unreachable"]
    path.chmod(0o644)
    path.parent.chmod(0)
    assert Looker(path).outcome() == ["StoreFailed", "store_unreachable"]


# While its owner goes on --------------------------------------------------------------------------


def looking(path: Path, until: str) -> Looker:
    """Someone who may not write there, and has come as far as `until`.

    Only the folder is closed and opened again: the file must not move by that.
    """
    path.parent.chmod(0o555)
    looker = Looker(path)
    looker.hear_until("opened")
    if until == "reading":
        looker.say()
        looker.hear_until("reading")
    path.parent.chmod(0o777)
    return looker


def write_in_log(path: Path) -> None:
    """Commits that are not in the file yet; the connection is dropped as by a killed process."""
    leave_log(path)


def replace_by_another(path: Path) -> None:
    shutil.copy2(path, path.with_name("other.db"))
    path.with_name("other.db").replace(path)


def write_and_set_the_clock_back(path: Path) -> None:
    """Same size, same time: as somebody would who does not want to be noticed."""
    was = path.stat()
    raw = bytearray(path.read_bytes())
    raw[-100] ^= 1
    path.write_bytes(raw)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


MOVES = [add_errands, write_in_log, replace_by_another, write_and_set_the_clock_back, Path.unlink]


@pytest.mark.parametrize("until", ["opened", "reading"])
@pytest.mark.parametrize("move", MOVES)
def test_what_moved_while_it_was_read_gets_no_answer(
    path: Path, until: str, move: Callable[[Path], None]
) -> None:
    looker = looking(path, until)
    move(path)
    assert looker.outcome() == MOVED


def test_another_reader_disturbs_nobody(path: Path) -> None:
    looker = looking(path, "reading")
    SqliteReader(path).close()
    assert beside(path, "-wal").exists()
    assert looker.outcome() == ["read", str(FOUNDED + ERRANDS)]


def test_while_a_process_has_the_ledger_open_its_log_is_read_and_no_commit_disturbs(
    path: Path,
) -> None:
    engine = join(SqliteStore(path))
    engine.execute("example/a", Ask(title="in the log", of=CRANE), OTTER)
    looker = looking(path, "reading")
    engine.execute("example/a", Ask(title="later", of=CRANE), OTTER)
    assert looker.outcome() == ["read", str(FOUNDED + ERRANDS + 1)]
    engine.close()
