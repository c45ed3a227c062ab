"""The runtime's vocabulary and what it becomes in a file."""

from __future__ import annotations

from decimal import Decimal

import pytest

from moot.core.errors import Malformed
from moot.debate.consensus import Vote
from moot.debate.model import Stance, TurnOrder
from moot.debate.runtime import MODES, SETTINGS, vote_from_runtime


@pytest.mark.requirement("BNC-160")
@pytest.mark.parametrize(
    ("stance", "expected"),
    [
        ("strongly_agree", Vote(Stance.APPROVE, Decimal("0.5"))),
        ("agree", Vote(Stance.APPROVE, Decimal("0.5"))),
        ("refine", Vote(Stance.APPROVE, Decimal("0.40"))),
        ("synthesize", Vote(Stance.NEUTRAL, Decimal("0.5"))),
        ("neutral", Vote(Stance.NEUTRAL, Decimal("0.5"))),
        ("disagree", Vote(Stance.REJECT, Decimal("0.5"))),
        ("strongly_disagree", Vote(Stance.REJECT, Decimal("0.5"))),
    ],
)
def test_seven_stances_become_four(stance: str, expected: Vote) -> None:
    assert vote_from_runtime(stance, Decimal("0.5")) == expected


@pytest.mark.requirement("BNC-160")
def test_an_eighth_stance_is_refused() -> None:
    with pytest.raises(Malformed):
        vote_from_runtime("shrug", Decimal(1))


@pytest.mark.requirement("BNC-161")
def test_a_skipped_participant_defers() -> None:
    assert vote_from_runtime(None, Decimal(1)).stance is Stance.DEFER


@pytest.mark.requirement("BNC-158")
@pytest.mark.requirement("BNC-159")
def test_modes_and_settings_have_their_names() -> None:
    assert MODES == {"sequential": TurnOrder.ROUND_ROBIN, "parallel": TurnOrder.FREE_FORM}
    assert SETTINGS == {"maxRounds": "max-rounds", "consensusThreshold": "consensus-threshold"}
