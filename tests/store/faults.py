"""A disk that can fail and lose power, under the production store.

Theory of operation. A VFS lies between SQLite and the real files: it passes everything on and
writes down each step (open, write, truncate, sync, delete). From that log the disk can be built as
it would be found after a power loss at any step: what was synced is there, and of the rest any
part may be (`Crash`). It can also make one step fail (`Fault`); as on real kernels, what was
waiting when a sync failed is not made durable by the next one. Steps follow SQLite's
rules for Unix: the first sync of a new journal or log also makes the folder's entries durable.

The library under test here is apsw's SQLite, not Python's; what the disk holds afterwards is
always read back through the ordinary store.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

TABLES = (
    "streams",
    "events",
    "forks",
    "snapshots",
    "index_rows",
    "index_words",
    "places",
    "unfiled",
    "filed",
    "notes",
    "nodes",
    "heartbeats",
    "cursors",
)
PAGES_LOGGED = 40
Dump = dict[str, list[tuple[Any, ...]]]


class Step(NamedTuple):
    """One thing asked of the disk."""

    kind: str
    file: str
    offset: int = 0
    data: bytes = b""
    failed: bool = False


class Fault(NamedTuple):
    """Step `at` goes wrong in this way: `io`, `full`, or `torn` (half is written, then `io`).

    With `kind` it is the next step of that kind, whatever its number.
    """

    at: int
    how: str = "io"
    kind: str = ""

    def meets(self, step: Step, number: int) -> bool:
        return step.kind == self.kind if self.kind else number == self.at


class Disk:
    """The log of one folder's files, and what was acknowledged when."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.steps: list[Step] = []
        self.acknowledged: list[tuple[int, Dump]] = []
        self.fault = fault
        self.hit = False
        self.name = f"moot-faults-{id(self)}"
        self._vfs = _Vfs(self)

    def fail_next(self, kind: str) -> None:
        """The next step of this kind goes wrong, once."""
        self.fault = Fault(-1, kind=kind)

    def connect(self, uri: str, busy_seconds: float) -> Any:
        """For `SqliteStore(connect=...)`."""
        return Connection(self, uri, busy_seconds)

    def close(self) -> None:
        self._vfs.unregister()

    def step(self, step: Step) -> None:
        """Write a step down; raise if it is the one to fail."""
        fault = self.fault
        if fault is None or not fault.meets(step, len(self.steps)):
            self.steps.append(step)
            return
        written = step.data if fault.how == "torn" else b""
        self.steps.append(step._replace(failed=True, data=written))
        self.fault, self.hit = None, True
        if fault.how == "full":
            raise apsw.FullError("the disk is full")
        error: Any = apsw.IOError("the disk failed")
        error.extendedresult = _EXTENDED.get(step.kind, apsw.SQLITE_IOERR)
        raise error

    def acknowledge(self, db: apsw.Connection) -> None:
        """A commit has returned: this is what must be found from here on."""
        steps, fault = self.steps, self.fault
        self.steps, self.fault = [], None  # looking at it is no step
        content = dump(db)
        self.steps, self.fault = steps, fault
        self.acknowledged.append((len(steps), content))

    def kinds(self, how: str) -> list[int]:
        """The steps that can fail in this way."""
        wanted = {"io": _EXTENDED, "full": ("write", "truncate"), "torn": ("write",)}[how]
        return [place for place, step in enumerate(self.steps) if step.kind in wanted]


