"""Answers: who owes one, what closes what, and what happens if none comes."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.findings import Severity
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.agents import retire
from moot.engine.job import JobOutcome
from moot.protocols.mail import events as did
from moot.protocols.mail.model import AckProgress
from moot.protocols.mail.types import AckStatus
from moot.protocols.mail.views import describe_standing, list_owed_by, list_pending

from . import scene
from .scene import (
    CRANE,
    FINCH,
    OTTER,
    STREAM,
    THREAD,
    Desk,
    ack,
    info,
    party,
    question,
    send,
)

HERON = "slate-heron"


@pytest.fixture
def desk() -> Desk:
    return Desk()


def ack_message(status: str = "Received", about: str = "", subject: str = "ACK: x") -> object:
    named = f"## Message ID\n{about}\n\n" if about else ""
    return send(subject, f"# Acknowledgement\n\n{named}## Status\n{status}\n", OTTER)


@pytest.mark.requirement("BRN-075")
def test_each_receiver_owes_an_answer_and_a_copy_owes_none(desk: Desk) -> None:
    desk.world.agent(HERON)
    command = send("CRITIQUE: H1", scene.CRITIQUE, CRANE, FINCH, cc=(party(HERON),))
    desk.run(OTTER, command)
    assert desk.message(1).progress is AckProgress.NONE
    assert [one.name for one in desk.message(1).missing_receivers] == [CRANE, FINCH]
    assert {who for who, _ in desk.dues()} == {CRANE, FINCH}
    assert list_owed_by(desk.state, HERON, 1) == []
    desk.run(CRANE, ack(1))
    assert desk.message(1).progress is AckProgress.PARTIAL
    assert [one.name for one in desk.message(1).missing_receivers] == [FINCH]
    assert list_owed_by(desk.state, FINCH, 1) == [f"{THREAD}:1"]
    desk.run(FINCH, ack(1, "Understood"))
    assert desk.message(1).progress is AckProgress.COMPLETE
    assert not desk.state.open


@pytest.mark.requirement("BRN-077")
def test_a_silent_copy_is_never_asked_again(desk: Desk) -> None:
    desk.world.agent(HERON)
    desk.run(OTTER, question(CRANE, cc=(party(HERON),)))
    (again,) = desk.later(30)
    assert again.to == (party(CRANE),)
    escalated, _ = desk.later(30)
    assert escalated.missing == (party(CRANE),)
    desk.run(CRANE, ack(1, "Completed"))
    assert not desk.state.open


@pytest.mark.requirement("BRN-075")
def test_a_copy_may_answer_but_nobody_waits_for_it(desk: Desk) -> None:
    desk.run(OTTER, question(CRANE, cc=(party(FINCH),)))
    desk.run(FINCH, ack(1, "Completed"))
    assert desk.message(1).progress is AckProgress.NONE
    assert desk.message(1).is_unfinished


@pytest.mark.requirement("BRN-036")
@pytest.mark.requirement("BRN-039")
@pytest.mark.parametrize("status", list(AckStatus))
def test_an_ack_is_a_message_and_what_it_acknowledges(desk: Desk, status: AckStatus) -> None:
    desk.run(OTTER, question())
    sent, given = desk.run(CRANE, ack(1, status.value, "the inner one")).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.subject == "ACK: QUESTION: Which cache?"
    assert sent.event.to == (party(OTTER),)
    assert sent.event.ack_required is False
    assert "the inner one" in sent.event.body
    left = 0 if status is AckStatus.COMPLETED else 1
    assert given.event == did.MessageAcknowledged(
        id=f"{THREAD}:1", by=f"{THREAD}:2", status=status, left=left, item=""
    )
    assert desk.message(1).to[0].status is status


def test_a_status_is_read_whatever_the_case(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.run(CRANE, ack(1, "will  ACTION"))
    assert desk.message(1).to[0].status is AckStatus.WILL_ACTION


def test_what_nobody_may_do_is_refused(desk: Desk) -> None:
    desk.run(OTTER, question())
    assert desk.refused(OTTER, ack(1)) == "own_message"
    assert desk.refused(FINCH, ack(1)) == "not_addressed"
    assert desk.refused(CRANE, ack(9)) == "message_not_found"
    assert desk.refused(CRANE, ack(1, "OK")) == "bad_status"
    assert desk.refused(CRANE, ack(1, notes="x" * 5_000)) == "notes_too_long"


def test_twice_is_an_update_and_the_same_again_is_nothing(desk: Desk) -> None:
    desk.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    desk.run(CRANE, ack(1))
    length = desk.length
    again = desk.run(CRANE, ack(1))
    assert again.recorded == ()
    assert [one.code for one in again.findings] == ["already_acknowledged"]
    assert desk.length == length
    desk.run(CRANE, ack(1, "Understood"))
    desk.run(CRANE, ack(1, "Understood", "with a word"))
    assert desk.message(1).to[0].status is AckStatus.UNDERSTOOD
    assert desk.state.count == 4


@pytest.mark.requirement("BRN-056")
@pytest.mark.requirement("BRN-064")
@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("QUESTION: Which?", scene.QUESTION),
        ("BLOCKED: T-7", scene.BLOCKED),
        ("HANDOFF: T-7 to teal-crane", scene.handoff()),
    ],
)
def test_some_things_stay_open_until_completed(desk: Desk, subject: str, body: str) -> None:
    desk.run(OTTER, send(subject, body))
    desk.run(CRANE, ack(1, "Will Action"))
    assert desk.message(1).progress is AckProgress.COMPLETE
    assert [one.id for one in list_pending(desk.state, 0)] == [f"{THREAD}:1"]
    assert [who for who, _ in desk.dues()] == [CRANE]
    desk.run(CRANE, ack(1, "Completed"))
    assert list_pending(desk.state, 0) == []
    assert desk.dues() == []
    desk.run(CRANE, ack(1, "Received"))
    assert list_pending(desk.state, 0) == []


@pytest.mark.requirement("BRN-064")
def test_an_info_in_answer_closes_a_question_of_its_sender(desk: Desk) -> None:
    desk.run(OTTER, question(CRANE))
    desk.run(FINCH, info(OTTER, re=f"{THREAD}:1"))
    desk.run(CRANE, info(OTTER))
    assert desk.message(1).is_unfinished
    desk.run(CRANE, info(OTTER, re=f"{THREAD}:1"))
    assert not desk.state.open
    assert desk.message(1).to[0].status is AckStatus.COMPLETED


@pytest.mark.requirement("BRN-049")
def test_passed_on_work_changes_hands_with_the_ack(desk: Desk) -> None:
    def owner() -> str:
        with desk.world.store.read() as view:
            row = view.row("mail.items", "T-7")
        assert row is not None
        return row.value.decode()

    desk.run(OTTER, send("CLAIM: T-7", scene.CLAIM))
    assert OTTER in owner()
    desk.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    assert OTTER in owner()
    desk.run(CRANE, ack(2, "Will Action"))
    assert CRANE in owner()


@pytest.mark.requirement("BRN-049")
def test_only_whoever_is_named_takes_the_work(desk: Desk) -> None:
    desk.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff(), FINCH, CRANE))
    other = desk.run(FINCH, ack(1, "Completed")).newest(did.MessageAcknowledged).event
    named = desk.run(CRANE, ack(1)).newest(did.MessageAcknowledged).event
    assert (other.item, named.item) == ("", "T-7")


def test_work_passed_on_behind_the_takers_back_is_remarked(desk: Desk) -> None:
    done = desk.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff(), FINCH))
    assert "taker_not_told" in {one.code for one in done.findings}
    given = desk.run(FINCH, ack(1)).newest(did.MessageAcknowledged).event
    assert given.item == "T-7"


def test_nobody_claims_work_for_another(desk: Desk) -> None:
    done = desk.run(FINCH, send("CLAIM: T-7", scene.CLAIM))
    assert "claim_for_another" in {one.code for one in done.findings}
    with desk.world.store.read() as view:
        row = view.row("mail.items", "T-7")
    assert row is not None
    assert FINCH in row.value.decode()


# Matching an ACK that came as a message.


def test_an_ack_message_is_matched_by_the_id_it_names(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, question())
    done = desk.run(CRANE, ack_message("Completed", f"{THREAD}:2"))
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert set(desk.state.open) == {f"{THREAD}:1"}


@pytest.mark.parametrize("rest", ["QUESTION: Which cache?", "Which cache?"])
def test_without_an_id_it_is_matched_by_its_subject_if_only_one_fits(desk: Desk, rest: str) -> None:
    desk.run(OTTER, question())
    done = desk.run(CRANE, ack_message("Understood", subject=f"ACK: {rest}"))
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:1"


@pytest.mark.parametrize(("rest", "count"), [("Which cache?", 2), ("another", 1)])
def test_it_is_never_guessed(desk: Desk, rest: str, count: int) -> None:
    for _ in range(count):
        desk.run(OTTER, question())
    done = desk.run(CRANE, ack_message(subject=f"ACK: {rest}"))
    assert len(done.recorded) == 1
    assert "ack_unmatched" in {one.code for one in done.findings}
    assert len(desk.state.open) == count


def test_an_ack_that_wants_an_ack_itself_keeps_the_thread_open(desk: Desk) -> None:
    desk.run(OTTER, question())
    body = f"# Acknowledgement\n\n## Message ID\n{THREAD}:1\n\n## Status\nCompleted\n"
    done = desk.run(CRANE, send("ACK: x", body, OTTER, ack_required=True))
    assert "MB-009" in {one.rule for one in done.findings}
    assert done.newest(did.MessageAcknowledged).event.left == len(desk.state.open) == 1
    assert desk.rows("open", "mail/") == [STREAM]


def test_an_ack_message_obeys_the_same_rules(desk: Desk) -> None:
    desk.run(OTTER, question())
    assert desk.refused(CRANE, ack_message(about=f"{THREAD}:7")) == "message_not_found"
    assert desk.refused(FINCH, ack_message(about=f"{THREAD}:1")) == "not_addressed"
    desk.run(CRANE, ack(1))
    assert desk.refused(OTTER, ack(2)) == "message_settled"


def codes(done: JobOutcome) -> set[str]:
    return {one.code for one in done.findings}


@pytest.mark.requirement("BRN-037")
@pytest.mark.parametrize(
    "subject", ["ACK: QUESTION: Which cache?", "ACK: Which cache?", "ACK: BLOCKED: something else"]
)
def test_an_ack_that_says_another_message_than_it_names_is_questioned(
    desk: Desk, subject: str
) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    done = desk.run(CRANE, ack_message("Understood", f"{THREAD}:2", subject))
    (finding,) = [one for one in done.findings if one.code == "another_message"]
    assert finding.severity is Severity.WARNING
    assert "'CRITIQUE: H1'" in finding.message
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert set(desk.state.open) == {f"{THREAD}:1"}


@pytest.mark.requirement("BRN-037")
@pytest.mark.parametrize("subject", ["ACK: CRITIQUE: H1", "ACK: H1", "ACK: in our own words"])
def test_an_ack_that_says_what_it_names_is_not_questioned(desk: Desk, subject: str) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    assert "another_message" not in codes(
        desk.run(CRANE, ack_message("Understood", f"{THREAD}:2", subject))
    )


@pytest.mark.requirement("BRN-075")
def test_an_info_to_what_waits_for_an_ack_is_questioned(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    desk.run(OTTER, info())
    done = desk.run(CRANE, info(OTTER, re=f"{THREAD}:2"))
    (finding,) = [one for one in done.findings if one.code == "info_no_ack"]
    assert finding.message == f"{THREAD}:2 is a HANDOFF and still waits for an ACK of teal-crane"
    assert finding.hint == f"`moot mail ack {THREAD}:2 --status STATUS` answers it"
    assert [one.name for one in desk.message(2).missing_receivers] == [CRANE]
    for command, actor in (
        (info(OTTER, re=f"{THREAD}:1"), CRANE),  # it answers the question
        (info(OTTER, re=f"{THREAD}:3"), CRANE),  # it answers an INFO
        (info(CRANE, re=f"{THREAD}:2"), OTTER),  # the sender adds something
        (info(OTTER, re=f"{THREAD}:2"), FINCH),  # it was not sent to this one
    ):
        assert "info_no_ack" not in codes(desk.run(actor, command))


@pytest.mark.requirement("BRN-073")
@pytest.mark.parametrize(
    "given", [ack(2), ack_message("Received", f"{THREAD}:2", "ACK: INFO: Done")]
)
def test_an_ack_of_what_asks_for_none_is_questioned(desk: Desk, given: Any) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, info())
    done = desk.run(CRANE, given)
    (finding,) = [one for one in done.findings if one.code == "no_ack_owed"]
    assert finding.message == f"{THREAD}:2, 'INFO: Done', asks for no ACK"
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert "no_ack_owed" not in codes(desk.run(CRANE, ack(1)))
    assert "no_ack_owed" not in codes(desk.run(CRANE, ack(1, "Completed")))
    assert "no_ack_owed" not in codes(desk.run(CRANE, ack(1, "Completed", "with a word")))


def test_an_ack_of_what_was_answered_before_is_not_questioned(desk: Desk) -> None:
    desk.run(OTTER, question(ack_required=False))
    assert "no_ack_owed" not in codes(desk.run(CRANE, ack(1, "Completed")))
    assert "no_ack_owed" not in codes(desk.run(CRANE, ack(1, "Completed", "and more")))


# Names change hands.


def test_a_message_for_an_earlier_holder_never_acts_for_the_later_one(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.adopted(CRANE)
    assert desk.refused(CRANE, ack(1)) == "earlier_holder"
    assert desk.dues() == [(OTTER, "not answered: teal-crane ended")]
    assert list_pending(desk.state, 0, CRANE, 2) == []
    assert list_pending(desk.state, 0, CRANE, 1) == list_pending(desk.state, 0, OTTER, 1) != []


def test_what_waits_for_whoever_has_ended_is_the_senders(desk: Desk) -> None:
    desk.run(OTTER, question(CRANE, FINCH))
    retire(desk.world.engine, CRANE)
    assert desk.dues() == [
        (OTTER, "not answered: teal-crane ended"),
        (FINCH, "answer"),
    ]


def test_a_later_holder_is_not_the_sender(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.adopted(OTTER)
    assert desk.refused(OTTER, ack(1)) != "not refused"


# Time.


@pytest.mark.requirement("BRN-077")
def test_silence_is_sent_again_to_the_missing_and_then_to_the_operator(desk: Desk) -> None:
    desk.run(OTTER, send("KICKOFF: logins", scene.KICKOFF, CRANE, FINCH))
    desk.run(CRANE, ack(1))
    assert desk.later(29) == []
    (again,) = desk.later(1)
    assert isinstance(again, did.MessageResent)
    assert (again.id, again.to) == (f"{THREAD}:1", (party(FINCH),))
    assert desk.later(29) == []
    escalated, told = desk.later(1)
    assert escalated == did.MessageEscalated(id=f"{THREAD}:1", missing=(party(FINCH),))
    assert (told.subject, told.to) == (
        f"INFO: no answer from coral-finch to {THREAD}:1",
        (party(OTTER),),
    )
    assert told.re == f"{THREAD}:1"
    assert not told.ack_required
    assert desk.later(600) == []
    assert (OPERATOR, "no answer") in desk.dues()
    desk.run(FINCH, ack(1))
    assert desk.dues() == []
    assert desk.state.deadlines == ()


@pytest.mark.requirement("BRN-077")
def test_the_machine_is_not_told_of_what_it_sent_itself(desk: Desk) -> None:
    desk.run(SYSTEM, question())
    assert [type(one) for one in desk.later(30)] == [did.MessageResent]
    assert [type(one) for one in desk.later(30)] == [did.MessageEscalated]


@pytest.mark.requirement("BRN-077")
def test_the_next_command_applies_what_is_overdue(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.world.clock.forward(minutes=30)
    desk.run(FINCH, info(OTTER))
    assert desk.message(1).resent


def test_each_message_may_have_its_own_time(desk: Desk) -> None:
    desk.run(OTTER, question(ack_minutes=5))
    desk.run(OTTER, question())
    assert [one.id for one in desk.later(5)] == [f"{THREAD}:1"]
    assert [one.id for one in desk.later(5)] == [f"{THREAD}:1", f"{THREAD}:3"]
    assert desk.message(1).escalated_at is not None


def test_only_the_machine_goes_after_an_answer(desk: Desk) -> None:
    from moot.protocols.mail.commands import Chase

    desk.run(OTTER, question())
    assert desk.refused(CRANE, Chase(id=f"{THREAD}:1")) == "not_allowed"


@pytest.mark.requirement("BRN-076")
def test_the_sender_sees_how_each_receiver_stands(desk: Desk) -> None:
    desk.run(OTTER, question(CRANE, FINCH))
    desk.run(CRANE, ack(1, "Will Action"))
    shown = describe_standing(desk.message(1), desk.world.clock.now)
    assert shown.acknowledged is AckProgress.PARTIAL
    assert shown.missing == (FINCH,)
    assert [(one.agent, one.status) for one in shown.receivers] == [
        (CRANE, "Will Action"),
        (FINCH, None),
    ]
    assert list_pending(desk.state, 0, OTTER, 1) == list_pending(desk.state, 0, CRANE, 1) != []
    assert list_pending(desk.state, 0, "no-body", 1) == []


def test_a_thread_is_open_only_while_someone_waits(desk: Desk) -> None:
    desk.run(OTTER, info())
    assert desk.rows("open", "mail/") == []
    desk.run(OTTER, question())
    assert desk.rows("open", "mail/") == [STREAM]
    desk.run(CRANE, ack(2, "Completed"))
    assert desk.rows("open", "mail/") == []
