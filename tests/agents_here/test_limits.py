"""What it costs, how far it may go, and whether anyone says anything new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.agents.budget import Budget, Spent, reached, time_left, turns_left
from moot.agents.cost import NOTHING, Cost, call, in_words, money
from moot.agents.outcome import Stop
from moot.agents.repeats import Said, alike, in_circles, repeats


@pytest.mark.requirement("AGT-050")
def test_costs_are_whole_numbers_and_add_up() -> None:
    one = call(10, 5, 0.0123, 1_200)
    assert one == Cost(1, 10, 5, 12_300, 0, 1_200)
    assert one + one == Cost(2, 20, 10, 24_600, 0, 2_400)
    assert call(10, 5).unpriced == 1
    assert (
        in_words(one + call(1, 1))
        == "2 calls, 17 tokens, $0.0123, part of the price unknown, 1.2 s"
    )
    assert in_words(call(1, 1)) == "1 call, 2 tokens, price unknown, 0.0 s"
    assert in_words(NOTHING) == "0 calls, 0.0 s"
    assert (money(1_500_000), money(1), money(0)) == ("$1.50", "$0.000001", "$0.00")


@pytest.mark.requirement("AGT-050")
@given(
    st.one_of(st.none(), st.text(), st.floats(), st.integers(), st.booleans(), st.lists(st.none()))
)
def test_whatever_a_program_says_of_its_cost_becomes_a_cost(said: object) -> None:
    made = call(said, said, said)
    assert min(made.tokens_in, made.tokens_out, made.micros, made.unpriced) >= 0
    assert max(made.tokens_in, made.micros) < 2**53


@pytest.mark.requirement("AGT-015")
def test_the_first_limit_that_is_reached_is_named() -> None:
    spent = Spent(3, Cost(3, 10, 10, 500))
    assert reached(Budget(), spent, 10**9) is None
    cases = [
        (Budget(turns=3), Stop.TURNS),
        (Budget(tokens=20), Stop.TOKENS),
        (Budget(micros=500), Stop.MONEY),
        (Budget(seconds=5), Stop.TIME),
    ]
    for budget, stop in cases:
        found = reached(budget, spent, 5)
        assert found is not None
        assert found[0] is stop
        assert found[1]
    assert reached(Budget(4, 21, 501, 6), spent, 5) is None
    assert turns_left(Budget(turns=5), spent) == 2
    assert time_left(Budget(seconds=5), 7) == 0


@pytest.mark.requirement("AGT-016")
def test_the_same_in_other_words_is_alike() -> None:
    text = "Postgres is enough for our load, and we know how to run it well in production today"
    assert alike(text, text.upper().replace(",", "!"))
    assert not alike(text, "Kafka scales further, and the team has asked for it twice this year")
    assert alike("yes", "Yes.")
    assert not alike("yes", "no")


@pytest.mark.requirement("AGT-016")
def test_three_times_the_same_from_everybody_is_a_circle() -> None:
    def rounds(count: int, *texts: str) -> list[Said]:
        return [Said(f"a{i}", text) for _ in range(count) for i, text in enumerate(texts)]

    same = rounds(3, "we should use it", "we should not use it")
    assert in_circles(same)
    assert not in_circles(same[:-1])
    assert not in_circles(rounds(2, "we should use it", "no"))
    assert not in_circles([])
    fresh = [*same, Said("a0", "something else entirely was found in the logs")]
    assert not in_circles(fresh)
    assert repeats(fresh, "a1")
