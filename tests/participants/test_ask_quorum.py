"""How many must take part in the last vote: the decision's own rule, beside the session's."""

from __future__ import annotations

import pytest

from moot.api.debates.outcome import is_quorum
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import ChamberKind, DecisionSeat, State
from moot.testing import World, given
from tests.project import Project

# One of three gives an answer and is then silent in the session.
THREE = "amber-otter=rules:approve,teal-crane=rules:approve,coral-finch=script:voice.json"


def asked(project: Project, *more: str) -> dict[str, str]:
    voice = project.root / "voice.json"
    voice.write_text('{"first_answer": [{"answer": "yes"}], "entry": []}', encoding="utf-8")
    words = ("ask", "Ship it?", "--with", THREE, "--rounds", "1", *more)
    result: dict[str, str] = project.ok(*words)["decision"]["result"]
    return result


@pytest.mark.requirement("DEC-039")
def test_without_a_word_more_than_half_is_enough(project: Project) -> None:
    assert asked(project)["result"] == "carried"


@pytest.mark.requirement("DEC-039")
def test_a_quorum_that_is_not_reached_is_told_beside_the_sessions_result(project: Project) -> None:
    result = asked(project, "--quorum", "3")
    assert result["result"] == "no-quorum"
    assert result["summary"].endswith("no quorum: 2 of 3 took part, 3 needed")
    assert "2 approve" in result["summary"]
    project.ok("receipt", "q-1", "-o", "r.md")
    assert "3 needed" in (project.root / "r.md").read_text("utf-8")


@pytest.mark.requirement("DEC-039")
def test_a_smaller_one_may_be_asked_for(project: Project) -> None:
    assert asked(project, "--quorum", "1")["result"] == "carried"
    assert is_quorum(1, 9, 1)
    assert not is_quorum(4, 9)
    assert is_quorum(5, 9)
    assert not is_quorum(5, 9, 6)


@pytest.mark.requirement("DEC-039")
@pytest.mark.parametrize(
    ("quorum", "chamber"),
    [(-1, ChamberKind.DEBATE), (4, ChamberKind.DEBATE), (2, ChamberKind.PARLIAMENT)],
)
def test_a_quorum_that_is_none_is_refused(quorum: int, chamber: ChamberKind) -> None:
    seats = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in ("ann-lee", "bob-fox", "cat-owl"))
    scene = given(World(), MACHINE, stream_of("q-1"))
    scene.actor = "system"
    question = ask.AskQuestion(question="Which?", seats=seats, quorum=quorum, chamber=chamber)
    scene.refused("bad_quorum", question)
    assert scene.state == State()
