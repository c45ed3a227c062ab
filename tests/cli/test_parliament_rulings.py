"""A person's ruling on what a parliament argued is one act in both records, by any command."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from moot.agents.runner import Runner
from moot.agents.scripted import RuleParticipant
from moot.api.parliaments.incoming import merge_into_bill
from moot.api.parliaments.session import ParliamentSession
from moot.api.runs.parliament import RunnableParliament
from moot.api.runs.turns import NoRunRecord
from moot.keys.folder import KeyFolder, Passphrase
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import Veto
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import Stage
from moot.protocols.parliament.commands import Decide
from moot.protocols.parliament.messages.contents import SessionStatus
from moot.workspace.workspace import Workspace
from tests.project import MOOT, Project

VOICES = "rules:approve,rules:approve,rules:reject"
FOLDER = ".moot/decisions/q-1"
WHY = ("--reason", "It is cheap.")
BY_ID = ("decide", "q-1")
BY_FOLDER = ("parliament", "decide", FOLDER)
VETO = ("veto", *WHY, "--guidance", "Cheaper.")


@pytest.fixture
def asked(bare: Project, people: dict[str, str]) -> Project:
    """A parliament whose vote waits for a person."""
    bare.init(**people)
    data = bare.ok("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
    assert data["decision"]["stage"] == "waiting"
    return bare


def standing(project: Project) -> tuple[str, str, str | None]:
    """Where the decision stands, where the session stands, and how that ended."""
    with project.workspace() as space:
        state = space.engine.state(DECISION, stream_of("q-1"))
        held = ParliamentSession.open(space, project.root / FOLDER).state
    return state.stage.value, str(held.status), str(held.outcome) if held.outcome else None


def events(project: Project) -> int:
    with project.workspace() as space, space.store.read() as view:
        return view.count_streams_and_events()[1]


def waits(project: Project) -> list[tuple[str, str]]:
    return [(due["who"], due["what"]) for due in project.ok("agenda")["due"]]


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("words", [BY_ID, BY_FOLDER])
def test_an_approval_stands_in_both_records_by_either_command(
    asked: Project, people: dict[str, str], words: tuple[str, ...]
) -> None:
    asked.ok(*words, "approve", *WHY, **people)
    assert standing(asked) == ("approved", "complete", "approved")
    assert waits(asked) == []
    asked.ok("receipt", "q-1", "-o", "r.json")
    said = json.loads((asked.root / "r.json").read_text("utf-8"))["says"]
    assert (said["stage"], said["word"]["reason"]) == ("approved", "It is cheap.")
    assert asked.ok("verify", "r.json")["verdict"] == "valid"
    assert asked.ok("parliament", "check", FOLDER)["valid"]


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("first", [BY_ID, BY_FOLDER])
@pytest.mark.parametrize("second", [BY_ID, BY_FOLDER])
@pytest.mark.parametrize("word", ["approve", "veto"])
def test_once_spoken_no_other_word_passes_by_either_command(
    asked: Project,
    people: dict[str, str],
    first: tuple[str, ...],
    second: tuple[str, ...],
    word: str,
) -> None:
    asked.ok(*first, "approve", *WHY, **people)
    before = events(asked)
    more = ("--guidance", "No.") if word == "veto" and second is BY_FOLDER else ()
    assert asked.refused(*second, word, *WHY, *more, **people) == ("decided", 1)
    assert events(asked) == before
    assert standing(asked) == ("approved", "complete", "approved")


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize(
    "words", [(*BY_ID, "veto", *WHY), (*BY_FOLDER, *VETO, "--extend-rounds", "1")]
)
def test_a_veto_sends_it_back_in_both_records(
    asked: Project, people: dict[str, str], words: tuple[str, ...]
) -> None:
    asked.ok(*words, **people)
    assert standing(asked) == ("arguing", "debate", None)
    assert "decide" not in [what for _, what in waits(asked)]
    asked.ok("receipt", "q-1", "-o", "r.md")
    page = (asked.root / "r.md").read_text("utf-8")
    assert "WAITING" not in page
    assert "It is cheap." in page
    again = asked.ok("ask", "--resume", "q-1")["decision"]
    assert (again["stage"], again["result"]["result"]) == ("waiting", "carried")
    asked.ok(*BY_FOLDER, "approve", *WHY, **people)
    assert standing(asked) == ("approved", "complete", "approved")


@pytest.mark.requirement("DEC-028")
def test_a_veto_without_a_round_left_ends_both(asked: Project, people: dict[str, str]) -> None:
    for _ in range(10):
        asked.ok(*BY_FOLDER, *VETO, **people)
        if standing(asked)[0] == "vetoed":
            break
        asked.ok("ask", "--resume", "q-1")
    assert standing(asked) == ("vetoed", "complete", "vetoed")
    assert asked.refused(*BY_ID, "approve", *WHY, **people) == ("decided", 1)
    assert asked.refused(*BY_FOLDER, "approve", *WHY, **people) == ("decided", 1)
    follower = asked.ok(*BY_ID, "veto", *WHY, **people)["decision"]["superseded_by"]
    assert follower == "q-2"


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("by_folder", [False, True])
def test_an_amendment_stands_in_both_with_its_text(
    asked: Project, people: dict[str, str], by_folder: bool
) -> None:
    text = '{"sections": {"solution": "Postgres, with a limit."}}'
    (asked.root / "t.json").write_text(text, encoding="utf-8")
    words = (*BY_FOLDER, "amend_and_approve") if by_folder else (*BY_ID, "amend")
    asked.ok(*words, *WHY, "--text", "t.json", **people)
    assert standing(asked) == ("amended", "complete", "approved_with_amendments")
    asked.ok("receipt", "q-1", "-o", "r.json")
    said = json.loads((asked.root / "r.json").read_text("utf-8"))["says"]
    assert "Postgres, with a limit." in said["word"]["text"]["text"]
    assert "Postgres, with a limit." in said["argument"]["text"]


@pytest.mark.requirement("DEC-028")
def test_a_message_of_the_prime_minister_is_the_same_word(
    asked: Project, people: dict[str, str]
) -> None:
    content = {"decision": "approve", "reason": "It is cheap.", "guidance": ""}
    message = {"type": "PM_DECISION", "from": "prime_minister", "content": content}
    (asked.root / "word.json").write_text(json.dumps(message), encoding="utf-8")
    asked.ok("parliament", "submit", FOLDER, "word.json", **people)
    assert standing(asked) == ("approved", "complete", "approved")


@pytest.mark.requirement("DEC-028")
def test_what_one_record_refuses_is_in_neither(asked: Project, people: dict[str, str]) -> None:
    before = events(asked)
    long = "x" * 9_000  # more than a decision holds
    code, _ = asked.refused(*BY_FOLDER, "approve", "--reason", long, **people)
    assert code == "text_too_long"
    assert events(asked) == before
    assert standing(asked) == ("waiting", "pm_review", None)


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("words", [BY_ID, BY_FOLDER])
def test_a_person_s_key_is_enough(
    asked: Project, people: dict[str, str], words: tuple[str, ...]
) -> None:
    """Where the machine's key is not at hand only the clerk's document is left to be written."""
    (system,) = asked.keys.glob("*/system.*.key")
    system.unlink()
    asked.ok(*words, "approve", *WHY, **people)
    assert standing(asked) == ("approved", "synthesis", "approved")
    assert waits(asked) == [("clerk", "write the final document")]


@pytest.mark.requirement("DEC-028")
def test_the_folder_may_lie_anywhere(asked: Project, people: dict[str, str]) -> None:
    """The record knows which decision a session belongs to; its folder's name does not."""
    (asked.root / FOLDER).rename(asked.root / "elsewhere")
    asked.ok("parliament", "export", "elsewhere")
    asked.ok("parliament", "decide", "elsewhere", "approve", *WHY, **people)
    with asked.workspace() as space:
        state = space.engine.state(DECISION, stream_of("q-1"))
    assert state.stage is Stage.APPROVED


