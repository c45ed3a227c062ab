"""Mail in cases easily forgotten: flags in words, who owes an ACK, who is told of an end."""

from __future__ import annotations

import pytest

from moot.core.errors import MootError
from moot.core.names import SYSTEM
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.codec import read_message_file
from moot.protocols.mail.delta_checks import find_stray_deltas
from moot.protocols.mail.model import State, with_deadline, without_deadline
from moot.protocols.mail.types import MessageType, is_ack_owed
from moot.protocols.mail.views import ImportedView, SentView, describe_message, describe_standing

from .scene import (
    CRANE,
    FINCH,
    KICKOFF,
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
from .test_lapsing import lapse


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


@pytest.mark.parametrize(
    ("written", "means"),
    [
        *(("true", True), ("yes", True), ("1", True), ('"true"', True), ("Yes", True)),
        *(("false", False), ("no", False), ("0", False), ('"no"', False), ("False", False)),
    ],
)
def test_a_flag_is_read_as_people_write_it(written: str, means: bool) -> None:
    text = f"---\nfrom: RedCreek\nsubject: hi\nack_required: {written}\n---\nbody\n"
    assert read_message_file(text).ack_required is means


def test_which_types_want_an_ack() -> None:
    """The document's own table."""
    wants = {"KICKOFF", "CRITIQUE", "HANDOFF", "BLOCKED", "QUESTION"}
    assert {kind.value for kind in MessageType if is_ack_owed(kind)} == wants


@pytest.mark.requirement("BRN-075")
def test_an_agent_that_asked_is_reported_that_nobody_will_answer(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.world.engine.open_streams() == [STREAM]
    scenario.run(SYSTEM, lapse())
    assert scenario.state.count == 1
    assert scenario.world.engine.open_streams() == []
    scenario.run(OTTER, question())
    recorded = scenario.run(SYSTEM, lapse(id=f"{THREAD}:2", tell=True)).recorded
    told = [one.event for one in recorded if isinstance(one.event, did.MessageSent)]
    assert [(one.subject, one.to[0].name) for one in told] == [
        (f"INFO: not answered: {CRANE} ended", OTTER)
    ]


def test_a_thread_stays_open_while_another_message_waits(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.run(OTTER, question(FINCH))
    scenario.run(SYSTEM, lapse())
    assert scenario.world.engine.open_streams() == [STREAM]


def test_what_was_sent_here_is_proved_and_what_came_from_outside_is_not(
    scenario: MailScenario,
) -> None:
    (sent,) = scenario.run(OTTER, info()).recorded
    outside = ask.Import(
        outside_id="ext-1",
        sender="RedCreek",
        subject="INFO: Done",
        body="# Information\n\nDone.\n",
        to=(party(CRANE),),
    )
    (imported,) = scenario.run(OTTER, outside).recorded
    mine, theirs = describe_message(sent), describe_message(imported)
    assert isinstance(mine, SentView)
    assert isinstance(theirs, ImportedView)
    assert (mine.proved, mine.sender) == (True, OTTER)
    assert (theirs.proved, theirs.sender) == (False, "RedCreek")


def test_sixty_four_settled_messages_are_remembered(scenario: MailScenario) -> None:
    for _ in range(66):
        scenario.run(OTTER, info())
    assert len(scenario.state.recent) == 64
    assert scenario.state.recent[0].id == f"{THREAD}:3"
    assert State().count == 0


def test_a_subject_is_as_long_as_this_and_no_longer(scenario: MailScenario) -> None:
    def named(length: int) -> ask.Import:
        subject = "INFO: " + "x" * (length - len("INFO: "))
        return ask.Import(
            outside_id="ext-1", sender="RedCreek", subject=subject, body="x", to=(party(CRANE),)
        )

    assert scenario.refused(OTTER, named(501)) == "subject_too_long"
    scenario.run(OTTER, named(500))


@pytest.mark.parametrize(
    ("reserved", "told"),
    [
        (True, "Operator is a reserved name: no message from outside may use it"),
        (False, "Operator is an agent here and has not signed this"),
    ],
)
def test_who_may_not_be_the_sender_is_reported_why(
    scenario: MailScenario, reserved: bool, told: str
) -> None:
    forged = ask.Import(
        outside_id="ext-1",
        sender="Operator",
        subject="INFO: Done",
        body="x",
        to=(party(CRANE),),
        sender_here=True,
        sender_reserved=reserved,
    )
    with pytest.raises(MootError) as refused:
        scenario.run(OTTER, forged)
    assert refused.value.code == "forged_sender"
    assert str(refused.value).startswith(told)


def test_who_has_answered_owes_nothing_and_who_has_not_does(scenario: MailScenario) -> None:
    scenario.run(OTTER, send("KICKOFF: logins", KICKOFF, CRANE, FINCH))
    scenario.run(CRANE, ack(1))
    standing = describe_standing(scenario.message(1), 0)
    assert {one.agent: one.owes for one in standing.receivers} == {CRANE: False, FINCH: True}


def test_a_deadline_that_is_not_there_cannot_be_taken_away() -> None:
    deadlines = ((1, "a"), (3, "b"))
    assert without_deadline(deadlines, (3, "b")) == ((1, "a"),)
    for other in ((2, "x"), (3, "a"), (9, "z")):
        assert without_deadline(deadlines, other) == deadlines
    assert with_deadline(deadlines, (2, "x")) == ((1, "a"), (2, "x"), (3, "b"))


@pytest.mark.parametrize(
    ("fence", "label"),
    [("", "'without a name'"), ("json", "'json'"), ("x" * 50, repr("x" * 40))],
)
def test_a_delta_in_another_fence_is_reported_with_its_fence(fence: str, label: str) -> None:
    body = f'```{fence}\n{{"operation": "ADD"}}\n```\n'
    (stray,) = find_stray_deltas(MessageBody(body))
    assert stray.message == f"this block holds a delta but is fenced as {label}"
