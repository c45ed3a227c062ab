"""Duties that lapse, chasing in its time, and every step a waiting message can take."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.names import SYSTEM
from moot.protocols.mail import commands as ask
from moot.protocols.mail import events as did
from moot.protocols.mail.machine import MACHINE, TRANSITIONS
from moot.protocols.mail.model import Stage

from .scene import CRANE, FINCH, OTTER, THREAD, MailScenario, ack, info, party, question

ID = f"{THREAD}:1"


@pytest.fixture
def scenario() -> MailScenario:
    return MailScenario()


def lapse(ended: str = CRANE, id: str = ID, *, tell: bool = False) -> ask.Lapse:  # noqa: A002
    return ask.Lapse(id=id, ended=ended, tell_sender=tell)


@pytest.mark.requirement("BRN-075")
def test_only_the_machine_lets_a_duty_lapse(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(CRANE, lapse()) == "not_allowed"
    scenario.run(SYSTEM, lapse())
    assert scenario.message(1).stage is Stage.SETTLED
    assert scenario.dues() == []


@pytest.mark.requirement("BRN-075")
def test_only_what_is_waited_for_lapses(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    scenario.run(CRANE, ack(1, "Completed"))
    assert scenario.refused(SYSTEM, lapse()) == "message_settled"


@pytest.mark.requirement("BRN-075")
def test_a_duty_lapses_with_anyone_who_owed_it_or_asked_for_it(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(SYSTEM, lapse(FINCH)) == "not_addressed"
    scenario.run(SYSTEM, lapse(OTTER))
    assert scenario.message(1).stage is Stage.SETTLED


@pytest.mark.requirement("BRN-077")
def test_nothing_is_asked_for_again_before_its_time(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(SYSTEM, ask.Chase(id=ID)) == "nothing_overdue"
    assert [type(event) for event in scenario.later(30)] == [did.MessageResent]
    assert scenario.refused(SYSTEM, ask.Chase(id=ID)) == "nothing_overdue"


def settle() -> ask.Settle:
    return ask.Settle(id=ID, why="proto_20260218_001 is settled")


@pytest.mark.requirement("BRN-075")
@pytest.mark.parametrize("actor", [OTTER, CRANE, SYSTEM])
def test_a_message_about_an_event_is_settled_with_it(scenario: MailScenario, actor: str) -> None:
    scenario.run(OTTER, question(CRANE, event="proto_20260218_001"))
    assert scenario.refused(FINCH, settle()) == "not_addressed"
    scenario.run(actor, settle())
    assert scenario.message(1).stage is Stage.SETTLED
    assert scenario.dues() == []
    assert scenario.refused(actor, settle()) == "message_settled"


@pytest.mark.requirement("BRN-075")
def test_a_message_that_tells_of_no_event_waits_for_its_answer(scenario: MailScenario) -> None:
    scenario.run(OTTER, question())
    assert scenario.refused(OTTER, settle()) == "not_a_notice"
    assert scenario.message(1).stage is Stage.WAITING


def bring(scenario: MailScenario, stage: Stage) -> None:
    """A message to two agents about an event, until it stands so."""
    scenario.run(OTTER, question(CRANE, FINCH, event="proto_20260218_001"))
    if stage is Stage.SETTLED:
        scenario.run(CRANE, ack(1, "Completed"))
        scenario.run(FINCH, ack(1, "Completed"))
    for reached in (Stage.RESENT, Stage.ESCALATED):
        if stage in (reached, Stage.ESCALATED):
            scenario.later(30)
    assert scenario.message(1).stage is stage


LATER = 30
STEPS: list[tuple[Stage, Any, type[Any], Stage]] = [
    (Stage.WAITING, (CRANE, ack(1)), did.MessageAcknowledged, Stage.WAITING),
    (Stage.WAITING, LATER, did.MessageResent, Stage.RESENT),
    (Stage.WAITING, (SYSTEM, lapse(OTTER)), did.MessageLapsed, Stage.SETTLED),
    (Stage.WAITING, (OTTER, settle()), did.MessageSettled, Stage.SETTLED),
    (Stage.RESENT, (CRANE, ack(1)), did.MessageAcknowledged, Stage.RESENT),
    (Stage.RESENT, LATER, did.MessageEscalated, Stage.ESCALATED),
    (Stage.RESENT, (SYSTEM, lapse(OTTER)), did.MessageLapsed, Stage.SETTLED),
    (Stage.RESENT, (OTTER, settle()), did.MessageSettled, Stage.SETTLED),
    (Stage.ESCALATED, (CRANE, ack(1)), did.MessageAcknowledged, Stage.ESCALATED),
    (Stage.ESCALATED, (SYSTEM, lapse(OTTER)), did.MessageLapsed, Stage.SETTLED),
    (Stage.ESCALATED, (OTTER, settle()), did.MessageSettled, Stage.SETTLED),
    (Stage.SETTLED, (CRANE, ack(1, "Received")), did.MessageAcknowledged, Stage.SETTLED),
]


@pytest.mark.parametrize(("stands", "step", "kind", "leads_to"), STEPS)
def test_every_step_of_the_table_is_taken(
    scenario: MailScenario, stands: Stage, step: Any, kind: type[Any], leads_to: Stage
) -> None:
    bring(scenario, stands)
    recorded = [] if step == LATER else scenario.run(*step).recorded
    events = [one.event for one in recorded] or scenario.later(LATER)
    assert kind in {type(event) for event in events}
    assert scenario.message(1).stage is leads_to
    assert leads_to in TRANSITIONS[stands][kind]


def test_the_table_has_no_other_steps() -> None:
    rows = {(stage, kind) for stage, row in TRANSITIONS.items() for kind in row}
    assert rows == {(stands, kind) for stands, _step, kind, _leads_to in STEPS}
    assert MACHINE.version == 2, "snapshots of another version are not read"


def test_a_message_from_outside_is_taken_in_for_a_limited_number(scenario: MailScenario) -> None:
    def take_in(count: int) -> ask.Import:
        to = tuple(party(f"agent-{number}") for number in range(count))
        return ask.Import(
            outside_id="ext-1", sender="RedCreek", subject="INFO: Done", body="Done.", to=to
        )

    assert scenario.refused(OTTER, take_in(65)) == "too_many_receivers"
    scenario.run(OTTER, take_in(64))


def test_what_needs_no_answer_settles_at_once(scenario: MailScenario) -> None:
    scenario.run(OTTER, info())
    assert scenario.message(1).stage is Stage.SETTLED
