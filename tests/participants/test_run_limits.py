"""What it costs, how far it may go, and whether anyone says anything new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.cost import NO_COST, Cost, cost_of_call, format_money, in_words
from moot.agents.outcome import StopReason
from moot.agents.runnable import (
    Budget,
    Spent,
    Utterance,
    are_alike,
    find_reached_limit,
    goes_in_circles,
    repeats_itself,
    time_left,
    turns_left,
)


@pytest.mark.requirement("AGT-050")
def test_costs_are_whole_numbers_and_add_up() -> None:
    one = cost_of_call(10, 5, 0.0123, 1_200)
    assert one == Cost(1, 10, 5, 12_300, 0, 1_200)
    assert one + one == Cost(2, 20, 10, 24_600, 0, 2_400)
    assert cost_of_call(10, 5).unpriced == 1
    assert (
        in_words(one + cost_of_call(1, 1))
        == "2 calls, 17 tokens, $0.0123, part of the price unknown, 1.2 s"
    )
    assert in_words(cost_of_call(1, 1)) == "1 call, 2 tokens, price unknown, 0.0 s"
    assert in_words(NO_COST) == "0 calls, 0.0 s"
    assert (format_money(1_500_000), format_money(1), format_money(0)) == (
        "$1.50",
        "$0.000001",
        "$0.00",
    )


@pytest.mark.requirement("AGT-050")
@given(
    st.one_of(st.none(), st.text(), st.floats(), st.integers(), st.booleans(), st.lists(st.none()))
)
def test_whatever_a_program_says_of_its_cost_becomes_a_cost(said: object) -> None:
    made = cost_of_call(said, said, said)
    assert min(made.tokens_in, made.tokens_out, made.micros, made.unpriced) >= 0
    assert max(made.tokens_in, made.micros) < 2**53


@pytest.mark.requirement("AGT-015")
def test_the_first_limit_that_is_reached_is_named() -> None:
    spent = Spent(3, Cost(3, 10, 10, 500))
    assert find_reached_limit(Budget(), spent, 10**9) is None
    cases = [
        (Budget(turns=3), StopReason.TURNS),
        (Budget(tokens=20), StopReason.TOKENS),
        (Budget(micros=500), StopReason.MONEY),
        (Budget(seconds=5), StopReason.TIME),
    ]
    for budget, stop in cases:
        found = find_reached_limit(budget, spent, 5)
        assert found is not None
        assert found[0] is stop
        assert found[1]
    assert find_reached_limit(Budget(4, 21, 501, 6), spent, 5) is None
    assert turns_left(Budget(turns=5), spent) == 2
    assert time_left(Budget(seconds=5), 7) == 0


@pytest.mark.requirement("AGT-016")
def test_the_same_in_other_words_is_alike() -> None:
    text = "Postgres is enough for our load, and we know how to run it well in production today"
    assert are_alike(text, text.upper().replace(",", "!"))
    assert not are_alike(
        text, "Kafka scales further, and the team has asked for it twice this year"
    )
    assert are_alike("yes", "Yes.")
    assert not are_alike("yes", "no")


@pytest.mark.requirement("AGT-016")
def test_three_times_the_same_from_everybody_is_a_circle() -> None:
    def rounds(count: int, *texts: str) -> list[Utterance]:
        return [Utterance(f"a{i}", text) for _ in range(count) for i, text in enumerate(texts)]

    same = rounds(3, "we should use it", "we should not use it")
    assert goes_in_circles(same)
    assert not goes_in_circles(same[:-1])
    assert not goes_in_circles(rounds(2, "we should use it", "no"))
    assert not goes_in_circles([])
    fresh = [*same, Utterance("a0", "something else entirely was found in the logs")]
    assert not goes_in_circles(fresh)
    assert repeats_itself(fresh, "a1")
