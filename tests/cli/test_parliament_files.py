"""The four files of a session: never lost, never overwritten, never believed against the record."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.engine.engine import Engine
from moot.engine.job import JobOutcome
from moot.store.files import replace_own_file
from tests.cli.project import MOOT, Project
from tests.cli.sitting import (
    FILES,
    FOLDER,
    NEW,
    REPS,
    STATEMENT,
    Sitting,
    check_sound,
    files_of,
    position,
)

requirement = pytest.mark.requirement


@requirement("PAR-003", "PAR-088", "PAR-094", "PAR-096", "PAR-097", "PAR-098")
def test_a_new_session_has_four_empty_files(sitting: Sitting) -> None:
    ledger, session = sitting.document("ledger.json"), sitting.document("session.json")
    assert list(ledger) == ["parliament_id", "problem_statement", "messages"]
    assert ledger["messages"] == sitting.document("round-summaries.json") == []
    assert (session["max_rounds"], session["vote_history"]) == (6, [])
    assert session["debate_clock"] == {
        "max_exchanges_per_round": 6,
        "response_budget": 6,
        "exchanges_this_round": 0,
    }
    first = session["representatives"][0]
    assert (first["is_quiet"], first["quiet_until_round"], first["voting_record"]) == (
        *(False, None),
        [],
    )
    assert [row["round"] for row in first["temperature_history"]] == [0]
    check_sound(sitting)


def test_a_changed_file_is_reported_and_never_overwritten(sitting: Sitting) -> None:
    sitting.statement("rep_1")
    bill = sitting.project.root / FOLDER / "bill.json"
    ours = bill.read_bytes()
    bill.write_text('{"mine": true}')
    assert [one["code"] for one in sitting.moot("status")["findings"]] == ["file_changed"]
    refused = sitting.refused("submit", sitting.file("{}"), MOOT_AGENT="")
    assert refused in ("files_changed", "missing_field")
    ruling = {
        "type": "SPEAKER_RULING",
        "from": "speaker",
        "content": {
            "ruling_type": "procedure",
            "ruling": "rep_2 is next.",
            "target": "rep_2",
            "action": "next_speaker",
        },
    }
    before = sitting.moot("status")
    assert sitting.refused("submit", sitting.file(ruling)) == "files_changed"
    assert bill.read_text() == '{"mine": true}'
    assert sitting.moot("status") == before
    assert sitting.moot("export")["put_aside"] == ["bill.json.changed-1"]
    assert bill.read_bytes() == ours
    assert (bill.parent / "bill.json.changed-1").read_text() == '{"mine": true}'
    sitting.submit(ruling)
    check_sound(sitting)


def test_a_forged_file_is_not_sound_where_the_record_is_known(
    sitting: Sitting, people: dict[str, str], tmp_path: Path
) -> None:
    """C-33: its form is in order, its numbers agree, and nobody ever said it."""
    sitting.to_debate()
    older = sitting.project.root / "older"
    shutil.copytree(sitting.project.root / FOLDER, older)
    sitting.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(sender, to)
    sitting.call_vote()
    sitting.votes("YES", "YES", "NO")
    sitting.moot("decide", "approve", "--reason", "Good.", **people)
    sitting.moot("final")
    ledger = sitting.project.root / FOLDER / "ledger.json"
    true = ledger.read_bytes()
    ledger.write_bytes(true.replace(b"It does what we need.", b"").replace(b"Good.", b"Bad!!"))
    done = sitting.project.json("parliament", "check", FOLDER)
    assert (done.code, done.data["valid"]) == (1, False)
    assert [one["rule"] for one in done.data["findings"]] == ["C-33"]
    # No page cites a file that is not ours.
    page = tmp_path / "page.html"
    assert sitting.refused("final", "-o", str(page)) == "files_changed"
    assert not page.exists()
    ledger.write_bytes(true)
    check_sound(sitting)
    # An earlier state is no forgery; one message too many is.
    assert sitting.project.ok("parliament", "check", "older")["valid"]
    copy = json.loads((older / "ledger.json").read_text("utf-8"))
    copy["messages"] += json.loads(true)["messages"] + copy["messages"][:1]
    (older / "ledger.json").write_text(json.dumps(copy))
    found = sitting.project.json("parliament", "check", "older").data["findings"]
    assert {one["code"] for one in found} >= {"not_recorded"}


@pytest.mark.parametrize("name", FILES[1:])
def test_a_lost_file_is_written_again(sitting: Sitting, name: str) -> None:
    sitting.statement("rep_1")
    file = sitting.project.root / FOLDER / name
    if name == "session.json":  # without it the ledger says which session it is
        file.unlink()
        sitting.statement("rep_2")
    else:
        file.unlink()
        sitting.statement("rep_2")
    check_sound(sitting)


@requirement("PAR-085")
def test_a_crash_before_the_files_were_written_is_made_good(sitting: Sitting) -> None:
    """Older files of ours are no foreign ones: the next command brings them up to date."""
    sitting.statement("rep_1")
    older = files_of(sitting)
    sitting.statement("rep_2")
    newest = files_of(sitting)
    for count in range(len(FILES)):
        for place, name in enumerate(FILES):
            data = newest[name] if place < count else older[name]
            (sitting.project.root / FOLDER / name).write_bytes(data)
        assert sitting.moot("export")["put_aside"] == []
        assert files_of(sitting) == newest


@pytest.mark.parametrize("broken", [("session.json",), FILES])
def test_files_that_cannot_be_read_are_put_aside_and_written_again(
    sitting: Sitting, broken: tuple[str, ...]
) -> None:
    sitting.statement("rep_1")
    ours = files_of(sitting)
    for name in broken:
        (sitting.project.root / FOLDER / name).write_bytes(b"\xff not json")
    assert sitting.moot("export")["put_aside"] == [f"{name}.changed-1" for name in broken]
    assert files_of(sitting) == ours


def test_a_session_can_be_written_into_another_folder(sitting: Sitting) -> None:
    sitting.statement("rep_1")
    name = sitting.moot("status")["parliament_id"]
    sitting.project.ok("parliament", "export", "deep/copy", "--id", name)
    for file, data in files_of(sitting).items():
        assert (sitting.project.root / "deep" / "copy" / file).read_bytes() == data
    refused = sitting.project.refused("parliament", "export", "x", "--id", "parl-20200101-001")
    assert refused == ("session_not_found", 1)
    assert sitting.refused("export", "--id", "../../x") == "bad_id"
    sitting.statement("rep_2")
    behind = sitting.project.ok("parliament", "status", "deep/copy")
    assert (behind["findings"], behind["status"]) == ([], "opening_statements")


def exported(sitting: Sitting) -> dict[str, bytes]:
    """The files as the record has them, written into a folder of their own."""
    name = sitting.moot("status")["parliament_id"]
    sitting.project.ok("parliament", "export", "whole", "--id", name)
    return {file: (sitting.project.root / "whole" / file).read_bytes() for file in FILES}


@pytest.mark.parametrize("fails_at", range(5))
def test_a_disk_that_fails_costs_nothing_but_time(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The record is safe, no file is half written, and the next command makes it good."""
    before, count = files_of(sitting), iter(range(100))

    def failing(path: Path, data: bytes, mode: int = 0o644) -> None:
        if next(count) == fails_at:
            raise OSError(28, "No space left on device")
        replace_own_file(path, data, mode)

    with monkeypatch.context() as patch:
        patch.setattr("moot.flows.parliament.parliament_files.replace_own_file", failing)
        words = ("parliament", "submit", FOLDER, sitting.file(STATEMENT))
        done = sitting.project.json(*words)
        written = next(count) - 1
    if done.code:
        assert (done.error["code"], done.code) == ("files_behind", 4)
        assert "record is safe" in done.error["message"]
    else:
        assert written < fails_at  # not every file changes with a statement
    after, whole = files_of(sitting), exported(sitting)
    assert all(after[name] in (before[name], whole[name]) for name in FILES)
    assert sitting.moot("status")["findings"] == []
    sitting.statement("rep_2")
    assert [one["from"] for one in sitting.document("ledger.json")["messages"]] == [
        *("rep_1", "rep_2")
    ]
    check_sound(sitting)


