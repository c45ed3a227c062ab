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
from tests.cli.parliament_session import (
    FILES,
    FOLDER,
    NEW,
    REPS,
    STATEMENT,
    ParliamentSession,
    check_sound,
    files_of,
    position,
)
from tests.project import MOOT, Project

requirement = pytest.mark.requirement


@requirement("PAR-003", "PAR-088", "PAR-094", "PAR-096", "PAR-097", "PAR-098")
def test_a_new_session_has_four_empty_files(parliament: ParliamentSession) -> None:
    ledger, session = parliament.document("ledger.json"), parliament.document("session.json")
    assert list(ledger) == ["parliament_id", "problem_statement", "messages"]
    assert ledger["messages"] == parliament.document("round-summaries.json") == []
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
    check_sound(parliament)


def test_a_changed_file_is_reported_and_never_overwritten(parliament: ParliamentSession) -> None:
    parliament.statement("rep_1")
    bill = parliament.project.root / FOLDER / "bill.json"
    ours = bill.read_bytes()
    bill.write_text('{"mine": true}')
    assert [one["code"] for one in parliament.moot("status")["findings"]] == ["file_changed"]
    refused = parliament.refused("submit", parliament.file("{}"), MOOT_AGENT="")
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
    before = parliament.moot("status")
    assert parliament.refused("submit", parliament.file(ruling)) == "files_changed"
    assert bill.read_text() == '{"mine": true}'
    assert parliament.moot("status") == before
    assert parliament.moot("export")["put_aside"] == ["bill.json.changed-1"]
    assert bill.read_bytes() == ours
    assert (bill.parent / "bill.json.changed-1").read_text() == '{"mine": true}'
    parliament.submit(ruling)
    check_sound(parliament)


def test_a_forged_file_is_not_sound_where_the_record_is_known(
    parliament: ParliamentSession, people: dict[str, str], tmp_path: Path
) -> None:
    """C-33: its form is in order, its numbers agree, and nobody ever said it."""
    parliament.to_debate()
    older = parliament.project.root / "older"
    shutil.copytree(parliament.project.root / FOLDER, older)
    parliament.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(sender, to)
    parliament.call_vote()
    parliament.votes("YES", "YES", "NO")
    parliament.moot("decide", "approve", "--reason", "Good.", **people)
    parliament.moot("final")
    ledger = parliament.project.root / FOLDER / "ledger.json"
    true = ledger.read_bytes()
    ledger.write_bytes(true.replace(b"It does what we need.", b"").replace(b"Good.", b"Bad!!"))
    done = parliament.project.json("parliament", "check", FOLDER)
    assert (done.code, done.data["valid"]) == (1, False)
    assert [one["rule"] for one in done.data["findings"]] == ["C-33"]
    # No page cites a file that is not ours.
    page = tmp_path / "page.html"
    assert parliament.refused("final", "-o", str(page)) == "files_changed"
    assert not page.exists()
    ledger.write_bytes(true)
    check_sound(parliament)
    # An earlier state is no forgery; one message too many is.
    assert parliament.project.ok("parliament", "check", "older")["valid"]
    copy = json.loads((older / "ledger.json").read_text("utf-8"))
    copy["messages"] += json.loads(true)["messages"] + copy["messages"][:1]
    (older / "ledger.json").write_text(json.dumps(copy))
    found = parliament.project.json("parliament", "check", "older").data["findings"]
    assert {one["code"] for one in found} >= {"not_recorded"}


@pytest.mark.parametrize("name", FILES[1:])
def test_a_lost_file_is_written_again(parliament: ParliamentSession, name: str) -> None:
    parliament.statement("rep_1")
    file = parliament.project.root / FOLDER / name
    if name == "session.json":  # without it the ledger says which session it is
        file.unlink()
        parliament.statement("rep_2")
    else:
        file.unlink()
        parliament.statement("rep_2")
    check_sound(parliament)


