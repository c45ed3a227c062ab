"""`moot ledger log|checkpoint|export|backup|rebuild` and `moot trust`."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from moot.api.session import Session
from moot.api.workspace import ledger
from moot.core.checkpoint_note import read_note
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask, Finish
from moot.store.sqlite import SqliteStore
from tests.cli.damage import edit, of
from tests.project import LIST, Project


@pytest.fixture
def busy(project: Project) -> Project:
    errands = [Ask(title=f"errand {number}", of="teal-crane") for number in range(5)]
    project.execute("amber-otter", *errands)
    project.execute("teal-crane", Finish(id="e1"))
    return project


# log


def test_log_lists_what_there_is(busy: Project) -> None:
    data = busy.ok("ledger", "log")
    assert [(item["id"], item["events"]) for item in data["streams"]] == [
        ("registry", 3),
        (LIST, 6),
    ]
    assert all(item["last_at"].endswith("Z") for item in data["streams"])


def test_log_shows_events_newest_last(busy: Project) -> None:
    data = busy.ok("ledger", "log", LIST)
    assert [event["seq"] for event in data["events"]] == list(range(6))
    last = data["events"][-1]
    assert (last["type"], last["actor"]) == ("example.errand_done", "teal-crane")
    assert last["data"] == {"id": "e1"}
    lines = busy.run("ledger", "log", LIST).out.splitlines()
    assert "errand_done" in lines[-1]


def test_log_can_be_limited_and_says_what_it_left_out(busy: Project) -> None:
    data = busy.ok("ledger", "log", LIST, "--limit", "2")
    assert [event["seq"] for event in data["events"]] == [4, 5]
    assert data["total"] == 6
    assert "4 earlier" in busy.run("ledger", "log", LIST, "--limit", "2").out
    assert len(busy.ok("ledger", "log", LIST, "--limit", "0")["events"]) == 6
    assert len(busy.ok("ledger", "log", "--limit", "1")["streams"]) == 1


def test_log_can_be_filtered_by_type(busy: Project) -> None:
    words = ("ledger", "log", LIST, "--type", "example.errand_asked")
    assert [event["seq"] for event in busy.ok(*words)["events"]] == list(range(5))
    assert [event["seq"] for event in busy.ok(*words, "--limit", "2")["events"]] == [3, 4]
    none = busy.run("ledger", "log", LIST, "--type", "example.nothing")
    assert none.out.strip() == "no such events"


def test_log_shows_a_damaged_event_as_such(busy: Project) -> None:
    edit(busy.ledger, f"UPDATE events SET body = x'00ff' WHERE seq = 5 AND {of(LIST)}")
    *_, last = busy.ok("ledger", "log", LIST)["events"]
    assert "unreadable" in last["unreadable"]
    assert "unreadable" in busy.run("ledger", "log", LIST).out


# checkpoint and trust


def test_a_checkpoint_can_be_kept_elsewhere(busy: Project) -> None:
    data = busy.ok("ledger", "checkpoint", "-o", "note.txt")
    note = (busy.root / "note.txt").read_text()
    assert note == data["note"]
    assert data["made"] is False
    public = bytes.fromhex(busy.ok("trust", "show")["checkpoint"])
    assert read_note(note, public).events == data["events"] == 9


def test_an_outsider_reads_the_fingerprint_of_a_trust_file(busy: Project, tmp_path: Path) -> None:
    busy.ok("trust", "export", "-o", "trust.json")
    outsider = Project(tmp_path / "elsewhere", tmp_path / "no-keys")
    outsider.root.mkdir()
    shown = outsider.ok("trust", "show", str(busy.root / "trust.json"))
    assert shown == busy.ok("trust", "show")
    assert outsider.refused("trust", "show", "gone.json") == ("no_trust", 4)


def test_trust_show_and_export_agree(busy: Project) -> None:
    shown = busy.ok("trust", "show")
    assert [len(group) for group in shown["fingerprint"].split()] == [5, 5, 5, 5]
    busy.ok("trust", "export", "-o", "trust.json")
    file = json.loads((busy.root / "trust.json").read_text())
    assert (file["root"], file["checkpoint"]) == (shown["root"], shown["checkpoint"])
    assert file["minimum"] is None
    number = busy.ok("ledger", "checkpoint")["number"]
    assert busy.ok("trust", "export", "-o", "trust.json", "--minimum")["minimum"] == number
    assert json.loads((busy.root / "trust.json").read_text())["minimum"] == number


# export


def test_an_export_makes_a_checkpoint_first(busy: Project, tmp_path: Path) -> None:
    own = Project(busy.root, tmp_path / "own")
    busy.ok("agent", "register", "coral-finch", "--keys", str(own.keys))
    own.execute("coral-finch", Ask(title="mine", of="teal-crane"))
    data = busy.ok("ledger", "export", "-o", "record.moot")
    assert data["complete"] is True
    raw = (busy.root / "record.moot").read_bytes()
    assert (data["sha256"], data["bytes"]) == (hashlib.sha256(raw).hexdigest(), len(raw))
    assert busy.ok("verify", "record.moot")["verdict"] == "valid"


def test_an_export_without_the_checkpoint_key_says_what_is_missing(
    busy: Project, tmp_path: Path
) -> None:
    own = Project(busy.root, tmp_path / "own")
    busy.ok("agent", "register", "coral-finch", "--keys", str(own.keys))
    own.execute("coral-finch", Ask(title="mine", of="teal-crane"))
    assert own.ok("ledger", "export", "-o", "record.moot")["complete"] is False
    assert "not proven complete" in own.run("ledger", "export", "-o", "record.moot").out
    assert own.json("verify", "record.moot").code == 3


def test_parts_can_be_exported(busy: Project) -> None:
    busy.execute("amber-otter", Ask(title="x", of="teal-crane"), stream="example/other")
    busy.ok("ledger", "export", "-o", "part.moot", "example/other")
    data = busy.ok("verify", "part.moot")
    assert (data["verdict"], data["streams"], data["events"]) == ("valid", 2, 4)


def test_an_export_that_fails_leaves_what_was_there(
    busy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy.ok("ledger", "export", "-o", "record.moot")
    before = (busy.root / "record.moot").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("moot.store.files.os.fsync", full)
    busy.execute("amber-otter", Ask(title="more", of="teal-crane"))
    refused = busy.refused("ledger", "export", "-o", "record.moot")
    assert refused == ("unwritable_file", 4)
    assert (busy.root / "record.moot").read_bytes() == before
    assert [path.name for path in busy.root.iterdir() if "record" in path.name] == ["record.moot"]


# backup


def test_a_backup_is_a_whole_ledger(busy: Project) -> None:
    data = busy.ok("ledger", "backup", "copy.db")
    assert data["events"] == 9
    store = SqliteStore(busy.root / "copy.db")
    with store.read() as view:
        assert view.count_streams_and_events() == (2, 9)
    store.close()
    assert [path.name for path in busy.root.iterdir() if "copy" in path.name] == ["copy.db"]


def test_a_backup_overwrites_nothing(busy: Project) -> None:
    (busy.root / "copy.db").write_text("mine")
    assert busy.refused("ledger", "backup", "copy.db") == ("file_exists", 1)
    assert (busy.root / "copy.db").read_text() == "mine"


def test_a_copy_that_is_not_like_the_ledger_is_not_kept(
    busy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = SqliteStore.backup

    def bad_disk(store: SqliteStore, target: Path) -> None:
        copy(store, target)
        edit(target, f"DELETE FROM events WHERE seq = 5 AND {of(LIST)}")

    monkeypatch.setattr(SqliteStore, "backup", bad_disk)
    assert busy.refused("ledger", "backup", "copy.db") == ("backup_failed", 4)
    assert not list(busy.root.glob("*copy*"))


def test_a_backup_into_nowhere_is_said(busy: Project) -> None:
    refused = busy.refused("ledger", "backup", "no/such/copy.db")
    assert refused == ("store_unreachable", 4)


# rebuild


def test_rebuild_leaves_a_sound_ledger_alone(busy: Project) -> None:
    data = busy.ok("ledger", "rebuild")
    assert (data["changed"], data["events"], data["findings"]) == (False, 9, [])


def test_rebuild_fixes_what_was_lost(busy: Project) -> None:
    edit(busy.ledger, "DELETE FROM index_rows")
    assert busy.ok("agenda")["due"] == []
    data = busy.ok("ledger", "rebuild")
    assert data["changed"] is True
    assert {finding["code"] for finding in data["findings"]} == {"row_missing"}
    assert len(busy.ok("agenda")["due"]) == 4
    assert "nothing to fix" in busy.run("ledger", "rebuild").out


def test_rebuild_stops_at_damage(busy: Project) -> None:
    edit(busy.ledger, f"DELETE FROM events WHERE seq = 1 AND {of(LIST)}")
    assert busy.refused("ledger", "rebuild") == ("tampered", 1)


def test_a_busy_ledger_is_waited_for_and_then_said(
    busy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore.__init__, "__kwdefaults__", _without_patience())
    other = sqlite3.connect(busy.ledger, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert busy.refused("agent", "register", "coral-finch") == ("store_busy", 4)
    assert busy.ok("status")["record"]["events"] == 9
    other.execute("ROLLBACK")
    other.close()


def _without_patience() -> dict[str, object]:
    return {**(SqliteStore.__init__.__kwdefaults__ or {}), "busy_seconds": 0.0}


def test_a_decision_is_found_by_the_id_that_reports_take(project: Project) -> None:
    project.ok("ask", "Ship it?", "--with", "amber-otter=rules:approve,teal-crane=rules:approve")
    with Session(project.root, keys=KeyFolder(project.keys), env=project.env) as session:
        short, full = ledger.log(session, "q-1"), ledger.log(session, "decision/q-1")
    assert short == full
    assert project.refused("log", "q-2") == ("not_found", 1)
