"""Consensus: the formulas of section 7 against the same in fractions, and every border case."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.debate.checker import check_session
from moot.protocols.debate.consensus import (
    ConsensusOutcome,
    ConsensusVerdict,
    DebateVote,
    RunningTally,
    compute_consensus,
)
from moot.protocols.debate.model import ConsensusMode, OutputFormat, Rules, Stance
from moot.protocols.debate.views import ConsensusView, describe_confidence, view_consensus
from tests.debate.sessions import entry, session

STANCE = {"+": Stance.APPROVE, "-": Stance.REJECT, "0": Stance.NEUTRAL, "?": Stance.DEFER}
NAMES = ("ant", "bee", "cow", "dog", "elk")
TENTHS = st.integers(0, 10).map(lambda n: Decimal(n) / 10)
FINE = st.decimals(0, 1, allow_nan=False, allow_infinity=False, places=6)
VOTES = st.dictionaries(
    st.sampled_from(NAMES), st.builds(DebateVote, st.sampled_from(Stance), TENTHS | FINE)
)
RULES = st.builds(
    lambda mode, threshold: Rules(NAMES, consensus_mode=mode, consensus_threshold=threshold),
    st.sampled_from(ConsensusMode),
    TENTHS | FINE,
)


def judge(mode: str, threshold: str, *votes: str, agents: int | None = None) -> ConsensusVerdict:
    """Votes such as `+0.7`; an agent without one is written `.`."""
    names = NAMES[: agents or len(votes)]
    rules = Rules(names, consensus_mode=ConsensusMode(mode), consensus_threshold=Decimal(threshold))
    given_votes = {
        name: DebateVote(STANCE[vote[0]], Decimal(vote[1:]))
        for name, vote in zip(names, votes, strict=False)
        if vote != "."
    }
    return compute_consensus(rules, given_votes)


def by_hand(rules: Rules, votes: dict[str, DebateVote]) -> ConsensusOutcome:
    """Section 7 computed independently, in fractions, by the readings."""
    threshold = Fraction(rules.consensus_threshold)
    counted = [votes[name] for name in rules.agents if name in votes]
    active = [vote for vote in counted if vote.stance is not Stance.DEFER]
    total = len(rules.agents) - (len(counted) - len(active))
    if total == 0:
        return ConsensusOutcome.DEADLOCK
    if threshold == 0:
        return ConsensusOutcome.DISABLED
    yes = [Fraction(vote.confidence) for vote in active if vote.stance is Stance.APPROVE]
    no = [Fraction(vote.confidence) for vote in active if vote.stance is Stance.REJECT]
    agreed = {
        ConsensusMode.MAJORITY: 2 * len(yes) > total and sum(yes) / max(1, len(yes)) >= threshold,
        ConsensusMode.WEIGHTED: bool(yes) and (sum(yes) - sum(no)) / Fraction(total) >= threshold,
        ConsensusMode.UNANIMOUS: len(yes) == total and all(sure >= threshold for sure in yes),
    }[rules.consensus_mode]
    if threshold == 1 and len(yes) < total:
        agreed = False
    return ConsensusOutcome.REACHED if agreed else ConsensusOutcome.NOT_REACHED


@given(RULES, VOTES)
def test_the_outcome_is_that_of_exact_fractions(rules: Rules, votes: dict[str, DebateVote]) -> None:
    assert compute_consensus(rules, votes).outcome is by_hand(rules, votes)


@given(RULES, VOTES, st.randoms(use_true_random=False))
def test_the_order_of_votes_does_not_matter(
    rules: Rules, votes: dict[str, DebateVote], random: Random
) -> None:
    shuffled = list(votes.items())
    random.shuffle(shuffled)
    assert compute_consensus(rules, dict(shuffled)) == compute_consensus(rules, votes)


@given(RULES, VOTES, VOTES)
def test_an_earlier_vote_leaves_no_trace(
    rules: Rules, earlier: dict[str, DebateVote], votes: dict[str, DebateVote]
) -> None:
    tally = RunningTally(rules)
    for name, vote in (*earlier.items(), *votes.items()):
        tally.set_vote(name, vote)
    assert tally.judge() == compute_consensus(rules, {**earlier, **votes})


@given(RULES, VOTES)
@pytest.mark.requirement("BNC-135")
def test_scores_stay_in_their_range(rules: Rules, votes: dict[str, DebateVote]) -> None:
    found = compute_consensus(rules, votes)
    for score in (found.score, found.score_all):
        assert score is None or -1 <= score <= 1


@pytest.mark.parametrize(
    ("threshold", "votes", "reached"),
    [
        pytest.param("0.7", ("+0.85", "+0.8"), True, marks=pytest.mark.requirement("BNC-130")),
        pytest.param("0.7", ("+1.0", "00.5"), False, marks=pytest.mark.requirement("BNC-131")),
        pytest.param(
            "0.7", ("+1.0", "+1.0", "-1.0", "-1.0"), False, marks=pytest.mark.requirement("BNC-131")
        ),
        pytest.param(
            "0.7", ("+0.7", "+0.7", "+0.7"), True, marks=pytest.mark.requirement("BNC-132")
        ),
        pytest.param("0.7", ("-1.0", "-1.0"), False, marks=pytest.mark.requirement("BNC-133")),
        pytest.param("0.7", ("+0.69", "+0.7"), False, marks=pytest.mark.requirement("BNC-130")),
        ("0.5", ("+0.5",), True),
        ("1.0", ("+1.0", "+1.0", "-0.1"), False),
        ("1.0", ("+1.0", "+1.0", "?0.1"), True),
        ("1.0", ("+1.0", "+1.0", "."), False),
    ],
)
def test_majority(threshold: str, votes: tuple[str, ...], reached: bool) -> None:
    assert judge("majority", threshold, *votes).reached is reached


@pytest.mark.requirement("BNC-129")
@pytest.mark.parametrize(
    ("mode", "met", "missed"),
    [("majority", "0.6", "0.61"), ("weighted", "0.4", "0.41"), ("unanimous", None, "0.1")],
)
def test_the_same_votes_come_out_as_mode_and_threshold_say(
    mode: str, met: str | None, missed: str
) -> None:
    votes = ("+0.6", "+0.6", "-0.0")
    for threshold, reached in ((met, True), (missed, False)):
        if threshold is not None:
            found = judge(mode, threshold, *votes)
            assert (found.mode, found.threshold) == (mode, Decimal(threshold))
            assert found.reached is reached


@pytest.mark.requirement("BNC-047")
@pytest.mark.parametrize("mode", list(ConsensusMode))
def test_a_threshold_of_one_asks_for_everyone_in_every_mode(mode: ConsensusMode) -> None:
    everyone = ("+1.0", "+1.0", "+1.0")
    assert judge(mode, "1.0", *everyone).reached
    for other in ("-0.0", "00.5", "+0.9", "."):
        assert not judge(mode, "1.0", *everyone, other).reached, other


@pytest.mark.requirement("BNC-133")
@pytest.mark.parametrize("mode", list(ConsensusMode))
@pytest.mark.parametrize("votes", [("-1.0", "-1.0"), ("00.5", "-0.2"), (".", "."), ("00.1", ".")])
def test_where_nobody_approves_there_is_no_agreement_and_no_error(
    mode: ConsensusMode, votes: tuple[str, ...]
) -> None:
    found = judge(mode, "0.1", *votes)
    assert (found.approvers, found.reached, found.reached_all) == ((), False, False)
    assert found.score is None or found.score <= 0


@pytest.mark.requirement("BNC-134")
@pytest.mark.requirement("BNC-135")
@pytest.mark.parametrize(
    ("votes", "score", "reached"),
    [
        (("+0.6", "+0.55", "+0.65"), "0.6", True),
        (("-1.0", "-1.0"), "-1", False),
        (("+1.0", "+1.0"), "1", True),
        (("+1.0", "00.9"), "0.5", False),
        (("+1.0", "-0.2"), "0.4", False),
        (("+1.0", "."), "0.5", False),
    ],
)
def test_weighted(votes: tuple[str, ...], score: str, reached: bool) -> None:
    found = judge("weighted", "0.6", *votes)
    assert (found.score, found.reached) == (Fraction(score), reached)


@pytest.mark.requirement("BNC-136")
@pytest.mark.requirement("BNC-137")
@pytest.mark.requirement("BNC-081")
@pytest.mark.parametrize(
    ("votes", "reached"),
    [
        (("+0.7", "+0.7"), True),
        (("+0.69", "+0.9"), False),
        (("+0.9", "00.9"), False),
        (("+0.9", "-0.9"), False),
        (("+0.9", "+0.9", "?0.1"), True),
        (("+0.9", "+0.9", "."), False),
    ],
)
def test_unanimous(votes: tuple[str, ...], reached: bool) -> None:
    assert judge("unanimous", "0.7", *votes).reached is reached


@pytest.mark.requirement("BNC-138")
@pytest.mark.parametrize("mode", ConsensusMode)
@pytest.mark.parametrize("threshold", ["0.0", "0.7", "1.0"])
def test_if_all_defer_nobody_has_agreed(mode: ConsensusMode, threshold: str) -> None:
    found = judge(mode, threshold, "?1.0", "?1.0")
    assert (found.outcome, found.reached) == (ConsensusOutcome.DEADLOCK, False)


def test_deferring_agents_leave_the_denominator_and_the_other_number_is_kept() -> None:
    found = judge("weighted", "0.65", "+0.8", "+0.75", "?0.3")
    assert (found.score, found.score_all) == (Fraction("0.775"), Fraction("1.55") / 3)
    assert (found.reached, found.reached_all) == (True, False)


def test_few_positions_are_a_thin_quorum() -> None:
    assert judge("majority", "0.7", "+0.9", "?0.5", "?0.5").is_thin_quorum
    assert not judge("majority", "0.7", "+0.9", "?0.5").is_thin_quorum


def test_free_text_without_any_vote_is_indeterminate() -> None:
    rules = Rules(("ant", "bee"), output_format=OutputFormat.FREE_TEXT)
    assert compute_consensus(rules, {}).outcome is ConsensusOutcome.INDETERMINATE


@pytest.mark.requirement("BNC-139")
def test_only_the_latest_complete_round_counts() -> None:
    text = session(
        entry(1, "red-fox", 1, 1, confidence="0.1"),
        entry(2, "blue-hen", 1, 2, confidence="0.1"),
        entry(3, "red-fox", 2, 1),
        entry(4, "blue-hen", 2, 2, stance="reject"),
        entry(5, "red-fox", 3, 1),
    )
    data = view_consensus(check_session(text))
    assert (data.round, data.provisional, data.running_round) == (2, False, 3)
    assert (data.rejecters, data.reached) == (("blue-hen",), False)
    running = view_consensus(check_session(text), 3)
    assert (running.provisional, running.missing) == (True, ("blue-hen",))


def test_a_running_round_is_provisional_and_never_reached() -> None:
    text = session(entry(1, "ant", 1, 1), entry(2, "bee", 1, 2), agents=("ant", "bee", "cow"))
    data = view_consensus(check_session(text))
    assert (data.would_reach, data.reached, data.outcome) == (True, False, "not-reached")


def test_of_several_entries_in_a_round_the_last_counts() -> None:
    text = session(
        entry(1, "ant", 1, 1, stance="reject"),
        entry(2, "ant", 1, 2),
        entry(3, "bee", 1, 3),
        agents=("ant", "bee"),
        turn_order="free-form",
        max_turns_per_round="2",
    )
    assert view_consensus(check_session(text)).approvers == ("ant", "bee")


@pytest.mark.requirement("BNC-112")
def test_a_rejected_entry_is_no_vote_and_blocks_the_verdict() -> None:
    text = session(entry(1, "red-fox"), entry(2, "blue-hen", 1, 2, confidence="1.5"))
    data = view_consensus(check_session(text))
    assert (data.outcome, data.blocked, data.reached) == ("blocked", "invalid-file", False)
    assert data.missing == ("blue-hen",)
    checked = check_session(
        session(entry(1, "red-fox"), entry(2, "blue-hen", 1, 2), entry(3, "owl", 1, 3))
    )
    assert checked.course is not None
    assert not checked.course.phase.has_ended


@pytest.mark.requirement("BNC-167")
def test_the_same_file_can_be_judged_by_any_rule() -> None:
    text = session(
        entry(1, "red-fox", confidence="0.9"), entry(2, "blue-hen", 1, 2, confidence="0.5")
    )
    checked = check_session(text)
    assert view_consensus(checked).score == 0.7
    assert view_consensus(checked, mode=ConsensusMode.UNANIMOUS).reached is False
    assert view_consensus(checked, mode=ConsensusMode.UNANIMOUS, threshold=Decimal("0.5")).reached
    assert ConsensusView.__struct_fields__[:12] == (
        *("mode", "threshold", "reached", "score", "score_all_agents", "approvers", "rejecters"),
        *("neutral", "deferred", "missing", "outcome", "would_reach"),
    )


@pytest.mark.requirement("BNC-083")
def test_both_ends_of_confidence_have_their_words() -> None:
    assert describe_confidence(Decimal("0.0")) == "no confidence"
    assert describe_confidence(Decimal("1.0")) == "absolute certainty"
    assert describe_confidence(Decimal("0.001")) == "very unsure"
