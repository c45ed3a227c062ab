"""The SQLite file itself: its form, its guards, and what damage and a bad disk do to it."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import MootError, Refused, StoreFailed, Unavailable
from moot.core.record import Record
from moot.engine.job import Job
from moot.protocols.example.model import Ask
from moot.store.sqlite import SqliteStore, schema
from moot.store.sqlite.pending_index import SQL
from moot.store.sqlite.store import connect_file
from tests.store.child import Child, children
from tests.store.contract import contents_of, entry, write_and_drop, write_entries, write_everything
from tests.store.interrupts import Interrupt, Interrupted, interruptible
from tests.store.ledgers import (
    CRANE,
    OTTER,
    acks,
    check_ledger,
    found_ledger,
    history,
    join,
    require_acknowledged,
)

MAGIC = b"SQLite format 3\0"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A founded ledger with a few errands, closed."""
    path = tmp_path / "ledger.db"
    found_ledger(path)
    add_errands(path, 12)
    return path


def add_errands(path: Path, count: int) -> None:
    engine = join(SqliteStore(path))
    for number in range(count):
        stream = f"example/{'ab'[number % 2]}"
        engine.execute(stream, Ask(title=f"errand {number}" * 40, of=CRANE), OTTER)
    engine.close()


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, to the byte."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


def plain(path: Path) -> sqlite3.Connection:
    """A connection of someone who is not Moot."""
    return sqlite3.connect(path, isolation_level=None)


def header_number(path: Path, offset: int) -> int:
    return int.from_bytes(path.read_bytes()[offset : offset + 4], "big")


# Schema and versions ------------------------------------------------------------------------------


def test_the_file_names_its_program_and_its_version(path: Path) -> None:
    assert header_number(path, 68) == schema.APPLICATION_ID == int.from_bytes(b"MOOT", "big")
    assert header_number(path, 60) == schema.VERSION == len(schema.MIGRATIONS)


def test_migrations_are_numbered_without_a_gap() -> None:
    numbers = [int(file.name[:4]) for file in schema.MIGRATIONS]
    assert numbers == list(range(1, schema.VERSION + 1))


@pytest.mark.requirement("LDG-072")
def test_a_file_of_a_newer_moot_is_refused_and_stays_as_it_was(path: Path) -> None:
    with closing(plain(path)) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        db.execute("PRAGMA journal_mode = DELETE")
    before = files(path.parent)
    for create in (False, True):
        with pytest.raises(StoreFailed) as caught:
            SqliteStore(path, create=create)
        assert caught.value.code == "newer_store"
    assert files(path.parent) == before


@pytest.mark.parametrize("version", [0, 1, 7])
def test_another_programs_database_is_refused_and_stays_as_it_was(
    tmp_path: Path, version: int
) -> None:
    with closing(plain(tmp_path / "theirs.db")) as db:
        db.execute("CREATE TABLE theirs (x)")
        db.execute(f"PRAGMA user_version = {version}")
    before = files(tmp_path)
    for create in (False, True):
        with pytest.raises(StoreFailed) as caught:
            SqliteStore(tmp_path / "theirs.db", create=create)
        assert caught.value.code == "not_a_ledger"
    assert files(tmp_path) == before


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """As if this Moot had one more migration."""

    def install(script: str) -> None:
        file = tmp_path / "9999_next.sql"
        file.write_text(script, "utf-8")
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, file))
        monkeypatch.setattr(schema, "VERSION", len(schema.MIGRATIONS))

    return install


@pytest.mark.requirement("LDG-072")
def test_an_older_file_is_brought_up_to_date_with_everything_in_it(
    path: Path, next_version: Callable[[str], None]
) -> None:
    old = schema.VERSION
    with closing(SqliteStore(path)) as store:
        before = contents_of(store)
    next_version("CREATE TABLE extra (x TEXT);\n-- with a\nINSERT INTO extra VALUES ('a;b');\n")
    with closing(SqliteStore(path)) as store:
        assert contents_of(store) == before
    with closing(plain(path)) as db:
        assert db.execute("SELECT x FROM extra").fetchall() == [("a;b",)]
        assert db.execute("PRAGMA user_version").fetchone() == (old + 1,)
    with closing(SqliteStore(path)) as store:
        check_ledger(store)


KEPT_TABLES = {  # version 1 and now alike
    "streams": "*",
    "events": "id, stream, seq, kid, body, sig, key",
    **dict.fromkeys(("snapshots", "index_rows", "index_words", "notes", "nodes", "cursors"), "*"),
}


