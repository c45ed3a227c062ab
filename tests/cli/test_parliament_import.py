"""A session that goes on elsewhere, or under another id, from its four files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.parliament_session import (
    FOLDER,
    ParliamentSession,
    check_sound,
    files_of,
    position,
)
from tests.parliament.scripted_files import announce_next_round, script_files
from tests.project import Project

requirement = pytest.mark.requirement


@requirement("PAR-085")
def test_a_session_goes_on_elsewhere_from_its_files(
    parliament: ParliamentSession, people: dict[str, str], tmp_path: Path
) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.amend("rep_3", "amend-001", "Every part carries its digest.")
    parliament.exchange("rep_3", "rep_1", 4, amendment_position=position("amend-001", "endorse"))
    parliament.moot("incorporate", "amend-001")
    parliament.rule("order", "quiet", "rep_3")
    open_question = parliament.ask("rep_1", "rep_2")
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(parliament.project.root / FOLDER, there.root / FOLDER)
    there.ok("init", **people)
    there.ok("agent", "register", "amber-otter")
    other = ParliamentSession(there)
    before = files_of(other)
    said = other.moot("import", "--bind", "rep_2=amber-otter")
    assert (said["put_aside"], said["seats"]["rep_2"]) == ([], "amber-otter")
    assert files_of(other) == before
    other.answer("rep_2", "rep_1", open_question, 3)
    other.end()
    other.start()
    check_sound(other)
    assert there.ok("verify")["verdict"] in ("valid", "unproven")
    assert there.refused("parliament", "import", FOLDER) == ("already_convened", 1)


@requirement("PAR-085")
def test_files_whose_id_is_taken_are_imported_under_another(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    project = parliament.project
    name = parliament.document("session.json")["parliament_id"]
    shutil.copytree(project.root / FOLDER, project.root / "copy")
    taken = project.json("parliament", "import", "copy").error
    assert (taken["code"], "--id parl-" in taken["hint"]) == ("already_convened", True)
    assert project.refused("parliament", "import", "copy", "--id", name) == ("already_convened", 1)
    assert project.refused("parliament", "import", "copy", "--id", "parl-1") == ("bad_id", 1)
    said = project.ok("parliament", "import", "copy", "--id", "parl-20260101-001")
    assert said["parliament_id"] == "parl-20260101-001"
    aside = ["ledger.json.changed-1", "session.json.changed-1"]
    assert (said["put_aside"], said["messages"]) == (aside, 4)
    assert project.ok("parliament", "check", "copy")["valid"]
    other = json.loads((project.root / "copy" / "ledger.json").read_text("utf-8"))
    assert other["parliament_id"] == "parl-20260101-001"
    assert other["messages"] == parliament.document("ledger.json")["messages"]
    parliament.start()  # the first one goes on as before
    check_sound(parliament)


def test_no_agent_makes_files_the_clerks_word(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    project = parliament.project
    project.ok("agent", "register", "amber-otter")
    shutil.copytree(project.root / FOLDER, project.root / "copy")
    words = ("parliament", "import", "copy", "--id", "parl-20260101-001")
    assert project.refused("--as", "amber-otter", *words) == ("not_you", 1)
    assert project.ok("parliament", "import", "copy", *words[3:])["messages"] == 4


@requirement("PAR-085")
def test_a_finished_session_can_be_imported_too(
    parliament: ParliamentSession, people: dict[str, str], tmp_path: Path
) -> None:
    parliament.to_debate()
    parliament.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(sender, to)
    parliament.call_vote()
    parliament.votes("YES", "YES", "NO")
    text = parliament.file({"sections": {"solution": "Send parts. Keep them for a week."}})
    words = ("amend_and_approve", "--reason", "Keep them.", "--text", text)
    parliament.moot("decide", *words, **people)
    parliament.moot("final")
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(parliament.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    other = ParliamentSession(there)
    before = files_of(other)
    assert other.moot("import")["outcome"] == "approved_with_amendments"
    assert files_of(other) == before
    # Readers of its documents learn that nobody signed this here.
    page = tmp_path / "page.md"
    other.moot("final", "-o", str(page))
    told = (there.root / FOLDER / "final-bill.md").read_text("utf-8")
    count = len(other.document("ledger.json")["messages"])
    origin = f"{count} of {count} messages were read from files, not signed here"
    assert f"- Origin: {origin}\n" in told
    assert "amend and approve by someone elsewhere: Keep them." in told
    assert origin in page.read_text("utf-8")


def test_files_in_another_form_are_put_aside_when_imported(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    parliament.to_debate()
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(parliament.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    ledger = there.root / FOLDER / "ledger.json"
    ledger.write_text(json.dumps(json.loads(ledger.read_text()), indent=4))
    assert there.ok("parliament", "import", FOLDER)["put_aside"] == ["ledger.json.changed-1"]
    assert ledger.read_bytes() == files_of(parliament)["ledger.json"]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("status", "voting", "not_explained"),
        ("current_round", 1, "not_explained"),
        ("drafter", "rep_2", "files_differ"),
        ("max_rounds", 0, "out_of_range"),
        ("next_message_id", 9, "files_differ"),
    ],
)
def test_files_that_their_messages_do_not_explain_are_not_imported(
    parliament: ParliamentSession, tmp_path: Path, key: str, value: Any, code: str
) -> None:
    parliament.to_debate()
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(parliament.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    file = there.root / FOLDER / "session.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    agents = there.ok("agent", "list")
    assert there.refused("parliament", "import", FOLDER) == (code, 1)
    assert there.ok("agent", "list") == agents
    assert there.refused("parliament", "status", FOLDER) == ("session_not_found", 1)
    assert list((tmp_path / "other-keys").rglob("*rep-*")) == []  # no key was left either


def take_scripted_files(parliament: ParliamentSession, folder: Path) -> ParliamentSession:
    """A project elsewhere that has the session's files only, as a script would write them."""
    there = Project(folder / "elsewhere", folder / "other-keys")
    (there.root / FOLDER).mkdir(parents=True)
    there.ok("init")
    for name, data in script_files(files_of(parliament)).items():
        (there.root / FOLDER / name).write_bytes(data)
    return ParliamentSession(there)