@requirement("PAR-085")
def test_a_crash_before_the_files_were_written_is_made_good(parliament: ParliamentSession) -> None:
    """Older files of ours are no foreign ones: the next command brings them up to date."""
    parliament.statement("rep_1")
    older = files_of(parliament)
    parliament.statement("rep_2")
    newest = files_of(parliament)
    for count in range(len(FILES)):
        for place, name in enumerate(FILES):
            data = newest[name] if place < count else older[name]
            (parliament.project.root / FOLDER / name).write_bytes(data)
        assert parliament.moot("export")["put_aside"] == []
        assert files_of(parliament) == newest


@pytest.mark.parametrize("broken", [("session.json",), FILES])
def test_files_that_cannot_be_read_are_put_aside_and_written_again(
    parliament: ParliamentSession, broken: tuple[str, ...]
) -> None:
    parliament.statement("rep_1")
    ours = files_of(parliament)
    for name in broken:
        (parliament.project.root / FOLDER / name).write_bytes(b"\xff not json")
    assert parliament.moot("export")["put_aside"] == [f"{name}.changed-1" for name in broken]
    assert files_of(parliament) == ours


def test_a_session_can_be_written_into_another_folder(parliament: ParliamentSession) -> None:
    parliament.statement("rep_1")
    name = parliament.moot("status")["parliament_id"]
    parliament.project.ok("parliament", "export", "deep/copy", "--id", name)
    for file, data in files_of(parliament).items():
        assert (parliament.project.root / "deep" / "copy" / file).read_bytes() == data
    refused = parliament.project.refused("parliament", "export", "x", "--id", "parl-20200101-001")
    assert refused == ("session_not_found", 1)
    assert parliament.refused("export", "--id", "../../x") == "bad_id"
    parliament.statement("rep_2")
    behind = parliament.project.ok("parliament", "status", "deep/copy")
    assert (behind["findings"], behind["status"]) == ([], "opening_statements")


def exported(parliament: ParliamentSession) -> dict[str, bytes]:
    """The files as the record has them, written into a folder of their own."""
    name = parliament.moot("status")["parliament_id"]
    parliament.project.ok("parliament", "export", "whole", "--id", name)
    return {file: (parliament.project.root / "whole" / file).read_bytes() for file in FILES}


