"""Random commands: a path never breaks its promises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.machine import Command, Context, Draft, KeyClass, Recorded, VerifiedActor
from moot.core.record import Actor
from moot.protocols.path import model as ask
from moot.protocols.path.flows import FLOWS, GUARD_EVENTS
from moot.protocols.path.machine import MACHINE, decide, evolve
from moot.protocols.path.model import (
    MadeThing,
    PlayedPart,
    ResultStanding,
    SourceRecord,
    Stage,
    State,
    StepTarget,
)
from tests.sampling import examples

from .scene import STREAM

SYSTEM = VerifiedActor("system", 1, "k", KeyClass.SYSTEM)
AGENT = VerifiedActor("amber-otter", 1, "k", KeyClass.AGENT)
FLOW = st.sampled_from([*FLOWS, "by-magic"])
PROTOCOLS = ("presence", "mail", "debate", "parliament", "trace")
SOURCE = st.builds(
    SourceRecord,
    st.sampled_from([f"{name}/x" for name in PROTOCOLS]),
    st.integers(-1, 3),
    st.sampled_from(["a" * 64, "b" * 64, "bad"]),
    st.sampled_from(["x-1", "x-2", ""]),
)
TARGET = st.builds(
    StepTarget,
    st.sampled_from([f"{name}/y" for name in PROTOCOLS]),
    st.sampled_from(["y", "z", ""]),
)
KINDS = [*sorted(GUARD_EVENTS), "session", "seed", "proposal", "message", "challenge", "key"]
MADE = st.lists(
    st.builds(
        MadeThing, st.sampled_from(KINDS), st.just("debate/y"), st.integers(0, 3), st.just("y")
    ),
    max_size=3,
).map(tuple)
STANDING = st.none() | st.builds(
    ResultStanding, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 2)
)
NAME = st.sampled_from(["amber-otter", "teal-crane", ""])
PARTS = st.lists(
    st.builds(PlayedPart, st.sampled_from(["executor", "critic", "planner"]), NAME), max_size=3
).map(tuple)
COMMAND: st.SearchStrategy[Command] = st.one_of(
    st.builds(ask.BeginPath, title=st.text(max_size=5), origin=NAME, source=SOURCE),
    st.builds(
        ask.BeginStep,
        flow=FLOW,
        source=SOURCE,
        target=TARGET,
        asked_by=NAME,
        standing=STANDING,
        parts=PARTS,
        approvers=st.lists(NAME, max_size=2).map(tuple),
    ),
    st.builds(ask.MoveStep, flow=FLOW, source=SOURCE, target=TARGET),
    st.builds(ask.FinishStep, flow=FLOW, source=SOURCE, made=MADE),
    st.builds(ask.FailStep, flow=FLOW, source=SOURCE, code=NAME, why=NAME),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(COMMAND, st.booleans()), max_size=40))
def test_random_commands_never_break_a_path(asked: list[tuple[Command, bool]]) -> None:
    state, seq = State(), 0
    for command, system in asked:
        actor = SYSTEM if system else AGENT
        before = state
        decision = decide(state, command, Context(seq, actor, STREAM, "origin"))
        assert not (decision.refused and decision.drafts)
        assert system or decision.refused
        for draft in decision.drafts:
            recorded = Recorded(draft.event, STREAM, seq, seq, Actor(actor.id, 1, "k"), bytes(32))
            state = evolve(state, recorded)
            list(MACHINE.index(recorded))
            seq += 1
        holds(before, state)


def holds(before: State, after: State) -> None:
    for key, step in before.steps.items():
        if step.stage is Stage.DONE:
            assert after.steps[key] == step  # what is done stays as it is
    for key, step in after.steps.items():
        assert key == step.key
        assert (key in after.open) is (step.stage is not Stage.DONE)
        assert all(made.kind in FLOWS[step.flow].makes for made in step.made)
        assert step.target.protocol == FLOWS[step.flow].target
        assert step.source.protocol in FLOWS[step.flow].sources
        assert step.asked_by
    numbers = sorted(step.number for step in after.steps.values())
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(MACHINE.agenda(after, 0)) == len(after.open)


@settings(max_examples=50, deadline=None)
@given(st.lists(COMMAND, max_size=15))
def test_evolve_is_total(commands: list[Command]) -> None:
    """Whatever stands in the ledger, in whatever order, is taken in."""
    began = State(title="x", origin="x", since=0)
    events: list[Draft] = []
    for command in commands:
        events += decide(began, command, Context(0, SYSTEM, STREAM, "o")).drafts
    state = State()
    for seq, draft in enumerate(reversed(events)):
        recorded = Recorded(draft.event, STREAM, seq, seq, Actor("system", 1, "k"), bytes(32))
        state = evolve(evolve(state, recorded), recorded)
    assert state.open.keys() is not None
