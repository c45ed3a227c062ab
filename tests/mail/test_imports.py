"""Mail from outside: flagged, answered, never taken for somebody's word."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.machine import MACHINE as MAIL
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.model import Party

from . import scene
from .scene import CRANE, FINCH, OTTER, STREAM, THREAD, MailScenario, ack, party


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


def incoming(
    subject: str = "INFO: hello", body: str = "# Information\n\nHi.\n", **more: Any
) -> Any:
    said = {
        "outside_id": "ext-7",
        "sender": "RedCreek",
        "subject": subject,
        "body": body,
        "to": (party(CRANE),),
    }
    return ask.Import(**{**said, **more})


def test_a_good_message_is_kept_without_an_answer(scenario: MailScenario) -> None:
    (kept,) = scenario.run(CRANE, incoming()).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert (kept.event.sender, kept.event.outside_id, kept.event.flags) == ("RedCreek", "ext-7", ())
    assert kept.actor.id == CRANE


@pytest.mark.requirement("BRN-079")
@pytest.mark.requirement("BRN-080")
def test_a_wrong_message_is_flagged_and_answered_as_the_document_says(
    scenario: MailScenario,
) -> None:
    kept, answer = scenario.run(CRANE, incoming("CRITIQUE: H1", "# Critique: H1\n")).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert isinstance(answer.event, did.MessageSent)
    assert {flag.rule for flag in kept.event.flags} >= {"MB-006", "MB-007"}
    assert answer.event.subject == "INFO: Validation error for ext-7"
    assert answer.event.to == (Party("RedCreek", 0),)
    assert answer.event.re == f"{THREAD}:1"
    assert answer.event.ack_required is False
    body = answer.event.body
    assert body.startswith("# Validation Error\n\n## Message\next-7\n\n## Errors\n- MB-006: ")
    assert "\n## Suggestion\n" in body
    assert lint_message(answer.event.subject, body).is_valid


@pytest.mark.requirement("BRN-079")
def test_names_nobody_knows_are_flagged_as_a_warning(scenario: MailScenario) -> None:
    body = scene.handoff(sender="RedCreek", to="nobody-here")
    command = incoming("HANDOFF: T-7 to nobody-here", body, agents=(CRANE, OTTER))
    (kept,) = scenario.run(CRANE, command).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert kept.event.flags
    assert {str(flag.severity) for flag in kept.event.flags} == {"warning"}


def test_an_agent_of_this_ledger_must_sign_for_itself(scenario: MailScenario) -> None:
    forged = incoming(sender=OTTER, sender_here=True)
    assert scenario.refused(CRANE, forged) == "forged_sender"
    scenario.run(OTTER, forged)


@pytest.mark.parametrize(
    "more", [{"outside_id": ""}, {"outside_id": "x" * 201}, {"sender": "a\nb"}, {"sender": " "}]
)
def test_an_id_and_a_sender_are_short_lines(scenario: MailScenario, more: dict[str, Any]) -> None:
    assert scenario.refused(CRANE, incoming(**more)) == "bad_outside_name"


def test_it_is_taken_in_once(scenario: MailScenario) -> None:
    scenario.run(CRANE, incoming())
    length = scenario.length
    again = scenario.run(FINCH, incoming())
    assert again.recorded == ()
    assert [one.code for one in again.findings] == ["already_imported"]
    assert scenario.length == length


def test_its_receiver_owes_an_answer_and_others_do_not(scenario: MailScenario) -> None:
    to = (party(CRANE), Party("BlueLake", 0))
    scenario.run(CRANE, incoming("QUESTION: Which?", scene.QUESTION, ack_required=True, to=to))
    assert [one.name for one in scenario.message(1).missing_receivers] == [CRANE]
    sent, _ = scenario.run(CRANE, ack(1, "Completed")).recorded
    assert isinstance(sent.event, did.MessageSent)
    assert sent.event.to == (Party("RedCreek", 0),)
    assert not scenario.state.open
    assert (
        scenario.rows("mail.inbox", "BlueLake/") == scenario.rows("mail.inbox", "RedCreek/") == []
    )


@pytest.mark.requirement("BRN-077")
def test_a_sender_outside_is_not_told_that_no_answer_came(scenario: MailScenario) -> None:
    scenario.run(CRANE, incoming("QUESTION: Which?", scene.QUESTION, ack_required=True))
    assert [type(one) for one in scenario.later(30)] == [did.MessageResent]
    assert [type(one) for one in scenario.later(30)] == [did.MessageEscalated]


def test_an_ack_from_outside_settles_nothing(scenario: MailScenario) -> None:
    scenario.run(OTTER, scene.question())
    body = f"# Acknowledgement\n\n## Message ID\n{THREAD}:1\n\n## Status\nCompleted\n"
    scenario.run(CRANE, incoming("ACK: QUESTION: Which cache?", body, sender="TealCrane"))
    assert scenario.message(1).missing_receivers


def test_a_thousand_errors_still_fit(scenario: MailScenario) -> None:
    block = "```delta\n{\n```\n"
    kept, answer = scenario.run(
        CRANE, incoming("DELTA[opus]: x", "# Delta Contribution\n\n" + block * 900)
    ).recorded
    assert isinstance(kept.event, did.MessageImported)
    assert isinstance(answer.event, did.MessageSent)
    assert len(kept.event.flags) <= 20
    assert answer.event.size <= 16_384
    assert scenario.world.engine.state(MAIL, STREAM).count == 2
