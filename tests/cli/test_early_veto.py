"""A veto ends a decision, or sends it back: what is left of its session costs nobody anything."""

from __future__ import annotations

from typing import Any

import pytest

from moot.api.parliaments.session import ParliamentSession
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import State
from tests.project import Project

VOICES = "rules:approve,rules:approve,rules:reject"
FOLDER = ".moot/decisions/q-1"
ASK = ("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
VETO = ("decide", "q-1", "veto", "--reason")


@pytest.fixture
def ready(bare: Project, people: dict[str, str]) -> Project:
    bare.init(**people)
    return bare


@pytest.fixture
def ended(ready: Project, people: dict[str, str]) -> Project:
    """Its session was interrupted, and then the person said no."""
    ready.json(*ASK, "--max-turns", "4")
    ready.ok(*VETO, "No.", **people)
    return ready


@pytest.fixture
def sent_back(ready: Project, people: dict[str, str]) -> Project:
    """Its vote was vetoed: the session goes on."""
    ready.ok(*ASK)
    ready.ok(*VETO, "Cheaper.", **people)
    return ready


def events(project: Project) -> int:
    with project.workspace() as space, space.store.read() as view:
        return view.count_streams_and_events()[1]


def decision(project: Project) -> State:
    with project.workspace() as space:
        return space.engine.state(DECISION, stream_of("q-1"))


def seats(project: Project) -> list[str]:
    with project.workspace() as space:
        return [
            seat.agent
            for seat in ParliamentSession.open(space, project.root / FOLDER).state.seats_in_order()
        ]


def due_in_sessions(project: Project, command: str) -> list[dict[str, Any]]:
    return [due for due in project.ok(command)["due"] if not due["id"].startswith("decision/")]


@pytest.mark.requirement("DEC-028")
def test_nobody_is_asked_in_a_session_whose_decision_has_its_last_word(ended: Project) -> None:
    called = ended.root / "called"
    spec = f"cmd:touch {called}"
    voices = [word for name in seats(ended) for word in ("--participant", f"{name}={spec}")]
    before = events(ended)
    assert ended.refused("parliament", "run", FOLDER, *voices) == ("decided", 1)
    assert not called.exists()
    assert events(ended) == before


@pytest.mark.requirement("DEC-028")
@pytest.mark.parametrize("command", ["agenda", "status"])
def test_nothing_is_due_in_a_session_whose_decision_has_its_last_word(
    ended: Project, command: str
) -> None:
    assert due_in_sessions(ended, command) == []
    assert ended.ok("parliament", "next", FOLDER)["due"] == []
    ended.ok("ask", "--resume", "q-2")
    assert [due["what"] for due in due_in_sessions(ended, command)] == ["decide"]


def test_no_turn_is_due_in_a_debate_whose_decision_was_vetoed(
    ready: Project, people: dict[str, str]
) -> None:
    ready.json("ask", "Which queue?", "--with", VOICES, "--max-turns", "4")
    assert [due["what"] for due in due_in_sessions(ready, "agenda")] == ["speak"]
    ready.ok(*VETO, "No.", **people)
    assert due_in_sessions(ready, "agenda") == []
    file = f"{FOLDER}.md"
    agent = ready.ok("debate", "status", file)["next"]
    ready.json("debate", "run", file, "--participant", f"{agent}=rules:approve")
    assert due_in_sessions(ready, "agenda")  # it goes on under a decision of its own


@pytest.mark.requirement("DEC-028")
def test_a_session_that_goes_on_stays_due(sent_back: Project) -> None:
    assert due_in_sessions(sent_back, "agenda")


@pytest.mark.requirement("DEC-028")
def test_the_same_veto_twice_is_one(sent_back: Project, people: dict[str, str]) -> None:
    """A script that tries again does not end what it sent back."""
    before = events(sent_back)
    again = sent_back.ok(*VETO, "Cheaper.", **people)["decision"]
    assert (again["stage"], again["superseded_by"]) == ("arguing", None)
    assert events(sent_back) == before


@pytest.mark.requirement("DEC-028")
def test_another_reason_is_not_taken_for_an_end(sent_back: Project, people: dict[str, str]) -> None:
    before = events(sent_back)
    assert sent_back.refused(*VETO, "Slower.", **people) == ("decided", 1)
    assert events(sent_back) == before
    assert [one.reason for one in decision(sent_back).sent_back] == ["Cheaper."]


@pytest.mark.requirement("DEC-028")
def test_once_it_was_argued_further_a_veto_ends_it(
    sent_back: Project, people: dict[str, str]
) -> None:
    sent_back.json("ask", "--resume", "q-1", "--max-turns", str(decision(sent_back).turns + 1))
    assert sent_back.ok(*VETO, "Cheaper.", **people)["decision"]["superseded_by"] == "q-2"


@pytest.mark.requirement("DEC-028")
def test_a_vote_that_was_taken_again_may_be_vetoed_for_the_same_reason(
    sent_back: Project, people: dict[str, str]
) -> None:
    sent_back.ok("ask", "--resume", "q-1")
    sent_back.ok(*VETO, "Cheaper.", **people)
    assert [one.reason for one in decision(sent_back).sent_back] == ["Cheaper.", "Cheaper."]


@pytest.mark.requirement("DEC-028")
def test_what_was_sent_back_is_ended_on_purpose(sent_back: Project, people: dict[str, str]) -> None:
    ended = sent_back.ok(*VETO, "Slower.", "--anew", **people)["decision"]
    assert (ended["stage"], ended["superseded_by"]) == ("vetoed", "q-2")
    assert due_in_sessions(sent_back, "agenda") == []


@pytest.mark.requirement("DEC-028")
def test_a_vote_that_waits_is_not_passed_over(ready: Project, people: dict[str, str]) -> None:
    ready.ok(*ASK)
    before = events(ready)
    assert ready.refused(*VETO, "No.", "--anew", **people) == ("vote_waits", 1)
    assert ready.json("decide", "q-1", "approve", "--reason", "Yes.", "--anew", **people).code == 2
    assert events(ready) == before