def as_version_1(path: Path) -> Path:
    """What the first Moot would have made of it; its newest texts wait for the index."""
    old = path.with_name("old.db")
    with closing(plain(old)) as db:
        db.executescript(schema.MIGRATIONS[0].read_text("utf-8"))
        db.execute("ATTACH ? AS new", (str(path),))
        for table, columns in KEPT_TABLES.items():
            db.execute(f"INSERT INTO main.{table} SELECT {columns} FROM new.{table}")
        db.execute("INSERT INTO waiting_words SELECT rowid, space, key, text FROM index_words")
        db.execute("DELETE FROM waiting_words WHERE id <= 3")
        db.execute("DELETE FROM index_words WHERE rowid > 3")
        db.execute("PRAGMA user_version = 1")
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute("PRAGMA journal_mode = WAL")
    return old


@pytest.mark.requirement("LDG-072")
def test_a_ledger_of_the_first_version_is_brought_up_to_date_with_everything_in_it(
    path: Path,
) -> None:
    old = as_version_1(path)
    with closing(SqliteStore(path)) as now, closing(SqliteStore(old)) as store:
        assert contents_of(store) == contents_of(now)
        engine = join(store)
        told = acks(engine.execute("example/a", Ask(title="go on", of=CRANE), OTTER).recorded)
        require_acknowledged(check_ledger(store), told)
        with pytest.raises(sqlite3.IntegrityError, match="never"), closing(plain(old)) as db:
            db.execute("DELETE FROM events")
    with closing(plain(old)) as db:
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    with closing(plain(path)) as db:
        assert names == {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}


def test_several_processes_may_bring_a_ledger_up_to_date_at_once(path: Path) -> None:
    old = as_version_1(path)
    with children(*[("create", old)] * 4) as started:
        for child in started:
            child.hear_until("ready")
        for child in started:
            child.say()
        assert [child.end() for child in started] == [0] * 4
    with closing(SqliteStore(path)) as now, closing(SqliteStore(old)) as store:
        assert contents_of(store) == contents_of(now)


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupted_migration_leaves_the_old_ledger_or_the_new_one(
    path: Path, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interrupted, "after", after)
    with closing(SqliteStore(path)) as now:
        known = contents_of(now)
    old = as_version_1(path)
    content, versions = old.read_bytes(), []
    for number in range(100):
        old.write_bytes(content)
        try:
            SqliteStore(old, connect=interruptible([], number)).close()
        except Interrupt:
            with closing(plain(old)) as db:
                versions.append(schema.version_of(db))
            with closing(SqliteStore(old)) as store:
                assert contents_of(store) == known
        else:
            break
    assert versions == sorted(versions)
    assert versions[0] == 1
    assert versions[-1] == schema.VERSION
    assert len(versions) > 20


def test_a_migration_that_fails_changes_nothing(
    path: Path, next_version: Callable[[str], None]
) -> None:
    before = files(path.parent)
    next_version("CREATE TABLE extra (x TEXT);\nINSERT INTO missing VALUES (1);\n")
    with pytest.raises(StoreFailed):
        SqliteStore(path)
    after = files(path.parent)
    del after["9999_next.sql"]
    assert after == before


# Guards -------------------------------------------------------------------------------------------


@pytest.mark.requirement("LDG-074")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = x'00' WHERE id = 1",
        "UPDATE events SET seq = seq + 100",
        "UPDATE OR REPLACE events SET seq = 0",
        "DELETE FROM events WHERE id = 1",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE id = 1",
        "REPLACE INTO events (stream, seq, kid, body, sig) VALUES (0, 0, '', x'', x'')",
        "REPLACE INTO events (id, stream, seq, kid, body, sig) VALUES (1, 0, 99, '', x'', x'')",
        # As a moot of the first version that still runs.
        "INSERT INTO events (stream, seq, kid, body, sig) VALUES (0, 99, '', x'', x'')",
    ],
)
def test_events_are_never_changed_deleted_or_replaced_by_a_statement(
    path: Path, statement: str
) -> None:
    with closing(SqliteStore(path)) as store:
        before = contents_of(store)
        with closing(plain(path)) as db, pytest.raises(sqlite3.IntegrityError, match="never"):
            db.execute(statement)
        assert contents_of(store) == before


