"""What each rule lacks, with the smallest example: no rule has everything one would want of it.

`ask` counts heads for a majority, which lacks nothing of this; what asks for confidence does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MORE_APPROVAL: Final = (
    "more approval can stop a motion: one approves at 0.8 and one defers, and it carries; the "
    "other turns to approve at 0.2, and it fails"
)
RULE_LIMITS: Final[Mapping[str, str]] = {
    "weighted": _MORE_APPROVAL,
    "unanimous": _MORE_APPROVAL,
    "plurality": (
        "it can choose an answer that loses against each of the others: three rank A B C, two "
        "B C A, two C B A, and A is chosen"
    ),
    "borda": (
        "it can pass over an answer that wins against each of the others: three rank A B C, two "
        "B C A, and B is chosen"
    ),
    "condorcet": "it can choose nothing: one ranks A B C, one B C A, one C A B: each loses once",
}
