"""The result of a debate in words: the share that was reached, and the share that is needed."""

from __future__ import annotations

import pytest

from moot.api.debates.outcome import describe_outcome, explain_tally
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.views import view_consensus
from tests.debate.sessions import entry, session

NAMES = ("red-fox", "blue-hen", "grey-owl", "tan-elk")
STANCES = {"+": "approve", "-": "reject", "0": "neutral", "?": "defer"}


def came(mode: str, threshold: str, *votes: str) -> str:
    """What `+0.8` (approve), `-0.8`, `00.8` (neutral) and `?0.8` (defer) come to."""
    names = NAMES[: len(votes)]
    said = [
        entry(place, name, 1, place, stance=STANCES[vote[0]], confidence=vote[1:])
        for place, (name, vote) in enumerate(zip(names, votes, strict=True), 1)
    ]
    rules = {"consensus_mode": mode, "consensus_threshold": threshold, "max_rounds": "1"}
    return describe_outcome(view_consensus(check_session(session(*said, agents=names, **rules))))


@pytest.mark.requirement("BNC-129")
@pytest.mark.parametrize(
    ("votes", "counts", "why"),
    [
        (("+0.8", "+0.75", "-0.8"), "2 approve, 1 reject: agreed", "2 of 3|; confidence 0.775"),
        (("+0.8", "-0.8"), "1 approve, 1 reject: not agreed", "1 of 2|; confidence 0.8"),
        (
            ("+0.4", "+0.5", "?0.1"),
            "2 approve, 1 defer: not agreed",
            "2 of 2|; confidence 0.45, 0.501 needed; only 2 of 3 took a position",
        ),
        (("-0.4", "00.5"), "1 reject, 1 neutral: not agreed", "0 of 2|"),
    ],
)
def test_a_majority_is_of_heads_and_says_so(votes: tuple[str, ...], counts: str, why: str) -> None:
    share, sure = why.split("|")
    said = f"{counts} (majority, {share} votes, more than half needed{sure})"
    assert came("majority", "0.501", *votes) == said


def test_those_who_all_defer_have_counted_nothing() -> None:
    thin = "everyone deferred; nobody took a position"
    assert came("majority", "0.501", "?0.4", "?0.5") == f"2 defer: not agreed (majority, {thin})"


@pytest.mark.requirement("BNC-134")
@pytest.mark.parametrize(
    ("mode", "threshold", "votes", "words"),
    [
        ("weighted", "0.7", ("+0.9", "-0.1"), "weighted, balance 0.4, 0.7 needed"),
        ("unanimous", "0.7", ("+0.9", "-0.1"), "unanimous, 1 of 2 votes, all needed"),
        (
            *("unanimous", "0.7", ("+0.9", "+0.6")),
            "unanimous, 2 of 2 votes, all needed; lowest confidence 0.6, 0.7 needed",
        ),
        (
            *("majority", "1.0", ("+0.9", "+1.0")),
            "majority, 2 of 2 votes, all needed; confidence 0.95, 1 needed",
        ),
        ("majority", "1.0", ("+1.0", "+1.0", "-0.5"), "majority, 2 of 3 votes, all needed"),
        ("majority", "0.0", ("+1.0", "+1.0"), "majority, switched off by a threshold of 0"),
    ],
)
def test_every_rule_shows_what_it_looks_at(
    mode: str, threshold: str, votes: tuple[str, ...], words: str
) -> None:
    assert f"({words})" in came(mode, threshold, *votes)


def test_before_anyone_has_spoken_nothing_is_counted() -> None:
    found = view_consensus(check_session(session(agents=NAMES[:2])))
    assert explain_tally(found) == "majority, 0 of 2 votes, more than half needed"
    assert describe_outcome(found).startswith("2 silent: not agreed")
