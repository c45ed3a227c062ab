"""The journal of calls: when each call of a coding tool began and ended, and what it announced.

It is in the local file memory (`.moot/files.db`), not in the ledger, and may be lost: then Moot can
explain fewer changes. Every call is written down before the tool acts. A call whose end no hook
reports stays open, because it may still write, until its session ends or the processes that it left
have exited. The call's input about a file is written down too (`predicted`: git's ids of the bytes
that it leads to; `announced`: the edit itself), so that a change can be compared with it later
(`api/guard/who_changed.py`).

`looks` has one row for each file: the version that was last explained, and when it was on disk.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from moot.workspace.file_versions import FileVersions

MOST_CALLS: Final = 20_000
MOST_FILES_A_CALL: Final = 200
MOST_FOUND: Final = 500
# An announced edit is stored for comparison; of a longer one only the ids of its results.
LONGEST_ANNOUNCED: Final = 64 * 1024
LONGEST_TEXT: Final = 60
_SWEEP_EVERY: Final = 500
_OLD_NS: Final = 24 * 3600 * 10**9

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS calls (
  number INTEGER PRIMARY KEY, session TEXT NOT NULL, agent TEXT NOT NULL, sub_agent TEXT NOT NULL,
  call_id TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL, worktree TEXT NOT NULL,
  folder TEXT NOT NULL, text TEXT NOT NULL, tells_end INTEGER NOT NULL, began_ns INTEGER NOT NULL,
  ended_ns INTEGER, told_ns INTEGER, last_process INTEGER NOT NULL, processes BLOB NOT NULL,
  state BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS calls_open ON calls (session, call_id) WHERE ended_ns IS NULL;
CREATE INDEX IF NOT EXISTS calls_ended ON calls (ended_ns) WHERE ended_ns IS NOT NULL;
CREATE TABLE IF NOT EXISTS call_files (
  call INTEGER NOT NULL, worktree TEXT NOT NULL, path TEXT NOT NULL, before TEXT,
  predicted TEXT NOT NULL, announced BLOB NOT NULL, after TEXT,
  PRIMARY KEY (call, worktree, path)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS call_sessions (
  session TEXT NOT NULL, agent TEXT NOT NULL, heard_ns INTEGER NOT NULL,
  PRIMARY KEY (session, agent)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS looks (
  worktree TEXT NOT NULL, path TEXT NOT NULL, blob TEXT NOT NULL, at_ns INTEGER NOT NULL,
  PRIMARY KEY (worktree, path)) STRICT, WITHOUT ROWID;
"""
_COLUMNS: Final = (
    "number, session, agent, sub_agent, call_id, tool, kind, worktree, folder, text, tells_end,"
    " began_ns, ended_ns, last_process, processes, state"
)


REMOVED: Final = "-"


class CallKind(StrEnum):
    """An edit names the files that it writes; a command may write any file; reading writes none."""

    EDIT = "edit"
    COMMAND = "command"
    READING = "reading"


class ProcessMark(NamedTuple):
    """A process that a command left running: its id and start time."""

    number: int
    started: str


class CallFile(NamedTuple):
    """A file that an edit names. `before` and `after` are git's ids of its content (empty: no file;
    None: unknown). `predicted` are the ids of what the call's input makes of `before`, or REMOVED;
    `announced` is that input itself, encoded. Both are empty if unknown."""

    worktree: str
    path: str
    before: str | None = None
    predicted: tuple[str, ...] = ()
    announced: bytes = b""
    after: str | None = None

    def leads_to(self, blob: str) -> bool:
        """Return whether the call's input turns the content before into these bytes."""
        return (blob or REMOVED) in self.predicted


class Call(NamedTuple):
    """A call in the journal. `number` counts all calls; 0: not written yet.

    `agent` is empty if only the session is known. `ended_ns` is None while it may still write.
    `state` is the worktree's state when a command began, encoded; `last_process` the highest
    process id at that time.
    """

    session: str
    agent: str
    sub_agent: str
    call_id: str
    tool: str
    kind: CallKind
    worktree: str
    folder: str = ""
    text: str = ""
    tells_end: bool = True
    began_ns: int = 0
    ended_ns: int | None = None
    last_process: int = 0
    processes: tuple[ProcessMark, ...] = ()
    state: bytes = b""
    files: tuple[CallFile, ...] = ()
    number: int = 0


class Look(NamedTuple):
    """The version of a file that was last explained, and when it was seen there."""

    blob: str
    at_ns: int


