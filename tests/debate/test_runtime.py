"""The runtime's vocabulary and what it becomes in a file."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from moot.core.clock import parse_time
from moot.core.errors import Malformed, Refused
from moot.protocols.debate import check_session, rules_from_runtime, vote_from_runtime
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.model import Rules, Stance, TurnOrder
from moot.protocols.debate.writer import make_session_text, prepare_own_entry
from tests.debate.sessions import SESSION_ID, entry, entry_id, session

AGENTS = ("red-fox", "blue-hen")
NOW = parse_time("2026-03-01T09:00:00Z")
IN_A_FILE = {
    "strongly_agree": "approve",
    "agree": "approve",
    "refine": "approve",
    "synthesize": "neutral",
    "neutral": "neutral",
    "disagree": "reject",
    "strongly_disagree": "reject",
}


@pytest.mark.requirement("BNC-160")
@pytest.mark.parametrize("stance", IN_A_FILE)
def test_seven_stances_become_four(stance: str) -> None:
    sure = Decimal("0.40") if stance == "refine" else Decimal("0.5")
    assert vote_from_runtime(stance, Decimal("0.5")) == DebateVote(Stance(IN_A_FILE[stance]), sure)


@pytest.mark.requirement("BNC-160")
def test_an_eighth_stance_is_refused() -> None:
    with pytest.raises(Malformed) as unread:
        vote_from_runtime("shrug", Decimal(1))
    assert unread.value.code == "unknown_stance"


@pytest.mark.requirement("BNC-161")
def test_a_skipped_participant_defers() -> None:
    assert vote_from_runtime(None) == DebateVote(Stance.DEFER, Decimal(0))


@pytest.mark.requirement("BNC-158")
@pytest.mark.parametrize(
    ("mode", "order"), [("sequential", "round-robin"), ("parallel", "free-form")]
)
def test_a_mode_becomes_an_order_of_turns(mode: str, order: str) -> None:
    assert rules_from_runtime(AGENTS, {"mode": mode}).turn_order is TurnOrder(order)


@pytest.mark.requirement("BNC-159")
def test_a_runtimes_settings_become_those_of_a_file() -> None:
    config = {"mode": "sequential", "maxRounds": 3, "consensusThreshold": 0.75, "pause": 500}
    assert rules_from_runtime(AGENTS, config) == Rules(
        AGENTS,
        max_rounds=3,
        consensus_threshold=Decimal("0.75"),
    )


@pytest.mark.parametrize(
    "config",
    [{}, {"mode": "both"}, {"mode": "parallel", "maxRounds": "many"}, {"mode": ["parallel"]}],
)
def test_a_runtime_that_is_not_understood_is_malformed(config: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as unread:
        rules_from_runtime(AGENTS, config)
    assert unread.value.hint


@pytest.mark.requirement("BNC-159")
def test_a_runtimes_debate_can_be_written_as_a_file() -> None:
    rules = rules_from_runtime(AGENTS, {"mode": "sequential", "consensusThreshold": 0.7})
    text = make_session_text("Which queue?", "Some words.", rules, SESSION_ID, NOW)
    said = [("strongly_agree", Decimal("0.9")), ("refine", Decimal("0.75"))]
    for number, (author, (stance, sure)) in enumerate(zip(AGENTS, said, strict=True)):
        vote = vote_from_runtime(stance, sure)
        draft = EntryDraft(
            author=author, stance=vote.stance, confidence=str(vote.confidence), summary="Yes."
        )
        text += prepare_own_entry(check_session(text), draft, entry_id(number + 1), NOW).text
    checked = check_session(text)
    assert checked.findings == ()
    assert checked.course is not None
    assert checked.course.phase == "ended:consensus"


# Words of the runtime where a file has its own: what they are there is said -----------------------


@pytest.mark.requirement("BNC-151")
@pytest.mark.parametrize("stance", sorted(IN_A_FILE.keys() - {"neutral"}))
def test_a_runtimes_stance_in_a_file_is_told_what_it_is_there(stance: str) -> None:
    for spelt in (stance, stance.replace("_", "-")):
        (found,) = check_session(session(entry(1, "red-fox", stance=spelt))).findings
        assert (found.rule, found.code) == ("R10", "INVALID_STANCE")
        assert f"a file says {IN_A_FILE[stance]}" in found.message


@pytest.mark.requirement("BNC-160")
def test_anyone_who_adds_with_a_runtimes_stance_is_told_the_files() -> None:
    text = make_session_text("Which queue?", "Some words.", Rules(AGENTS), SESSION_ID, NOW)
    draft = EntryDraft(author="red-fox", stance="refine", confidence="0.9", summary="Yes, but.")
    with pytest.raises(Refused) as no:
        prepare_own_entry(check_session(text), draft, entry_id(1), NOW)
    assert no.value.hint == "a file says approve, with four fifths of the confidence"


@pytest.mark.requirement("BNC-158")
def test_a_runtimes_mode_in_a_file_is_told_what_it_is_there() -> None:
    (found,) = check_session(session(turn_order="parallel")).findings
    assert "'parallel'; it must be free-form" in found.message


@pytest.mark.requirement("BNC-159")
def test_a_runtimes_setting_in_a_file_is_told_its_name_there() -> None:
    (found,) = check_session(session(tags="x\nmaxRounds: 3").replace("tags: x\n", "")).findings
    assert (found.code, found.where) == ("unknown_rule", "maxRounds")
    assert "a file says max-rounds" in found.message
