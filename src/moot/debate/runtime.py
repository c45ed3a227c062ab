"""The vocabulary of the runtime that this format grew out of, and what it becomes in a file.

The tables are the appendix of the document. A runtime has seven stances, a file four; what a
file cannot say (`refine`: yes, but) is said by a lower confidence.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from moot.core.errors import Malformed
from moot.debate.consensus import Vote
from moot.debate.model import Stance, TurnOrder

MODES: Final = {"sequential": TurnOrder.ROUND_ROBIN, "parallel": TurnOrder.FREE_FORM}
SETTINGS: Final = {
    "maxRounds": "max-rounds",
    "consensusThreshold": "consensus-threshold",
}
# how much less sure a `refine` is.
REFINED: Final = Decimal("0.8")
_STANCES: Final = {
    "strongly_agree": (Stance.APPROVE, Decimal(1)),
    "agree": (Stance.APPROVE, Decimal(1)),
    "refine": (Stance.APPROVE, REFINED),
    "synthesize": (Stance.NEUTRAL, Decimal(1)),
    "neutral": (Stance.NEUTRAL, Decimal(1)),
    "disagree": (Stance.REJECT, Decimal(1)),
    "strongly_disagree": (Stance.REJECT, Decimal(1)),
}
# A participant that was skipped, or a pause: there is no runtime stance for it.
SKIPPED: Final = Vote(Stance.DEFER, Decimal(0))


def vote_from_runtime(stance: str | None, confidence: Decimal) -> Vote:
    """A runtime's answer as a vote; no answer at all is a deferral."""
    if stance is None:
        return SKIPPED
    if stance not in _STANCES:
        raise Malformed(
            f"{stance!r} is no runtime stance",
            code="unknown_stance",
            hint=f"one of {', '.join(_STANCES)}",
        )
    meant, factor = _STANCES[stance]
    return Vote(meant, confidence * factor)
