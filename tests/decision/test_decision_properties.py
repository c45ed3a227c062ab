"""Whatever is asked in whatever order: nothing raises, nothing goes back, replay agrees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import MootError, Refused
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import Job
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE, TRANSITIONS
from moot.protocols.decision.model import (
    CallCost,
    ChamberKind,
    DecisionResult,
    DecisionSeat,
    Stage,
)
from moot.testing import World
from tests.sampling import examples

STREAM = stream_of("q-1")
NAMES = ("amber-otter", "teal-crane", "coral-finch")
ACTORS = (*NAMES, "operator", SYSTEM)
SEATS = tuple(DecisionSeat(name, "cmd", "cmd:x") for name in NAMES[:2])
text = st.sampled_from(["", "yes", "no", "x" * 9_000])
who = st.sampled_from(NAMES)

COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.builds(
        ask.AskQuestion,
        question=st.just("Why?"),
        seats=st.just(SEATS),
        chamber=st.sampled_from([ChamberKind.DEBATE, ChamberKind.PARLIAMENT]),
    ),
    st.builds(ask.GiveAnswer, answer=text, why=text),
    st.builds(ask.PassAnswer, agent=who, why=text),
    st.builds(ask.SetMotion, text=text, by=st.just(())),
    st.builds(ask.OpenSession, session=text),
    st.builds(
        ask.NoteCall,
        agent=who,
        what=st.just("entry"),
        subject=st.just("x"),
        ending=st.sampled_from(["answered", "crashed"]),
        cost=st.builds(CallCost, calls=st.integers(-1, 3), micros=st.integers(0, 9)),
    ),
    st.builds(ask.EndRun, stop=text),
    st.builds(ask.RecordResult, result=st.sampled_from(DecisionResult), summary=text),
    st.builds(ask.Approve, reason=text),
    st.builds(ask.Veto, reason=text),
    st.builds(ask.SendBack, reason=text),
    st.builds(ask.NameSuccessor, decision=text),
    st.just(ask.MakeReceipt(receipt=ArtifactRef("0f" * 32, 2, "application/json"))),
)


def reachable(stage: Stage) -> set[Stage]:
    found, more = {stage}, [stage]
    while more:
        after = set(TRANSITIONS[more.pop()].values()) - found
        found |= after
        more += after
    return found


@pytest.mark.requirement("DEC-020")
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ACTORS), COMMANDS), max_size=25))
def test_any_sequence_of_commands_leaves_a_sound_decision(
    steps: list[tuple[str, Command]],
) -> None:
    world = World()
    for name in NAMES:
        world.agent(name)
    world.human("operator")
    before = world.engine.state(MACHINE, STREAM)
    for actor, command in steps:
        (result,) = world.engine.execute_all([Job(STREAM, command, actor)])
        if isinstance(result, MootError):
            assert isinstance(result, Refused)
            assert all(finding.hint for finding in result.findings)
            assert world.engine.state(MACHINE, STREAM) == before
            continue
        after = MACHINE.require_state(result.state)
        assert after.stage in reachable(before.stage)
        assert (after.word is not None) is (
            after.stage in (Stage.APPROVED, Stage.VETOED, Stage.AMENDED)
        )
        assert len(after.answers) >= len(before.answers)
        assert after.cost.micros >= before.cost.micros
        before = after
    assert world.another_engine().state(MACHINE, STREAM) == before


@pytest.mark.requirement("DEC-020")
def test_every_stage_is_in_the_table_and_ends_are_empty() -> None:
    assert set(TRANSITIONS) == set(Stage)
    assert all(not TRANSITIONS[end] for end in (Stage.APPROVED, Stage.VETOED, Stage.AMENDED))
    assert reachable(Stage.NEW) == set(Stage)
    moves = {event for table in TRANSITIONS.values() for event in table}
    assert moves <= set(MACHINE.type_of)
