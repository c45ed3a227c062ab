"""However much the seats say, a round ends and a vote is counted: quotes have bounds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from moot.core.record import MAX_BODY_BYTES
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    AmendmentStatus,
    Ballot,
    BillSection,
    SessionStatus,
    Stance,
)
from moot.protocols.parliament.messages.limits import (
    MAX_CONCERN_BYTES,
    shorten,
    shorten_concern,
    shorten_conditions,
)
from moot.protocols.parliament.model import (
    MAX_SEATS,
    Amendment,
    Round,
    Seat,
    SettledAmendment,
    StanceShift,
    State,
    VotingRecordRow,
)
from moot.protocols.parliament.summaries import summarize_round
from moot.protocols.parliament.votes import MAX_PER_SEAT

from .scene import (
    AGENTS,
    ROUND_END,
    ROUND_START,
    ParliamentScenario,
    amendment,
    motion,
    question,
    vote,
)

# As much as one reply holds, and what takes most room when it is quoted.
LONG = ("t" * 40_000, "\u0001" * 7_000, "\U0001f642" * 10_000)


@given(st.text(max_size=300), st.integers(4, 200))
def test_a_quote_is_a_beginning_within_its_bound(text: str, most: int) -> None:
    quoted = shorten(text, most)
    assert len(msgspec.json.encode(quoted)) - 2 <= most
    assert quoted == text or text.startswith(quoted.removesuffix("…"))
    if len(msgspec.json.encode(text)) - 2 <= most:
        assert quoted == text


@pytest.mark.parametrize("text", LONG)
def test_long_topics_do_not_keep_a_round_from_ending(text: str) -> None:
    scenario = ParliamentScenario(3).debating(4)
    for asker, asked in ((1, 2), (2, 3)):
        scenario.exchange(asker, asked, topic=text, stance="concede")
    for asker, asked in ((1, 2), (2, 3), (3, 1)):
        scenario.submit(_tabled(asker, text))
        scenario.submit(question(asker, asked, topic=text))
    assert scenario.messages()[-1]["content"]["topic"] == text  # in full where it was said
    scenario.submit(ROUND_END)
    (row,) = (row for row in scenario.summaries() if row["round"] == 4)
    assert (len(row["key_shifts"]), len(row["open_issues"])) == (2, 6)
    assert all(row["positions"][seat]["key_concern"] for seat in ("rep_1", "rep_2", "rep_3"))


def _tabled(number: int, text: str) -> dict[str, Any]:
    moved = motion(number, "table_discussion")
    return {**moved, "content": {**moved["content"], "reason": text}}


@pytest.mark.parametrize("text", LONG)
def test_long_reasons_do_not_keep_a_vote_from_being_counted(text: str) -> None:
    scenario = ParliamentScenario(3).voting()
    for number in (1, 2, 3):
        scenario.submit(vote(number, "NO", scenario.scores(number), reasoning=text))
    scenario.clerk(ask.CountVotes())
    tally = scenario.messages()[-1]["content"]
    assert [one["from"] for one in tally["key_objections"]] == ["rep_1", "rep_2", "rep_3"]
    for one in tally["key_objections"]:
        assert text.startswith(one["concern"].removesuffix("…"))
        assert len(one["concern"]) > MAX_CONCERN_BYTES // 3 // 7
    assert scenario.state.status is SessionStatus.DEBATE


def test_a_seat_has_six_amendments_pending_and_six_a_round() -> None:
    scenario = ParliamentScenario(3).debating()
    names = [f"amend-{number:03d}" for number in range(1, 20)]
    for name in names[:MAX_PER_SEAT]:
        scenario.submit(amendment(2, name))
    many = ("S-32", "too_many_amendments", "type")
    assert scenario.refused(amendment(2, names[6])) == many
    scenario.submit(amendment(3, names[6]))  # others have their own
    scenario.run(ask.Withdraw(amendment_id=names[0]), AGENTS[1])
    assert scenario.refused(amendment(2, names[7])) == many  # six in this round
    scenario.submit(ROUND_END)
    scenario.submit(ROUND_START)
    scenario.submit(amendment(2, names[7]))
    assert scenario.refused(amendment(2, names[8])) == many  # six pending


def test_of_motions_of_one_type_the_latest_is_open() -> None:
    scenario = ParliamentScenario(3).debating()
    for _ in range(3):
        last = scenario.submit(motion(2, "point_of_order"))
    other = scenario.submit(motion(2, "call_vote"))
    assert sorted(scenario.state.round.motions) == sorted([last, other])
    assert sum(isinstance(one, did.MessageLogged) for one in scenario.history()) == 9


def test_the_fullest_round_of_all_fits_into_one_event() -> None:
    """Thirty seats, every exchange a move, every question open, every amendment fallen."""
    long, seats = "\u0001" * 5_000, MAX_SEATS
    order = tuple(f"rep_{number}" for number in range(1, seats + 1))
    reps = {
        name: Seat(
            id=name,
            name=f"Rep. Representative {name}",
            agent=name,
            bound=True,
            motives=(long, f"{long} ", f" {long}"),
            scores=(1, 1, 1),
            temperature=50,
            heat=(0, 50),
            concern=shorten_concern(long, seats),
            conditions=shorten_conditions(long, seats),
            voting_record=(VotingRecordRow(1, 1, Ballot.NO),),
        )
        for name in order
    }
    exchanges = limits.max_exchanges(seats, 1)
    fallen = 2 * MAX_PER_SEAT * seats  # those of earlier rounds, and those of this one
    this = Round(
        number=1,
        exchanges=exchanges,
        shifts=tuple(StanceShift(order[0], Stance.SOFTEN, shorten(long)) for _ in range(exchanges)),
        settled=tuple(
            SettledAmendment(f"amend-{number:06d}", AmendmentStatus.INCORPORATED)
            for number in range(fallen)
        ),
        scores=Map(dict.fromkeys(order, (4, 4, 4))),
    )
    waiting = {
        f"amend-{number:06d}": Amendment(
            amendment_id=f"amend-{number:06d}",
            number=number,
            proposed_by=order[0],
            round=1,
            target_section=BillSection.SOLUTION,
            action=AmendmentAction.ADD,
            description=long,
        )
        for number in range(MAX_PER_SEAT * seats)
    }
    state = State(
        order=order,
        seats=Map(reps),
        round=this,
        amendments=Map(waiting),
        pending=tuple(waiting),
    )
    tabled = [f"{shorten(long)} (msg-100000, put off)" for _ in order]
    summary = summarize_round(state, tuple(tabled))
    assert summary["key_shifts"][-1] == f"further seats that moved: {seats - 12}"
    assert summary["open_issues"][-1] == f"further pending amendments: {len(waiting) - 12}"
    assert len(msgspec.json.encode(did.RoundSummarized(summary=summary))) < MAX_BODY_BYTES - 1_024
