"""A parliament: called, argued, amended, voted on, decided by a person; its files and its runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.cli.parliament_session import SECTIONS, STATEMENT
from tests.scenarios.world import World, story

FOLDER = Path("uploads")
SEATS = ("Rep. Swift:speed@amber-otter", "Rep. Thrift:cost@teal-crane")
AGENTS = {"rep_1": "amber-otter", "rep_2": "teal-crane"}
SCORES = {"rep_1": {"speed": 4}, "rep_2": {"cost": 4}}


class Parliament:
    """One session in a world: short words for its messages."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = world.project.root / FOLDER
        self.called = world.do(
            "parliament.new",
            folder=FOLDER,
            problem="Large uploads fail.",
            issues=["speed", "cost"],
            seats=SEATS,
        )

    def file(self, document: Any) -> Path:
        file = self.world.project.root / "message.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        return file

    def submit(self, kind: str, sender: str, content: Any, **more: Any) -> Any:
        document = {"type": kind, "from": sender, **more, "content": content}
        message = self.file(document)
        agent = AGENTS.get(sender)
        return self.world.do("parliament.submit", agent, folder=FOLDER, message=message)

    def do(self, operation: str, **arguments: Any) -> Any:
        return self.world.do(f"parliament.{operation}", folder=FOLDER, **arguments)

    def refuse(self, operation: str, acting: str | None = None, **arguments: Any) -> str:
        return self.world.refuse(f"parliament.{operation}", acting, folder=FOLDER, **arguments)

    def rule(self, action: str, kind: str = "procedure") -> Any:
        content = {"ruling_type": kind, "ruling": "So be it.", "target": None, "action": action}
        return self.submit("SPEAKER_RULING", "speaker", content)

    def to_debate(self) -> None:
        for seat in SCORES:
            self.submit("OPENING_STATEMENT", seat, STATEMENT["content"])
        self.do("drafter", seat="rep_1")
        content = {"bill_version": 1, "title": "Parts", "summary": "Parts.", "sections": SECTIONS}
        self.submit("BILL_DRAFT", "rep_1", content)
        self.rule("round_start")

    def exchange(self, asker: str, asked: str, **answer: Any) -> None:
        content = {"topic": "lost parts", "question": "What then?", "motive_context": ""}
        question = self.submit("QUESTION", asker, content, to=asked)["messages"][0]["id"]
        reply = {
            "answer": "It is sent again.",
            "concessions": "",
            "stance": "maintain",
            "motive_scores": SCORES[asked],
            **answer,
        }
        self.submit("ANSWER", asked, reply, to=asker, in_reply_to=question)

    def propose(self, seat: str, name: str, text: str, action: str = "add") -> None:
        content = {
            "amendment_id": name,
            "target_section": "solution",
            "action": action,
            "description": f"{name} of {seat}",
            "rationale": "",
            "proposed_text": text,
        }
        self.submit("AMENDMENT", seat, content)

    def to_vote(self) -> None:
        self.exchange("rep_1", "rep_2")
        self.exchange("rep_2", "rep_1")
        self.rule("call_vote", "order")

    def vote(self, seat: str) -> None:
        content = {
            "vote": "YES",
            "reasoning": "It helps.",
            "motive_scores": SCORES[seat],
            "reservations": "",
            "conditions": [],
        }
        self.submit("VOTE", seat, content)

    def to_decision(self) -> None:
        self.to_debate()
        self.to_vote()
        for seat in SCORES:
            self.vote(seat)
        self.do("tally")


def position(name: str, word: str) -> dict[str, Any]:
    return {"amendment_position": {"amendment_id": name, "position": word, "reason": "So."}}


