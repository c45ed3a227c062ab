"""A false INCURSION is withdrawn by an event of ours; the entry stays, marked."""

from __future__ import annotations

import json

import pytest

from moot.core.names import SYSTEM
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.evolution import MAX_RECENT
from moot.protocols.presence.machine import MACHINE, WITHDRAWN
from moot.protocols.presence.model import EventType, State
from moot.testing import Scenario

from .scene import (
    CRANE,
    HARBOR,
    OTTER,
    ROOT,
    blocked,
    crew,
    handoff,
    new_holder,
    refusal,
    release,
    reserve,
    run,
)
from .test_freed_scopes import PERSON, by_person

ENTRY = "proto_20260218_001"


def withdraw(event_id: str = ENTRY, reason: str = "I did it", **more: str) -> ask.Withdraw:
    return ask.Withdraw(id=event_id, reason=reason, **more)


def accused() -> Scenario[State]:
    """Crane is on record for a change of what Otter holds; Harbor is a third."""
    scenario = crew(OTTER, CRANE, HARBOR).when(reserve("src"))
    run(scenario, ask.NoteIncursion(paths=("src/a.py",), project_root=ROOT), CRANE)
    return scenario


@pytest.mark.requirement("OPR-107")
def test_the_holder_withdraws_and_the_entry_stays() -> None:
    scenario = accused().when(withdraw())
    scenario.then(did.EventWithdrawn(id=ENTRY, by="holder", reason="I did it", evidence=""))
    (entry,) = scenario.state.recent
    assert (entry.type, entry.withdrawn) == (EventType.INCURSION, True)
    with scenario.world.store.read() as view:
        (kept,) = view.rows("presence.events")
        (mark,) = view.rows(WITHDRAWN)
    assert json.loads(kept.value)["payload"]["incoming_agent"] == CRANE
    said = json.loads(mark.value)
    assert (mark.key, said["by"], said["as"], said["reason"]) == (
        ENTRY,
        OTTER,
        "holder",
        "I did it",
    )
    scenario.when(withdraw(reason="again")).then()


@pytest.mark.requirement("OPR-107")
def test_a_person_and_the_system_withdraw_in_their_own_capacity() -> None:
    by_person(accused()).when(withdraw()).then(
        did.EventWithdrawn(id=ENTRY, by="person", reason="I did it", evidence="")
    )
    scenario = accused()
    refused = refusal(scenario, withdraw(), SYSTEM)
    assert refused.code == "evidence_required"
    outcome = run(scenario, withdraw(evidence="call 7 wrote these bytes"), SYSTEM)
    (recorded,) = outcome.recorded
    assert recorded.event == did.EventWithdrawn(
        id=ENTRY, by="system", reason="I did it", evidence="call 7 wrote these bytes"
    )


@pytest.mark.requirement("OPR-107")
@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (CRANE, withdraw(), "withdraw_forbidden"),  # the accused
        (CRANE, withdraw(accused=OTTER), "withdraw_forbidden"),  # whatever it says
        (HARBOR, withdraw(), "withdraw_forbidden"),  # nobody's business
        (OTTER, withdraw(reason=" "), "reason_required"),
        (OTTER, withdraw(reason="x" * 100_000), "text_too_long"),
        (OTTER, withdraw("proto_20260218_009", accused=CRANE), "event_not_found"),
    ],
)
def test_nobody_else_and_not_without_a_reason(actor: str, command: ask.Withdraw, code: str) -> None:
    scenario = accused()
    before = scenario.state
    assert refusal(scenario, command, actor).code == code
    assert scenario.state == before


@pytest.mark.requirement("OPR-107")
def test_a_key_that_was_unlocked_from_a_file_is_no_person() -> None:
    by_person(accused(), attended=False).refused("withdraw_forbidden", withdraw())


@pytest.mark.requirement("OPR-107")
def test_a_person_who_is_accused_does_not_withdraw_it_either() -> None:
    scenario = by_person(crew(OTTER).when(reserve("src")))
    assert refusal(scenario, reserve("src/a.py"), PERSON).code == "reservation_conflict"
    scenario.refused("withdraw_forbidden", withdraw())


@pytest.mark.requirement("OPR-107")
def test_who_holds_the_name_later_was_not_the_holder() -> None:
    scenario = accused()
    new_holder(scenario.world, OTTER)
    scenario.refused("withdraw_forbidden", withdraw())


@pytest.mark.requirement("OPR-106")
@pytest.mark.parametrize("request_", [blocked(), handoff(), handoff(scope="src")])
def test_a_request_that_waits_is_its_senders_to_withdraw(request_: ask.SendBlocked) -> None:
    scenario = crew(OTTER, CRANE, HARBOR).when(request_)
    scenario.as_(CRANE).refused("withdraw_forbidden", withdraw())
    scenario.as_(HARBOR).refused("withdraw_forbidden", withdraw())
    scenario.as_(OTTER).when(withdraw(reason="not needed")).then(
        did.EventWithdrawn(id=ENTRY, by="sender", reason="not needed", evidence="")
    )
    assert not scenario.state.pending
    scenario.when(withdraw()).then()  # a repeat
    assert MACHINE.agenda(scenario.state, 0) == ()
    outcome = run(scenario, ask.Accept(id=ENTRY), CRANE)  # nobody waits for it
    assert outcome.recorded == ()
    assert [(one.code, one.severity) for one in outcome.findings] == [
        ("request_settled", "warning")
    ]
    assert f"{ENTRY} was withdrawn" in outcome.findings[0].message


@pytest.mark.requirement("OPR-106")
def test_what_was_accepted_or_happened_is_not_withdrawn() -> None:
    scenario = crew(OTTER, CRANE).when(blocked()).as_(CRANE).when(ask.Accept(id=ENTRY))
    scenario.as_(OTTER).refused("not_withdrawable", withdraw())


@pytest.mark.requirement("OPR-107")
def test_the_next_overlap_of_the_same_agent_is_on_record_again() -> None:
    scenario = accused()
    note = ask.NoteIncursion(paths=("src/a.py",), project_root=ROOT)
    assert run(scenario, note, CRANE).recorded == ()
    scenario.when(withdraw())
    (again,) = run(scenario, note, CRANE).recorded
    assert isinstance(again.event, did.IncursionNoted)


@pytest.mark.requirement("OPR-107")
def test_an_overlap_is_withdrawn_after_its_scope_was_given_back() -> None:
    scenario = accused().when(release("src"), withdraw())
    (entry,) = scenario.state.recent
    assert entry.withdrawn
    assert not scenario.state.live


@pytest.mark.requirement("OPR-107")
def test_an_entry_too_old_for_the_state_is_for_a_person() -> None:
    scenario = accused()
    for number in range(MAX_RECENT):
        scenario.as_(OTTER).when(release("src"), reserve("src"))
        run(scenario, ask.NoteIncursion(paths=("src/a.py",), project_root=ROOT), HARBOR)
        assert len(scenario.state.recent) == min(number + 2, MAX_RECENT)
    assert all(entry.id != ENTRY for entry in scenario.state.recent)
    scenario.as_(OTTER).refused("event_not_found", withdraw(accused=CRANE))
    by_person(scenario).refused("event_not_found", withdraw())
    scenario.refused("event_not_found", withdraw("no id", accused=CRANE))
    scenario.refused("withdraw_forbidden", withdraw(accused=PERSON))
    (done,) = scenario.when(withdraw(accused=CRANE)).recorded
    assert isinstance(done, did.EventWithdrawn)
