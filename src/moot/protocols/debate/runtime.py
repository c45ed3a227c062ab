"""The vocabulary of the runtime that this format grew out of, and what it becomes in a file.

The tables are the appendix of the document. A runtime has seven stances, a file four; what a
file cannot say (`refine`: yes, but) is said by a lower confidence. `rules_from_runtime` and
`vote_from_runtime` are for programs that write a runtime's debate as a file; whoever puts its
words into a file is told what they are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.model import Rules, Stance, TurnOrder

# BNC-158
RUNTIME_MODES: Final = {"sequential": TurnOrder.ROUND_ROBIN, "parallel": TurnOrder.FREE_FORM}
# BNC-159
RUNTIME_SETTINGS: Final = {
    "maxRounds": "max-rounds",
    "consensusThreshold": "consensus-threshold",
}
# BNC-160: seven stances become four; a `refine` is this much less sure.
REFINE_FACTOR: Final = Decimal("0.8")
_STANCES: Final = {
    "strongly_agree": (Stance.APPROVE, Decimal(1)),
    "agree": (Stance.APPROVE, Decimal(1)),
    "refine": (Stance.APPROVE, REFINE_FACTOR),
    "synthesize": (Stance.NEUTRAL, Decimal(1)),
    "neutral": (Stance.NEUTRAL, Decimal(1)),
    "disagree": (Stance.REJECT, Decimal(1)),
    "strongly_disagree": (Stance.REJECT, Decimal(1)),
}
# BNC-161: a participant that was skipped, or a pause; there is no runtime stance for it.
SKIPPED_VOTE: Final = DebateVote(Stance.DEFER, Decimal(0))


def vote_from_runtime(
    stance: str | None, confidence: Decimal = SKIPPED_VOTE.confidence
) -> DebateVote:
    """A runtime's answer as a vote; no answer at all is a deferral."""
    if stance is None:
        return SKIPPED_VOTE
    if stance not in _STANCES:
        raise Malformed(
            f"{stance!r} is no runtime stance",
            code="unknown_stance",
            hint=f"one of {', '.join(_STANCES)}",
        )
    meant, factor = _STANCES[stance]
    return DebateVote(meant, confidence * factor)


def rules_from_runtime(agents: Iterable[str], config: Mapping[str, Any]) -> Rules:
    """A runtime's settings as those of a file; what only a file has is as usual.

    Whether the values are in range is asked when a session is made of them.
    """
    mode = config.get("mode")
    if mode not in tuple(RUNTIME_MODES):
        raise _unknown_runtime(f"{mode!r} is no runtime mode")
    settings = {
        name.replace("-", "_"): str(config[key]) if name == "consensus-threshold" else config[key]
        for key, name in RUNTIME_SETTINGS.items()
        if key in config
    }
    try:
        return msgspec.convert(
            {"agents": tuple(agents), "turn_order": RUNTIME_MODES[mode], **settings}, Rules
        )
    except msgspec.ValidationError as error:
        raise _unknown_runtime(str(error)) from None


def _unknown_runtime(message: str) -> Malformed:
    hint = f"mode is {' or '.join(RUNTIME_MODES)}; {', '.join(RUNTIME_SETTINGS)} are as in a file"
    return Malformed(message, code="unknown_runtime", hint=hint)


def explain_runtime_stance(word: str) -> str:
    """What a file says for a runtime's stance, in words; nothing for any other word."""
    meant = _STANCES.get(word.replace("-", "_"))
    if meant is None:
        return ""
    less = ", with four fifths of the confidence" if meant[1] is REFINE_FACTOR else ""
    return f"a file says {meant[0].value}{less}"


def explain_runtime_setting(key: str) -> str:
    """What a file calls a runtime's setting, in words; nothing for any other."""
    return f"a file says {RUNTIME_SETTINGS[key]}" if key in RUNTIME_SETTINGS else ""
