"""The vote by the voters' own record: counted by hand, and silent where too little is known."""

from __future__ import annotations

import math

import pytest

from moot.core.numbers import Interval
from moot.protocols.decision.track_record import Record, calibrate_vote

pytestmark = pytest.mark.requirement("DEC-031")


def record(name: str, right: int, wrong: int) -> Record:
    scored = right + wrong
    return Record(name, scored, scored, 0, right, None, None, Interval(0, 1), 0, 0, None)


def test_one_who_is_mostly_right_outweighs_two_who_guess() -> None:
    records = [record("ada", 39, 1), record("bob", 20, 20), record("cyd", 21, 19)]
    vote = calibrate_vote(records, {"ada": "reject", "bob": "approve", "cyd": "approve"})
    assert vote is not None
    assert vote.balance == pytest.approx(math.log(22 / 20) - math.log(40 / 2))
    assert vote.sentence == (
        "counted by how often each was right before, it is against the motion (ada, bob, cyd); "
        "this binds nobody"
    )


def test_one_who_is_mostly_wrong_counts_the_other_way() -> None:
    vote = calibrate_vote([record("ada", 2, 38)], {"ada": "reject"})
    assert vote is not None
    assert vote.balance > 0


def test_who_has_no_record_is_named_and_weighs_nothing() -> None:
    records = [record("ada", 30, 10), record("new", 20, 9)]
    vote = calibrate_vote(records, {"ada": "approve", "new": "reject", "eve": "defer"})
    assert vote is not None
    assert (vote.counted, vote.left_out) == (("ada",), ("new",))
    assert "without a record: new" in vote.sentence


@pytest.mark.parametrize("stances", [{}, {"ada": "neutral"}, {"bob": "approve"}])
def test_without_a_record_there_is_no_line(stances: dict[str, str]) -> None:
    assert calibrate_vote([record("ada", 30, 10)], stances) is None
