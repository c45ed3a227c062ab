"""Any sequence of commands on errands keeps what the machine promises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from moot.core.machine import Command, Context, Event, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.paged_map import decode_state, encode_state
from moot.core.record import Actor
from moot.protocols.example.machine import MACHINE, TRANSITIONS
from moot.protocols.example.model import (
    COMMANDS,
    EVENTS,
    Ask,
    ErrandAsked,
    Finish,
    Lapse,
    Meddled,
    Stage,
    State,
    Withdraw,
)
from tests.sampling import examples

NAMES = ["amber-otter", "teal-crane", SYSTEM]
TEXTS = st.sampled_from(["tea", "é", "", " "])
IDS = st.integers(1, 4).map("e{}".format) | st.sampled_from(["e1", "e2", ""])
TIMES = st.none() | st.integers(0, 100)


def commands(
    texts: st.SearchStrategy[str], ids: st.SearchStrategy[str], times: st.SearchStrategy[int | None]
) -> st.SearchStrategy[Command]:
    return st.one_of(
        st.builds(Ask, title=texts, of=st.sampled_from(NAMES) | texts, due_at=times),
        st.builds(Finish, id=ids),
        st.builds(Withdraw, id=ids),
        st.builds(Lapse, id=ids),
    )


STEP = st.tuples(commands(TEXTS, IDS, TIMES), st.sampled_from(NAMES), st.integers(0, 120))
ODD = st.sampled_from(["\ud800", "e\x00", "e" * 1000])
ABSURD = commands(TEXTS | ODD, IDS | ODD, TIMES | st.sampled_from([2**70, -(2**70)]))


def context(name: str, now: int) -> Context:
    kind = KeyClass.SYSTEM if name == SYSTEM else KeyClass.AGENT
    return Context(now, VerifiedActor(name, 1, "0" * 32, kind), "example/x", "moot.ledger/x")


def recorded(event: Event, seq: int, name: str, now: int) -> Recorded[Any]:
    return Recorded(event, "example/x", seq, now, Actor(name, 1, "0" * 32), bytes(32))


def check(state: State, asked: int, closed: int) -> None:
    assert (state.asked, state.closed, len(state.open)) == (asked, closed, asked - closed)
    limits = [errand.due_at for errand in state.open.values() if errand.due_at is not None]
    assert state.next_due == min(limits, default=None)
    assert all(key == errand.id for key, errand in state.open.items())
    assert decode_state(State, encode_state(state)) == state


def overdue(state: State, now: int) -> list[Command]:
    dues = (due for due in MACHINE.agenda(state, now) if due.is_overdue(now))
    return [due.command for due in dues if due.command is not None]


@settings(max_examples=examples(200))
@given(st.lists(STEP, min_size=5, max_size=30))
def test_any_sequence_keeps_counts_limits_and_order(steps: list[Any]) -> None:
    state, seq, asked, closed = State(), 0, 0, 0
    for command, name, now in steps:
        decision = MACHINE.decide(state, command, context(name, now))
        before = state
        for draft in decision.drafts:
            state = MACHINE.evolve(state, recorded(draft.event, seq, name, now))
            seq += 1
            asked += isinstance(draft.event, ErrandAsked)
            closed += not isinstance(draft.event, ErrandAsked | Meddled)
        if decision.refused:
            assert (state.open, state.asked) == (before.open, before.asked)
            assert all(isinstance(draft.event, Meddled) for draft in decision.drafts)
        check(state, asked, closed)
        assert list(MACHINE.timeouts(state, now)) == overdue(state, now)


@given(st.lists(st.tuples(ABSURD, st.sampled_from(NAMES)), max_size=8))
def test_absurd_commands_are_decided_and_never_raise(steps: list[Any]) -> None:
    state = State()
    for seq, (command, name) in enumerate(steps):
        for draft in MACHINE.decide(state, command, context(name, 50)).drafts:
            state = MACHINE.evolve(state, recorded(draft.event, seq, name, 50))
        overdue(state, 10**9)


@given(st.lists(STEP, max_size=15), st.integers(0, 200))
def test_every_overdue_command_is_accepted_from_the_machine(steps: list[Any], now: int) -> None:
    state = State()
    for seq, (command, name, at) in enumerate(steps):
        for draft in MACHINE.decide(state, command, context(name, at)).drafts:
            state = MACHINE.evolve(state, recorded(draft.event, seq, name, at))
    for command in overdue(state, now):
        decision = MACHINE.decide(state, command, context(SYSTEM, now))
        assert not decision.refused
        state = MACHINE.evolve(state, recorded(decision.drafts[0].event, 99, SYSTEM, now))
    assert overdue(state, now) == []


ANY_EVENT = st.sampled_from(EVENTS).flatmap(
    lambda event: st.builds(
        event,
        **{name: TIMES if name == "due_at" else IDS for name in event.__struct_fields__},
    )
)


@given(st.lists(ANY_EVENT, max_size=12))
def test_whatever_is_in_the_ledger_evolves(events: list[Event]) -> None:
    state = State()
    for seq, event in enumerate(events):
        state = MACHINE.evolve(state, recorded(event, seq, "amber-otter", seq))
        tuple(MACHINE.index(recorded(event, seq, "amber-otter", seq)))
    MACHINE.agenda(state, 0)
    tuple(MACHINE.timeouts(state, 10**9))


CLOSERS = {"amber-otter": Withdraw(id="e1"), "teal-crane": Finish(id="e1"), SYSTEM: Lapse(id="e1")}


def after(*acts: tuple[Command, str]) -> State:
    state = State()
    for seq, (command, name) in enumerate(acts):
        decision = MACHINE.decide(state, command, context(name, 50))
        assert not decision.refused
        state = MACHINE.evolve(state, recorded(decision.drafts[0].event, seq, name, 50))
    return state


ASK = (Ask(title="tea", of="teal-crane", due_at=10), "amber-otter")


@pytest.mark.parametrize("closer", CLOSERS)
def test_every_way_out_of_open_is_drawn_in_the_table_and_leads_to_an_end(closer: str) -> None:
    state = after(ASK)
    decision = MACHINE.decide(state, CLOSERS[closer], context(closer, 50))
    (draft,) = decision.drafts
    stage = TRANSITIONS[Stage.OPEN][type(draft.event)]
    assert TRANSITIONS[stage] == {}
    closed = after(ASK, (CLOSERS[closer], closer))
    assert closed.open == Map()
    for name, command in CLOSERS.items():
        again = MACHINE.decide(closed, command, context(name, 50))
        assert (again.refused, again.drafts) == (True, ())


def test_the_table_draws_nothing_that_cannot_happen() -> None:
    walked = {
        type(MACHINE.decide(after(ASK), command, context(name, 50)).drafts[0].event)
        for name, command in CLOSERS.items()
    }
    assert set(TRANSITIONS[Stage.OPEN]) == walked
    assert set(TRANSITIONS) == set(Stage)
    assert set(TRANSITIONS[Stage.OPEN].values()) == set(Stage) - {Stage.OPEN}


def test_the_machine_names_all_its_commands_and_events() -> None:
    assert MACHINE.commands == COMMANDS
    assert set(MACHINE.type_of) == set(EVENTS)
    assert all(command.__doc__ for command in COMMANDS)