_EXTENDED = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "delete": apsw.SQLITE_IOERR_DELETE,
}


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._chance = random.Random(1)
        super().__init__(disk.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None:
            return apsw.VFSFile("", name, flags)
        fresh = not os.path.exists(path)
        self._disk.step(Step("open", os.path.basename(path)))
        file = _File(self._disk, name, path, flags, fresh)
        if fresh:
            self._disk.steps.append(Step("create", os.path.basename(path)))
        return file

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        self._disk.step(Step("delete", os.path.basename(name)))
        super().xDelete(name, sync_folder)
        if sync_folder:
            self._disk.steps.append(Step("sync_folder", ""))

    def xRandomness(self, size: int) -> bytes:  # noqa: N802
        return self._chance.randbytes(size)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, path: str, flags: list[int], fresh: bool) -> None:
        self._disk = disk
        self._base = os.path.basename(path)
        journal = flags[0] & (apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL)
        self._syncs_folder = fresh and bool(journal)
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.step(Step("read", self._base, offset))
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        fault = self._disk.fault
        if fault is not None and fault.how == "torn" and fault.at == len(self._disk.steps):
            data = data[: len(data) // 2]
            super().xWrite(data, offset)
        self._disk.step(Step("write", self._base, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.step(Step("truncate", self._base, size))
        super().xTruncate(size)

    def xSync(self, _flags: int) -> None:  # noqa: N802
        """Only written down: what is durable here is for `Platter` to say."""
        self._disk.step(Step("sync", self._base))
        if self._syncs_folder:
            self._disk.steps.append(Step("sync_folder", ""))
            self._syncs_folder = False


# A connection of Python's shape over apsw ---------------------------------------------------------


# Those raised in this file carry no number of their own.
_RESULTS = {apsw.FullError: apsw.SQLITE_FULL, apsw.IOError: apsw.SQLITE_IOERR}


def _as_sqlite3(error: apsw.Error) -> sqlite3.Error:
    constraint = isinstance(error, apsw.ConstraintError)
    told = (sqlite3.IntegrityError if constraint else sqlite3.OperationalError)(str(error))
    told.sqlite_errorcode = getattr(error, "extendedresult", None) or _RESULTS[type(error)]
    return told


class _Rows:
    """A cursor as the store uses it."""

    def __init__(self, cursor: apsw.Cursor, rowcount: int) -> None:
        self._cursor = cursor
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._cursor)
        except apsw.Error as error:
            raise _as_sqlite3(error) from error

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchall(self) -> list[Any]:
        return list(self)

    def close(self) -> None:
        self._cursor.close(True)


class Connection:
    def __init__(self, disk: Disk, uri: str, busy_seconds: float) -> None:
        self._disk = disk
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        try:
            self._db = apsw.Connection(uri, flags, disk.name)
        except apsw.Error as error:
            raise _as_sqlite3(error) from error
        self._db.set_busy_timeout(round(busy_seconds * 1_000))
        self._logged = 0
        self._db.set_wal_hook(self._log_grew)

    def execute(self, sql: str, values: Iterable[Any] = ()) -> _Rows:
        try:
            cursor = self._db.cursor()
            cursor.execute(sql, tuple(values))
            rows = _Rows(cursor, self._db.changes())
        except apsw.Error as error:
            raise _as_sqlite3(error) from error
        if sql == "COMMIT":
            self._disk.acknowledge(self._db)
            self._tidy_up()
        return rows

    def _log_grew(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._logged = pages
        return apsw.SQLITE_OK

    def _tidy_up(self) -> None:
        """SQLite's automatic checkpoint, but often, so that a short run has some.

        Like SQLite itself it does not let a commit fail that has happened; apsw would.
        """
        if self._logged > PAGES_LOGGED:
            try:
                self._db.wal_checkpoint()
            except apsw.Error:
                return

    def executemany(self, sql: str, rows: Iterable[Any]) -> None:
        try:
            self._db.cursor().executemany(sql, rows)
        except apsw.Error as error:
            raise _as_sqlite3(error) from error

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    @property
    def total_changes(self) -> int:
        return self._db.total_changes()

    def close(self) -> None:
        try:
            self._db.close()
        except apsw.Error:
            return  # as Python's own: closing never fails


def dump(db: Any) -> Dump:
    """Everything in every table. Between a new file and its first commit there is nothing."""
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    return {
        table: [tuple(row) for row in db.execute(f"SELECT rowid, * FROM {table}")]
        if table not in _WITHOUT_ROWID
        else [tuple(row) for row in db.execute(f"SELECT * FROM {table}")]
        for table in TABLES
        if table in known
    }


_WITHOUT_ROWID = ("places", "index_rows", "nodes", "cursors")


# Power loss ---------------------------------------------------------------------------------------

Image = dict[str, bytes]
# Given a waiting step and its place among them: what of it survives.
Keep = Callable[[int, Step], Step | None]


class _Node:
    """A file's bytes: those on the platter, and writes on their way there."""

    def __init__(self) -> None:
        self.durable = bytearray()
        self.waiting: list[Step] = []

    def sync(self, failed: bool) -> None:
        for step in () if failed else self.waiting:
            _apply(self.durable, step)
        self.waiting = []

    def content(self, surviving: Iterable[Step]) -> bytes:
        content = bytearray(self.durable)
        for step in surviving:
            _apply(content, step)
        return bytes(content)


def _apply(content: bytearray, step: Step) -> None:
    if step.kind == "truncate":
        del content[step.offset :]
        content.extend(bytes(step.offset - len(content)))
        return
    end = step.offset + len(step.data)
    content.extend(bytes(max(0, end - len(content))))
    content[step.offset : end] = step.data


class Platter:
    """Replays a log up to any step and says what may be found after the power went."""

    def __init__(self) -> None:
        self._names: dict[str, _Node] = {}
        self._durable_names: dict[str, _Node] = {}

    def play(self, step: Step) -> None:
        match step.kind:
            case "create":
                self._names[step.file] = _Node()
            case "write":
                self._names[step.file].waiting.append(step)
            case "truncate" if not step.failed:
                self._names[step.file].waiting.append(step)
            case "sync":
                self._names[step.file].sync(step.failed)
            case "delete" if not step.failed:
                self._names.pop(step.file, None)
            case "sync_folder":
                self._durable_names = dict(self._names)

    def found(self, keep: Keep, folder: bool) -> Image:
        """The files, if of the waiting steps those that `keep` gives survive.

        `folder`: whether new and deleted names since the folder's last sync are known.
        """
        names = self._names if folder else self._durable_names
        counted = 0
        image: Image = {}
        for name, node in names.items():
            surviving: list[Step] = []
            for step in node.waiting:
                kept = keep(counted, step)
                counted += 1
                if kept is not None:
                    surviving.append(kept)
            image[name] = node.content(surviving)
        return image

    def waiting(self) -> int:
        return sum(len(node.waiting) for node in self._names.values())


def images_after_power_loss(platter: Platter, thorough: bool) -> Iterator[tuple[str, Image]]:
    """Some of what may be found now, from nothing kept to everything kept.

    `thorough` (worth it just before a sync, when most is waiting): every single loss, every
    single survivor, and a few random subsets.
    """
    waiting = platter.waiting()
    yield "nothing kept", platter.found(_keeping(set()), folder=False)
    yield "names kept", platter.found(_keeping(set()), folder=True)
    yield "all kept", platter.found(keep_all, folder=True)
    yield "last torn", platter.found(_tearing(waiting - 1), folder=True)
    if not thorough:
        return
    places = set(range(waiting))
    for place in range(waiting):
        yield f"lost {place}", platter.found(_keeping(places - {place}), folder=True)
        yield f"kept {place}", platter.found(_keeping({place}), folder=True)
    for seed in range(3):
        chance = random.Random(seed)
        some = {place for place in places if chance.random() < 0.5}
        yield f"random {seed}", platter.found(_keeping(some), folder=True)


def keep_all(_place: int, step: Step) -> Step:
    return step


def keep_none(_place: int, _step: Step) -> None:
    return None


def _keeping(places: set[int]) -> Keep:
    return lambda place, step: step if place in places else None


def _tearing(last: int) -> Keep:
    """Of the last write only its first sectors were on the platter."""

    def keep(place: int, step: Step) -> Step:
        half = len(step.data) // 2 // 512 * 512
        return step._replace(data=step.data[:half]) if place == last else step

    return keep


def put_image(folder: Path, image: Image) -> None:
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