@story(
    does="parliament.new parliament.template parliament.status parliament.next parliament.submit",
    refuses="parliament.new parliament.template parliament.status parliament.submit",
)
def a_parliament_is_called_and_hears_its_first_statement(world: World) -> None:
    parliament = Parliament(world)
    called = parliament.called
    assert (called["status"], called["folder"]) == ("opening_statements", "uploads")
    assert [seat["agent"] for seat in called["seats"]] == ["amber-otter", "teal-crane"]
    again: dict[str, Any] = {"problem": "Again.", "issues": ["speed"], "seats": SEATS}
    assert parliament.refuse("new", **again) == "folder_taken"
    other = {**again, "folder": Path("other"), "issues": ["beauty"]}
    assert world.refuse("parliament.new", **other) == "issue_unassigned"
    assert not (world.project.root / "other").exists()
    unseated = {**again, "folder": Path("other"), "seats": ["Rep. Swift"]}
    assert world.refuse("parliament.new", **unseated) == "bad_seat"

    blank = world.do("parliament.template", kind="opening_statement")["message"]
    assert (blank["type"], blank["from"]) == ("OPENING_STATEMENT", "rep_1")
    assert world.refuse("parliament.template", kind="SPEECH") == "unknown_type"

    due = parliament.do("next")["due"]
    assert [(step["seat"], step["what"]) for step in due] == [
        ("rep_1", "make an opening statement"),
        ("rep_2", "make an opening statement"),
    ]
    assert parliament.refuse("submit", message=Path("none.json")) == "unreadable_file"
    statement = parliament.file({**STATEMENT, "from": "rep_2"})
    assert parliament.refuse("submit", "amber-otter", message=statement) == "not_you"
    stranger = parliament.file({**STATEMENT, "from": "rep_9"})
    assert parliament.refuse("submit", message=stranger) == "unknown_seat"

    submitted = parliament.submit("OPENING_STATEMENT", "rep_1", STATEMENT["content"])
    assert [message["from"] for message in submitted["messages"]] == ["rep_1"]
    shown = parliament.do("status")
    assert (shown["status"], shown["findings"]) == ("opening_statements", [])
    assert world.refuse("parliament.status", folder=Path("nowhere")) == "no_session"


@story(
    does="parliament.new parliament.submit parliament.drafter parliament.incorporate"
    " parliament.withdraw parliament.conclude parliament.history parliament.context",
    refuses="parliament.drafter parliament.incorporate parliament.withdraw parliament.conclude"
    " parliament.context",
)
def amendments_are_worked_in_withdrawn_or_rejected(world: World) -> None:
    parliament = Parliament(world)
    assert parliament.refuse("drafter", "amber-otter", seat="rep_1") == "not_you"
    assert parliament.refuse("drafter", seat="rep_1") == "wrong_phase"
    parliament.to_debate()
    given = parliament.do("context", seat="rep_2")
    assert (given["you"]["agent_id"], given["session"]["bill_version"]) == ("rep_2", 1)
    assert parliament.refuse("context", seat="rep_9") == "unknown_seat"
    parliament.propose("rep_2", "amend-001", "Every part carries its digest.")
    assert parliament.refuse("incorporate", amendment="amend-001") == "not_endorsed"
    parliament.exchange("rep_2", "rep_1", **position("amend-001", "endorse"))
    incorporated = parliament.do("incorporate", amendment="amend-001")
    assert incorporated["bill_version"] == 2
    assert incorporated["changes"] == ["solution", "  + Every part carries its digest."]

    parliament.propose("rep_2", "amend-002", "Nobody pays more.")
    assert parliament.refuse("withdraw", "amber-otter", amendment="amend-002") == "not_you"
    parliament.do("withdraw", amendment="amend-002")
    parliament.propose("rep_2", "amend-003", "Only small files.")
    parliament.exchange("rep_2", "rep_1", **position("amend-003", "oppose"))
    assert parliament.refuse("conclude", "amber-otter", amendment="amend-003") == "not_you"
    concluded = parliament.do("conclude", amendment="amend-003")
    assert concluded["amendment_status"] == "rejected"

    versions = parliament.do("history")["versions"]
    assert [row["version"] for row in versions] == [1, 2]
    assert versions[1]["changes"] == incorporated["changes"]