class CallJournal:
    """The journal in an open memory of files."""

    def __init__(self, memory: FileVersions) -> None:
        self._memory = memory

    def begin(self, call: Call) -> int:
        """Write a call down before it acts; return its number.

        Ends an open call of the same id: the tool has asked for it again.
        """
        now = time.time_ns()
        row = (
            *(call.session, call.agent, call.sub_agent, call.call_id, call.tool, str(call.kind)),
            *(call.worktree, call.folder, call.text[:LONGEST_TEXT], call.tells_end, now),
            *(call.last_process, call.state),
        )
        files, is_made_up = call.files[:MOST_FILES_A_CALL], call.call_id.startswith(MADE_UP)
        with self._memory.transaction() as db:
            if call.call_id:
                db.execute(
                    "UPDATE calls SET ended_ns = ? WHERE ended_ns IS NULL AND session = ?"
                    " AND call_id = ? AND kind = ? AND processes = x'' AND NOT ?",
                    (now, call.session, call.call_id, str(call.kind), is_made_up),
                )
            number = db.execute(
                "INSERT INTO calls (session, agent, sub_agent, call_id, tool, kind, worktree,"
                " folder, text, tells_end, began_ns, last_process, state, processes)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')",
                row,
            ).lastrowid
            assert number is not None
            db.executemany(
                "INSERT OR REPLACE INTO call_files VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(number, *_file_row(file)) for file in files],
            )
            _hear(db, call.session, call.agent, now)
            if number % _SWEEP_EVERY == 0:
                _sweep(db, number, now)
        return number

    def find_begun(self, session: str, call_id: str, tool: str) -> Call | None:
        """Return the oldest open call of this id; for a tool without ids, of this tool."""
        where = "ended_ns IS NULL AND told_ns IS NULL AND session = ? AND tool = ?"
        order = "ORDER BY call_id <> ?, number LIMIT 1"
        is_exact = "" if not call_id or call_id.startswith(MADE_UP) else " AND call_id = ?"
        values = [session, tool, *([call_id] if is_exact else []), call_id]
        return next(iter(self._select(f"{where}{is_exact} {order}", values)), None)

    def end(
        self,
        call: Call,
        after: Mapping[tuple[str, str], str | None] | None = None,
        processes: Sequence[ProcessMark] = (),
        at_ns: int = 0,
    ) -> None:
        """Note the end of a call, reported at `at_ns`, and its files' content by worktree and path.

        If it left processes running, it stays open, because they may still write. An edit that was
        read from the text of the same call, whose own end no hook reports, ends with it.
        """
        now = at_ns or time.time_ns()
        blob = msgspec.msgpack.encode(list(processes)) if processes else b""
        with self._memory.transaction() as db:
            db.execute(
                "UPDATE calls SET told_ns = ?, ended_ns = ?, processes = ?, state = x''"
                " WHERE number = ?",
                (now, None if processes else now, blob, call.number),
            )
            db.execute(
                "UPDATE calls SET ended_ns = ? WHERE ended_ns IS NULL AND session = ?"
                " AND call_id = ? AND number <> ? AND processes = x'' AND NOT ?",
                (now, call.session, call.call_id, call.number, call.call_id.startswith(MADE_UP)),
            )
            db.executemany(
                "UPDATE call_files SET after = ? WHERE call = ? AND worktree = ? AND path = ?",
                [(seen, call.number, *file) for file, seen in (after or {}).items()],
            )

    def end_by_files(
        self, call: Call, after: Mapping[tuple[str, str], str | None], *, is_over: bool
    ) -> None:
        """Decide, after all files of an edit changed whose end no hook reports, whether it ended.

        If they are as announced (`is_over`), it did; else it is not checked again and may still
        write.
        """
        if is_over:
            self.end(call, after)
            return
        with self._memory.transaction() as db:
            db.execute("UPDATE calls SET tells_end = 1 WHERE number = ?", (call.number,))

    def close(self, numbers: Iterable[int]) -> None:
        """End calls that can write no more: their session ended or their processes exited."""
        closed = [(time.time_ns(), number) for number in numbers]
        if closed:
            with self._memory.transaction() as db:
                db.executemany(
                    "UPDATE calls SET ended_ns = ? WHERE number = ? AND ended_ns IS NULL", closed
                )

    def end_session(self, session: str) -> None:
        """End the session's open calls, except those that left processes running."""
        with self._memory.transaction() as db:
            db.execute(
                "UPDATE calls SET ended_ns = ? WHERE ended_ns IS NULL AND session = ?"
                " AND processes = x''",
                (time.time_ns(), session),
            )

    def hear(self, session: str, agent: str) -> None:
        """Note that a hook of this session ran."""
        with self._memory.transaction() as db:
            _hear(db, session, agent, time.time_ns())

    def list_active_names(self) -> frozenset[str]:
        """Return names of agents and sessions whose hooks ran within a day."""
        rows = self._memory.query("SELECT session, agent FROM call_sessions", ())
        return frozenset(name for row in rows for name in row if name)

    def list_overlapping(self, since_ns: int, until_ns: int) -> list[Call]:
        """Return the calls that could write in this time, the newest first."""
        ended = "ended_ns >= ? AND began_ns <= ?"
        order = f"ORDER BY number DESC LIMIT {MOST_FOUND}"
        running = list(self._select(f"ended_ns IS NULL AND began_ns <= ? {order}", [until_ns]))
        return [*running, *self._select(f"{ended} {order}", [since_ns, until_ns])]

    def list_untold(self) -> list[Call]:
        """Return open edits whose end no hook will report."""
        return list(self._select("ended_ns IS NULL AND tells_end = 0 ORDER BY number LIMIT 50", []))

    def list_open_edits(self, worktree: str, path: str, since_ns: int) -> list[Call]:
        """Return the edits of a file that may not be written yet, oldest first."""
        inner = "SELECT call FROM call_files WHERE worktree = ? AND path = ?"
        where = f"ended_ns IS NULL AND kind = ? AND began_ns >= ? AND number IN ({inner})"
        values = [str(CallKind.EDIT), since_ns, worktree, path]
        return list(self._select(f"{where} ORDER BY number LIMIT 50", values))

    def find_look(self, worktree: str, path: str) -> Look | None:
        """Return the last explained version of one file."""
        sql = "SELECT blob, at_ns FROM looks WHERE worktree = ? AND path = ?"
        return next((Look(*row) for row in self._memory.query(sql, (worktree, path))), None)

    def find_looks(self, worktree: str) -> dict[str, Look]:
        """Return the last explained version of each file of a worktree."""
        sql = "SELECT path, blob, at_ns FROM looks WHERE worktree = ?"
        rows = self._memory.query(sql, (worktree,))
        return {path: Look(blob, at_ns) for path, blob, at_ns in rows}

    def note_looks(self, worktree: str, blobs: Mapping[str, str], at_ns: int) -> None:
        """Note that these versions are explained; an older look does not replace a newer one."""
        with self._memory.transaction() as db:
            db.executemany(
                "INSERT INTO looks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " blob = excluded.blob, at_ns = excluded.at_ns WHERE excluded.at_ns >= at_ns",
                [(worktree, path, blob, at_ns) for path, blob in blobs.items()],
            )

    def _select(self, where: str, values: Sequence[object]) -> Iterator[Call]:
        rows = self._memory.query(f"SELECT {_COLUMNS} FROM calls WHERE {where}", values)
        for (
            number,
            *named,
            kind,
            worktree,
            folder,
            text,
            tells_end,
            began,
            ended,
            last,
            seen,
            state,
        ) in rows:
            marks = msgspec.msgpack.decode(seen, type=list[ProcessMark]) if seen else ()
            session, agent, sub_agent, call_id, tool = named
            yield Call(
                session=session,
                agent=agent,
                sub_agent=sub_agent,
                call_id=call_id,
                tool=tool,
                kind=CallKind(kind),
                worktree=worktree,
                folder=folder,
                text=text,
                tells_end=bool(tells_end),
                began_ns=began,
                ended_ns=ended,
                last_process=last,
                processes=tuple(marks),
                state=state,
                files=tuple(self._files_of(number)) if kind != CallKind.READING else (),
                number=number,
            )

    def _files_of(self, number: int) -> Iterator[CallFile]:
        sql = (
            "SELECT worktree, path, before, predicted, announced, after FROM call_files"
            " WHERE call = ?"
        )
        for worktree, path, before, predicted, announced, after in self._memory.query(
            sql, (number,)
        ):
            yield CallFile(worktree, path, before, tuple(predicted.split()), announced, after)


# The prefix of call ids that Moot makes up for a tool that sends none.
MADE_UP: Final = "made-up:"


def _file_row(file: CallFile) -> tuple[object, ...]:
    announced = file.announced if len(file.announced) <= LONGEST_ANNOUNCED else b""
    predicted = " ".join(file.predicted)
    return file.worktree, file.path, file.before, predicted, announced, file.after


def _hear(db: Any, session: str, agent: str, now: int) -> None:
    db.execute(
        "INSERT INTO call_sessions VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET heard_ns = excluded.heard_ns",
        (session, agent, now),
    )


def _sweep(db: Any, newest: int, now: int) -> None:
    """Delete calls older than a day, and the oldest above the limit."""
    db.execute(
        "DELETE FROM calls WHERE number <= ? OR coalesce(ended_ns, began_ns) < ?",
        (newest - MOST_CALLS, now - _OLD_NS),
    )
    db.execute("DELETE FROM call_files WHERE call NOT IN (SELECT number FROM calls)")
    db.execute("DELETE FROM call_sessions WHERE heard_ns < ?", (now - _OLD_NS,))
    db.execute("DELETE FROM looks WHERE at_ns < ?", (now - 30 * _OLD_NS,))
