"""The examples of what a rule lacks are true, and none is smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import combinations_with_replacement, permutations, product

import pytest

from moot.api.decisions.debate_rounds import THRESHOLDS
from moot.protocols.debate.consensus import DebateVote, compute_consensus, find_stopping_approval
from moot.protocols.debate.model import ConsensusMode, Rules, Stance
from moot.protocols.decision.rankings import RULE_LIMITS, Ballot, ChoiceRule, choose, count_duels

pytestmark = pytest.mark.requirement("DEC-037")

KINDS = tuple(permutations(range(3)))
A_B_C, B_C_A, C_B_A, C_A_B = (0, 1, 2), (1, 2, 0), (2, 1, 0), (2, 0, 1)
SURE = tuple(map(Decimal, ("0.2", "0.6", "0.8", "1")))


def chooses_a_loser(ballots: Iterable[Ballot]) -> bool:
    cast = list(ballots)
    winner, duels = choose(ChoiceRule.PLURALITY, cast, 3).winner, count_duels(cast, 3)
    others = [each for each in range(3) if each != winner]
    return winner is not None and all(duels[each][winner] > duels[winner][each] for each in others)


def passes_over_a_winner(ballots: Iterable[Ballot]) -> bool:
    cast = list(ballots)
    best, chosen = (
        choose(rule, cast, 3).winner for rule in (ChoiceRule.CONDORCET, ChoiceRule.BORDA)
    )
    return best is not None and chosen is not None and best != chosen


def chooses_nothing(ballots: Iterable[Ballot]) -> bool:
    return choose(ChoiceRule.CONDORCET, list(ballots), 3).is_cycle


@pytest.mark.parametrize(
    ("rule", "lacks", "example"),
    [
        ("plurality", chooses_a_loser, [A_B_C] * 3 + [B_C_A] * 2 + [C_B_A] * 2),
        ("borda", passes_over_a_winner, [A_B_C] * 3 + [B_C_A] * 2),
        ("condorcet", chooses_nothing, [A_B_C, B_C_A, C_A_B]),
    ],
)
def test_no_smaller_vote_shows_it(
    rule: str, lacks: Callable[[Iterable[Ballot]], bool], example: list[Ballot]
) -> None:
    assert lacks(example)
    for voters in range(1, len(example)):
        assert not any(map(lacks, combinations_with_replacement(KINDS, voters)))
    assert rule in RULE_LIMITS


def carries(mode: ConsensusMode, threshold: str, votes: Iterable[DebateVote]) -> bool:
    cast = {f"agent-{number}": vote for number, vote in enumerate(votes)}
    rules = Rules(
        tuple(cast), consensus_threshold=Decimal(threshold), consensus_mode=mode, max_rounds=1
    )
    return bool(compute_consensus(rules, cast).reached)


def stopped_by_approval(mode: ConsensusMode, threshold: str) -> Iterator[int]:
    """The numbers of voters with whom one who turns to approve stops a motion that carried."""
    every = [DebateVote(stance, sure) for stance in Stance for sure in SURE]
    for voters in (2, 3):
        for *others, last in product(every, repeat=voters):
            if last.stance is Stance.APPROVE or not carries(mode, threshold, (*others, last)):
                continue
            turned = (DebateVote(Stance.APPROVE, sure) for sure in SURE)
            if not all(carries(mode, threshold, (*others, vote)) for vote in turned):
                yield voters
                break


@pytest.mark.parametrize("mode", list(ConsensusMode))
def test_more_approval_never_stops_what_counts_heads_and_may_stop_the_others(
    mode: ConsensusMode,
) -> None:
    found = list(stopped_by_approval(mode, THRESHOLDS[mode]))
    assert bool(found) == (mode.value in RULE_LIMITS)
    if found:
        assert found[0] == 2


def test_the_example_of_the_rules_that_ask_for_confidence() -> None:
    sure, unsure = DebateVote(Stance.APPROVE, Decimal("0.8")), Decimal("0.2")
    for mode in (ConsensusMode.WEIGHTED, ConsensusMode.UNANIMOUS):
        assert carries(mode, "0.7", (sure, DebateVote(Stance.DEFER, unsure)))
        assert not carries(mode, "0.7", (sure, DebateVote(Stance.APPROVE, unsure)))


def test_a_majority_that_asks_for_confidence_lacks_it_too() -> None:
    """At a threshold of 0.5: 0.6, 0.6 and a reject carry; 0.6, 0.6 and 0.2 do not."""
    two = (DebateVote(Stance.APPROVE, Decimal("0.6")),) * 2
    against = DebateVote(Stance.REJECT, Decimal("0.6"))
    assert carries(ConsensusMode.MAJORITY, "0.5", (*two, against))
    turned = DebateVote(Stance.APPROVE, Decimal("0.2"))
    assert not carries(ConsensusMode.MAJORITY, "0.5", (*two, turned))
    assert carries(ConsensusMode.MAJORITY, THRESHOLDS[ConsensusMode.MAJORITY], (*two, turned))


@pytest.mark.parametrize("mode", list(ConsensusMode))
@pytest.mark.parametrize("threshold", ["0.01", "0.3", "0.5", "0.7", "1"])
def test_a_debates_page_names_an_example_exactly_where_there_is_one(
    mode: ConsensusMode, threshold: str
) -> None:
    example = find_stopping_approval(mode, Decimal(threshold))
    if example is None:
        assert not list(stopped_by_approval(mode, threshold))
        return
    certain = [DebateVote(Stance.APPROVE, example.sure)] * example.approving
    before = DebateVote(example.before, example.sure)
    assert carries(mode, threshold, (*certain, before))
    turned = DebateVote(Stance.APPROVE, example.unsure)
    assert not carries(mode, threshold, (*certain, turned))


def test_the_example_of_a_majority_that_asks_for_half_the_confidence() -> None:
    example = find_stopping_approval(ConsensusMode.MAJORITY, Decimal("0.5"))
    assert example is not None
    assert example.sentence == (
        "More approval can stop a motion: two approve at 0.6 and one rejects, and it carries; "
        "that one turns to approve at 0.2, and it fails."
    )
