"""A parliament through the command line alone: a whole session, its files, its refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.engine.engine import Engine
from moot.engine.job import Outcome
from moot.store.files import replace
from tests.cli.project import MOOT, Project
from tests.cli.sitting import FOLDER, MOTIVES, NEW, REPS, STATEMENT, Sitting, opened

requirement = pytest.mark.requirement
FILES = ("ledger.json", "session.json", "bill.json", "round-summaries.json")


@pytest.fixture(autouse=True)
def _cheap(cheap_locks: None) -> None:
    del cheap_locks


@pytest.fixture
def people(passphrase: str) -> dict[str, str]:
    return {"MOOT_PASSPHRASE_FILE": passphrase}


@pytest.fixture
def sitting(bare: Project, people: dict[str, str]) -> Sitting:
    bare.ok("init", **people)
    return opened(bare)


def files_of(sitting: Sitting) -> dict[str, bytes]:
    folder = sitting.project.root / FOLDER
    return {name: (folder / name).read_bytes() for name in FILES}


def check_sound(sitting: Sitting) -> None:
    said = sitting.moot("check")
    assert (said["valid"], said["findings"]) == (True, [])


@requirement("PAR-001", "PAR-002", "PAR-012", "PAR-085", "PAR-119", "PAR-127")
def test_a_whole_session_is_played_through_the_command_line(
    sitting: Sitting, people: dict[str, str], tmp_path: Path
) -> None:
    sitting.to_debate()
    check_sound(sitting)
    before = sitting.document("ledger.json")["messages"]

    # Round 1: one amendment is carried and incorporated; the vote is not allowed yet.
    sitting.start()
    sitting.amend("rep_3", "amend-001", "Every part carries its digest.")
    sitting.exchange("rep_3", "rep_1", 4, amendment_position=_position("amend-001", "endorse"))
    sitting.exchange("rep_1", "rep_2", 2)
    assert sitting.refused("submit", sitting.file(_call_vote())) == "vote_gated"
    said = sitting.moot("incorporate", "amend-001")
    assert said["bill_version"] == 2
    assert said["changes"] == ["solution", "  + Every part carries its digest."]
    sitting.end()
    check_sound(sitting)
    assert sitting.document("ledger.json")["messages"][: len(before)] == before

    # Round 2: an amendment is withdrawn, another rejected; the vote fails.
    sitting.start()
    sitting.amend("rep_2", "amend-002", "Nobody pays more.")
    sitting.moot("withdraw", "amend-002")
    sitting.amend("rep_2", "amend-003", "Only small files.")
    sitting.exchange("rep_2", "rep_3", 4, amendment_position=_position("amend-003", "oppose"))
    assert sitting.moot("conclude", "amend-003")["amendment_status"] == "rejected"
    sitting.exchange("rep_3", "rep_2", 3)
    sitting.call_vote()
    failed = sitting.votes("YES", "NO", "NO")
    assert (failed["tally"]["passed"], failed["status"]) == (False, "debate")
    check_sound(sitting)

    # Round 3: it passes, and the prime minister sends it back.
    sitting.start()
    sitting.exchange("rep_1", "rep_2", 4)
    sitting.call_vote()
    assert sitting.votes("YES", "YES", "NO")["status"] == "pm_review"
    guidance = ("--reason", "Old clients break.", "--guidance", "Say how old clients go on.")
    assert sitting.moot("decide", "veto", *guidance, **people)["status"] == "debate"
    assert sitting.moot("status")["guidance"] == "Say how old clients go on."
    check_sound(sitting)

    # Round 4: passed and approved.
    sitting.start()
    sitting.draft(3, implementation="Old clients send whole files for a year.")
    sitting.call_vote()
    assert sitting.votes("YES", "YES", "NO")["tally"]["tally"] == {"yes": 2, "no": 1, "total": 3}
    done = sitting.moot("decide", "approve", "--reason", "It does what we need.", **people)
    assert (done["status"], done["outcome"]) == ("synthesis", "approved")

    page = str(tmp_path / "page.html")
    final = sitting.moot("final", "-o", page)
    assert final["status"] == "complete"
    text = (sitting.project.root / FOLDER / "final-bill.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        *("## 1. Problem", "## 2. Scope", "## 3. Solution", "## 4. Implementation"),
        *("## 5. Deliberation Record", "## 6. Dissenting Opinions", "## 7. Vote Record"),
    ]
    assert "veto by operator: Old clients break. Guidance: Say how old clients go on." in text
    assert "approve by operator: It does what we need." in text
    assert "Origin" not in text
    assert "<svg" in Path(page).read_text("utf-8")
    check_sound(sitting)
    session = sitting.document("session.json")
    assert (session["status"], session["current_round"]) == ("complete", 4)
    rows = sitting.document("round-summaries.json")
    assert [row["round"] for row in rows] == [1, 2, 3, 4]
    assert [row["vote_result"] is None for row in rows] == [True, False, False, False]
    assert sitting.project.ok("verify")["verdict"] in ("valid", "unproven")


def _position(name: str, word: str) -> dict[str, str]:
    return {"amendment_id": name, "position": word, "reason": "So."}


def _call_vote() -> dict[str, Any]:
    content = {"ruling_type": "order", "ruling": "Vote.", "target": None, "action": "call_vote"}
    return {"type": "SPEAKER_RULING", "from": "speaker", "content": content}


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


def test_a_seat_without_an_agent_signs_with_a_key_of_its_own(sitting: Sitting) -> None:
    agents = {one["agent"] for one in sitting.project.ok("agent", "list")["agents"]}
    seats = sitting.moot("status")["seats"]
    assert {one["agent"] for one in seats} <= agents
    sitting.statement("rep_1")
    log = sitting.project.ok(
        "ledger", "log", f"parliament/{sitting.moot('status')['parliament_id']}"
    )
    assert seats[0]["agent"] in json.dumps(log)


def test_a_bound_seat_signs_with_its_agents_key(project: Project) -> None:
    reps = (REPS[0] + "@amber-otter", *REPS[1:])
    sitting = opened(project, *reps)
    assert sitting.moot("status")["seats"][0]["agent"] == "amber-otter"
    sitting.statement("rep_1")
    one = sitting.file({"type": "MOTION", "from": "rep_1", "content": {}})
    assert sitting.refused("submit", one, MOOT_AGENT="teal-crane") == "not_you"


@requirement("PAR-002", "PAR-058", "PAR-069")
def test_an_agent_speaks_neither_for_the_speaker_nor_for_another_seat(sitting: Sitting) -> None:
    sitting.to_debate()
    before = files_of(sitting)
    seat = {one["id"]: one["agent"] for one in sitting.moot("status")["seats"]}
    ruling = sitting.file(_call_vote())
    assert sitting.refused("submit", ruling, MOOT_AGENT=seat["rep_1"]) == "not_you"
    assert sitting.refused("tally", MOOT_AGENT=seat["rep_1"]) == "not_you"
    foreign = sitting.file({"type": "MOTION", "from": "rep_2", "content": {}})
    assert sitting.refused("submit", foreign, MOOT_AGENT=seat["rep_1"]) == "not_you"
    assert files_of(sitting) == before


@requirement("PAR-074")
def test_only_a_person_is_prime_minister(sitting: Sitting, people: dict[str, str]) -> None:
    seat = sitting.moot("status")["seats"][0]["agent"]
    words = ("opening_guidance", "--reason", "r", "--guidance", "rep_2 should draft this.")
    before = files_of(sitting)
    acting = {"MOOT_AGENT": seat, **people}
    assert sitting.refused("decide", *words, **acting) == "human_key_required"
    assert sitting.refused("decide", *words) == "human_key_required"
    assert files_of(sitting) == before
    sitting.moot("decide", *words, **people)
    for one in MOTIVES:
        sitting.statement(one)
    assert sitting.moot("drafter")["drafter"] == "rep_2"


@requirement("PAR-081", "PAR-082", "PAR-084")
def test_what_the_clerk_fills_in_is_filled_in(sitting: Sitting) -> None:
    document = json.loads((sitting.project.root / sitting.file("{}")).read_text())
    assert document == {}
    said = sitting.statement("rep_1")["messages"]
    assert [list(one)[:5] for one in said] == [["id", "type", "round", "timestamp", "from"]]
    assert said[0]["id"] == "msg-001"


@requirement("PAR-084")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "not_json"),
        ('{"type": "VOTE", "type": "VOTE"}', "duplicate_key"),
        ("[]", "not_an_object"),
        ('{"type": "SPEECH", "from": "rep_1", "content": {}}', "bad_value"),
        ('{"type": "MOTION", "from": "rep_9", "content": {}}', "missing_field"),
    ],
)
def test_a_malformed_reply_is_refused_and_not_in_the_ledger(
    sitting: Sitting, text: str, code: str
) -> None:
    before = files_of(sitting)
    assert sitting.refused("submit", sitting.file(text)) == code
    assert files_of(sitting) == before


def test_two_malformed_replies_expel_a_seat(sitting: Sitting) -> None:
    seat = sitting.moot("status")["seats"][0]["agent"]
    for _ in range(2):
        assert sitting.refused("submit", sitting.file("{"), MOOT_AGENT=seat) == "not_json"
    assert sitting.moot("status")["seats"][0]["expelled"] is True
    (said,) = sitting.document("ledger.json")["messages"]
    assert said["from"] == "speaker"
    check_sound(sitting)


@requirement("PAR-107")
def test_a_text_over_the_budget_is_cut_and_kept(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    question = sitting.ask("rep_1", "rep_2")
    long = " ".join(f"Sentence {number} is here." for number in range(1, 10))
    said = sitting.answer("rep_2", "rep_1", question, answer=long)["messages"]
    assert said[0]["content"]["answer"].count(".") == 6
    assert [one["type"] for one in said] == ["ANSWER", "SPEAKER_RULING"]
    check_sound(sitting)


@requirement("PAR-026", "PAR-041")
def test_a_motion_becomes_a_message_of_its_own(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    name = sitting.ask("rep_1", "rep_2", motion={"motion_type": "call_vote", "reason": "Enough."})
    question, motion = sitting.document("ledger.json")["messages"][-2:]
    assert (question["id"], motion["in_reply_to"]) == (name, name)
    assert (motion["type"], motion["from"], motion["round"]) == ("MOTION", "rep_1", 1)
    assert "motion" not in question
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


def test_what_is_not_there_is_said(sitting: Sitting) -> None:
    assert sitting.refused("context", "--seat", "rep_9") == "unknown_seat"
    sitting.to_debate()
    sitting.start()
    for word in ("withdraw", "incorporate", "conclude"):
        assert sitting.refused(word, "amend-009") == "unknown_amendment"


@pytest.mark.parametrize("fails_at", range(5))
def test_a_disk_that_fails_costs_nothing_but_time(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The record is safe, no file is half written, and the next command makes it good."""
    before, count = files_of(sitting), iter(range(100))

    def failing(path: Path, data: bytes, mode: int = 0o644) -> None:
        if next(count) == fails_at:
            raise OSError(28, "No space left on device")
        replace(path, data, mode)

    with monkeypatch.context() as patch:
        patch.setattr("moot.flows.cabinet.replace", failing)
        words = ("parliament", "submit", FOLDER, sitting.file(STATEMENT))
        done = sitting.project.json(*words)
        written = next(count) - 1
    if done.code:
        assert (done.error["code"], done.code) == ("unwritable_file", 4)
        assert "record is safe" in done.error["message"]
    else:
        assert written < fails_at  # not every file changes with a statement
    after = files_of(sitting)
    assert sitting.moot("status")["findings"] == []
    sitting.statement("rep_2")
    assert [one["from"] for one in sitting.document("ledger.json")["messages"]] == [
        *("rep_1", "rep_2")
    ]
    check_sound(sitting)
    assert all(after[name] == before[name] or json.loads(after[name]) for name in FILES)