@pytest.mark.parametrize("fails_at", range(5))
def test_a_disk_that_fails_costs_nothing_but_time(
    parliament: ParliamentSession, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The record is safe, no file is half written, and the next command makes it good."""
    before, count = files_of(parliament), iter(range(100))

    def failing(path: Path, data: bytes, mode: int = 0o644) -> None:
        if next(count) == fails_at:
            raise OSError(28, "No space left on device")
        replace_own_file(path, data, mode)

    with monkeypatch.context() as patch:
        patch.setattr("moot.api.parliaments.session_files.replace_own_file", failing)
        words = ("parliament", "submit", FOLDER, parliament.file(STATEMENT))
        done = parliament.project.json(*words)
        written = next(count) - 1
    if done.code:
        assert (done.error["code"], done.code) == ("files_behind", 4)
        assert "record is safe" in done.error["message"]
    else:
        assert written < fails_at  # not every file changes with a statement
    after, whole = files_of(parliament), exported(parliament)
    assert all(after[name] in (before[name], whole[name]) for name in FILES)
    assert parliament.moot("status")["findings"] == []
    parliament.statement("rep_2")
    assert [one["from"] for one in parliament.document("ledger.json")["messages"]] == [
        *("rep_1", "rep_2")
    ]
    check_sound(parliament)


def test_a_file_changed_in_the_very_moment_is_not_overwritten(
    parliament: ParliamentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    bill = parliament.project.root / FOLDER / "bill.json"
    execute = Engine.execute

    def disturbed(self: Engine, *given: Any, **more: Any) -> JobOutcome:
        outcome = execute(self, *given, **more)
        bill.write_text('{"mine": true}')
        return outcome

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "execute", disturbed)
        assert parliament.refused("submit", parliament.file(STATEMENT)) == "files_behind"
    assert bill.read_text() == '{"mine": true}'
    parliament.moot("export")
    assert len(parliament.document("ledger.json")["messages"]) == 1
    check_sound(parliament)


def test_check_needs_no_workspace(parliament: ParliamentSession, tmp_path: Path) -> None:
    parliament.to_debate()
    other = Project(tmp_path / "elsewhere", tmp_path / "no-keys")
    shutil.copytree(parliament.project.root / FOLDER, other.root / FOLDER)
    assert other.ok("parliament", "check", FOLDER) == {"valid": True, "findings": []}
    ledger = other.root / FOLDER / "ledger.json"
    changed = json.loads(ledger.read_text())
    changed["messages"][0]["round"] = 7
    ledger.write_text(json.dumps(changed))
    done = other.json(
        "parliament", "check", FOLDER, "--since", str(parliament.project.root / FOLDER)
    )
    assert (done.code, done.data["valid"]) == (1, False)
    assert {one["rule"] for one in done.data["findings"]} >= {"PAR-012", "PAR-019"}
    assert not (tmp_path / "no-keys").exists()
    words = ("parliament", "check", FOLDER, "--since")
    assert other.refused(*words, "nowhere") == ("no_session", 4)
    ledger.write_text("{")
    gone = other.json(*words, str(parliament.project.root / FOLDER))
    assert {one["code"] for one in gone.data["findings"]} >= {"not_json", "not_append_only"}


def test_the_final_document_of_someone_else_is_put_aside(
    parliament: ParliamentSession, people: dict[str, str]
) -> None:
    parliament.to_debate()
    parliament.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(sender, to)
    parliament.call_vote()
    parliament.votes("YES", "YES", "YES")
    parliament.moot("decide", "approve", "--reason", "Good.", **people)
    file = parliament.project.root / FOLDER / "final-bill.md"
    file.write_text("mine")
    assert parliament.moot("final")["put_aside"] == ["final-bill.md.changed-1"]
    ours = file.read_bytes()
    assert parliament.moot("final")["put_aside"] == []
    assert file.read_bytes() == ours
    assert (file.parent / "final-bill.md.changed-1").read_text() == "mine"


def test_many_processes_bring_messages_at_once(parliament: ParliamentSession) -> None:
    """Real processes, one lock: every message is in the files, and the files are sound."""
    parliament.statement("rep_1")
    first = (parliament.project.root / "message-1.json").read_text()
    running = []
    for seat in ("rep_2", "rep_3"):
        file = parliament.file(first.replace("rep_1", seat))
        words = [*MOOT, "--json", "parliament", "submit", FOLDER, file]
        running.append(
            subprocess.Popen(
                words,
                cwd=parliament.project.root,
                env=parliament.project.env,
                stdout=subprocess.PIPE,
            )
        )
    told = [json.loads(one.communicate(timeout=120)[0]) for one in running]
    assert [one.returncode for one in running] == [0, 0]
    heard = [[message["from"] for message in one["data"]["messages"]] for one in told]
    assert heard == [["rep_2"], ["rep_3"]]  # each is told of its own message only
    said = parliament.document("ledger.json")["messages"]
    assert sorted(one["from"] for one in said) == ["rep_1", "rep_2", "rep_3"]
    assert parliament.moot("status")["status"] == "evaluating_statements"
    assert parliament.document("session.json")["status"] == "evaluating_statements"
    check_sound(parliament)


def test_a_session_leaves_nothing_for_the_doctor(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.amend("rep_3", "amend-001", "Every part carries its digest.")
    parliament.exchange("rep_3", "rep_1", 4, amendment_position=position("amend-001", "endorse"))
    parliament.end()
    said = parliament.project.ok("ledger", "doctor")["findings"]
    assert [one for one in said if one["severity"] != "info"] == []
    assert parliament.project.ok("ledger", "rebuild")["findings"] == []


def test_a_folder_without_a_session_is_said(bare: Project) -> None:
    bare.ok("init")
    assert bare.refused("parliament", "status", "nowhere") == ("no_session", 4)
    assert bare.refused("parliament", "check", "nowhere") == ("no_session", 4)


def test_a_folder_in_use_is_not_taken(parliament: ParliamentSession) -> None:
    before = files_of(parliament)
    words = (*NEW, *(word for rep in REPS for word in ("--rep", rep)))
    assert parliament.project.refused(*words) == ("folder_taken", 1)
    assert files_of(parliament) == before