def test_a_scripts_files_are_imported_before_there_is_a_bill(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    other = take_scripted_files(parliament, tmp_path)
    assert not (other.project.root / FOLDER / "round-summaries.json").exists()
    assert other.moot("check")["valid"]
    assert other.moot("import")["status"] == "opening_statements"
    check_sound(other)


@requirement("PAR-085")
def test_a_scripts_files_are_imported_in_a_middle_round_and_go_on(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    parliament.to_debate()
    for _ in range(3):
        parliament.start()
        parliament.exchange("rep_2", "rep_1")
        parliament.end()
    parliament.start()
    other = take_scripted_files(parliament, tmp_path)
    before = files_of(other)
    assert other.moot("check")["valid"]
    said = other.moot("import")
    assert set(said["put_aside"]) >= {"session.json.changed-1"}
    kept = other.project.root / FOLDER / "session.json.changed-1"
    assert kept.read_bytes() == before["session.json"]
    stamps = [message["timestamp"] for message in other.document("ledger.json")["messages"]]
    assert all(stamp.endswith(".000000+00:00") for stamp in stamps)
    other.exchange("rep_3", "rep_1")
    other.end()
    check_sound(other)


@requirement("PAR-085")
def test_a_round_that_a_script_has_only_announced_is_begun(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.end()
    other = take_scripted_files(parliament, tmp_path)
    session = other.document("session.json")
    announce_next_round(session)
    (other.project.root / FOLDER / "session.json").write_text(json.dumps(session))
    assert other.moot("check")["valid"]
    other.moot("import")
    ours = other.document("session.json")
    assert ours["current_round"] == 2
    assert [rep["temperature"] for rep in ours["representatives"]] == [
        rep["temperature"] for rep in session["representatives"]
    ]
    other.exchange("rep_3", "rep_1")
    check_sound(other)


def test_what_does_not_follow_from_the_messages_is_said_with_what_does(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    parliament.to_debate()
    other = take_scripted_files(parliament, tmp_path)
    session = other.document("session.json")
    session["status"] = "voting"
    (other.project.root / FOLDER / "session.json").write_text(json.dumps(session))
    error = other.project.json("parliament", "import", FOLDER).error
    assert error["code"] == "not_explained"
    assert '"debate"' in error["message"] + error["hint"]
    assert "session.json" in error["hint"]
    assert other.project.refused("parliament", "status", FOLDER) == ("session_not_found", 1)
