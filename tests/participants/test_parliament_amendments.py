"""A parliament with participants: amendments, positions, motions, failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.agents.outcome import CallEnding, NoAnswer, StopReason
from moot.agents.scripted import RuleParticipant
from moot.api.parliaments.session import ParliamentSession
from moot.protocols.parliament.messages.contents import AmendmentStatus, Kind, SessionStatus
from tests.participants.scripted_participants import Voice
from tests.participants.test_parliament_run import run, seated, session
from tests.project import Project


class Seat(Voice):
    """Follows the rule of a voice, but for what is said here."""

    def __init__(self, rule: str, **own: Any) -> None:
        inner = RuleParticipant(rule)

        def say(brief: Any) -> dict[str, Any]:
            said: dict[str, Any] = inner.reply(brief, 1).reply
            step = own.get(brief.what)
            return {**said, **step(brief)} if callable(step) else step or said

        super().__init__(say)


def amends(action: str, text: str) -> Callable[[Any], dict[str, Any]]:
    """Proposes beside its question, once."""

    def say(brief: Any) -> dict[str, Any]:
        if "amendment" not in brief.schema["properties"] or brief.view["amendments"]:
            return {}
        if brief.view["bill_version"] > 1:
            return {}
        amendment = {
            "target_section": "solution",
            "action": action,
            "description": "Keep a way back.",
            "rationale": "It may fail.",
            "proposed_text": text,
        }
        return {"amendment": amendment}

    return say


def positions(position: str) -> Any:
    def say(brief: Any) -> dict[str, Any]:
        pending = list(brief.view["amendments"])
        row = {"amendment_id": "", "position": position, "reason": "so"}
        return {"amendment_position": {**row, "amendment_id": pending[0]}} if pending else {}

    return say


def names(room: ParliamentSession) -> list[str]:
    return [seat.agent for seat in room.state.seats_in_order()]


@pytest.mark.requirement("AGT-068")
def test_an_amendment_is_proposed_endorsed_and_stands_in_the_next_version(
    project: Project,
) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        add = amends("add", "And keep the old one for a month.")
        own = {"question": add, "answer": positions("endorse")}
        ended = run(room, {name: Seat("approve", **own) for name in names(room)})
        state = room.state
        kinds = [one.type for one in room.read_proceedings().messages]
    assert ended.stop is StopReason.WAITING, ended
    assert state.status is SessionStatus.PM_REVIEW
    (amendment,) = state.amendments_in_order()
    assert amendment.status is AmendmentStatus.INCORPORATED
    assert state.bill is not None
    assert state.bill.version == 2
    assert "And keep the old one for a month." in state.bill.sections.solution
    assert Kind.AMENDMENT in kinds
    assert project.ok("parliament", "check", "chamber")["valid"]


@pytest.mark.requirement("AGT-068")
def test_what_only_the_drafter_can_word_is_asked_of_the_drafter(project: Project) -> None:
    with project.workspace() as space:
        room = session(space, 3)

        def draft(brief: Any) -> dict[str, Any]:
            if "amendment" not in brief.view:
                return {}
            quoted = next(one for one in brief.quotes if "drafted by" in one.author)
            assert "amend-001" in brief.view["amendment"]
            assert "A bill by rule" in quoted.text
            return {"sections": {"solution": "Do it in two steps."}}

        own = {
            "question": amends("modify", "in two steps"),
            "answer": positions("endorse"),
            "bill_draft": draft,
        }
        ended = run(room, {name: Seat("approve", **own) for name in names(room)})
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert state.bill is not None
    assert (state.bill.version, state.bill.sections.solution) == (2, "Do it in two steps.")


@pytest.mark.requirement("AGT-068")
@pytest.mark.parametrize(
    ("position", "status"),
    [("oppose", AmendmentStatus.REJECTED), ("abstain", AmendmentStatus.PROPOSED)],
)
def test_what_most_oppose_falls_and_what_nobody_wants_stays_out(
    project: Project, position: str, status: AmendmentStatus
) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        own = {"question": amends("replace", "Nothing."), "answer": positions(position)}
        ended = run(room, {name: Seat("approve", **own) for name in names(room)})
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert state.bill is not None
    assert state.bill.version == 1
    settled = {AmendmentStatus.DEBATING: AmendmentStatus.PROPOSED}
    assert {settled.get(one.status, one.status) for one in state.amendments_in_order()} == {status}


@pytest.mark.requirement("AGT-068")
@pytest.mark.parametrize(
    "kind", ["call_vote", "request_amendment", "request_compromise", "point_of_order",
             "table_discussion"]
)  # fmt: skip
def test_a_motion_goes_to_the_speaker_and_the_session_goes_on(project: Project, kind: str) -> None:
    def move(_brief: Any) -> dict[str, Any]:
        return {"motion": {"motion_type": kind, "reason": "We have heard enough."}}

    with project.workspace() as space:
        room = session(space, 3)
        seats = {name: Seat("approve", question=move, answer=move) for name in names(room)}
        ended = run(room, seats)
        said = room.read_proceedings().messages
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert state.status is SessionStatus.PM_REVIEW
    assert not any(seat.expelled for seat in state.seats_in_order())
    assert any(one.type is Kind.MOTION for one in said)


@pytest.mark.requirement("AGT-068")
def test_a_bad_amendment_is_asked_for_again_before_anything_is_said(project: Project) -> None:
    def bad(brief: Any) -> dict[str, Any]:
        said = amends("add", "More.")(brief)
        if said and brief.attempt == 1:
            said["amendment"]["target_section"] = "budget"
        return said

    with project.workspace() as space:
        room = session(space, 3)
        own = {"question": bad, "answer": positions("endorse")}
        seats = {name: Seat("approve", **own) for name in names(room)}
        run(room, seats)
        state = room.state
    again = [brief for seat in seats.values() for brief in seat.briefs if brief.attempt == 2]
    assert again
    assert "amendment" in again[0].findings[0].message
    assert len(state.amendments_in_order()) == 1
    assert not any(seat.expelled for seat in state.seats_in_order())


@pytest.mark.requirement("AGT-068")
def test_a_question_goes_to_the_seat_it_is_due_to(project: Project) -> None:
    """A program that asks whom it likes is told, then not heard for the round; nobody waits."""

    def wrong(brief: Any) -> dict[str, Any]:
        due = brief.view.get("ask", {}).get("seat")
        others = [seat for seat in brief.view["seats"] if seat not in (due, brief.view["you"])]
        return {"to": others[0]} if due and others else {}

    with project.workspace() as space:
        room = session(space, 3)
        seats: dict[str, Any] = {name: Seat("approve", question=wrong) for name in names(room)}
        ended = run(room, seats)
        state = room.state
    assert ended.stop in (StopReason.WAITING, StopReason.SETTLED), ended
    assert not any(seat.expelled for seat in state.seats_in_order())
    assert state.vote_history


@pytest.mark.requirement("AGT-065")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_vote_that_was_given_counts_although_another_seat_failed(
    project: Project, place: int
) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        name = names(room)[place]
        seats = seated(room, "approve", "approve", "approve")
        inner = seats[name]

        def fails(brief: Any) -> dict[str, Any]:
            if brief.what == "vote":
                raise NoAnswer(CallEnding.CRASHED, "exit status 3")
            said: dict[str, Any] = inner.reply(brief, 1).reply
            return said

        seats[name] = Voice(fails)
        run(room, seats)
        last = room.state.vote_history[-1]
    assert (last.yes, last.passed) == (2, True)


@pytest.mark.requirement("AGT-065")
@pytest.mark.parametrize("ending", [CallEnding.CRASHED, CallEnding.TIMED_OUT, CallEnding.SILENT])
def test_a_program_that_fails_twice_is_out_and_the_others_go_on(
    project: Project, ending: CallEnding
) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        broken = Voice(NoAnswer(ending, "gone"))
        seats[names(room)[2]] = broken
        ended = run(room, seats)
        state = room.state
    assert ended.stop is StopReason.WAITING, ended
    assert [seat.expelled for seat in state.seats_in_order()] == [False, False, True]
    assert len(broken.briefs) == 2
    assert state.status is SessionStatus.PM_REVIEW


@pytest.mark.requirement("AGT-065")
@pytest.mark.parametrize(
    "ending", [CallEnding.DOWN, CallEnding.RATE_LIMITED, CallEnding.OUT_OF_MONEY]
)
def test_a_provider_in_trouble_costs_nobody_a_seat(project: Project, ending: CallEnding) -> None:
    with project.workspace() as space:
        room = session(space, 3)
        seats = seated(room, "approve", "approve", "approve")
        name = names(room)[2]
        back = seats[name]
        seats[name] = Voice(NoAnswer(ending, "503"))
        ended = run(room, seats)
        assert (ended.stop, ended.waits_for) == (StopReason.STUCK, (name,))
        assert not any(seat.expelled for seat in room.state.seats_in_order())
        assert run(room, {**seats, name: back}).stop is StopReason.WAITING
        assert room.state.status is SessionStatus.PM_REVIEW
