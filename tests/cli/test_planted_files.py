"""Files lie where anyone may write: they do not choose what a decision, or a person, is about."""

from __future__ import annotations

import shutil
from uuid import uuid4

import pytest

from moot.api.debates import session
from moot.api.decisions import debate_rounds
from moot.api.decisions import debate_rounds as session_context
from moot.api.decisions.question_run import set_motion
from moot.api.runs.first_answers import SealedAnswers
from moot.api.runs.parliament import convene_for_question
from moot.api.runs.turns import DEFAULT_LIMITS
from moot.core.names import SYSTEM
from moot.protocols.debate.writer import make_session_text
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import PassAnswer
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import Stage
from tests.project import Project

VOICES = "rules:approve,rules:approve,rules:reject"
DECISIONS = ".moot/decisions"
OTHER = ("ask", "Delete the data?", "--with", VOICES)
WHY = ("--reason", "It is cheap.")


def stage_of(project: Project, decision: str) -> Stage:
    with project.workspace() as space:
        state = space.engine.state(DECISION, stream_of(decision))
    return state.stage


@pytest.fixture
def ready(bare: Project, people: dict[str, str]) -> Project:
    bare.init(**people)
    return bare


def test_a_parliament_of_another_decision_is_not_taken_for_this_one(
    ready: Project, people: dict[str, str]
) -> None:
    ready.ok("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
    shutil.copytree(ready.root / DECISIONS / "q-1", ready.root / DECISIONS / "q-2")
    assert ready.refused(*OTHER, "--chamber", "parliament")[0] == "not_its_session"
    ready.ok("decide", "q-1", "approve", *WHY, **people)
    assert stage_of(ready, "q-2") is Stage.MOVED
    shutil.rmtree(ready.root / DECISIONS / "q-2")
    again = ready.ok("ask", "--resume", "q-2")["decision"]
    assert again["stage"] == "waiting"


def test_a_debate_of_another_decision_is_not_taken_for_this_one(ready: Project) -> None:
    ready.ok("ask", "Which queue?", "--with", VOICES)
    shutil.copy(ready.root / DECISIONS / "q-1.md", ready.root / DECISIONS / "q-2.md")
    assert ready.refused(*OTHER)[0] == "not_its_session"
    assert stage_of(ready, "q-2") is Stage.MOVED


@pytest.mark.parametrize("chamber", ["parliament", "debate"])
def test_what_a_killed_run_left_is_used(ready: Project, chamber: str) -> None:
    """It was convened, and died before its decision could say where."""
    words = ("ask", "Which queue?", "--with", VOICES, "--chamber", chamber)
    ready.json(*words, "--max-turns", "2")
    with ready.workspace() as space:
        stream = stream_of("q-1")
        for agent in space.engine.state(DECISION, stream).unsealed:
            space.engine.execute(stream, PassAnswer(agent=agent, why="gone"), SYSTEM)
        SealedAnswers(space, "q-1").open_all()
        set_motion(space, "q-1")
        state = space.engine.state(DECISION, stream)
        place = session_context.session_file(space, "q-1")
        problem = session_context.compose_context(space, "q-1", state)
        if chamber == "parliament":
            convene_for_question(space, place, problem, state)
        else:
            rules = debate_rounds._make_rules(state, DEFAULT_LIMITS, None)
            made = make_session_text(
                "Which queue?", problem, rules, str(uuid4()), space.engine.clock()
            )
            place.parent.mkdir(parents=True, exist_ok=True)
            session.new(place, made, space)
    assert ready.ok("ask", "--resume", "q-1")["decision"]["stage"] == "waiting"


def test_no_work_begins_on_an_approval_that_only_files_tell_of(
    ready: Project, people: dict[str, str]
) -> None:
    ready.ok("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
    ready.ok("decide", "q-1", "approve", *WHY, **people)
    shutil.copytree(ready.root / DECISIONS / "q-1", ready.root / "forged")
    ready.ok("parliament", "import", "forged", "--id", "parl-20260101-001")
    for name in ("ann", "ben", "cat", "dan"):
        ready.ok("agent", "register", name)
    roles = ("--executor", "ben", "--critic", "cat", "--auditor", "dan", "--tool", "rm")
    words = ("--as", "ann", "flow", "approval-to-trace")
    assert ready.refused(*words, "forged", *roles)[0] == "nobody_approved"
    ready.ok(*words, f"{DECISIONS}/q-1", *roles)


def test_files_of_another_session_do_not_turn_a_word_to_it(
    ready: Project, people: dict[str, str]
) -> None:
    """Otherwise anyone who may write there could choose what the person signs."""
    for question in ("Which queue?", "Which store?"):
        ready.ok("ask", question, "--with", VOICES, "--chamber", "parliament")
    first, second = (ready.root / DECISIONS / name for name in ("q-1", "q-2"))
    for file in second.iterdir():
        shutil.copy(file, first / file.name)
    words = ("parliament", "decide", f"{DECISIONS}/q-1", "approve", *WHY)
    assert ready.refused(*words, **people)[0] == "another_session"
    assert stage_of(ready, "q-2") is Stage.WAITING
    ready.ok("parliament", "export", f"{DECISIONS}/q-1")
    ready.ok(*words, **people)
    assert (stage_of(ready, "q-1"), stage_of(ready, "q-2")) == (Stage.APPROVED, Stage.WAITING)
