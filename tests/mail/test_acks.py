"""Answers: who owes one, what closes what, and what happens if none comes."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.findings import Severity
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.job import JobOutcome
from moot.engine.registry_commands import retire
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
    MailScenario,
    ack,
    info,
    party,
    question,
    send,
)

HERON = "slate-heron"


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


def ack_message(status: str = "Received", about: str = "", subject: str = "ACK: x") -> object:
    named = f"## Message ID\n{about}\n\n" if about else ""
    return send(subject, f"# Acknowledgement\n\n{named}## Status\n{status}\n", OTTER)


@pytest.mark.requirement("BRN-075")
def test_each_receiver_owes_an_answer_and_a_copy_owes_none(scenario: MailScenario) -> None:
    scenario.world.agent(HERON)
    command = send("CRITIQUE: H1", scene.CRITIQUE, CRANE, FINCH, cc=(party(HERON),))
    scenario.run(OTTER, command)
    assert scenario.message(1).progress is AckProgress.NONE
    assert [one.name for one in scenario.message(1).missing_receivers] == [CRANE, FINCH]
    assert {who for who, _ in scenario.dues()} == {CRANE, FINCH}
    assert list_owed_by(scenario.state, HERON, 1) == []
    scenario.run(CRANE, ack(1))
    assert scenario.message(1).progress is AckProgress.PARTIAL
    assert [one.name for one in scenario.message(1).missing_receivers] == [FINCH]
    assert list_owed_by(scenario.state, FINCH, 1) == [f"{THREAD}:1"]
    scenario.run(FINCH, ack(1, "Understood"))
    assert scenario.message(1).progress is AckProgress.COMPLETE
    assert not scenario.state.open


@pytest.mark.requirement("BRN-077")
def test_a_silent_copy_is_never_asked_again(scenario: MailScenario) -> None:
    scenario.world.agent(HERON)
    scenario.run(OTTER, question(CRANE, cc=(party(HERON),)))
    (again,) = scenario.later(30)
    assert again.to == (party(CRANE),)
    escalated, _ = scenario.later(30)
    assert escalated.missing == (party(CRANE),)
    scenario.run(CRANE, ack(1, "Completed"))
    assert not scenario.state.open


@pytest.mark.requirement("BRN-075")
def test_a_copy_may_answer_but_nobody_waits_for_it(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(CRANE, cc=(party(FINCH),)))
    scenario.run(FINCH, ack(1, "Completed"))
    assert scenario.message(1).progress is AckProgress.NONE
    assert scenario.message(1).is_unfinished


@pytest.mark.requirement("BRN-036")
@pytest.mark.requirement("BRN-039")
@pytest.mark.parametrize("status", list(AckStatus))
def test_an_ack_is_a_message_and_what_it_acknowledges(
    scenario: MailScenario, status: AckStatus
) -> None:
    scenario.run(OTTER, question())
    sent, given = scenario.run(CRANE, ack(1, status.value, "the inner one")).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.subject == "ACK: QUESTION: Which cache?"
    assert sent.event.to == (party(OTTER),)
    assert sent.event.ack_required is False
    assert "the inner one" in sent.event.body
    left = 0 if status is AckStatus.COMPLETED else 1
    assert given.event == did.MessageAcknowledged(
        id=f"{THREAD}:1", by=f"{THREAD}:2", status=status, left=left, item=""
    )
    assert scenario.message(1).to[0].status is status


def test_a_status_is_read_whatever_the_case(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.run(CRANE, ack(1, "will  ACTION"))
    assert scenario.message(1).to[0].status is AckStatus.WILL_ACTION


def test_what_nobody_may_do_is_refused(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(OTTER, ack(1)) == "own_message"
    assert scenario.refused(FINCH, ack(1)) == "not_addressed"
    assert scenario.refused(CRANE, ack(9)) == "message_not_found"
    assert scenario.refused(CRANE, ack(1, "OK")) == "bad_status"
    assert scenario.refused(CRANE, ack(1, notes="x" * 5_000)) == "notes_too_long"


def test_twice_is_an_update_and_the_same_again_is_nothing(scenario: MailScenario) -> None:
    scenario.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    scenario.run(CRANE, ack(1))
    length = scenario.length
    again = scenario.run(CRANE, ack(1))
    assert again.recorded == ()
    assert [one.code for one in again.findings] == ["already_acknowledged"]
    assert scenario.length == length
    scenario.run(CRANE, ack(1, "Understood"))
    scenario.run(CRANE, ack(1, "Understood", "with a word"))
    assert scenario.message(1).to[0].status is AckStatus.UNDERSTOOD
    assert scenario.state.count == 4


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
def test_some_things_stay_open_until_completed(
    scenario: MailScenario, subject: str, body: str
) -> None:
    scenario.run(OTTER, send(subject, body))
    scenario.run(CRANE, ack(1, "Will Action"))
    assert scenario.message(1).progress is AckProgress.COMPLETE
    assert [one.id for one in list_pending(scenario.state, 0)] == [f"{THREAD}:1"]
    assert [who for who, _ in scenario.dues()] == [CRANE]
    scenario.run(CRANE, ack(1, "Completed"))
    assert list_pending(scenario.state, 0) == []
    assert scenario.dues() == []
    scenario.run(CRANE, ack(1, "Received"))
    assert list_pending(scenario.state, 0) == []


@pytest.mark.requirement("BRN-064")
def test_an_info_in_answer_closes_a_question_of_its_sender(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(CRANE))
    scenario.run(FINCH, info(OTTER, re=f"{THREAD}:1"))
    scenario.run(CRANE, info(OTTER))
    assert scenario.message(1).is_unfinished
    scenario.run(CRANE, info(OTTER, re=f"{THREAD}:1"))
    assert not scenario.state.open
    assert scenario.message(1).to[0].status is AckStatus.COMPLETED


@pytest.mark.requirement("BRN-049")
def test_passed_on_work_changes_hands_with_the_ack(scenario: MailScenario) -> None:
    def owner() -> str:
        with scenario.world.store.read() as view:
            row = view.row("mail.items", "T-7")
        assert row is not None
        return row.value.decode()

    scenario.run(OTTER, send("CLAIM: T-7", scene.CLAIM))
    assert OTTER in owner()
    scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    assert OTTER in owner()
    scenario.run(CRANE, ack(2, "Will Action"))
    assert CRANE in owner()


@pytest.mark.requirement("BRN-049")
def test_only_the_named_agent_takes_the_work(scenario: MailScenario) -> None:
    scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff(), FINCH, CRANE))
    other = scenario.run(FINCH, ack(1, "Completed")).newest(did.MessageAcknowledged).event
    named = scenario.run(CRANE, ack(1)).newest(did.MessageAcknowledged).event
    assert (other.item, named.item) == ("", "T-7")


@pytest.mark.requirement("BRN-049")
def test_work_passed_on_behind_the_takers_back_is_remarked(scenario: MailScenario) -> None:
    done = scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff(), FINCH))
    assert "taker_not_told" in {one.code for one in done.findings}
    given = scenario.run(FINCH, ack(1)).newest(did.MessageAcknowledged).event
    assert given.item == "T-7"


def test_nobody_claims_work_for_another(scenario: MailScenario) -> None:
    done = scenario.run(FINCH, send("CLAIM: T-7", scene.CLAIM))
    assert "claim_for_another" in {one.code for one in done.findings}
    with scenario.world.store.read() as view:
        row = view.row("mail.items", "T-7")
    assert row is not None
    assert FINCH in row.value.decode()


# Matching an ACK that came as a message.


def test_an_ack_message_is_matched_by_the_id_it_names(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, question())
    done = scenario.run(CRANE, ack_message("Completed", f"{THREAD}:2"))
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert set(scenario.state.open) == {f"{THREAD}:1"}


@pytest.mark.parametrize("rest", ["QUESTION: Which cache?", "Which cache?"])
def test_without_an_id_it_is_matched_by_its_subject_if_only_one_fits(
    scenario: MailScenario, rest: str
) -> None:
    scenario.run(OTTER, question())
    done = scenario.run(CRANE, ack_message("Understood", subject=f"ACK: {rest}"))
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:1"


@pytest.mark.parametrize(("rest", "count"), [("Which cache?", 2), ("another", 1)])
def test_it_is_never_guessed(scenario: MailScenario, rest: str, count: int) -> None:
    for _ in range(count):
        scenario.run(OTTER, question())
    done = scenario.run(CRANE, ack_message(subject=f"ACK: {rest}"))
    assert len(done.recorded) == 1
    assert "ack_unmatched" in {one.code for one in done.findings}
    assert len(scenario.state.open) == count


def test_an_ack_that_wants_an_ack_itself_keeps_the_thread_open(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    body = f"# Acknowledgement\n\n## Message ID\n{THREAD}:1\n\n## Status\nCompleted\n"
    done = scenario.run(CRANE, send("ACK: x", body, OTTER, ack_required=True))
    assert "MB-009" in {one.rule for one in done.findings}
    assert done.newest(did.MessageAcknowledged).event.left == len(scenario.state.open) == 1
    assert scenario.rows("open", "mail/") == [STREAM]


def test_an_ack_message_obeys_the_same_rules(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(CRANE, ack_message(about=f"{THREAD}:7")) == "message_not_found"
    assert scenario.refused(FINCH, ack_message(about=f"{THREAD}:1")) == "not_addressed"
    scenario.run(CRANE, ack(1))
    assert scenario.refused(OTTER, ack(2)) == "message_settled"


def codes(done: JobOutcome) -> set[str]:
    return {one.code for one in done.findings}


@pytest.mark.requirement("BRN-037")
@pytest.mark.parametrize(
    "subject", ["ACK: QUESTION: Which cache?", "ACK: Which cache?", "ACK: BLOCKED: something else"]
)
def test_an_ack_that_says_another_message_than_it_names_is_questioned(
    scenario: MailScenario, subject: str
) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    done = scenario.run(CRANE, ack_message("Understood", f"{THREAD}:2", subject))
    (finding,) = [one for one in done.findings if one.code == "another_message"]
    assert finding.severity is Severity.WARNING
    assert "'CRITIQUE: H1'" in finding.message
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert set(scenario.state.open) == {f"{THREAD}:1"}


@pytest.mark.requirement("BRN-037")
@pytest.mark.parametrize("subject", ["ACK: CRITIQUE: H1", "ACK: H1", "ACK: in our own words"])
def test_an_ack_that_says_what_it_names_is_not_questioned(
    scenario: MailScenario, subject: str
) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, send("CRITIQUE: H1", scene.CRITIQUE))
    assert "another_message" not in codes(
        scenario.run(CRANE, ack_message("Understood", f"{THREAD}:2", subject))
    )


@pytest.mark.requirement("BRN-075")
def test_an_info_to_what_waits_for_an_ack_is_questioned(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, send("HANDOFF: T-7 to teal-crane", scene.handoff()))
    scenario.run(OTTER, info())
    done = scenario.run(CRANE, info(OTTER, re=f"{THREAD}:2"))
    (finding,) = [one for one in done.findings if one.code == "info_no_ack"]
    assert finding.message == f"{THREAD}:2 is a HANDOFF and still waits for an ACK of teal-crane"
    assert finding.hint == f"`moot mail ack {THREAD}:2 --status STATUS` answers it"
    assert [one.name for one in scenario.message(2).missing_receivers] == [CRANE]
    for command, actor in (
        (info(OTTER, re=f"{THREAD}:1"), CRANE),  # it answers the question
        (info(OTTER, re=f"{THREAD}:3"), CRANE),  # it answers an INFO
        (info(CRANE, re=f"{THREAD}:2"), OTTER),  # the sender adds something
        (info(OTTER, re=f"{THREAD}:2"), FINCH),  # it was not sent to this one
    ):
        assert "info_no_ack" not in codes(scenario.run(actor, command))


@pytest.mark.requirement("BRN-073")
@pytest.mark.parametrize(
    "given", [ack(2), ack_message("Received", f"{THREAD}:2", "ACK: INFO: Done")]
)
def test_an_ack_of_what_asks_for_none_is_questioned(scenario: MailScenario, given: Any) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, info())
    done = scenario.run(CRANE, given)
    (finding,) = [one for one in done.findings if one.code == "no_ack_owed"]
    assert finding.message == f"{THREAD}:2, 'INFO: Done', asks for no ACK"
    assert done.newest(did.MessageAcknowledged).event.id == f"{THREAD}:2"
    assert "no_ack_owed" not in codes(scenario.run(CRANE, ack(1)))
    assert "no_ack_owed" not in codes(scenario.run(CRANE, ack(1, "Completed")))
    assert "no_ack_owed" not in codes(scenario.run(CRANE, ack(1, "Completed", "with a word")))


def test_an_ack_of_what_was_answered_before_is_not_questioned(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(ack_required=False))
    assert "no_ack_owed" not in codes(scenario.run(CRANE, ack(1, "Completed")))
    assert "no_ack_owed" not in codes(scenario.run(CRANE, ack(1, "Completed", "and more")))


# Names change hands.


def test_a_message_for_an_earlier_holder_never_acts_for_the_later_one(
    scenario: MailScenario,
) -> None:
    scenario.run(OTTER, question())
    scenario.adopted(CRANE)
    assert scenario.refused(CRANE, ack(1)) == "earlier_holder"
    assert scenario.dues() == [(OTTER, "not answered: teal-crane ended")]
    assert list_pending(scenario.state, 0, CRANE, 2) == []
    assert (
        list_pending(scenario.state, 0, CRANE, 1) == list_pending(scenario.state, 0, OTTER, 1) != []
    )


def test_what_waits_for_an_ended_agent_is_the_senders(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(CRANE, FINCH))
    retire(scenario.world.engine, CRANE)
    assert scenario.dues() == [
        (OTTER, "not answered: teal-crane ended"),
        (FINCH, "answer"),
    ]


def test_a_later_holder_is_not_the_sender(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.adopted(OTTER)
    assert scenario.refused(OTTER, ack(1)) != "not refused"


# Time.


@pytest.mark.requirement("BRN-077")
def test_silence_is_sent_again_to_the_missing_and_then_to_the_operator(
    scenario: MailScenario,
) -> None:
    scenario.run(OTTER, send("KICKOFF: logins", scene.KICKOFF, CRANE, FINCH))
    scenario.run(CRANE, ack(1))
    assert scenario.later(29) == []
    (again,) = scenario.later(1)
    assert isinstance(again, did.MessageResent)
    assert (again.id, again.to) == (f"{THREAD}:1", (party(FINCH),))
    assert scenario.later(29) == []
    escalated, told = scenario.later(1)
    assert escalated == did.MessageEscalated(id=f"{THREAD}:1", missing=(party(FINCH),))
    assert (told.subject, told.to) == (
        f"INFO: no answer from coral-finch to {THREAD}:1",
        (party(OTTER),),
    )
    assert told.re == f"{THREAD}:1"
    assert not told.ack_required
    assert scenario.later(600) == []
    assert (OPERATOR, "no answer") in scenario.dues()
    scenario.run(FINCH, ack(1))
    assert scenario.dues() == []
    assert scenario.state.deadlines == ()


@pytest.mark.requirement("BRN-077")
def test_the_machine_gets_no_message_about_its_own_messages(scenario: MailScenario) -> None:
    scenario.run(SYSTEM, question())
    assert [type(one) for one in scenario.later(30)] == [did.MessageResent]
    assert [type(one) for one in scenario.later(30)] == [did.MessageEscalated]


@pytest.mark.requirement("BRN-077")
def test_the_next_command_applies_what_is_overdue(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.world.clock.forward(minutes=30)
    scenario.run(FINCH, info(OTTER))
    assert scenario.message(1).resent


def test_each_message_may_have_its_own_time(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(ack_minutes=5))
    scenario.run(OTTER, question())
    assert [one.id for one in scenario.later(5)] == [f"{THREAD}:1"]
    assert [one.id for one in scenario.later(5)] == [f"{THREAD}:1", f"{THREAD}:3"]
    assert scenario.message(1).escalated_at is not None


def test_only_the_machine_goes_after_an_answer(scenario: MailScenario) -> None:
    from moot.protocols.mail.commands import Chase

    scenario.run(OTTER, question())
    assert scenario.refused(CRANE, Chase(id=f"{THREAD}:1")) == "not_allowed"


@pytest.mark.requirement("BRN-076")
def test_the_sender_sees_how_each_receiver_stands(scenario: MailScenario) -> None:
    scenario.run(OTTER, question(CRANE, FINCH))
    scenario.run(CRANE, ack(1, "Will Action"))
    shown = describe_standing(scenario.message(1), scenario.world.clock.now)
    assert shown.acknowledged is AckProgress.PARTIAL
    assert shown.missing == (FINCH,)
    assert [(one.agent, one.status) for one in shown.receivers] == [
        (CRANE, "Will Action"),
        (FINCH, None),
    ]
    assert (
        list_pending(scenario.state, 0, OTTER, 1) == list_pending(scenario.state, 0, CRANE, 1) != []
    )
    assert list_pending(scenario.state, 0, "no-body", 1) == []


def test_a_thread_is_open_only_while_someone_waits(scenario: MailScenario) -> None:
    scenario.run(OTTER, info())
    assert scenario.rows("open", "mail/") == []
    scenario.run(OTTER, question())
    assert scenario.rows("open", "mail/") == [STREAM]
    scenario.run(CRANE, ack(2, "Completed"))
    assert scenario.rows("open", "mail/") == []