@pytest.mark.requirement("LDG-074")
def test_every_connection_is_in_wal_mode_and_syncs_each_commit(path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def connect(uri: str, busy_seconds: float) -> sqlite3.Connection:
        opened.append(connect_file(uri, busy_seconds))
        return opened[-1]

    fresh = path.with_name("fresh.db")
    stores = [
        SqliteStore(path, connect=connect),
        SqliteStore(path, connect=connect),
        SqliteStore(fresh, create=True, connect=connect),
    ]
    for db in opened:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
    for store in stores:
        store.close()


def test_a_file_that_lost_its_wal_mode_gets_it_back(path: Path) -> None:
    with closing(plain(path)) as db:
        assert db.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    with closing(SqliteStore(path)) as store:
        write_entries(store, entry("example/n", 0))
        assert path.with_name("ledger.db-wal").stat().st_size > 0


def test_a_disk_without_a_write_ahead_log_is_refused(path: Path) -> None:
    def connect(_uri: str, busy_seconds: float) -> sqlite3.Connection:
        return connect_file("file::memory:", busy_seconds)  # which has none

    with pytest.raises(StoreFailed, match="write-ahead log"):
        SqliteStore(path, connect=connect)


def test_closing_the_last_connection_leaves_one_file(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


# Backup -------------------------------------------------------------------------------------------


def test_a_backup_holds_everything_and_is_a_ledger_of_its_own(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with closing(SqliteStore(path)) as store:
        with store.write() as change:
            change.put_cursor(OTTER, "inbox", 3)
        store.backup(target)
        before = contents_of(store)
    with closing(SqliteStore(target)) as copy:
        assert contents_of(copy) == before
        check_ledger(copy)
        join(copy).execute("example/a", Ask(title="only here", of=CRANE), OTTER)
    with closing(SqliteStore(path)) as store:
        assert contents_of(store) == before


@pytest.mark.requirement("LDG-073")
@pytest.mark.parametrize("content", [b"", b"precious", None])
def test_a_backup_never_overwrites(path: Path, tmp_path: Path, content: bytes | None) -> None:
    target = tmp_path / "copy.db"
    if content is None:
        shutil.copy(path, target)
    else:
        target.write_bytes(content)
    with closing(SqliteStore(path)) as store:
        before = files(tmp_path)
        with pytest.raises(Refused) as caught:
            store.backup(target)
        assert caught.value.code == "file_exists"
        assert files(tmp_path) == before


def test_a_backup_into_a_missing_folder_is_a_clear_error(path: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        with pytest.raises(StoreFailed) as caught:
            store.backup(tmp_path / "missing" / "copy.db")
        assert caught.value.code == "store_unreachable"
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("outside", ["read", "write"])
def test_a_backup_inside_a_transaction_is_refused(path: Path, tmp_path: Path, outside: str) -> None:
    with closing(SqliteStore(path)) as store:
        with getattr(store, outside)(), pytest.raises(StoreFailed) as caught:
            store.backup(tmp_path / "copy.db")
        assert caught.value.code == "nested_write"
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.requirement("LDG-073")
def test_backups_taken_while_another_process_writes_are_whole_prefixes(
    path: Path, tmp_path: Path
) -> None:
    seed = 20_260_221
    chance = random.Random(seed)
    store = SqliteStore(path)
    with children(("work", path, seed)) as (child,):
        child.hear_until("ready")
        told = []
        for number in range(5):
            for _ in range(chance.randrange(5, 25)):
                child.hear()
            told.append(child.acks())
            store.backup(tmp_path / f"copy{number}.db")
        child.kill()
    everything = history(store)
    store.close()
    for number, heard in enumerate(told):
        with closing(SqliteStore(tmp_path / f"copy{number}.db")) as copy:
            chains = check_ledger(copy)
        require_acknowledged(chains, heard)
        for name, chain in chains.items():
            assert everything[name][: len(chain)] == chain, f"seed {seed} backup {number}"


# Names of files -----------------------------------------------------------------------------------

ODD_NAMES = [
    "a?b",
    "a?mode=memory",
    "a#b",
    "100%",
    "%41%2f",
    "with space ",
    "ünï \U0001f389",
    "'quo\"te`",
    "semi;colon&and=",
    "back\\slash",
    "new\nline",
    ":memory:",
    "~",
    "-leading",
    os.fsdecode(b"caf\xe9"),
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_a_ledger_may_lie_under_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for path in (folder / "ledger.db", folder / name):
        with closing(SqliteStore(path, create=True)) as store, store.write() as change:
            write_everything(change)
        with closing(SqliteStore(path)) as store:
            assert contents_of(store)["counts"] == (2, 4)
            store.backup(path.with_name(path.name + " copy"))
            path.with_name(path.name + " copy").unlink()
    assert sorted(os.listdir(folder)) == sorted({"ledger.db", name})
    assert os.listdir(tmp_path) == [name]


def test_a_relative_path_is_where_it_was_when_the_store_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqliteStore(Path("ledger.db"), create=True)) as store:
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        write_entries(store, entry("example/a", 0))
    assert os.listdir(tmp_path / "sub") == []


# What is not a ledger -----------------------------------------------------------------------------


def refusal(path: Path, create: bool = False) -> MootError:
    with pytest.raises(MootError) as caught:
        SqliteStore(path, create=create).close()
    assert caught.value.code
    assert caught.value.exit_code == 4
    return caught.value


def test_a_missing_file_is_no_ledger_and_is_not_made(tmp_path: Path) -> None:
    error = refusal(tmp_path / "ledger.db")
    assert (type(error), error.code) == (Unavailable, "no_ledger")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").mkdir()
    assert refusal(tmp_path / "ledger.db").code == "no_ledger"
    assert refusal(tmp_path / "ledger.db", create=True).code == "store_unreachable"
    assert os.listdir(tmp_path / "ledger.db") == []


def test_a_ledger_cannot_be_made_in_a_missing_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing" / "ledger.db", create=True).code == "store_unreachable"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [b"not a database" * 300, MAGIC[:9], MAGIC, MAGIC + bytes(8_000), MAGIC + b"\x10\0" * 9, b"x"],
    ids=len,
)
def test_what_is_not_a_database_is_damaged_and_stays_as_it_was(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    for create in (False, True):
        assert refusal(path, create).code == "store_damaged"
        assert files(tmp_path) == {"ledger.db": content}


def test_an_emptied_file_is_damaged_and_what_lies_beside_it_is_left_alone(path: Path) -> None:
    """SQLite alone would take it for a new database and delete the log beside it."""
    with closing(SqliteStore(path)) as store:
        write_entries(store, entry("example/n", 0))
        log = path.with_name("ledger.db-wal").read_bytes()
    path.write_bytes(b"")
    path.with_name("ledger.db-wal").write_bytes(log)
    before = files(path.parent)
    assert refusal(path).code == "store_damaged"
    assert files(path.parent) == before


# Damage -------------------------------------------------------------------------------------------


# What a damaged file may be called: the last two if a table's or a stream's name was hit.
DAMAGE = ("store_damaged", "tampered", "unproved_record", "store_failed", "unknown_protocol")


def states_in(path: Path) -> list[Any] | str:
    """The proved state of every stream, or the code of the refusal."""
    try:
        with closing(SqliteStore(path)) as store, store.read() as view:
            engine = join(store)
            names = [name for name, _ in view.streams()]
            return [engine.load(name, proved=True).state for name in names]
    except MootError as error:
        return error.code


def history_in(path: Path) -> dict[str, list[Record]] | None:
    """Every record, if a check of the whole ledger finds nothing wrong."""
    try:
        with closing(SqliteStore(path)) as store:
            return check_ledger(store)
    except (MootError, AssertionError):
        return None


def is_sound(path: Path) -> bool:
    """By SQLite's own check of every page."""
    with closing(plain(path)) as db:
        return bool(db.execute("PRAGMA integrity_check").fetchone() == ("ok",))


class Damaged:
    """A ledger's file, to be hurt in one place after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.whole = path.read_bytes()
        self.states, self.records = states_in(path), history_in(path)
        assert self.records is not None

    def hurt(self, content: bytes, where: str) -> bool:
        """Is the damage noticed? If not it must be harmless. Nothing is repaired either way."""
        self.path.write_bytes(content)
        states = states_in(self.path)
        assert history_in(self.path) in (None, self.records), where
        assert files(self.path.parent) == {self.path.name: content}, where
        if isinstance(states, str):
            assert states in DAMAGE, f"{where}: {states}"
            return True
        # An index page may hide a stream from a search by its name; only a full check sees that.
        assert states == self.states or not is_sound(self.path), where
        return states != self.states


@pytest.mark.requirement("LDG-079")
def test_a_file_cut_at_any_page_is_refused_and_never_repaired(path: Path) -> None:
    damaged = Damaged(path)
    for size in range(4096, len(damaged.whole), 4096):
        assert damaged.hurt(damaged.whole[:size], f"cut to {size}")


def test_a_file_cut_inside_a_page_is_refused_or_unharmed_and_never_repaired(path: Path) -> None:
    damaged = Damaged(path)
    for size in [1, 15, 16, 18, 99, *range(512, len(damaged.whole), 4096), len(damaged.whole) - 1]:
        noticed = damaged.hurt(damaged.whole[:size], f"cut to {size}")
        assert noticed or size > len(damaged.whole) - 4096


@pytest.mark.requirement("LDG-079")
@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"\x0d", b"A"], ids=repr)
def test_a_damaged_page_is_noticed_or_harmless_and_never_repaired(
    path: Path, filling: bytes
) -> None:
    damaged = Damaged(path)
    whole = damaged.whole
    starts = range(0, len(whole), 4096)
    noticed = [
        damaged.hurt(whole[:start] + filling * 4096 + whole[start + 4096 :], f"page at {start}")
        for start in starts
    ]
    assert sum(noticed) > 5


@pytest.mark.parametrize("seed", range(3))
def test_flipped_bits_never_give_another_history(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    damaged = Damaged(path)
    for _ in range(80):
        place, bit = chance.randrange(len(damaged.whole)), 1 << chance.randrange(8)
        flipped = bytearray(damaged.whole)
        flipped[place] ^= bit
        damaged.hurt(bytes(flipped), f"seed {seed}: byte {place} bit {bit}")


def killed(path: Path, folder: Path) -> Path:
    """What a process leaves that is killed before it closes the file: the log beside it."""
    engine = join(SqliteStore(path))
    for number in range(6):
        engine.execute("example/a", Ask(title=f"in the log {number}", of=CRANE), OTTER)
    folder.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", folder / f"ledger.db{suffix}")
    engine.store.close()
    return folder / "ledger.db"


@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_a_damaged_log_gives_an_earlier_state_as_a_whole(
    path: Path, tmp_path: Path, how: str
) -> None:
    """SQLite takes the log up to its first damage: an old state, never a mixture.

    That the end is missing, only a checkpoint kept elsewhere can tell.
    """
    seed = 20_260_222
    chance = random.Random(seed)
    left = killed(path, tmp_path / "left")
    log = left.with_name("ledger.db-wal")
    database, logged = left.read_bytes(), log.read_bytes()
    everything = history_in(left)
    assert everything is not None
    lengths = set()
    for _ in range(60):
        place = chance.randrange(len(logged))
        hurt = bytearray(logged[:place] if how == "cut" else logged)
        if how == "flipped":
            hurt[place] ^= 1 << chance.randrange(8)
        left.write_bytes(database)
        log.write_bytes(hurt)
        found = history_in(left)
        assert found is not None, f"seed {seed}: byte {place}"
        for name, chain in found.items():
            assert everything[name][: len(chain)] == chain, f"seed {seed}: byte {place}"
        lengths.add(len(found["example/a"]))
    assert len(lengths) > 3


# Disk, permissions, locks -------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="moot-open-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


def said_as_nobody(path: Path) -> dict[str, list[str]]:
    child = Child("as_nobody", path)
    assert child.end() == 0
    return {words[0]: words[1:] for words in child.said}


@pytest.mark.requirement("LDG-078")
def test_a_read_only_file_can_be_read_and_refuses_writing(open_folder: Path) -> None:
    path = open_folder / "ledger.db"
    found_ledger(path)
    path.chmod(0o444)
    before = path.read_bytes()
    said = said_as_nobody(path)
    assert said["read"] == ["ok", "3"]
    assert said["write"] == ["StoreFailed", "store_read_only"]
    assert said["backup"] == ["ok"]
    assert path.read_bytes() == before


def test_a_read_only_folder_is_a_clear_error_and_nothing_changes(open_folder: Path) -> None:
    path = open_folder / "ledger.db"
    found_ledger(path)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    before = files(open_folder)
    said = said_as_nobody(path)
    assert said["read"] == said["write"] == said["backup"] == ["StoreFailed", "store_read_only"]
    assert files(open_folder) == before


def test_an_unreadable_file_is_a_clear_error(open_folder: Path) -> None:
    path = open_folder / "ledger.db"
    found_ledger(path)
    path.chmod(0)
    said = said_as_nobody(path)
    assert said["read"] == said["write"] == said["backup"] == ["StoreFailed", "store_unreachable"]


def small_disk(folder: Path) -> list[str]:
    """Run a command where `folder` is a disk of 600 KB of its own; it goes with the process."""
    mount = 'mount -t tmpfs -o size=600k none "$0" && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(folder)]


def has_small_disks(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = subprocess.run([*small_disk(folder), "true"], capture_output=True, check=False)
    return probe.returncode == 0


@pytest.mark.requirement("LDG-078")
def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    if not has_small_disks(tmp_path):
        pytest.skip("no small disk can be mounted here; the fault layer covers a full one")
    child = Child("fill", tmp_path, within=small_disk(tmp_path))
    assert child.end() == 0, child.said
    assert child.said[0] == ["failed"] + ["disk_full"] * 3
    assert int(child.said[1][1]) > 5


def test_a_file_that_may_not_grow_is_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    child = Child("fill_limited", tmp_path)
    assert child.end() == 0, child.said
    assert child.said[0] == ["failed"] + ["disk_failed"] * 3
    assert int(child.said[1][1]) > 2


def test_a_database_that_may_not_grow_is_full_and_works_again_afterwards(path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def connect(uri: str, busy_seconds: float) -> sqlite3.Connection:
        opened.append(connect_file(uri, busy_seconds))
        return opened[-1]

    with closing(SqliteStore(path, connect=connect)) as store:
        engine = join(store)
        opened[0].execute("PRAGMA max_page_count = 1")  # as few as there are
        before = contents_of(store)
        asked = Job("example/a", Ask(title="x" * 9_000, of=CRANE), OTTER)
        with pytest.raises(StoreFailed) as caught:
            engine.execute_all([asked] * 50)
        assert caught.value.code == "disk_full"
        assert contents_of(store) == before
        opened[0].execute("PRAGMA max_page_count = 100000")
        told = acks(engine.execute("example/a", Ask(title="room", of=CRANE), OTTER).recorded)
        require_acknowledged(check_ledger(store), told)


@pytest.mark.requirement("LDG-067")
def test_a_lock_held_elsewhere_is_store_busy_and_readers_go_on(path: Path) -> None:
    with children(("hold", path)) as (holder,):
        holder.hear_until("ready")
        with closing(SqliteStore(path, busy_seconds=0.05)) as store:
            before = contents_of(store)
            engine = join(store)
            with pytest.raises(StoreFailed) as caught:
                engine.execute("example/a", Ask(title="x", of=CRANE), OTTER)
            assert caught.value.code == "store_busy"
            assert caught.value.exit_code == 4
            assert contents_of(store) == before
            holder.say()
            assert holder.end() == 0
            engine.execute("example/a", Ask(title="x", of=CRANE), OTTER)
            assert contents_of(store)["counts"][1] == before["counts"][1] + 1


def test_a_writer_waits_for_the_lock_to_be_let_go(path: Path) -> None:
    with children(("hold", path), ("append", path, "example/a", 1)) as (holder, waiter):
        holder.hear_until("ready")
        waiter.hear_until("ready")
        waiter.say()
        holder.say()
        assert (holder.end(), waiter.end()) == (0, 0)
        assert len(waiter.acks()) == 1


class Busy(sqlite3.Connection):
    """Told at once that the file is locked, as when another process makes the same new file."""

    left = 0

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        if "journal_mode" in sql and Busy.left:
            Busy.left -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(sql, *rest)


def busy_file(uri: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_seconds, factory=Busy)


def test_opening_waits_while_another_makes_the_same_file(tmp_path: Path) -> None:
    Busy.left = 3
    SqliteStore(tmp_path / "ledger.db", create=True, connect=busy_file).close()
    assert Busy.left == 0
    with closing(SqliteStore(tmp_path / "ledger.db")) as store:
        assert check_ledger(store) == {}


def test_opening_does_not_wait_for_ever(path: Path) -> None:
    Busy.left = 1_000_000
    with pytest.raises(StoreFailed) as caught:
        SqliteStore(path, busy_seconds=0.05, connect=busy_file)
    assert caught.value.code == "store_busy"
    Busy.left = 0


def test_changes_differs_after_a_write_by_another_process(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        seen = {store.version()}
        with children(("append", path, "example/a", 3)) as (child,):
            child.hear_until("ready")
            child.say()
            for _ in range(3):
                child.hear_until("ack")
            seen.add(store.version())
        assert len(seen) == 2


def test_a_closed_store_is_a_clear_error(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreFailed):
        contents_of(store)
    with pytest.raises(StoreFailed):
        write_and_drop(store, lambda _: None, AssertionError())
    with pytest.raises(StoreFailed):
        store.version()


@pytest.mark.parametrize("name", SQL)
def test_no_query_numbers_its_places(name: str) -> None:
    """Some Pythons take `?1` for a name, and warn of values that come without names."""
    assert re.search(r"\?\d", SQL[name]) is None
