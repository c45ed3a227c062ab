"""A real exchange: what was objected in round 1 is answered in round 2, in a session of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from moot.api.debates import session
from moot.core.errors import Refused
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import commands as asking
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import ChamberKind, DecisionSeat
from moot.testing import World
from tests.participants.test_debate_run import CRANE, OTTER, state_of
from tests.project import Project

ANN, BOB = "ann-lee", "bob-fox"


def vote(stance: str, sure: float = 0.5, summary: str = "So.", **more: str) -> dict[str, Any]:
    return {"stance": stance, "confidence": sure, "summary": summary, **more}


def ask(project: Project, votes: Mapping[str, Iterable[dict[str, Any]]], *more: str) -> Any:
    """A question to scripts, each with its votes, one for each round."""
    specs = []
    for name, entries in votes.items():
        script = {"first_answer": [{"answer": "yes"}], "entry": list(entries)}
        (project.root / f"{name}.json").write_text(json.dumps(script), encoding="utf-8")
        specs.append(f"{name}=script:{name}.json")
    return project.ok("ask", "Ship it?", "--with", ",".join(specs), *more)


def context(project: Project, number: int) -> str:
    name = "q-1.md" if number == 1 else f"q-1-round-{number}.md"
    return str(read(project, name).document.section_text("Context"))


def read(project: Project, name: str) -> Any:
    return session.read(project.root / ".moot" / "decisions" / name)


YES, NO = vote("approve"), vote("reject", 0.6, "Not yet.")


@pytest.mark.requirement("DEC-034")
def test_what_all_agree_on_at_once_is_over(project: Project) -> None:
    data = ask(project, {OTTER: [YES], CRANE: [YES], ANN: [vote("neutral")]})
    decision = data["decision"]
    assert decision["result"]["result"] == "carried"
    assert len(decision["sessions"]) == 1
    assert not (project.root / ".moot" / "decisions" / "q-1-round-2.md").exists()


@pytest.mark.requirement("DEC-034")
def test_an_objection_is_answered_in_a_session_of_its_own(project: Project) -> None:
    surest = vote("reject", 0.9, "It loses data.", body="### Why\n\n<b>see</b> the log")
    votes = {
        ANN: [surest, vote("approve", 0.7, "Fixed.")],
        OTTER: [YES, YES],
        CRANE: [NO, YES],
        BOB: [YES, YES],
    }
    data = ask(project, votes)
    decision = data["decision"]
    assert (decision["result"]["result"], decision["result"]["dissent"]) == ("carried", [])
    assert [one["file"] for one in decision["sessions"]] == [
        ".moot/decisions/q-1.md",
        ".moot/decisions/q-1-round-2.md",
    ]
    assert decision["session"] == decision["sessions"][1]
    second = read(project, "q-1-round-2.md")
    assert second.valid
    assert second.settings.rules.agents == (OTTER, CRANE, BOB, ANN)  # who objected speaks last
    assert second.settings.rules.max_rounds == 1
    text = context(project, 2)
    assert f"### The strongest objection in round 1, by {ANN} (reject, confidence 0.9)" in text
    assert "> It loses data." in text
    assert "> ### Why" in text
    assert "Not yet." not in text
    assert "the final vote" in text
    assert "### Motion: approve or reject this\n\n> yes" in text
    assert "objection" not in context(project, 1)
    moved = [(one["agent"], one["before"], one["now"]) for one in data["changes"]]
    assert moved == [(CRANE, "reject 0.6", "approve 0.5"), (ANN, "reject 0.9", "approve 0.7")]
    assert data["changes"][1]["after"] == [OTTER, CRANE, BOB]
    for name in ("q-1.md", "q-1-round-2.md"):
        proof = project.ok("debate", "verify", f".moot/decisions/{name}")
        assert proof["verdict"] == "valid"
    assert project.ok("verify")["verdict"] == "valid"


@pytest.mark.requirement("DEC-034")
def test_both_rounds_stand_on_the_page_and_in_the_receipt(project: Project) -> None:
    ask(project, {OTTER: [YES, YES], CRANE: [NO, NO], ANN: [YES, YES]})
    project.ok("receipt", "q-1", "-o", "r.md")
    said = json.loads((project.root / "r.json").read_text("utf-8"))["says"]
    assert [(one["round"], one["agent"]) for one in said["argument"]["votes"]] == [
        (1, OTTER), (1, CRANE), (1, ANN), (2, OTTER), (2, ANN), (2, CRANE),
    ]  # fmt: skip
    assert (said["argument"]["first"]["round"], said["argument"]["last"]["round"]) == (1, 2)
    assert [voice["round"] for voice in said["argument"]["dissent"]] == [2]
    streams = [one["id"] for one in said["evidence"]]
    assert len([name for name in streams if name.startswith("debate/")]) == 2
    assert "Round 2" in (project.root / "r.md").read_text("utf-8")
    assert project.ok("verify", "r.json")["verdict"] == "valid"
    assert project.run("story", "q-1").code == 0


@pytest.mark.requirement("DEC-034")
def test_one_round_means_no_second_session(project: Project) -> None:
    data = ask(project, {OTTER: [YES], CRANE: [NO], ANN: [YES]}, "--rounds", "1")
    assert len(data["decision"]["sessions"]) == 1
    result = data["decision"]["result"]
    assert (result["result"], result["dissent"]) == ("carried", [CRANE])


@pytest.mark.requirement("DEC-034")
@pytest.mark.parametrize(
    ("first", "author"),
    [
        ({OTTER: vote("reject", 0.4), CRANE: vote("reject", 0.8), ANN: YES}, CRANE),
        ({OTTER: vote("reject", 0.7), CRANE: vote("reject", 0.7), ANN: YES}, OTTER),
        ({OTTER: vote("neutral", 0.9), CRANE: vote("reject", 0.1), ANN: YES}, CRANE),
        ({OTTER: vote("defer", 0.1), CRANE: vote("neutral", 0.9), ANN: vote("defer", 0)}, OTTER),
    ],
    ids=["surest", "first-among-equals", "a-reject-before-a-doubt", "longest-standing-doubt"],
)
def test_no_model_judges_which_objection_is_the_strongest(
    project: Project, first: dict[str, dict[str, Any]], author: str
) -> None:
    ask(project, {name: [one, one] for name, one in first.items()})
    assert f"### The strongest objection in round 1, by {author} (" in context(project, 2)


@pytest.mark.requirement("DEC-034")
def test_the_one_that_has_stood_longest_comes_first_among_equals(project: Project) -> None:
    votes = {
        OTTER: [YES, vote("reject", 0.7, "Since two."), YES],
        CRANE: [vote("reject", 0.7, "Since one.")] * 3,
        ANN: [vote("reject", 0.2), YES, YES],
    }
    ask(project, votes, "--rounds", "3")
    assert f"### The strongest objection in round 2, by {CRANE} (" in context(project, 3)


@pytest.mark.requirement("DEC-034")
def test_a_third_round_is_held_only_if_somebody_moved(project: Project) -> None:
    still = ask(project, {OTTER: [YES] * 9, CRANE: [NO] * 9, ANN: [YES] * 9}, "--rounds", "9")
    assert len(still["decision"]["sessions"]) == 2


@pytest.mark.requirement("DEC-034")
def test_what_did_not_carry_is_argued_again_though_nobody_objects(project: Project) -> None:
    unsure = vote("approve", 0.5, "Perhaps.")
    sure = vote("approve", 0.8, "Yes.")
    words = ("--rule", "unanimous")
    data = ask(project, {OTTER: [unsure, sure], CRANE: [unsure, sure]}, *words)
    assert data["decision"]["result"]["result"] == "carried"
    assert len(data["decision"]["sessions"]) == 2
    assert "objection" not in context(project, 2)
    assert "2 approve: not agreed (unanimous" in context(project, 2)


@pytest.mark.requirement("DEC-034")
def test_a_majority_counts_heads_and_confidence_stands_beside(project: Project) -> None:
    half = vote("approve", 0.5)
    data = ask(project, {OTTER: [half], CRANE: [half], ANN: [half]})
    assert data["decision"]["result"]["result"] == "carried"
    assert data["outcome"] == (
        "3 approve: agreed (majority, 3 of 3 votes, more than half needed; confidence 0.5)"
    )
    assert read(project, "q-1.md").settings.rules.consensus_mode is ConsensusMode.MAJORITY


@pytest.mark.requirement("DEC-034")
def test_a_majority_against_is_no_dissent_and_nothing_is_settled(project: Project) -> None:
    votes = {OTTER: [YES, YES], CRANE: [NO, NO], ANN: [NO, NO]}
    ask(project, votes)
    shown = project.run("ask", "--resume", "q-1").out
    assert f"against: {CRANE}, {ANN}" in shown
    assert "dissent" not in shown
    words = ",".join(f"{name}=script:{name}.json" for name in votes)
    fresh = project.run("ask", "Ship it now?", "--with", words).out
    assert "not-carried: " in fresh
    assert "settled" not in fresh.lower()
    project.ok("receipt", "q-1", "-o", "r.md")
    text = (project.root / "r.md").read_text("utf-8")
    assert "**Against the motion:**" in text
    assert "## Dissent" not in text


@pytest.mark.requirement("DEC-034")
def test_anyone_who_failed_in_one_round_may_speak_in_the_next(project: Project) -> None:
    votes = {OTTER: [vote("maybe"), YES, YES], CRANE: [NO, YES], ANN: [YES, YES]}
    data = ask(project, votes)
    result = data["decision"]["result"]
    assert (result["result"], result["absent"]) == ("carried", [OTTER])  # the same reply again
    assert [(one["agent"], one["round"]) for one in data["absent"]] == [(OTTER, 1), (OTTER, 2)]
    assert [one["agent"] for one in data["changes"]] == [CRANE]


@pytest.mark.requirement("DEC-034")
@pytest.mark.parametrize("turns", range(3, 10))
def test_stopped_anywhere_it_goes_on_with_the_same_two_rounds(project: Project, turns: int) -> None:
    votes = {OTTER: [YES, YES], CRANE: [NO, YES], ANN: [YES, YES]}
    specs = []
    for name, entries in votes.items():
        script = {"first_answer": [{"answer": "yes"}], "entry": entries}
        (project.root / f"{name}.json").write_text(json.dumps(script), encoding="utf-8")
        specs.append(f"{name}=script:{name}.json")
    words = ("ask", "Ship it?", "--with", ",".join(specs))
    project.json(*words, "--max-turns", str(turns))
    data = project.ok("ask", "--resume", "q-1")["decision"]
    assert (data["stage"], data["result"]["result"]) == ("waiting", "carried")
    assert (len(data["sessions"]), data["cost"]["calls"]) == (2, 9)
    assert state_of(project, "q-1").turns == 9


@pytest.mark.requirement("DEC-034")
def test_a_file_that_a_killed_run_left_is_the_one_to_use_and_anothers_is_not(
    project: Project,
) -> None:
    (project.root / "plan.md").write_text("Mine.", encoding="utf-8")
    planted = project.root / ".moot" / "decisions" / "q-1-round-2.md"
    planted.parent.mkdir(parents=True, exist_ok=True)
    agents = ("--agents", f"{OTTER},{CRANE}")
    project.ok("debate", "new", str(planted), "--title", "Other", *agents)
    script = {"first_answer": [{"answer": "yes"}], "entry": [NO, NO]}
    (project.root / "s.json").write_text(json.dumps(script), encoding="utf-8")
    words = ("ask", "Ship it?", "--with", f"{OTTER}=script:s.json,{CRANE}=script:s.json")
    assert project.refused(*words) == ("not_its_session", 1)
    assert len(state_of(project, "q-1").sessions) == 1
    planted.rename(project.root / "elsewhere.md")
    data = project.ok("ask", "--resume", "q-1")["decision"]
    assert (data["result"]["result"], len(data["sessions"])) == ("not-carried", 2)


# The record ---------------------------------------------------------------------------------------

STREAM = "decision/q-1"


def arguing(rounds: int = 2, chamber: ChamberKind = ChamberKind.DEBATE) -> World:
    world = World()
    seats = tuple(DecisionSeat(name, "rules", "rules:approve") for name in (OTTER, CRANE))
    commands: tuple[Command, ...] = (
        asking.AskQuestion(question="Why?", seats=seats, chamber=chamber, rounds=rounds),
        asking.PassAnswer(agent=OTTER, why="gone"),
        asking.PassAnswer(agent=CRANE, why="gone"),
        asking.SetMotion(text="Because.", by=(OTTER,)),
        asking.OpenSession(session="debate/one"),
    )
    for command in commands:
        world.engine.execute(STREAM, command, SYSTEM)
    return world


@pytest.mark.requirement("DEC-034")
@pytest.mark.parametrize(
    ("world", "session_id"),
    [
        (lambda: arguing(rounds=1), "debate/two"),
        (arguing, "debate/one"),
        (lambda: arguing(chamber=ChamberKind.PARLIAMENT), "parliament/two"),
    ],
    ids=["no-round-left", "the-same", "a-parliament"],
)
def test_the_record_takes_no_more_sessions_than_rounds(world: Any, session_id: str) -> None:
    made = world()
    before = made.engine.state(MACHINE, STREAM)
    with pytest.raises(Refused) as refused:
        made.engine.execute(STREAM, asking.OpenSession(session=session_id), SYSTEM)
    assert refused.value.code == "session_open"
    assert made.engine.state(MACHINE, STREAM) == before


@pytest.mark.requirement("DEC-034")
def test_all_sessions_of_a_decision_stay_known() -> None:
    world = arguing(rounds=3)
    for name in ("debate/two", "debate/three"):
        world.engine.execute(STREAM, asking.OpenSession(session=name), SYSTEM)
    state = world.engine.state(MACHINE, STREAM)
    assert [one.id for one in state.sessions] == ["debate/one", "debate/two", "debate/three"]
    assert state.session == state.sessions[-1]