@pytest.mark.requirement("DEC-028")
def test_two_who_speak_at_once_are_heard_as_one(asked: Project, people: dict[str, str]) -> None:
    """Real processes: the first ruling counts, in both records, and the other is refused."""
    words = [(*BY_ID, "approve", *WHY), (*BY_ID, "veto", *WHY), (*BY_FOLDER, "approve", *WHY)]
    started = [
        subprocess.Popen(
            [*MOOT, "--json", *each],
            cwd=asked.root,
            env={**asked.env, **people},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for each in words
    ]
    said = [json.loads(one.communicate(timeout=120)[0]) for one in started]
    heard = [one for one in said if one["ok"]]
    codes = {one["error"]["code"] for one in said if not one["ok"]}
    assert len(heard) == 1
    # `busy`: the other word came between this one's look and its record.
    assert codes <= {"decided", "session_goes_on", "wrong_phase", "busy"}
    assert standing(asked) in (
        ("approved", "complete", "approved"),
        ("arguing", "debate", None),
    )


# A word that only one record knows: nothing of ours leaves that, other hands may ------------------


@contextmanager
def as_operator(project: Project) -> Iterator[ParliamentSession]:
    """The session, in a workspace where the person's key can be unlocked."""
    given = Passphrase("correct horse battery staple", attended=False)
    place = project.root / ".moot"
    with Workspace(place, KeyFolder(project.keys), lambda _name: given) as space:
        yield ParliamentSession.open(space, project.root / FOLDER)


def only_in_session(project: Project, word: str, **more: Any) -> None:
    with as_operator(project) as room:
        command = Decide(decision=word, reason="Direct.", guidance="", **more)
        room.workspace.engine.execute(room.stream, command, "operator", role="prime_minister")
        assert room.state.status is SessionStatus.SYNTHESIS


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("words", [BY_ID, BY_FOLDER])
def test_a_word_that_only_the_session_knows_may_be_repeated_and_no_other(
    asked: Project, people: dict[str, str], words: tuple[str, ...]
) -> None:
    only_in_session(asked, "approve")
    before = events(asked)
    more = ("--guidance", "No.") if words is BY_FOLDER else ()
    assert asked.refused(*words, "veto", *WHY, *more, **people) == ("decided", 1)
    assert events(asked) == before
    asked.ok("receipt", "q-1", "-o", "r.md")
    page = (asked.root / "r.md").read_text("utf-8")
    assert "WAITING" not in page
    assert "a person has said approve in the session, and not here" in page
    asked.ok(*words, "approve", *WHY, **people)
    assert standing(asked) == ("approved", "complete", "approved")
    assert asked.refused(*words, "approve", *WHY, **people) == ("decided", 1)


@pytest.mark.requirement("DEC-028")
def test_an_amendment_is_repeated_with_the_same_text(
    asked: Project, people: dict[str, str]
) -> None:
    with as_operator(asked) as room:
        draft = merge_into_bill(room.state, {"sections": {"solution": "Postgres."}})
    only_in_session(asked, "amend_and_approve", draft=draft)
    (asked.root / "other.md").write_text("Kafka.\n", encoding="utf-8")
    (asked.root / "same.md").write_text("Postgres.\n", encoding="utf-8")
    amend = (*BY_ID, "amend", *WHY, "--text")
    assert asked.refused(*amend, "other.md", **people) == ("decided", 1)
    asked.ok(*amend, "same.md", **people)
    assert standing(asked) == ("amended", "complete", "approved_with_amendments")


def interrupted(project: Project, people: dict[str, str]) -> None:
    project.ok("init", **people)
    words = ("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
    project.json(*words, "--max-turns", "4")
    assert standing(project)[:2] == ("arguing", "opening_statements")


def voted_elsewhere(project: Project) -> None:
    """Its vote is taken without anyone telling the decision."""
    with as_operator(project) as room:
        seats = {seat.agent: RuleParticipant("approve") for seat in room.state.seats_in_order()}
        Runner(RunnableParliament(room, NoRunRecord()), seats, room.workspace.engine.clock).run()
        assert room.state.status is SessionStatus.PM_REVIEW


@pytest.mark.requirement("DEC-028")
def test_a_vote_that_the_decision_was_not_told_of_is_recorded_with_the_word(
    bare: Project, people: dict[str, str]
) -> None:
    interrupted(bare, people)
    voted_elsewhere(bare)
    asked = bare.ok(*BY_ID, "approve", *WHY, **people)["decision"]
    assert (asked["stage"], asked["result"]["result"]) == ("approved", "carried")
    bare.ok("receipt", "q-1", "-o", "r.md")
    page = (bare.root / "r.md").read_text("utf-8")
    assert "before there was a result" not in page


@pytest.mark.requirement("DEC-028")
def test_a_session_that_goes_on_after_its_decision_was_vetoed_hears_no_approval(
    bare: Project, people: dict[str, str]
) -> None:
    """A person may end the decision early; whatever the session comes to later is not approved."""
    interrupted(bare, people)
    bare.ok(*BY_ID, "veto", *WHY, **people)
    voted_elsewhere(bare)
    assert bare.refused(*BY_FOLDER, "approve", *WHY, **people) == ("decided", 1)
    assert standing(bare) == ("vetoed", "pm_review", None)


@pytest.mark.requirement("DEC-028")
def test_no_work_begins_on_a_decision_that_was_vetoed(
    asked: Project, people: dict[str, str]
) -> None:
    """Whatever hands left the two at odds: an approved session, and a decision that was vetoed."""
    only_in_session(asked, "approve")
    with as_operator(asked) as room:
        room.workspace.engine.execute(stream_of("q-1"), Veto(reason="No."), "operator")
        planner, *others = (seat.agent for seat in room.state.seats_in_order())
    auditor = "jade-heron"
    asked.ok("agent", "register", auditor)
    parts = zip(("--executor", "--critic", "--auditor"), (*others, auditor), strict=True)
    roles = [word for part in parts for word in part]
    words = ("--as", planner, "flow", "approval-to-trace", FOLDER, *roles, "--tool", "python")
    before = events(asked)
    assert asked.refused(*words, **people) == ("vetoed", 1)
    assert events(asked) == before


@pytest.mark.requirement("DEC-028")
def test_books_are_not_begun_for_a_session_that_has_its_word(
    project: Project, people: dict[str, str]
) -> None:
    """Else its decision would wait for a person who has spoken."""
    project.ok("agent", "register", "operator", "--human", **people)
    words = ("parliament", "new", "p", "--problem", "Why?", "--issue", "speed", "--issue", "cost")
    reps = ("--rep", "Rep. Swift:speed@amber-otter", "--rep", "Rep. Thrift:cost@teal-crane")
    project.ok(*words, *reps)
    with project.workspace() as space:
        room = ParliamentSession.open(space, project.root / "p")
        seats = {seat.agent: RuleParticipant("approve") for seat in room.state.seats_in_order()}
        Runner(RunnableParliament(room, NoRunRecord()), seats, space.engine.clock).run()
    project.ok("parliament", "decide", "p", "approve", *WHY, **people)
    voices = ("amber-otter=rules:approve", "teal-crane=rules:approve")
    seated = [word for voice in voices for word in ("--participant", voice)]
    ran = project.ok("parliament", "run", "p", *seated)
    assert ran["standing"]["state"] == "complete"
    assert waits(project) == []
    assert project.refused("receipt", ran["parliament_id"], "-o", "r.json")[0] == (
        "decision_not_found"
    )


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("words", [BY_ID, BY_FOLDER])
@pytest.mark.parametrize("word", ["approve", "veto"])
def test_a_word_is_about_the_vote_that_was_seen(
    asked: Project, people: dict[str, str], words: tuple[str, ...], word: str
) -> None:
    """The passphrase is typed slowly; meanwhile it is sent back, argued further, voted on again."""
    slow = asked.root / "slow"
    os.mkfifo(slow)
    more = ("--guidance", "Cheaper.") if word == "veto" and words is BY_FOLDER else ()
    started = subprocess.Popen(
        [*MOOT, "--json", *words, word, *WHY, *more],
        cwd=asked.root,
        env={**asked.env, "MOOT_PASSPHRASE_FILE": str(slow)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with slow.open("w", encoding="utf-8") as typed:  # opened once it is read: after the rehearsal
        asked.ok(*BY_ID, "veto", *WHY, **people)
        asked.ok("ask", "--resume", "q-1")
        typed.write("correct horse battery staple\n")
    said = json.loads(started.communicate(timeout=120)[0])
    assert (said["ok"], said["error"]["code"]) == (False, "busy")
    assert standing(asked) == ("waiting", "pm_review", None)
