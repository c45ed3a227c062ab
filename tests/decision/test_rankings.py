"""Choosing among several answers: worked examples, exact probabilities, and the rules' axioms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.decision.rankings import (
    Ballot,
    Choice,
    ChoiceRule,
    choose,
    count_duels,
    effect_of_own_answers,
    require_ballot,
)

ALL_RULES = tuple(ChoiceRule)


def ballots_of(*groups: tuple[int, str]) -> list[Ballot]:
    """`(3, "acb")`: three who rank a first, then c, then b."""
    return [tuple(ord(each) - ord("a") for each in text) for n, text in groups for _ in range(n)]


@st.composite
def elections(draw: st.DrawFn) -> tuple[list[Ballot], int]:
    answers = draw(st.integers(1, 5))
    ballots = draw(st.lists(st.permutations(range(answers)).map(tuple), min_size=1, max_size=9))
    return ballots, answers


def test_the_rules_need_not_agree() -> None:
    """Most put a first, and everybody else puts it last."""
    ballots = ballots_of((6, "abcd"), (5, "cbda"), (4, "dbca"), (3, "bcda"))
    by_rule = {rule: choose(rule, ballots, 4) for rule in ChoiceRule}
    assert by_rule[ChoiceRule.PLURALITY] == Choice((0,), (6, 3, 5, 4))
    assert by_rule[ChoiceRule.BORDA] == Choice((1,), (18, 39, 31, 20))
    assert by_rule[ChoiceRule.CONDORCET].winner == 1


def test_the_smallest_cycle_is_called_one() -> None:
    choice = choose(ChoiceRule.CONDORCET, ballots_of((1, "abc"), (1, "bca"), (1, "cab")), 3)
    assert choice == Choice((0, 1, 2), (1, 1, 1), is_cycle=True)
    assert choice.winner is None


def test_a_tie_is_no_cycle_and_nobody_breaks_it() -> None:
    for rule in ALL_RULES:
        choice = choose(rule, ballots_of((2, "ab"), (2, "ba")), 2)
        assert (choice.first, choice.is_cycle, choice.winner) == ((0, 1), False, None)


def test_nobody_ranked_anything() -> None:
    for rule in ALL_RULES:
        assert choose(rule, [], 3) == Choice((), (0, 0, 0))


@pytest.mark.parametrize("ballot", [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 2), (-1, 0, 1)])
def test_a_ranking_with_gaps_or_doubles_is_refused(ballot: Ballot) -> None:
    with pytest.raises(Malformed) as refused:
        require_ballot(ballot, 3)
    assert refused.value.code == "bad_ranking"


def profiles(voters: int) -> Iterator[tuple[Fraction, list[Ballot]]]:
    """Every way to share out ballots over three answers, with its probability if all are as likely.

    Anonymous: ballots are counted by kind, so seven voters are 792 cases and not 279,936.
    """
    kinds = list(permutations(range(3)))

    def share(left: int, kind: int) -> Iterator[tuple[int, ...]]:
        if kind == len(kinds) - 1:
            yield (left,)
            return
        for here in range(left + 1):
            yield from ((here, *rest) for rest in share(left - here, kind + 1))

    for counts in share(voters, 0):
        ways = math.factorial(voters) // math.prod(math.factorial(each) for each in counts)
        ballots = [kind for kind, each in zip(kinds, counts, strict=True) for _ in range(each)]
        yield Fraction(ways, len(kinds) ** voters), ballots


@pytest.mark.parametrize(
    ("voters", "chance"), [(3, Fraction(1, 18)), (5, Fraction(5, 72)), (7, Fraction(875, 11664))]
)
def test_how_often_nobody_wins_every_duel(voters: int, chance: Fraction) -> None:
    """The published probabilities of Condorcet's paradox, exactly."""
    cycles = Fraction(0)
    for probability, ballots in profiles(voters):
        choice = choose(ChoiceRule.CONDORCET, ballots, 3)
        assert choice.is_cycle == (choice.winner is None)  # an odd number never ties a duel
        cycles += probability if choice.is_cycle else 0
    assert cycles == chance


@given(elections(), st.randoms(use_true_random=False))
def test_who_voted_does_not_matter(election: tuple[list[Ballot], int], chance: object) -> None:
    """Anonymity: any order of the ballots gives the same."""
    ballots, answers = election
    shuffled = list(ballots)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    for rule in ChoiceRule:
        assert choose(rule, ballots, answers) == choose(rule, shuffled, answers)


@given(elections(), st.data())
def test_what_an_answer_is_called_does_not_matter(
    election: tuple[list[Ballot], int], data: st.DataObject
) -> None:
    """Neutrality: answers renamed are answers chosen under their new names."""
    ballots, answers = election
    new = data.draw(st.permutations(range(answers)))
    renamed = [tuple(new[each] for each in ballot) for ballot in ballots]
    for rule in ALL_RULES:
        before, after = choose(rule, ballots, answers), choose(rule, renamed, answers)
        assert set(after.first) == {new[each] for each in before.first}
        assert after.is_cycle == before.is_cycle


@given(elections(), st.data())
def test_more_support_never_hurts(election: tuple[list[Ballot], int], data: st.DataObject) -> None:
    """Monotonicity: a winner that somebody moves up stays among the winners."""
    ballots, answers = election
    at = data.draw(st.integers(0, len(ballots) - 1))
    for rule in ALL_RULES:
        for winner in choose(rule, ballots, answers).first:
            place = ballots[at].index(winner)
            to = data.draw(st.integers(0, place))
            without = [each for each in ballots[at] if each != winner]
            raised = (*without[:to], winner, *without[to:])
            again = [*ballots[:at], raised, *ballots[at + 1 :]]
            assert winner in choose(rule, again, answers).first


def test_duels_by_hand() -> None:
    assert count_duels([(0, 1, 2), (2, 0, 1)], 3) == [[0, 2, 1], [0, 0, 1], [1, 1, 0]]


@given(elections())
def test_duels_against_an_oracle(election: tuple[list[Ballot], int]) -> None:
    ballots, answers = election
    oracle = Counter(
        (one, other)
        for ballot in ballots
        for one in range(answers)
        for other in range(answers)
        if ballot.index(one) < ballot.index(other)
    )
    duels = count_duels(ballots, answers)
    assert {pair: duels[pair[0]][pair[1]] for pair in oracle} == dict(oracle)
    winner = choose(ChoiceRule.CONDORCET, ballots, answers).winner
    if winner is not None:
        others = [each for each in range(answers) if each != winner]
        assert all(duels[winner][each] > duels[each][winner] for each in others)


def test_whether_ranking_ones_own_answer_mattered() -> None:
    ballots = {"otter": (0, 1), "crane": (0, 1), "heron": (1, 0)}
    effect = effect_of_own_answers(
        ChoiceRule.PLURALITY, ballots, {"otter": 0, "crane": 0, "heron": 1}, 2
    )
    assert (effect.as_cast.winner, effect.own_put_last.winner) == (0, 1)
    assert effect.mattered
    nobodys = effect_of_own_answers(ChoiceRule.PLURALITY, ballots, {}, 2)
    assert not nobodys.mattered
