"""A whole session: statements, a draft, rounds, a defeat, a veto, a passing vote, approval."""

from __future__ import annotations

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.contents import AmendmentStatus, SessionStatus
from moot.protocols.parliament.model import SessionOutcome
from moot.protocols.parliament.motives import UnderservedMotive
from moot.protocols.parliament.round_clock import describe_shift
from moot.protocols.parliament.views import view_session

from .scene import (
    AGENTS,
    CALL_VOTE,
    PERSON,
    ROUND_END,
    ROUND_START,
    STREAM,
    ParliamentScenario,
    amendment,
)


def whole() -> ParliamentScenario:
    scenario = ParliamentScenario(5).debating()
    scenario.submit(amendment(3))
    scenario.exchange(1, 2, topic="amend-001", position=("amend-001", "endorse"))
    scenario.run(ask.Incorporate(amendment_id="amend-001"), AGENTS[0])
    scenario.satisfied()
    scenario.submit(CALL_VOTE)
    scenario.vote("NO", "YES", "NO", "NO", "YES").clerk(ask.CountVotes())
    scenario.submit(ROUND_START)
    scenario.submit(amendment(4, "amend-002", target_section="implementation"))
    scenario.exchange(2, 5, topic="amend-002", position=("amend-002", "oppose"))
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    scenario.exchange(2, 1, stance="soften")
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "YES", "NO", "YES").clerk(ask.CountVotes())
    scenario.decide("veto", "Say who pays.")
    scenario.submit(ROUND_START)
    scenario.exchange(2, 1, stance="concede")
    scenario.submit(CALL_VOTE)
    scenario.vote("YES", "YES", "YES", "YES", "NO").clerk(ask.CountVotes())
    scenario.decide("approve")
    scenario.clerk(ask.Complete(document=scenario.store("# Final")))
    return scenario


def test_a_session_runs_from_setup_to_complete() -> None:
    scenario = whole()
    state = scenario.state
    assert (state.status, state.outcome) == (SessionStatus.COMPLETE, SessionOutcome.APPROVED)
    assert [(row.round, row.passed) for row in state.vote_history] == [
        (1, False),
        (3, True),
        (4, True),
    ]
    assert [one.status for one in state.amendments_in_order()] == [
        AmendmentStatus.INCORPORATED,
        AmendmentStatus.REJECTED,
    ]
    assert [row["round"] for row in scenario.summaries()] == [1, 2, 3, 4]
    assert state.bill is not None
    assert state.bill.version == 2
    assert view_session(state).outcome == "approved"


def test_every_message_is_signed_by_the_one_it_comes_from() -> None:
    scenario = whole()
    signed = {f"rep_{number}": name for number, name in enumerate(AGENTS, start=1)}
    signed |= {"speaker": SYSTEM, "prime_minister": PERSON}
    for event, signer in zip(scenario.history(), scenario.signers(), strict=True):
        if isinstance(event, did.MessageLogged):
            assert signer == signed[event.message["from"]], event


def test_another_process_finds_the_same_state() -> None:
    scenario = whole()
    assert scenario.world.another_engine().state(PARLIAMENT, STREAM) == scenario.state


def test_the_status_of_a_session_is_told_while_it_runs() -> None:
    scenario = ParliamentScenario(3).debating()
    scenario.exchange(1, 2, 2)
    view = view_session(scenario.state)
    assert (view.round, view.exchanges, view.max_exchanges) == (1, 1, 6)
    assert view.may_vote is False
    assert view.underserved[-1] == UnderservedMotive("rep_2", "security", 2)
    assert view.seats[0].archetype
    before = [row.temperature for row in scenario.seat(1).temperature_history]
    assert view.seats[0].shift == describe_shift(before[0], before[-1])


def test_between_rounds_the_speaker_may_vote_or_go_on() -> None:
    scenario = ParliamentScenario(3).debating().satisfied()
    scenario.submit(ROUND_END)
    (due,) = scenario.dues()
    assert (due.who, due.what) == ("speaker", "start a round or call a vote")
    scenario.submit(CALL_VOTE)
    assert scenario.state.status is SessionStatus.VOTING