def test_a_file_changed_in_the_very_moment_is_not_overwritten(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    bill = sitting.project.root / FOLDER / "bill.json"
    execute = Engine.execute

    def disturbed(self: Engine, *given: Any, **more: Any) -> Outcome:
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


def test_the_drafter_words_a_modification_with_its_own_key(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.amend("rep_3", "amend-001", "Parts of 5 MB.", action="modify")
    sitting.exchange("rep_3", "rep_1", 4, amendment_position=_position("amend-001", "endorse"))
    seat = {one["id"]: one["agent"] for one in sitting.moot("status")["seats"]}
    text = sitting.file({"sections": {"solution": "Send parts of 5 MB and join them."}})
    words = ("incorporate", "amend-001")
    assert sitting.refused(*words, "--text", text, MOOT_AGENT=seat["rep_2"]) == "not_the_drafter"
    assert sitting.refused(*words) == "draft_required"
    done = sitting.moot(*words, "--text", text, MOOT_AGENT=seat["rep_1"])
    assert done["changes"] == [
        "solution",
        "  - Send parts and join them.",
        "  + Send parts of 5 MB and join them.",
    ]
    check_sound(sitting)
    first, second = sitting.moot("history")["versions"]
    assert (first["version"], first["by"], second["version"]) == (1, "rep_1", 2)
    assert second["changes"] == done["changes"]


def test_a_session_leaves_nothing_for_the_doctor(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.amend("rep_3", "amend-001", "Every part carries its digest.")
    sitting.exchange("rep_3", "rep_1", 4, amendment_position=_position("amend-001", "endorse"))
    sitting.end()
    said = sitting.project.ok("ledger", "doctor")["findings"]
    assert [one for one in said if one["severity"] != "info"] == []
    assert sitting.project.ok("ledger", "rebuild")["findings"] == []


def test_a_folder_in_use_is_not_taken(sitting: Sitting) -> None:
    before = files_of(sitting)
    words = (*NEW, *(word for rep in REPS for word in ("--rep", rep)))
    assert sitting.project.refused(*words) == ("folder_taken", 1)
    assert files_of(sitting) == before


def test_a_refused_session_leaves_nothing_behind(bare: Project) -> None:
    bare.ok("init")
    agents = bare.ok("agent", "list")
    assert bare.refused(*NEW, "--rep", "Rep. Swift:speed", "--rep", "Rep. Thrift:cost")[0]
    assert bare.refused(*NEW, "--rep", "nothing") == ("bad_seat", 1)
    assert bare.refused(*NEW, "--rep", "A:speed@no-body", "--rep", "B:cost") == (
        "agent_not_found",
        1,
    )
    assert not (bare.root / FOLDER).exists()
    assert bare.ok("agent", "list") == agents
    assert opened(bare).moot("status")["parliament_id"].endswith("-001")


def test_two_sessions_of_a_day_have_two_numbers(sitting: Sitting) -> None:
    words = [*NEW, *(word for rep in REPS for word in ("--rep", rep))]
    words[2] = "second"
    assert sitting.project.ok(*words)["parliament_id"].endswith("-002")


def test_sessions_called_at_once_have_numbers_of_their_own(sitting: Sitting) -> None:
    """Real processes: whoever comes second takes the next number, with all its seats."""
    words = [*NEW, *(word for rep in REPS for word in ("--rep", rep))]
    running = []
    for folder in ("second", "third", "fourth"):
        words[2] = folder
        running.append(
            subprocess.Popen(
                [*MOOT, *words],
                cwd=sitting.project.root,
                env=sitting.project.env,
                stdout=subprocess.DEVNULL,
            )
        )
    assert [one.wait() for one in running] == [0, 0, 0]
    folders = (FOLDER, "second", "third", "fourth")
    texts = [(sitting.project.root / one / "session.json").read_text() for one in folders]
    numbers = sorted(json.loads(text)["parliament_id"][-3:] for text in texts)
    assert numbers == ["001", "002", "003", "004"]


def test_a_seats_name_in_use_does_not_stop_a_session(bare: Project) -> None:
    bare.ok("init")
    first = opened(bare).moot("status")["parliament_id"]
    bare.ok("agent", "register", f"{first[:-1]}2-rep-3")
    words = [*NEW, *(word for rep in REPS for word in ("--rep", rep))]
    words[2] = "second"
    agents = len(bare.ok("agent", "list")["agents"])
    assert bare.ok(*words)["parliament_id"].endswith("-003")
    assert len(bare.ok("agent", "list")["agents"]) == agents + 3


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


def test_every_type_of_message_has_a_template(sitting: Sitting) -> None:
    from moot.core.findings import errors
    from moot.parliament.messages import response_findings
    from moot.parliament.words import Kind

    for kind in Kind:
        said = sitting.project.ok("parliament", "template", kind.lower())["message"]
        assert said["type"] == kind
        assert errors(response_findings(said)) == ()
        text = sitting.project.run("parliament", "template", kind).out
        assert json.loads(text) == said
    assert sitting.project.refused("parliament", "template", "SPEECH") == ("unknown_type", 1)


def test_whoever_follows_what_is_next_gets_to_the_end(
    sitting: Sitting, people: dict[str, str]
) -> None:
    """Every step that is due is told with the command that does it."""

    def ways() -> list[str]:
        lines = sitting.project.run("parliament", "next", FOLDER).out.splitlines()
        return [line.removeprefix("try: moot parliament ") for line in lines if "try: " in line]

    submit = f"fill it in, then moot parliament submit {FOLDER} m.json"
    assert ways() == [f"template OPENING_STATEMENT > m.json, {submit}"]
    for seat in MOTIVES:
        sitting.statement(seat)
    assert ways() == [f"drafter {FOLDER}"]
    sitting.moot("drafter")
    assert ways()[0].startswith("template BILL_DRAFT")
    sitting.draft(1)
    assert ways()[0].startswith("template SPEAKER_RULING")
    sitting.start()
    assert ways()[0].startswith("template QUESTION")
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(sender, to)
    sitting.call_vote()
    assert ways()[0].startswith("template VOTE")
    for seat in MOTIVES:
        sitting.vote(seat, "YES")
    assert ways() == [f"tally {FOLDER}"]
    sitting.moot("tally")
    assert ways() == [f"decide {FOLDER} approve|veto|amend_and_approve --reason TEXT"]
    sitting.moot("decide", "approve", "--reason", "Good.", **people)
    assert ways() == [f"final {FOLDER}"]
    sitting.moot("final")
    assert ways() == []


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
        words = [*MOOT, "parliament", "submit", FOLDER, file]
        running.append(
            subprocess.Popen(
                words,
                cwd=sitting.project.root,
                env=sitting.project.env,
                stdout=subprocess.DEVNULL,
            )
        )
    assert [one.wait() for one in running] == [0, 0]
    said = sitting.document("ledger.json")["messages"]
    assert sorted(one["from"] for one in said) == ["rep_1", "rep_2", "rep_3"]
    assert sitting.moot("status")["status"] == "evaluating_statements"
    assert sitting.document("session.json")["status"] == "evaluating_statements"
    check_sound(sitting)


def test_a_folder_without_a_session_is_said(bare: Project) -> None:
    bare.ok("init")
    assert bare.refused("parliament", "status", "nowhere") == ("no_session", 4)
    assert bare.refused("parliament", "check", "nowhere") == ("no_session", 4)


@requirement("PAR-105", "PAR-128")
def test_a_participant_is_given_its_window(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.ask("rep_1", "rep_2")
    given = sitting.moot("context", "--seat", "rep_2")
    assert given["you"]["response_budget"] == 6
    assert [one["from"] for one in given["you"]["questions"]] == ["rep_1"]
    assert given["session"]["status"] == "debate"


def test_a_person_may_amend_and_approve(sitting: Sitting, people: dict[str, str]) -> None:
    sitting.to_debate()
    sitting.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(sender, to)
    sitting.call_vote()
    sitting.votes("YES", "YES", "YES")
    text = sitting.file({"sections": {"solution": "Send parts. Keep them for a week."}})
    done = sitting.moot(
        "decide", "amend_and_approve", "--reason", "Keep them.", "--text", text, **people
    )
    assert (done["outcome"], done["bill_version"]) == ("approved_with_amendments", 2)
    assert sitting.document("bill.json")["sections"]["solution"].endswith("for a week.")
    check_sound(sitting)
    sitting.moot("final")
    text = (sitting.project.root / FOLDER / "final-bill.md").read_text()
    assert "Status: Approved with Amendments" in text


def test_a_better_told_summary_replaces_the_clerks(sitting: Sitting) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.exchange("rep_1", "rep_2")
    sitting.end()
    (row,) = sitting.document("round-summaries.json")
    row["summary"] = "They spoke of lost parts. Nobody gave way."
    sitting.moot("summarize", sitting.file(row))
    assert sitting.document("round-summaries.json") == [row]
    check_sound(sitting)


@requirement("PAR-085")
def test_a_session_goes_on_elsewhere_from_its_files(
    sitting: Sitting, people: dict[str, str], tmp_path: Path
) -> None:
    sitting.to_debate()
    sitting.start()
    sitting.amend("rep_3", "amend-001", "Every part carries its digest.")
    sitting.exchange("rep_3", "rep_1", 4, amendment_position=_position("amend-001", "endorse"))
    sitting.moot("incorporate", "amend-001")
    sitting.rule("order", "quiet", "rep_3")
    open_question = sitting.ask("rep_1", "rep_2")
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(sitting.project.root / FOLDER, there.root / FOLDER)
    there.ok("init", **people)
    there.ok("agent", "register", "amber-otter")
    other = Sitting(there)
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
def test_files_whose_id_is_taken_are_imported_under_another(sitting: Sitting) -> None:
    sitting.to_debate()
    project = sitting.project
    name = sitting.document("session.json")["parliament_id"]
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
    assert other["messages"] == sitting.document("ledger.json")["messages"]
    sitting.start()  # the first one goes on as before
    check_sound(sitting)


def test_no_agent_makes_files_the_clerks_word(sitting: Sitting) -> None:
    sitting.to_debate()
    project = sitting.project
    project.ok("agent", "register", "amber-otter")
    shutil.copytree(project.root / FOLDER, project.root / "copy")
    words = ("parliament", "import", "copy", "--id", "parl-20260101-001")
    assert project.refused("--as", "amber-otter", *words) == ("not_you", 1)
    assert project.ok("parliament", "import", "copy", *words[3:])["messages"] == 4


@requirement("PAR-085")
def test_a_finished_session_can_be_imported_too(
    sitting: Sitting, people: dict[str, str], tmp_path: Path
) -> None:
    sitting.to_debate()
    sitting.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        sitting.exchange(sender, to)
    sitting.call_vote()
    sitting.votes("YES", "YES", "NO")
    text = sitting.file({"sections": {"solution": "Send parts. Keep them for a week."}})
    words = ("amend_and_approve", "--reason", "Keep them.", "--text", text)
    sitting.moot("decide", *words, **people)
    sitting.moot("final")
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(sitting.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    other = Sitting(there)
    before = files_of(other)
    assert other.moot("import")["outcome"] == "approved_with_amendments"
    assert files_of(other) == before
    # Whoever reads its documents learns that nobody signed this here.
    page = tmp_path / "page.md"
    other.moot("final", "-o", str(page))
    told = (there.root / FOLDER / "final-bill.md").read_text("utf-8")
    count = len(other.document("ledger.json")["messages"])
    origin = f"{count} of {count} messages were read from files, not signed here"
    assert f"- Origin: {origin}\n" in told
    assert "amend and approve by someone elsewhere: Keep them." in told
    assert origin in page.read_text("utf-8")


def test_files_in_another_form_are_put_aside_when_imported(
    sitting: Sitting, tmp_path: Path
) -> None:
    sitting.to_debate()
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(sitting.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    ledger = there.root / FOLDER / "ledger.json"
    ledger.write_text(json.dumps(json.loads(ledger.read_text()), indent=4))
    assert there.ok("parliament", "import", FOLDER)["put_aside"] == ["ledger.json.changed-1"]
    assert ledger.read_bytes() == files_of(sitting)["ledger.json"]


@pytest.mark.parametrize("key", ["status", "drafter", "max_rounds"])
def test_files_that_their_messages_do_not_explain_are_not_imported(
    sitting: Sitting, tmp_path: Path, key: str
) -> None:
    sitting.to_debate()
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(sitting.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    file = there.root / FOLDER / "session.json"
    session = json.loads(file.read_text())
    session[key] = {"status": "voting", "drafter": "rep_2", "max_rounds": 0}[key]
    file.write_text(json.dumps(session))
    agents = there.ok("agent", "list")
    assert there.refused("parliament", "import", FOLDER)[1] == 1
    assert there.ok("agent", "list") == agents
    assert there.refused("parliament", "status", FOLDER) == ("session_not_found", 1)


def test_an_undecided_session_has_no_final_document(sitting: Sitting, tmp_path: Path) -> None:
    assert sitting.refused("final") == "not_decided"
    page = tmp_path / "so-far.html"
    assert sitting.moot("final", "-o", str(page))["status"] == "opening_statements"
    assert "GOING ON" in page.read_text("utf-8")
