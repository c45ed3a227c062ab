"""A parliament with participants in its seats: run to its vote, and on after a person's word."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import pytest

from moot.agents.brief import AuthorTrust
from moot.agents.outcome import CallEnding, NoAnswer, StopReason
from moot.agents.runner import Runner
from moot.agents.scripted import RuleParticipant
from moot.api.parliaments.convening import SeatRequest, convene
from moot.api.parliaments.session import ParliamentSession
from moot.api.runs.parliament import RunnableParliament
from moot.api.runs.turns import NoRunRecord
from moot.core.findings import Finding
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import DecisionResult, Stage
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.workspace.workspace import Workspace
from tests.participants.scripted_participants import Voice
from tests.project import Project

MOTIVES = ("speed", "cost", "safety", "quality", "reach", "taste", "size", "care", "luck")


def session(space: Workspace, seats: int, rounds: int = 3) -> ParliamentSession:
    plans = tuple(SeatRequest(f"Rep. {motive}", (motive,)) for motive in MOTIVES[:seats])
    folder = space.root / "chamber"
    return convene(space, folder, "Large uploads fail.", MOTIVES[:seats], plans, rounds)


def run(room: ParliamentSession, seats: dict[str, Any]) -> Any:
    runnable = RunnableParliament(room, NoRunRecord())
    return Runner(runnable, seats, room.workspace.engine.clock).run()


def seated(room: ParliamentSession, *voices: str) -> dict[str, Any]:
    names = [seat.agent for seat in room.state.seats_in_order()]
    return {name: RuleParticipant(voice) for name, voice in zip(names, voices, strict=True)}


@pytest.mark.requirement("AGT-064")
def test_nine_scripted_seats_go_through_six_rounds(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 9, rounds=6)
        ended = run(room, seated(room, *["reject"] * 9))
        state = room.state
    assert ended.stop is StopReason.SETTLED, ended
    assert (state.status, state.round.number) == (SessionStatus.COMPLETE, 6)
    assert len(state.vote_history) >= 1
    assert not state.vote_history[-1].passed
    assert not any(seat.expelled for seat in state.seats_in_order())
    assert project.ok("parliament", "check", "chamber")["valid"]


@pytest.mark.requirement("AGT-064")
def test_a_bill_that_passes_waits_for_the_prime_minister(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        ended = run(room, seated(room, "approve", "approve", "reject"))
        state = room.state
    assert (ended.stop, ended.waits_for) == (StopReason.WAITING, ("prime-minister",))
    assert state.status is SessionStatus.PM_REVIEW
    assert [row.passed for row in state.vote_history] == [True]


@pytest.mark.requirement("AGT-064")
def test_a_seat_is_told_the_matter_and_others_words_as_quotes(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        name = room.state.seats["rep_2"].agent
        inner = seats[name]
        told: list[Any] = []

        def listen(brief: Any) -> dict[str, Any]:
            told.append(brief)
            said: dict[str, Any] = inner.reply(brief, 1).reply
            return said

        seats[name] = Voice(listen)
        run(room, seats)
    kinds = [brief.what for brief in told]
    assert kinds[0] == "opening_statement"
    assert kinds[-1] == "vote"
    assert "answer" in kinds
    answering = next(brief for brief in told if brief.what == "answer")
    assert answering.quotes[0].author == "the problem"
    assert "QUESTION to rep_2" in answering.quotes[-1].place
    assert answering.quotes[-1].trust is AuthorTrust.AGENT
    assert answering.view["you"] == "rep_2"
    assert list(answering.view["motives"]) == ["cost"]


@pytest.mark.requirement("AGT-065")
def test_two_malformed_replies_expel_a_seat_as_the_protocol_says(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        name = room.state.seats["rep_3"].agent
        seats[name] = Voice({"nonsense": True})
        ended = run(room, seats)
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert state.seats["rep_3"].expelled
    assert not state.seats["rep_1"].expelled
    assert state.status is SessionStatus.PM_REVIEW


@pytest.mark.requirement("AGT-065")
def test_replies_that_are_no_json_expel_a_seat_too(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        seats[room.state.seats["rep_3"].agent] = Voice(_mumble)
        ended = run(room, seats)
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert [seat.expelled for seat in state.seats_in_order()] == [False, False, True]
    assert state.status is SessionStatus.PM_REVIEW


def _mumble(_brief: Any) -> dict[str, Any]:
    why = "the reply contains no JSON object"
    found = Finding(rule="AGT-030", code="not_json", message=why, hint="send one")
    raise NoAnswer(CallEnding.MALFORMED, why, findings=(found,))


@pytest.mark.requirement("AGT-065")
def test_a_session_in_which_nobody_makes_sense_ends_without_a_bill(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 2)
        names = [seat.agent for seat in room.state.seats_in_order()]
        ended = run(room, {name: Voice(_mumble) for name in names})
        state = room.state
    assert ended.stop is StopReason.SETTLED, ended
    assert (state.status, state.bill) == (SessionStatus.COMPLETE, None)
    project.ok("parliament", "final", "chamber")
    text = (project.root / "chamber" / "final-bill.md").read_text("utf-8")
    assert "# No bill was drafted" in text
    assert "- Bill: none" in text
    assert "- Status: Not Passed" in text
    assert project.ok("parliament", "check", "chamber")["valid"]


@pytest.mark.requirement("AGT-065")
def test_a_session_without_a_bill_carries_nothing(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 2)
        names = [seat.agent for seat in room.state.seats_in_order()]
    words = [word for name in names for word in ("--participant", f"{name}=cmd:echo nonsense")]
    said = project.ok("parliament", "run", "chamber", *words)
    assert said["standing"]["state"] == "complete"
    with project.workspace() as space:
        books = space.engine.state(DECISION, stream_of(said["parliament_id"]))
    assert books.verdict is not None
    assert books.verdict.result is DecisionResult.NOT_CARRIED


@pytest.mark.requirement("AGT-065")
def test_a_seat_whose_provider_is_down_is_not_expelled(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        name = room.state.seats["rep_3"].agent
        inner = seats[name]

        def down(brief: Any) -> dict[str, Any]:
            if brief.what in ("question", "vote"):
                raise NoAnswer(CallEnding.DOWN, "503")
            said: dict[str, Any] = inner.reply(brief, 1).reply
            return said

        seats[name] = Voice(down)
        ended = run(room, seats)
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert not state.seats["rep_3"].expelled
    assert (state.vote_history[-1].yes, state.status) == (2, SessionStatus.PM_REVIEW)


@pytest.mark.requirement("AGT-065")
def test_where_the_session_needs_the_silent_seat_the_run_is_stuck_by_name(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 2)
        seats = seated(room, "approve", "approve")
        name = room.state.seats["rep_2"].agent
        seats[name] = Voice(NoAnswer(CallEnding.RATE_LIMITED, "429"))
        ended = run(room, seats)
        assert (ended.stop, ended.waits_for) == (StopReason.STUCK, (name,))
        assert "rate-limited" in ended.detail
        again = run(room, seated(room, "approve", "approve"))
        assert again.stop is StopReason.WAITING


def new(project: Project) -> list[str]:
    words = ("parliament", "new", "p", "--problem", "Why?", "--issue", "speed", "--issue", "cost")
    reps = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok(*words, *reps)
    voices = ("amber-otter=rules:approve", "teal-crane=rules:approve")
    return [word for voice in voices for word in ("--participant", voice)]


@pytest.mark.requirement("AGT-064")
def test_a_run_is_on_record_with_its_costs_and_its_result(project: Project) -> None:
    data = project.ok("parliament", "run", "p", *new(project))
    assert (data["stop"], data["standing"]["state"]) == ("waiting", "pm_review")
    with project.workspace() as space:
        state = space.engine.state(DECISION, stream_of(data["parliament_id"]))
    assert state.stage is Stage.WAITING
    assert state.verdict is not None
    assert state.verdict.result is DecisionResult.CARRIED
    assert state.cost.calls == data["turns"]
    assert project.ok("verify")["verdict"] == "valid"
    done = project.run("parliament", "run", "p", "--participant", "amber-otter=rules:approve")
    assert "waiting for you: moot parliament decide p" in done.out


def test_only_those_with_a_seat_take_part(project: Project) -> None:
    new(project)
    words = ("parliament", "run", "p", "--participant", "coral-finch=rules:approve")
    assert project.refused(*words) == ("unknown_seat", 1)


def test_a_seat_is_named_by_its_id_or_by_its_agent(project: Project) -> None:
    new(project)
    voices = ("rep_1=rules:approve", "teal-crane=rules:approve")
    words = [word for voice in voices for word in ("--participant", voice)]
    data = project.ok("parliament", "run", "p", *words)
    assert data["standing"]["state"] == "pm_review"


@pytest.mark.parametrize(
    ("voices", "code"),
    [
        (("rep_9=rules:approve",), "unknown_seat"),
        (("rep_1=rules:approve", "amber-otter=rules:approve"), "bad_participant"),
        (("rep_1",), "bad_participant"),
        (("rules:approve",), "bad_participant"),
    ],
)
def test_who_has_no_seat_hears_which_seats_there_are(
    project: Project, voices: tuple[str, ...], code: str
) -> None:
    new(project)
    words = [word for voice in voices for word in ("--participant", voice)]
    done = project.json("parliament", "run", "p", *words)
    assert (done.error["code"], done.code) == (code, 1)
    if code == "unknown_seat":
        assert done.error["hint"] == "seats: rep_1 (amber-otter), rep_2 (teal-crane)"


@pytest.mark.requirement("AGT-078")
def test_a_question_is_argued_in_a_parliament_and_goes_on_after_a_veto(
    bare: Project, passphrase: str
) -> None:
    bare.ok("init", MOOT_PASSPHRASE_FILE=passphrase)
    words = ("ask", "Which queue?", "--with", "rules:approve,rules:approve,rules:reject")
    data = bare.ok(*words, "--chamber", "parliament", "--option", "Postgres")
    decision = data["decision"]
    assert (decision["stage"], decision["chamber"]) == ("waiting", "parliament")
    assert decision["result"]["result"] == "carried"
    assert len(decision["result"]["dissent"]) == 1
    veto = ("decide", "q-1", "veto", "--reason", "cheaper, please")
    after = bare.ok(*veto, MOOT_PASSPHRASE_FILE=passphrase)["decision"]
    assert (after["stage"], after["superseded_by"]) == ("arguing", None)
    assert [one["reason"] for one in after["sent_back"]] == ["cheaper, please"]
    early = ("decide", "q-1", "approve", "--reason", "after all")
    assert bare.refused(*early, MOOT_PASSPHRASE_FILE=passphrase) == ("session_goes_on", 1)
    again = bare.ok("ask", "--resume", "q-1")["decision"]
    assert again["turns"] > decision["turns"]
    approve = ("decide", "q-1", "approve", "--reason", "good")
    final = bare.ok(*approve, MOOT_PASSPHRASE_FILE=passphrase)["decision"]
    assert final["stage"] == "approved"
    assert bare.ok("parliament", "check", ".moot/decisions/q-1")["valid"]


@pytest.mark.requirement("AGT-077")
@pytest.mark.parametrize(
    "text", ["Postgres, with a limit.\n", '{"sections": {"solution": "Postgres, with a limit."}}']
)
def test_an_amended_bill_takes_the_persons_text(bare: Project, passphrase: str, text: str) -> None:
    bare.ok("init", MOOT_PASSPHRASE_FILE=passphrase)
    words = ("ask", "Which queue?", "--with", "rules:approve,rules:approve")
    bare.ok(*words, "--chamber", "parliament")
    (bare.root / "t.md").write_text(text, encoding="utf-8")
    amend = ("decide", "q-1", "amend", "--reason", "A limit.", "--text", "t.md")
    data = bare.ok(*amend, MOOT_PASSPHRASE_FILE=passphrase)["decision"]
    assert data["stage"] == "amended"
    bill = json.loads((bare.root / ".moot/decisions/q-1/bill.json").read_text("utf-8"))
    assert (bill["version"], bill["sections"]["solution"]) == (2, "Postgres, with a limit.")


@pytest.mark.requirement("AGT-030")
def test_a_real_program_sits_in_a_parliament(project: Project) -> None:
    """One program for every kind of message, by the schema it is told."""
    words = new(project)
    program = project.root / "seat.py"
    program.write_text(
        "import json, sys\n"
        "told = json.load(sys.stdin)\n"
        "scores = dict.fromkeys(told['view']['motives'], 5)\n"
        "say = {\n"
        " 'opening_statement': {'briefing': {'facts': [], 'constraints': [], 'precedents': [],\n"
        "   'open_questions': []}, 'direction': {'approach': 'One. Two. Three.',\n"
        "   'principle': 'p', 'trade_offs': 't'}},\n"
        " 'question': {'to': 'rep_2', 'topic': 'cost', 'question': 'Why?',\n"
        "   'motive_context': 'm'},\n"
        " 'answer': {'answer': 'So.', 'concessions': '', 'stance': 'maintain',\n"
        "   'motive_scores': scores},\n"
        " 'bill_draft': {'title': 'T', 'summary': 'S', 'sections': {'problem': 'P', 'scope':\n"
        "   {'in_scope': [], 'out_of_scope': [], 'assumptions': []}, 'solution': 'S',\n"
        "   'implementation': 'I'}},\n"
        " 'vote': {'vote': 'YES', 'reasoning': 'r', 'motive_scores': scores,\n"
        "   'reservations': '', 'conditions': []}}\n"
        "print(json.dumps(say[told['what']]))\n",
        encoding="utf-8",
    )
    command = f"cmd:{shlex.quote(sys.executable)} -S {shlex.quote(str(program))}"
    words = ["--participant", f"amber-otter={command}", *words[2:]]
    data = project.ok("parliament", "run", "p", *words)
    assert data["standing"]["state"] == "pm_review", json.dumps(data)
