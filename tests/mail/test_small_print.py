"""Mail in cases easily forgotten: flags in words, who owes an ACK, who is told of an end."""

from __future__ import annotations

import pytest

from moot.core.names import SYSTEM
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.codec import read_message_file
from moot.protocols.mail.model import State
from moot.protocols.mail.types import MessageType, is_ack_owed
from moot.protocols.mail.views import ImportedView, SentView, describe_message

from .scene import CRANE, FINCH, OTTER, STREAM, THREAD, Desk, info, party, question
from .test_lapsing import lapse


@pytest.fixture
def desk() -> Desk:
    return Desk()


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
def test_whoever_asked_is_told_that_nobody_will_answer(desk: Desk) -> None:
    desk.run(OTTER, question())
    assert desk.world.engine.open_streams() == [STREAM]
    desk.run(SYSTEM, lapse())
    assert desk.state.count == 1
    assert desk.world.engine.open_streams() == []
    desk.run(OTTER, question())
    recorded = desk.run(SYSTEM, lapse(id=f"{THREAD}:2", tell=True)).recorded
    told = [one.event for one in recorded if isinstance(one.event, did.MessageSent)]
    assert [(one.subject, one.to[0].name) for one in told] == [
        (f"INFO: not answered: {CRANE} ended", OTTER)
    ]


def test_a_thread_stays_open_while_another_message_waits(desk: Desk) -> None:
    desk.run(OTTER, question())
    desk.run(OTTER, question(FINCH))
    desk.run(SYSTEM, lapse())
    assert desk.world.engine.open_streams() == [STREAM]


def test_what_was_sent_here_is_proved_and_what_came_from_outside_is_not(desk: Desk) -> None:
    (sent,) = desk.run(OTTER, info()).recorded
    outside = ask.Import(
        outside_id="ext-1",
        sender="RedCreek",
        subject="INFO: Done",
        body="# Information\n\nDone.\n",
        to=(party(CRANE),),
    )
    (imported,) = desk.run(OTTER, outside).recorded
    mine, theirs = describe_message(sent), describe_message(imported)
    assert isinstance(mine, SentView)
    assert isinstance(theirs, ImportedView)
    assert (mine.proved, mine.sender) == (True, OTTER)
    assert (theirs.proved, theirs.sender) == (False, "RedCreek")


def test_sixty_four_settled_messages_are_remembered(desk: Desk) -> None:
    for _ in range(66):
        desk.run(OTTER, info())
    assert len(desk.state.recent) == 64
    assert desk.state.recent[0].id == f"{THREAD}:3"
    assert State().count == 0


def test_a_subject_is_as_long_as_this_and_no_longer(desk: Desk) -> None:
    def named(length: int) -> ask.Import:
        subject = "INFO: " + "x" * (length - len("INFO: "))
        return ask.Import(
            outside_id="ext-1", sender="RedCreek", subject=subject, body="x", to=(party(CRANE),)
        )

    assert desk.refused(OTTER, named(501)) == "subject_too_long"
    desk.run(OTTER, named(500))
