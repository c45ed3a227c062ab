"""Damage is named as what it is: an empty file, a missing table, a snapshot that was forged."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing

import pytest

from moot.engine.replay import SNAPSHOT_EVERY
from moot.store.sqlite.errors import INDEX_TABLES
from tests.cli.damage import edit
from tests.project import MOOT, Project


def empty(project: Project) -> bytes:
    file = project.root / ".moot" / "ledger.db"
    for beside in file.parent.glob("ledger.db-*"):
        beside.unlink()
    file.write_bytes(b"")
    return file.read_bytes()


@pytest.mark.parametrize("command", ["verify", "status", "doctor"])
def test_a_ledger_of_no_bytes_is_called_empty_and_left_alone(
    project: Project, command: str
) -> None:
    before = empty(project)
    done = project.run("--json", command)
    assert done.code != 0
    assert "is empty" in done.out
    assert "older moot" not in done.out
    assert (project.root / ".moot" / "ledger.db").read_bytes() == before


@pytest.mark.parametrize("table", ["index_rows", "index_words", "nodes", "snapshots"])
def test_verify_names_an_index_table_that_is_gone(project: Project, table: str) -> None:
    edit(project.ledger, f"DROP TABLE {table}")
    data = project.json("verify").data
    (found,) = [row for row in data["findings"] if row["code"] == "index_damaged"]
    assert (table in found["message"], found["severity"]) == (True, "warning")
    assert "the events are not affected" in found["message"]
    assert data["integrity"] == "intact"


def test_a_command_that_needs_the_table_says_the_same(project: Project) -> None:
    edit(project.ledger, "DROP TABLE index_rows")
    error = project.json("status").error
    assert error["code"] == "index_damaged"
    assert "moot ledger rebuild" in error["hint"]
    edit(project.ledger, "DROP TABLE streams")
    assert project.json("status").error["code"] == "store_damaged"


@pytest.mark.parametrize("table", INDEX_TABLES)
def test_a_rebuild_makes_an_index_table_again_that_is_gone(project: Project, table: str) -> None:
    project.ok("--as", "amber-otter", "reserve", "src/a.py")
    log = project.ok("ledger", "log", "presence")["events"]
    edit(project.ledger, f"DROP TABLE {table}")
    said = json.dumps(project.json("verify").envelope)
    assert ("index_damaged" in said, "moot ledger rebuild" in said) == (True, True)
    done = project.ok("ledger", "rebuild")
    assert done["changed"]
    assert table in [one["where"] for one in done["findings"] if one["code"] == "table_missing"]
    data = project.ok("verify")
    assert [one for one in data["findings"] if one["code"] == "index_damaged"] == []
    assert data["verdict"] == "valid"
    assert project.ok("ledger", "log", "presence")["events"] == log
    assert owners(project) == [("src/a.py", "amber-otter")]
    assert project.refused("--as", "teal-crane", "reserve", "src/a.py")[0] == "reservation_conflict"
    assert not project.ok("ledger", "rebuild")["changed"]


@pytest.mark.parametrize("table", ["index_rows", "places", "unfiled"])
def test_a_rebuild_leaves_the_file_alone_if_an_event_is_gone_too(
    project: Project, table: str
) -> None:
    edit(project.ledger, f"DROP TABLE {table}", "DELETE FROM events WHERE id = 2")
    done = project.json("ledger", "rebuild")
    assert done.code != 0
    assert done.error["hint"]
    with closing(sqlite3.connect(project.ledger)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert table not in tables


def owners(project: Project) -> list[tuple[str, str]]:
    rows = project.ok("--as", "teal-crane", "status")["reservations"]
    return [(row["scope"], row["owner"]) for row in rows]


@pytest.mark.parametrize("forge", ["state = x'00'", "state = randomblob(length(state))", "OLDER"])
def test_a_forged_snapshot_is_not_believed(project: Project, forge: str) -> None:
    """Write access to the file is not a key of the workspace: its snapshots are signed."""
    for _ in range(SNAPSHOT_EVERY // 2 + 2):
        project.ok("--as", "amber-otter", "reserve", "src/b.py")
        project.ok("--as", "amber-otter", "release", "src/b.py")
    project.ok("--as", "amber-otter", "reserve", "src/b.py")
    project.ok("ledger", "checkpoint")
    with closing(sqlite3.connect(project.ledger)) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(snapshots)")]
        (count,) = db.execute("SELECT count(*) FROM snapshots").fetchone()
    assert count, columns
    project.ok("--as", "amber-otter", "release", "src/b.py")
    project.ok("--as", "amber-otter", "reserve", "src/a.py")
    before = owners(project)
    change = "seq = seq + 3" if forge == "OLDER" else forge  # an old state for a later place
    edit(project.ledger, f"UPDATE snapshots SET {change}")
    assert owners(project) == before == [("src/a.py", "amber-otter")]
    taken = project.refused("--as", "teal-crane", "reserve", "src/a.py")
    assert taken[0] == "reservation_conflict"


def test_a_log_that_is_removed_under_a_running_process_loses_nothing_acknowledged(
    project: Project,
) -> None:
    """The process that has the file open goes on, or says that it cannot; what it acknowledged
    before is there or is named as lost: never silently gone."""
    project.ok("--as", "amber-otter", "reserve", "src/a.py")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from moot.store.sqlite import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "print('open', flush=True)\n"
        "sys.stdin.readline()\n"
        "with store.read() as view:\n"
        "    print(view.count_streams_and_events()[1], flush=True)\n"
        "store.close()\n"
    )
    child = subprocess.Popen(
        [MOOT[0], "-c", code, str(project.ledger)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "open\n"
    project.ok("--as", "teal-crane", "reserve", "src/b.py")
    for log in project.ledger.parent.glob("ledger.db-wal"):
        os.unlink(log)
    child.stdin.write("\n")
    out, _ = child.communicate(timeout=60)
    seen = project.json("verify")
    verdict = seen.data["verdict"] if seen.envelope["ok"] else seen.error["code"]
    held = json.dumps(project.json("--as", "amber-otter", "status").envelope)
    assert "src/b.py" in held or verdict not in ("valid", "unproven"), (verdict, out)
