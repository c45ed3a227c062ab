"""A path at its edges: the longest text that is taken, what comes too late, what is found again."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.machine import Command, Context, Due, Event, KeyClass, Recorded, VerifiedActor
from moot.core.names import SYSTEM
from moot.core.record import Actor
from moot.protocols.path import model as ask
from moot.protocols.path import model as did
from moot.protocols.path.machine import ITEMS, MACHINE, PATHS, TRANSITIONS, evolve
from moot.protocols.path.model import MadeThing, ResultStanding, SourceRecord, Stage, StepTarget
from moot.protocols.path.views import describe_step

from .scene import (
    BILL,
    DEBATE,
    MESSAGE,
    SESSION,
    STREAM,
    TO_DEBATE,
    begun,
    by_machine,
    fail,
    finish,
    path,
    step,
    to_parliament,
    to_trace,
)


def begin(**more: Any) -> ask.BeginPath:
    return ask.BeginPath(**{"title": "x", "origin": "x", "source": MESSAGE, **more})


@pytest.mark.parametrize(
    ("before", "command", "field", "most"),
    [
        ((), begin, "title", 300),
        ((), begin, "origin", 100),
        ((begin(),), step, "asked_by", 100),
        ((begin(), step()), fail, "why", 2_000),
        ((begin(), step()), fail, "code", 2_000),
    ],
)
def test_a_text_may_be_as_long_as_this_and_no_longer(
    before: tuple[Command, ...], command: Any, field: str, most: int
) -> None:
    scenario = by_machine(path()).when(*before)
    scenario.refused("text_too_long", command(**{field: "x" * (most + 1)}))
    scenario.when(command(**{field: "x" * most}))


def test_a_step_makes_a_hundred_things_at_most() -> None:
    made = [MadeThing("session", "debate/d1", number, "d1") for number in range(101)]
    scenario = begun().when(step())
    scenario.refused("nothing_made", finish(*made))
    scenario.when(finish(*made[:100]))


def test_a_path_has_a_thousand_steps_at_most() -> None:
    scenario = begun()
    for number in range(1_000):
        scenario.when(step(source=SourceRecord("mail/x", number, "a" * 64, f"x-{number}")))
    scenario.refused("path_full", step())


@pytest.mark.requirement("XPR-05")
def test_words_that_nobody_signed_lead_nowhere_and_the_hint_names_their_author() -> None:
    unsigned = ResultStanding(reached=True, unsigned=("teal-crane",))
    command = to_parliament(standing=unsigned)
    scenario = begun().refused("words_unsigned", command)
    decision = MACHINE.decide(scenario.state, command, _context(scenario))
    assert [finding.code for finding in decision.findings] == ["words_unsigned"]
    assert "--author teal-crane" in decision.findings[0].hint


def _context(scenario: Any) -> Context:
    machine = VerifiedActor(SYSTEM, 1, "k", KeyClass.SYSTEM)
    return Context(scenario.world.clock.now, machine, STREAM, "o")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (step(flow="f" * 70), repr("f" * 60)),
        (finish(MadeThing("m" * 70, "debate/d1", 0, "d1")), f"makes no {'m' * 60}"),
    ],
)
def test_a_strange_word_is_repeated_in_short(command: Command, shown: str) -> None:
    scenario = begun().when(step())
    decision = MACHINE.decide(scenario.state, command, _context(scenario))
    assert any(finding.message.endswith(shown) for finding in decision.findings)


def test_what_is_due_names_its_source_in_short() -> None:
    scenario = begun().when(step(source=SourceRecord("mail/x", 0, "a" * 64, "x" * 300)))
    due: Due = MACHINE.agenda(scenario.state, 0)[0]
    assert due.subject == "blocked-to-debate " + "x" * (200 - len("blocked-to-debate "))


BEGUN = did.StepBegun(
    number=1, flow="blocked-to-debate", source=MESSAGE, target=TO_DEBATE, asked_by="amber-otter"
)
DONE = did.StepDone(
    flow="blocked-to-debate", source=MESSAGE, target=TO_DEBATE, made=(SESSION,), left=0
)
FAILED = did.StepFailed(flow="blocked-to-debate", source=MESSAGE, code="taken", why="taken")


def follow(*events: Event) -> Any:
    state = MACHINE.initial
    for seq, event in enumerate(events):
        state = evolve(state, Recorded(event, STREAM, seq, 1_000 + seq, Actor("x", 1, "k"), b""))
    return state


@pytest.mark.parametrize(
    ("before", "event", "stage"),
    [
        ((BEGUN,), BEGUN, Stage.BEGUN),
        ((BEGUN,), DONE, Stage.DONE),
        ((BEGUN,), FAILED, Stage.FAILED),
        ((BEGUN, FAILED), BEGUN, Stage.BEGUN),
        ((BEGUN, FAILED), DONE, Stage.DONE),
        ((BEGUN, FAILED), FAILED, Stage.FAILED),
    ],
)
def test_where_an_event_leads_is_where_the_table_says(
    before: tuple[Event, ...], event: Event, stage: Stage
) -> None:
    stands = follow(*before).steps_in_order()[0]
    after = follow(*before, event)
    assert after.steps_in_order()[0].stage is stage
    assert TRANSITIONS[stands.stage][type(event)] is stage
    assert bool(after.open) is (stage is not Stage.DONE)


@pytest.mark.parametrize("event", [BEGUN, DONE, FAILED])
def test_what_is_done_stays_done_whatever_the_ledger_says_later(event: Event) -> None:
    assert follow(BEGUN, DONE, event) == follow(BEGUN, DONE)


@pytest.mark.parametrize("event", [DONE, FAILED])
def test_the_end_of_a_step_that_never_began_changes_nothing(event: Event) -> None:
    assert follow(event) == MACHINE.initial


def test_a_path_is_open_until_its_last_step_is_done() -> None:
    scenario = begun().when(step(), to_trace(), finish(SESSION))
    assert scenario.world.engine.open_streams() == [STREAM]
    made = MadeThing("proposal", "trace/t1", 1, "p1")
    scenario.when(finish(made, flow="approval-to-trace", source=BILL))
    assert scenario.world.engine.open_streams() == []


def test_sessions_are_found_by_their_stream_and_messages_by_their_id() -> None:
    """Two sources, and a target in mail: a thread holds many things, a session is one."""
    told = StepTarget("mail/pay-8", "pay-8-1")
    late = step(flow="timeout-to-operator", source=DEBATE, target=told)
    message = MadeThing("message", "mail/pay-8", 0, "pay-8-1")
    scenario = by_machine(path()).when(begin(title="Green tea", source=BILL), late)
    scenario.when(finish(message, flow="timeout-to-operator", source=DEBATE))
    with scenario.world.store.read() as view:
        keys = [row.key for row in view.rows(ITEMS)]
        assert keys == sorted([BILL.id, BILL.stream, DEBATE.id, DEBATE.stream, "pay-8-1"])
        assert view.search(PATHS, "green tea") == [STREAM.partition("/")[2]]


def test_more_than_two_things_of_a_kind_are_counted() -> None:
    def tell(*made: MadeThing) -> str:
        scenario = begun().when(step(), finish(*made))
        return describe_step(scenario.state.steps_in_order()[0]).made_in_words

    three = [MadeThing("session", "debate/d1", number, f"d{number}") for number in range(3)]
    assert tell(*three[:2]) == "session d0, d1"
    assert tell(*three) == "3 sessions"


def test_the_version_of_the_machine_is_raised_on_purpose() -> None:
    """Snapshots of another version are not read: all states would be computed again."""
    assert MACHINE.version == 1