@story(
    does="parliament.new parliament.submit parliament.drafter parliament.tally parliament.decide"
    " parliament.summarize parliament.final",
    refuses="parliament.tally parliament.decide parliament.summarize parliament.final",
)
def a_vote_is_counted_and_a_person_decides(world: World) -> None:
    parliament = Parliament(world)
    approve = {"decision": "approve", "reason": "It helps."}
    assert parliament.refuse("tally") == "wrong_phase"
    parliament.to_debate()
    parliament.rule("round_end")
    summary = json.loads((parliament.folder / "round-summaries.json").read_text())[0]
    better = parliament.file({**summary, "summary": "They argued. Parts get lost. Nobody moved."})
    assert parliament.refuse("summarize", "teal-crane", summary=better) == "not_you"
    assert parliament.do("summarize", summary=better)["summary"]["round"] == 1
    parliament.rule("round_start")
    parliament.to_vote()
    parliament.vote("rep_1")
    assert parliament.refuse("tally", "amber-otter", close=True) == "not_you"
    assert parliament.refuse("decide", **approve) == "wrong_phase"
    counted = parliament.do("tally", close=True)
    assert (counted["tally"]["tally"], counted["status"]) == (
        {"yes": 1, "no": 0, "total": 2},
        "debate",
    )
    parliament.rule("round_start")
    parliament.to_vote()
    for seat in SCORES:
        parliament.vote(seat)
    assert parliament.do("tally")["status"] == "pm_review"
    assert parliament.refuse("final") == "not_decided"
    assert parliament.refuse("decide", "amber-otter", **approve) == "human_key_required"
    assert parliament.refuse("decide", **approve) == "human_key_required"
    assert parliament.refuse("decide", **approve, sha256="0" * 64) == "busy"
    ruling = world.as_person("parliament.decide", folder=FOLDER, **approve)
    assert (ruling["outcome"], ruling["about"]) == ("approved", [])
    page = world.project.root / "page.md"
    final = parliament.do("final", file=page)
    assert (final["status"], final["decided"]) == ("complete", True)
    assert page.exists()
    assert (parliament.folder / "final-bill.md").exists()


@story(
    does="parliament.new parliament.submit parliament.drafter parliament.tally parliament.check"
    " parliament.export parliament.import",
    refuses="parliament.check parliament.export parliament.import",
)
def files_are_checked_written_again_and_taken_in(world: World) -> None:
    parliament = Parliament(world)
    parliament.to_decision()
    copy = world.project.root / "copy"
    shutil.copytree(parliament.folder, copy)
    assert parliament.do("check", since=copy) == {"valid": True, "findings": []}
    assert world.refuse("parliament.check", folder=Path("nowhere")) == "no_session"

    ledger = parliament.folder / "ledger.json"
    ledger.write_text(ledger.read_text().replace("It helps.", "It hurts."))
    checked = parliament.do("check")
    assert (checked["valid"], checked["findings"][0]["code"]) == (False, "not_recorded")
    exported = parliament.do("export")
    assert exported["put_aside"] == ["ledger.json.changed-1"]
    assert parliament.do("check")["valid"]
    assert parliament.refuse("export", parliament_id="parl-1") == "bad_id"

    assert world.refuse("parliament.import", "amber-otter", folder=Path("copy")) == "not_you"
    assert world.refuse("parliament.import", folder=Path("copy")) == "already_convened"
    imported = world.do(
        "parliament.import",
        folder=Path("copy"),
        agents={"rep_1": "amber-otter"},
        parliament_id="parl-20260210-007",
    )
    assert (imported["parliament_id"], imported["seats"]["rep_1"]) == (
        "parl-20260210-007",
        "amber-otter",
    )