def test_a_file_changed_in_the_very_moment_is_not_overwritten(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    bill = sitting.project.root / FOLDER / "bill.json"
    execute = Engine.execute

    def disturbed(self: Engine, *given: Any, **more: Any) -> JobOutcome:
        outcome = execute(self, *given, **more)
        bill.write_text('{"mine": true}')
        return outcome

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "execute", disturbed)
        assert sitting.refused("submit", sitting.file(STATEMENT)) == "files_behind"
    assert bill.read_text() == '{"mine": true}'
    sitting.moot("export")
    assert len(sitting.document("ledger.json")["messages"]) == 1
    check_sound(sitting)


def test_check_needs_no_workspace(sitting: Sitting, tmp_path: Path) -> None:
    sitting.to_debate()
    other = Project(tmp_path / "elsewhere", tmp_path / "no-keys")
    shutil.copytree(sitting.project.root / FOLDER, other.root / FOLDER)
    assert other.ok("parliament", "check", FOLDER) == {"valid": True, "findings": []}
    ledger = other.root / FOLDER / "ledger.json"
    changed = json.loads(ledger.read_text())
    changed["messages"][0]["round"] = 7
    ledger.write_text(json.dumps(changed))
    done = other.json("parliament", "check", FOLDER, "--since", str(sitting.project.root / FOLDER))
    assert (done.code, done.data["valid"]) == (1, False)
    assert {one["rule"] for one in done.data["findings"]} >= {"PAR-012", "PAR-019"}
    assert not (tmp_path / "no-keys").exists()
    words = ("parliament", "check", FOLDER, "--since")
    assert other.refused(*words, "nowhere") == ("no_session", 4)
    ledger.write_text("{")
    gone = other.json(*words, str(sitting.project.root / FOLDER))
    assert {one["code"] for one in gone.data["findings"]} >= {"not_json", "not_append_only"}


