"""Proposals: what they hold, how the critic judges them, how they are revised."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.trace import commands as ask
from moot.protocols.trace.model import MAX_PROPOSALS, Review, Stage

from .scene import CRITIC, EXECUTOR, PLANNER, Ledgered, Trace, intent, proposal


@pytest.mark.requirement("TRC-027")
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"objective": "  "}, "text_missing"),
        ({"assumptions": None}, "proposal_incomplete"),
        ({"expected_evidence": None}, "proposal_incomplete"),
    ],
)
def test_a_proposal_names_all_four_things(changed: dict[str, Any], code: str) -> None:
    assert Trace().to("planning").refused(proposal(**changed), PLANNER) == code


@pytest.mark.requirement("TRC-027")
@pytest.mark.parametrize("tools", [(), ("",), ("pytest", " ")])
def test_a_proposal_names_its_tools(tools: tuple[str, ...]) -> None:
    command = ask.CreateProposal(
        objective="x", required_tools=tools, assumptions=(), expected_evidence=()
    )
    assert Trace().to("planning").refused(command, PLANNER) == "text_missing"


def test_an_empty_list_says_that_there_is_none() -> None:
    trace = Trace().to("planning")
    assert trace.propose(assumptions=(), expected_evidence=()) == "p1"


@pytest.mark.requirement("TRC-028")
@pytest.mark.parametrize("status", ["approved", "conditional", "rejected", "blocked"])
def test_the_critic_approves_on_conditions_or_not_rejects_or_blocks(status: str) -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", status)
    assert trace.state.proposals["p1"].review is Review(status)


@pytest.mark.requirement("TRC-028")
@pytest.mark.parametrize("status", ["", "maybe", "pending", "APPROVED"])
def test_any_other_verdict_is_refused(status: str) -> None:
    command = ask.ReviewProposal(proposal_id="p1", status=status, rationale="x")
    assert Trace().to("reviewing").refused(command, CRITIC) == "bad_verdict"


def test_a_verdict_has_a_reason_and_a_subject() -> None:
    trace = Trace().to("reviewing")
    unsaid = ask.ReviewProposal(proposal_id="p1", status="approved", rationale="")
    assert trace.refused(unsaid, CRITIC) == "text_missing"
    for name in ("p2", "", "i1", "p" + "9" * 30):
        unknown = ask.ReviewProposal(proposal_id=name, status="approved", rationale="x")
        assert trace.refused(unknown, CRITIC) == "unknown_proposal"


@pytest.mark.requirement("TRC-029")
@pytest.mark.requirement("TRC-030")
@pytest.mark.requirement("TRC-056")
@pytest.mark.parametrize("status", ["rejected", "blocked", ""])
def test_nothing_is_intended_under_what_is_not_approved(status: str) -> None:
    trace = Trace().to("executing")
    other = trace.propose()
    if status:
        trace.review(other, status)
    assert trace.refused(intent(other), EXECUTOR) == "proposal_not_approved"


@pytest.mark.parametrize("status", ["rejected", "blocked"])
def test_a_rejection_and_a_block_are_final(status: str) -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", status)
    again = ask.ReviewProposal(proposal_id="p1", status="approved", rationale="after all")
    assert trace.refused(again, CRITIC) == "review_not_open"


@pytest.mark.requirement("TRC-056")
def test_a_blocked_proposal_goes_on_once_it_is_revised_and_approved() -> None:
    trace = Trace().to("reviewing")
    trace.review("p1", "blocked")
    revised = trace.approved(supersedes="p1")
    assert trace.state.stage is Stage.EXECUTING
    assert trace.intend(revised) == "i1"
    assert trace.refused(intent("p1"), EXECUTOR) == "unknown_proposal"


@pytest.mark.requirement("TRC-056")
def test_what_is_blocked_later_is_not_run() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    trace.review("p1", "blocked")
    assert trace.refused(trace.starting(name), EXECUTOR) == "proposal_not_approved"


@pytest.mark.requirement("TRC-041")
def test_a_revision_supersedes_and_the_old_bytes_stay() -> None:
    trace = Ledgered().to("reviewing")
    with trace.world.store.read() as view:
        before = [record.raw for record in view.records(trace.stream)]
    trace.propose(supersedes="p1", objective="run all the tests")
    with trace.world.store.read() as view:
        after = [record.raw for record in view.records(trace.stream)]
    assert after[: len(before)] == before
    assert sorted(trace.state.proposals) == ["p2"]
    assert trace.refused(proposal(supersedes="p1"), PLANNER) == "unknown_proposal"
    assert trace.refused(proposal(supersedes="p7"), PLANNER) == "unknown_proposal"


def test_intents_of_a_superseded_proposal_are_closed() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    trace.propose(supersedes="p1")
    assert trace.refused(trace.starting(name), EXECUTOR) == "intent_closed"


def test_a_proposal_is_not_superseded_under_a_run() -> None:
    trace = Trace().to("executing")
    trace.start(trace.intend("p1"))
    assert trace.refused(proposal(supersedes="p1"), PLANNER) == "execution_running"


def test_an_approval_may_get_conditions_and_lose_them() -> None:
    trace = Trace().to("executing")
    name = trace.intend("p1")
    trace.review("p1", "conditional")
    assert trace.refused(trace.starting(name), EXECUTOR) == "approval_required"
    trace.review("p1", "approved")
    trace.start(name)


def test_there_is_an_end_to_how_many_stand() -> None:
    trace = Trace().to("planning")
    for _ in range(MAX_PROPOSALS):
        trace.propose()
    assert trace.refused(proposal(), PLANNER) == "too_many_open"
    trace.propose(supersedes="p1")


def test_long_and_broken_texts_are_refused() -> None:
    trace = Trace().to("planning")
    assert trace.refused(proposal(objective="x" * 20_000), PLANNER) == "text_too_long"
    assert trace.refused(proposal(assumptions=("y" * 9_000,) * 5), PLANNER) == "text_too_long"
    assert trace.refused(proposal(*["t"] * 65), PLANNER) == "too_many_items"
    assert trace.refused(proposal(assumptions=("t",) * 501), PLANNER) == "too_many_items"
    assert trace.refused(proposal(objective="\udc80"), PLANNER) == "unreadable_text"
    trace.propose(objective="die Prüfungen laufen lassen — 実行する 🦦")


def test_a_proposal_is_on_record_with_all_that_was_said() -> None:
    trace = Trace().to("planning")
    event = trace.run(
        proposal("pytest", "make", assumptions=("a", "b"), expected_evidence=("their output",)),
        PLANNER,
    )
    assert (event.assumptions, event.expected_evidence) == (("a", "b"), ("their output",))
    assert (event.objective, event.required_tools) == ("run the tests", ("pytest", "make"))
    none = trace.run(proposal(assumptions=(), expected_evidence=()), PLANNER)
    assert (none.assumptions, none.expected_evidence) == ((), ())