@story(
    does="parliament.new parliament.say parliament.status parliament.drafter parliament.withdraw"
    " parliament.tally",
    refuses="parliament.say",
)
def a_session_is_held_in_few_words(world: World) -> None:
    parliament = Parliament(world)
    session = Path(parliament.called["parliament_id"])

    def say(form: str, sender: str | None = None, **words: Any) -> Any:
        named = {} if sender is None else {"sender": sender}
        return parliament.do("say", form=form, words=words, **named)["messages"][0]

    def refuse(form: str, sender: str | None = None, **words: Any) -> str:
        named = {} if sender is None else {"sender": sender}
        return parliament.refuse("say", form=form, words=words, **named)

    approach = {"approach": "Cut. Send. Check.", "principle": "Small steps."}
    assert refuse("statement", **approach) == "seat_required"
    assert refuse("statement", "rep_9", **approach) == "unknown_seat"
    for seat in SCORES:
        say("statement", seat, **approach, facts=["Files are large."])
    parliament.do("drafter", seat="rep_1")
    assert refuse("draft", "rep_1", title="Parts") == "blank_text"
    say("draft", "rep_1", title="Parts", problem="Uploads fail.", solution="Send parts.")
    say("rule", action="round_start")
    assert refuse("rule", action="quiet") == "target_required"

    words = {"to": "rep_2", "question": "What does it cost?"}
    mine = {"folder": session, "form": "ask", "words": words}
    asked = world.do("parliament.say", "amber-otter", **mine)["messages"][0]
    assert (asked["from"], asked["content"]["topic"]) == ("rep_1", "What does it cost?")
    assert refuse("answer", "rep_2", answer="Little.") == "scores_required"
    assert refuse("answer", "rep_2", answer="Little.", scores=["cost=9"]) == "out_of_range"
    answered = say("answer", "rep_2", answer="Little.", scores=["cost=4"])
    assert (answered["to"], answered["in_reply_to"]) == ("rep_1", asked["id"])
    assert refuse("answer", "rep_2", answer="Again.") == "no_open_question"

    first = say("amend", "rep_2", action="add", section="solution", text="With digests.")
    assert first["content"]["amendment_id"] == "amend-001"
    say("ask", "rep_2", to="rep_1", question="Do you endorse amend-001?")
    say("ask", "rep_2", to="rep_1", question="Is it quick?")
    assert refuse("answer", "rep_1", answer="Yes.", scores=["4"]) == "question_required"
    endorsed = say("endorse", "rep_1", amendment="amend-001", reason="Cheap.", scores=["4"])
    assert endorsed["content"]["amendment_position"]["position"] == "endorse"
    say("answer", "rep_1", answer="It is.")
    again = {"action": "add", "section": "implementation", "text": "In June."}
    say("amend", "rep_2", **again)
    world.do("parliament.withdraw", "rep_2", folder=session, amendment="amend-002")

    say("motion", "rep_2", motion="call_vote", reason="Enough.")
    say("rule", action="call_vote")
    assert refuse("vote", "rep_1", vote="YES", reason=" ") == "blank_text"
    say("vote", "rep_1", vote="YES", reason="It helps.")
    voted = say("vote", "rep_2", vote="NO", reason="Dear.", conditions=["Half of it"])
    assert voted["content"]["motive_scores"] == {"cost": 4}
    assert parliament.do("tally")["tally"]["tally"] == {"yes": 1, "no": 1, "total": 2}
    assert world.do("parliament.status", folder=session)["seats"][1]["expelled"] is False


@story(does="parliament.new parliament.run parliament.status", refuses="parliament.run")
def participants_take_the_seats(world: World) -> None:
    parliament = Parliament(world)
    assert parliament.refuse("run", participants=["rep_9=rules:approve"]) == "unknown_seat"
    everyone = [f"{seat}=rules:approve" for seat in SCORES]
    assert parliament.refuse("run", "amber-otter", participants=everyone) == "not_you"
    finished = parliament.do("run", participants=everyone)
    assert (finished["stop"], finished["standing"]["state"]) == ("waiting", "pm_review")
    assert parliament.do("status")["vote_history"][0]["passed"]