def test_the_final_document_of_someone_else_is_put_aside(
    sitting: Sitting, people: dict[str, str]
) -> None:
    sitting.to_debate()
    sitting.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(sender, to)
    sitting.call_vote()
    sitting.votes("YES", "YES", "YES")
    sitting.moot("decide", "approve", "--reason", "Good.", **people)
    file = sitting.project.root / FOLDER / "final-bill.md"
    file.write_text("mine")
    assert sitting.moot("final")["put_aside"] == ["final-bill.md.changed-1"]
    ours = file.read_bytes()
    assert sitting.moot("final")["put_aside"] == []
    assert file.read_bytes() == ours
    assert (file.parent / "final-bill.md.changed-1").read_text() == "mine"


def test_many_processes_bring_messages_at_once(sitting: Sitting) -> None:
    """Real processes, one lock: every message is in the files, and the files are sound."""
    sitting.statement("rep_1")
    first = (sitting.project.root / "message-1.json").read_text()
    running = []
    for seat in ("rep_2", "rep_3"):
        file = sitting.file(first.replace("rep_1", seat))
        words = [*MOOT, "--json", "parliament", "submit", FOLDER, file]
        running.append(
            subprocess.Popen(
                words,
                cwd=sitting.project.root,
                env=sitting.project.env,
                stdout=subprocess.PIPE,
            )
        )
    told = [json.loads(one.communicate(timeout=120)[0]) for one in running]
    assert [one.returncode for one in running] == [0, 0]
    heard = [[message["from"] for message in one["data"]["messages"]] for one in told]
    assert heard == [["rep_2"], ["rep_3"]]  # each is told of its own message only
    said = sitting.document("ledger.json")["messages"]
    assert sorted(one["from"] for one in said) == ["rep_1", "rep_2", "rep_3"]
    assert sitting.moot("status")["status"] == "evaluating_statements"
    assert sitting.document("session.json")["status"] == "evaluating_statements"
    check_sound(sitting)


def test_a_session_leaves_nothing_for_the_doctor(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.amend("rep_3", "amend-001", "Every part carries its digest.")
    sitting.exchange("rep_3", "rep_1", 4, amendment_position=position("amend-001", "endorse"))
    sitting.end()
    said = sitting.project.ok("ledger", "doctor")["findings"]
    assert [one for one in said if one["severity"] != "info"] == []
    assert sitting.project.ok("ledger", "rebuild")["findings"] == []


def test_a_folder_without_a_session_is_said(bare: Project) -> None:
    bare.ok("init")
    assert bare.refused("parliament", "status", "nowhere") == ("no_session", 4)
    assert bare.refused("parliament", "check", "nowhere") == ("no_session", 4)


def test_a_folder_in_use_is_not_taken(sitting: Sitting) -> None:
    before = files_of(sitting)
    words = (*NEW, *(word for rep in REPS for word in ("--rep", rep)))
    assert sitting.project.refused(*words) == ("folder_taken", 1)
    assert files_of(sitting) == before
