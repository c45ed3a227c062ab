"""A parliament through the command line alone: a whole session, its seats, its refusals."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.parliament_session import (
    FOLDER,
    MOTIVES,
    NEW,
    REPS,
    ParliamentSession,
    check_sound,
    files_of,
    opened,
    position,
)
from tests.cli.typeable import commands_in
from tests.project import MOOT, Project

requirement = pytest.mark.requirement


@requirement("PAR-001", "PAR-002", "PAR-012", "PAR-085", "PAR-119", "PAR-127")
def test_a_whole_session_is_played_through_the_command_line(
    parliament: ParliamentSession, people: dict[str, str], tmp_path: Path
) -> None:
    parliament.to_debate()
    check_sound(parliament)
    before = parliament.document("ledger.json")["messages"]

    # Round 1: one amendment is carried and incorporated; the vote is not allowed yet.
    parliament.start()
    parliament.amend("rep_3", "amend-001", "Every part carries its digest.")
    parliament.exchange("rep_3", "rep_1", 4, amendment_position=position("amend-001", "endorse"))
    parliament.exchange("rep_1", "rep_2", 2)
    assert parliament.refused("submit", parliament.file(_call_vote())) == "vote_gated"
    said = parliament.moot("incorporate", "amend-001")
    assert said["bill_version"] == 2
    assert said["changes"] == ["solution", "  + Every part carries its digest."]
    parliament.end()
    check_sound(parliament)
    assert parliament.document("ledger.json")["messages"][: len(before)] == before

    # Round 2: an amendment is withdrawn, another rejected; the vote fails.
    parliament.start()
    parliament.amend("rep_2", "amend-002", "Nobody pays more.")
    parliament.moot("withdraw", "amend-002")
    parliament.amend("rep_2", "amend-003", "Only small files.")
    parliament.exchange("rep_2", "rep_3", 4, amendment_position=position("amend-003", "oppose"))
    assert parliament.moot("conclude", "amend-003")["amendment_status"] == "rejected"
    parliament.exchange("rep_3", "rep_2", 3)
    parliament.call_vote()
    failed = parliament.votes("YES", "NO", "NO")
    assert (failed["tally"]["passed"], failed["status"]) == (False, "debate")
    check_sound(parliament)

    # Round 3: it passes, and the prime minister sends it back.
    parliament.start()
    parliament.exchange("rep_1", "rep_2", 4)
    parliament.call_vote()
    assert parliament.votes("YES", "YES", "NO")["status"] == "pm_review"
    guidance = ("--reason", "Old clients break.", "--guidance", "Say how old clients go on.")
    assert parliament.moot("decide", "veto", *guidance, **people)["status"] == "debate"
    assert parliament.moot("status")["guidance"] == "Say how old clients go on."
    check_sound(parliament)

    # Round 4: passed and approved.
    parliament.start()
    parliament.draft(3, implementation="Old clients send whole files for a year.")
    parliament.call_vote()
    assert parliament.votes("YES", "YES", "NO")["tally"]["tally"] == {"yes": 2, "no": 1, "total": 3}
    done = parliament.moot("decide", "approve", "--reason", "It does what we need.", **people)
    assert (done["status"], done["outcome"]) == ("synthesis", "approved")

    page = str(tmp_path / "page.html")
    final = parliament.moot("final", "-o", page)
    assert final["status"] == "complete"
    text = (parliament.project.root / FOLDER / "final-bill.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        *("## 1. Problem", "## 2. Scope", "## 3. Solution", "## 4. Implementation"),
        *("## 5. Deliberation Record", "## 6. Dissenting Opinions", "## 7. Vote Record"),
    ]
    assert "veto by operator: Old clients break. Guidance: Say how old clients go on." in text
    assert "approve by operator: It does what we need." in text
    assert "Origin" not in text
    assert "<svg" in Path(page).read_text("utf-8")
    check_sound(parliament)
    session = parliament.document("session.json")
    assert (session["status"], session["current_round"]) == ("complete", 4)
    rows = parliament.document("round-summaries.json")
    assert [row["round"] for row in rows] == [1, 2, 3, 4]
    assert [row["vote_result"] is None for row in rows] == [True, False, False, False]
    assert parliament.project.ok("verify")["verdict"] in ("valid", "unproven")


def _call_vote() -> dict[str, Any]:
    content = {"ruling_type": "order", "ruling": "Vote.", "target": None, "action": "call_vote"}
    return {"type": "SPEAKER_RULING", "from": "speaker", "content": content}


def test_a_seat_without_an_agent_signs_with_a_key_of_its_own(parliament: ParliamentSession) -> None:
    agents = {one["agent"] for one in parliament.project.ok("agent", "list")["agents"]}
    seats = parliament.moot("status")["seats"]
    assert {one["agent"] for one in seats} <= agents
    parliament.statement("rep_1")
    log = parliament.project.ok(
        "ledger", "log", f"parliament/{parliament.moot('status')['parliament_id']}"
    )
    assert seats[0]["agent"] in json.dumps(log)


def test_a_bound_seat_signs_with_its_agents_key(project: Project) -> None:
    reps = (REPS[0] + "@amber-otter", *REPS[1:])
    parliament = opened(project, *reps)
    assert parliament.moot("status")["seats"][0]["agent"] == "amber-otter"
    parliament.statement("rep_1")
    one = parliament.file({"type": "MOTION", "from": "rep_1", "content": {}})
    assert parliament.refused("submit", one, MOOT_AGENT="teal-crane") == "not_you"


@requirement("PAR-002", "PAR-058", "PAR-069")
def test_an_agent_speaks_neither_for_the_speaker_nor_for_another_seat(
    parliament: ParliamentSession,
) -> None:
    parliament.to_debate()
    before = files_of(parliament)
    seat = {one["id"]: one["agent"] for one in parliament.moot("status")["seats"]}
    ruling = parliament.file(_call_vote())
    assert parliament.refused("submit", ruling, MOOT_AGENT=seat["rep_1"]) == "not_you"
    assert parliament.refused("tally", MOOT_AGENT=seat["rep_1"]) == "not_you"
    foreign = parliament.file({"type": "MOTION", "from": "rep_2", "content": {}})
    assert parliament.refused("submit", foreign, MOOT_AGENT=seat["rep_1"]) == "not_you"
    assert files_of(parliament) == before


@requirement("PAR-074")
def test_only_a_person_is_prime_minister(
    parliament: ParliamentSession, people: dict[str, str]
) -> None:
    seat = parliament.moot("status")["seats"][0]["agent"]
    words = ("opening_guidance", "--reason", "r", "--guidance", "rep_2 should draft this.")
    before = files_of(parliament)
    acting = {"MOOT_AGENT": seat, **people}
    assert parliament.refused("decide", *words, **acting) == "human_key_required"
    assert parliament.refused("decide", *words) == "human_key_required"
    assert files_of(parliament) == before
    parliament.moot("decide", *words, **people)
    for one in MOTIVES:
        parliament.statement(one)
    assert parliament.moot("drafter")["drafter"] == "rep_2"


@requirement("PAR-074")
def test_what_the_rules_refuse_is_said_before_a_person_is_asked_for_a_key(
    parliament: ParliamentSession, people: dict[str, str]
) -> None:
    """Nobody is here to unlock a key: whatever is said was found without it."""
    del people
    before = files_of(parliament)
    assert parliament.refused("decide", "approve", "--reason", "Good.") == "wrong_phase"
    done = parliament.project.json("parliament", "decide", FOLDER, "approve", "--reason", "Good.")
    (line,) = commands_in(done.error["hint"])
    assert parliament.project.run(*shlex.split(line)[1:]).code == 0, line
    assert parliament.refused("decide", "veto", "--reason", " ") == "guidance_required"
    assert files_of(parliament) == before


@requirement("PAR-081", "PAR-082", "PAR-084")
def test_what_the_clerk_fills_in_is_filled_in(parliament: ParliamentSession) -> None:
    document = json.loads((parliament.project.root / parliament.file("{}")).read_text())
    assert document == {}
    said = parliament.statement("rep_1")["messages"]
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
    parliament: ParliamentSession, text: str, code: str
) -> None:
    before = files_of(parliament)
    assert parliament.refused("submit", parliament.file(text)) == code
    assert files_of(parliament) == before


def test_two_malformed_replies_expel_a_seat(parliament: ParliamentSession) -> None:
    seat = parliament.moot("status")["seats"][0]["agent"]
    for _ in range(2):
        assert parliament.refused("submit", parliament.file("{"), MOOT_AGENT=seat) == "not_json"
    assert parliament.moot("status")["seats"][0]["expelled"] is True
    (said,) = parliament.document("ledger.json")["messages"]
    assert said["from"] == "speaker"
    check_sound(parliament)


@requirement("PAR-107")
def test_a_text_over_the_budget_is_cut_and_kept(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    question = parliament.ask("rep_1", "rep_2")
    long = " ".join(f"Sentence {number} is here." for number in range(1, 10))
    said = parliament.answer("rep_2", "rep_1", question, answer=long)["messages"]
    assert said[0]["content"]["answer"].count(".") == 6
    assert [one["type"] for one in said] == ["ANSWER", "SPEAKER_RULING"]
    check_sound(parliament)


@requirement("PAR-026", "PAR-041")
def test_a_motion_becomes_a_message_of_its_own(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    name = parliament.ask(
        "rep_1", "rep_2", motion={"motion_type": "call_vote", "reason": "Enough."}
    )
    question, motion = parliament.document("ledger.json")["messages"][-2:]
    assert (question["id"], motion["in_reply_to"]) == (name, name)
    assert (motion["type"], motion["from"], motion["round"]) == ("MOTION", "rep_1", 1)
    assert "motion" not in question
    check_sound(parliament)


def test_what_is_not_there_is_said(parliament: ParliamentSession) -> None:
    assert parliament.refused("context", "--seat", "rep_9") == "unknown_seat"
    parliament.to_debate()
    parliament.start()
    for word in ("withdraw", "incorporate", "conclude"):
        assert parliament.refused(word, "amend-009") == "unknown_amendment"


def test_the_drafter_words_a_modification_with_its_own_key(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.amend("rep_3", "amend-001", "Parts of 5 MB.", action="modify")
    parliament.exchange("rep_3", "rep_1", 4, amendment_position=position("amend-001", "endorse"))
    seat = {one["id"]: one["agent"] for one in parliament.moot("status")["seats"]}
    text = parliament.file({"sections": {"solution": "Send parts of 5 MB and join them."}})
    words = ("incorporate", "amend-001")
    assert parliament.refused(*words, "--text", text, MOOT_AGENT=seat["rep_2"]) == "not_the_drafter"
    assert parliament.refused(*words) == "draft_required"
    done = parliament.moot(*words, "--text", text, MOOT_AGENT=seat["rep_1"])
    assert done["changes"] == [
        "solution",
        "  - Send parts and join them.",
        "  + Send parts of 5 MB and join them.",
    ]
    check_sound(parliament)
    first, second = parliament.moot("history")["versions"]
    assert (first["version"], first["by"], second["version"]) == (1, "rep_1", 2)
    assert second["changes"] == done["changes"]


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


def test_two_sessions_of_a_day_have_two_numbers(parliament: ParliamentSession) -> None:
    words = [*NEW, *(word for rep in REPS for word in ("--rep", rep))]
    words[2] = "second"
    assert parliament.project.ok(*words)["parliament_id"].endswith("-002")


def test_sessions_called_at_once_have_numbers_of_their_own(parliament: ParliamentSession) -> None:
    """Real processes: the second one takes the next number, with all its seats."""
    words = [*NEW, *(word for rep in REPS for word in ("--rep", rep))]
    running = []
    for folder in ("second", "third", "fourth"):
        words[2] = folder
        running.append(
            subprocess.Popen(
                [*MOOT, *words],
                cwd=parliament.project.root,
                env=parliament.project.env,
                stdout=subprocess.DEVNULL,
            )
        )
    assert [one.wait(timeout=120) for one in running] == [0, 0, 0]
    folders = (FOLDER, "second", "third", "fourth")
    texts = [(parliament.project.root / one / "session.json").read_text() for one in folders]
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


def test_every_type_of_message_has_a_template(parliament: ParliamentSession) -> None:
    from moot.core.findings import select_errors
    from moot.protocols.parliament.messages.contents import Kind
    from moot.protocols.parliament.messages.message import response_findings

    for kind in Kind:
        said = parliament.project.ok("parliament", "template", kind.lower())["message"]
        assert said["type"] == kind
        assert select_errors(response_findings(said)) == ()
        text = parliament.project.run("parliament", "template", kind).out
        assert json.loads(text) == said
    assert parliament.project.refused("parliament", "template", "SPEECH") == ("unknown_type", 1)


def test_anyone_who_follows_what_is_next_gets_to_the_end(
    parliament: ParliamentSession, people: dict[str, str]
) -> None:
    """Every step that is due is told with the command that does it."""

    def ways() -> list[str]:
        lines = parliament.project.run("parliament", "next", FOLDER).out.splitlines()
        return [line.removeprefix("try: moot parliament ") for line in lines if "try: " in line]

    assert ways() == [f'statement {FOLDER} --approach "..." --principle "..." --from SEAT']
    for seat in MOTIVES:
        parliament.statement(seat)
    assert ways() == [f"drafter {FOLDER}"]
    parliament.moot("drafter")
    assert ways()[0].startswith(f"draft {FOLDER} --title")
    parliament.draft(1)
    assert ways()[0] == f"rule {FOLDER} round_start"
    parliament.start()
    assert ways()[0].startswith(f"ask {FOLDER} SEAT")
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(sender, to)
    parliament.call_vote()
    assert ways()[0].startswith(f"vote {FOLDER} YES --reason")
    for seat in MOTIVES:
        parliament.vote(seat, "YES")
    assert ways() == [f"tally {FOLDER}"]
    parliament.moot("tally")
    others = "or veto --guidance TEXT, or amend_and_approve --text FILE"
    assert ways() == [f'decide {FOLDER} approve --reason "..." ({others})']
    parliament.moot("decide", "approve", "--reason", "Good.", **people)
    assert ways() == [f"final {FOLDER}"]
    parliament.moot("final")
    assert ways() == []


@requirement("PAR-105", "PAR-128")
def test_a_participant_is_given_its_window(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.ask("rep_1", "rep_2")
    given = parliament.moot("context", "--seat", "rep_2")
    assert given["you"]["response_budget"] == 6
    assert [one["from"] for one in given["you"]["questions"]] == ["rep_1"]
    assert given["session"]["status"] == "debate"


def test_a_person_may_amend_and_approve(
    parliament: ParliamentSession, people: dict[str, str]
) -> None:
    parliament.to_debate()
    parliament.start()
    for to, sender in (("rep_1", "rep_2"), ("rep_2", "rep_3"), ("rep_3", "rep_1")):
        parliament.exchange(sender, to)
    parliament.call_vote()
    parliament.votes("YES", "YES", "YES")
    text = parliament.file({"sections": {"solution": "Send parts. Keep them for a week."}})
    done = parliament.moot(
        "decide", "amend_and_approve", "--reason", "Keep them.", "--text", text, **people
    )
    assert (done["outcome"], done["bill_version"]) == ("approved_with_amendments", 2)
    assert parliament.document("bill.json")["sections"]["solution"].endswith("for a week.")
    check_sound(parliament)
    parliament.moot("final")
    text = (parliament.project.root / FOLDER / "final-bill.md").read_text()
    assert "Status: Approved with Amendments" in text


def test_a_better_told_summary_replaces_the_clerks(parliament: ParliamentSession) -> None:
    parliament.to_debate()
    parliament.start()
    parliament.exchange("rep_1", "rep_2")
    parliament.end()
    (row,) = parliament.document("round-summaries.json")
    row["summary"] = "They spoke of lost parts. Nobody gave way."
    parliament.moot("summarize", parliament.file(row))
    assert parliament.document("round-summaries.json") == [row]
    check_sound(parliament)


def test_an_undecided_session_has_no_final_document(
    parliament: ParliamentSession, tmp_path: Path
) -> None:
    assert parliament.refused("final") == "not_decided"
    page = tmp_path / "so-far.html"
    said = parliament.moot("final", "-o", str(page))
    assert (said["status"], said["decided"]) == ("opening_statements", False)
    assert "NOT DECIDED" in page.read_text("utf-8")
    due = f"`moot parliament next {FOLDER}` says what is due"
    lines = parliament.project.run("parliament", "final", FOLDER, "-o", str(page)).out.splitlines()
    assert lines == [
        f"not decided: it is in opening_statements; {due}",
        f"written: {page}",
    ]
