"""A whole session: statements, a draft, rounds, a defeat, a veto, a passing vote, approval."""

from __future__ import annotations

from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.words import AmendmentStatus, SessionStatus
from moot.protocols.parliament.model import SessionOutcome
from moot.protocols.parliament.motives import UnderservedMotive
from moot.protocols.parliament.temperatures import describe_shift
from moot.protocols.parliament.views import view_session

from .scene import AGENTS, CALL_VOTE, PERSON, ROUND_END, ROUND_START, STREAM, Chamber, amendment


def whole() -> Chamber:
    chamber = Chamber(5).debating()
    chamber.submit(amendment(3))
    chamber.exchange(1, 2, topic="amend-001", position=("amend-001", "endorse"))
    chamber.run(ask.Incorporate(amendment_id="amend-001"), AGENTS[0])
    chamber.satisfied()
    chamber.submit(CALL_VOTE)
    chamber.vote("NO", "YES", "NO", "NO", "YES").clerk(ask.CountVotes())
    chamber.submit(ROUND_START)
    chamber.submit(amendment(4, "amend-002", target_section="implementation"))
    chamber.exchange(2, 5, topic="amend-002", position=("amend-002", "oppose"))
    chamber.submit(ROUND_END)
    chamber.submit(ROUND_START)
    chamber.exchange(2, 1, stance="soften")
    chamber.submit(CALL_VOTE)
    chamber.vote("YES", "YES", "YES", "NO", "YES").clerk(ask.CountVotes())
    chamber.decide("veto", "Say who pays.")
    chamber.submit(ROUND_START)
    chamber.exchange(2, 1, stance="concede")
    chamber.submit(CALL_VOTE)
    chamber.vote("YES", "YES", "YES", "YES", "NO").clerk(ask.CountVotes())
    chamber.decide("approve")
    chamber.clerk(ask.Complete(document=chamber.store("# Final")))
    return chamber


def test_a_session_runs_from_setup_to_complete() -> None:
    chamber = whole()
    state = chamber.state
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
    assert [row["round"] for row in chamber.summaries()] == [1, 2, 3, 4]
    assert state.bill is not None
    assert state.bill.version == 2
    assert view_session(state).outcome == "approved"


def test_every_message_is_signed_by_the_one_it_comes_from() -> None:
    chamber = whole()
    signed = {f"rep_{number}": name for number, name in enumerate(AGENTS, start=1)}
    signed |= {"speaker": SYSTEM, "prime_minister": PERSON}
    for event, signer in zip(chamber.history(), chamber.signers(), strict=True):
        if isinstance(event, did.MessageLogged):
            assert signer == signed[event.message["from"]], event


def test_another_process_finds_the_same_state() -> None:
    chamber = whole()
    assert chamber.world.another_engine().state(PARLIAMENT, STREAM) == chamber.state


def test_the_status_of_a_session_is_told_while_it_runs() -> None:
    chamber = Chamber(3).debating()
    chamber.exchange(1, 2, 2)
    view = view_session(chamber.state)
    assert (view.round, view.exchanges, view.max_exchanges) == (1, 1, 6)
    assert view.may_vote is False
    assert view.underserved[-1] == UnderservedMotive("rep_2", "security", 2)
    assert view.seats[0].archetype
    before = [row.temperature for row in chamber.seat(1).temperature_history]
    assert view.seats[0].shift == describe_shift(before[0], before[-1])


def test_between_rounds_the_speaker_may_vote_or_go_on() -> None:
    chamber = Chamber(3).debating().satisfied()
    chamber.submit(ROUND_END)
    (due,) = chamber.dues()
    assert (due.who, due.what) == ("speaker", "start a round or call a vote")
    chamber.submit(CALL_VOTE)
    assert chamber.state.status is SessionStatus.VOTING
