"""Who spoke too early in round-robin: the rule compared with its definition, on every round."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from moot.protocols.debate.checker import check_session
from moot.protocols.debate.entry_order import ListedOrder
from tests.debate.sessions import entry, session

requirement = pytest.mark.requirement
AGENTS = ("ant", "bee", "cow")


def define_early(places: Sequence[int], turns: int) -> set[int]:
    """R13 word for word: somebody from above makes an entry that was due, and makes it later."""
    return {
        index
        for index, place in enumerate(places)
        for later in range(index + 1, len(places))
        if places[later] < place and places[: later + 1].count(places[later]) <= turns
    }


@requirement("BNC-116")
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_every_round_of_up_to_seven_entries_is_judged_as_the_rule_says(turns: int) -> None:
    rounds = [places for length in range(8) for places in product(range(3), repeat=length)]
    assert len(rounds) == 3280
    for places in rounds:
        order = ListedOrder[int](turns)
        early = [one for at, place in enumerate(places) for one in order.take(place, at)]
        assert sorted(early) == sorted(define_early(places, turns)), places


@requirement("BNC-116")
@pytest.mark.parametrize(
    ("authors", "turns", "early", "too_many"),
    [
        ("abc", 1, "", ""),
        ("bca", 1, "12", ""),
        ("cba", 1, "12", ""),
        ("acb", 1, "2", ""),
        ("aba", 1, "", "3"),
        ("aba", 2, "2", ""),
        ("aabba", 2, "", "5"),
        ("bac", 1, "1", ""),
    ],
)
def test_the_file_names_each_entry_that_was_too_early(
    authors: str, turns: int, early: str, too_many: str
) -> None:
    names = dict(zip("abc", AGENTS, strict=True))
    entries = [
        entry(number, names[letter], 1, number) for number, letter in enumerate(authors, start=1)
    ]
    checked = check_session(session(*entries, agents=AGENTS, max_turns_per_round=str(turns)))
    by_id = {written.id: str(written.index + 1) for written in checked.document.entries}

    def entries_named(code: str) -> str:
        return "".join(
            sorted(by_id[row.where or ""] for row in checked.findings if row.code == code)
        )

    assert entries_named("OUT_OF_ORDER_TURN") == early
    assert entries_named("max_turns") == too_many
    assert len(checked.document.entries) == len(authors)  # R1: flagged, never deleted
