"""Plain words for people (OPR-005): what every surface calls events, receipts and liveness."""

from __future__ import annotations

from typing import Final

from moot.protocols.presence.model import EventType, Liveness, ReceiptKind

EVENT_LABELS: Final[dict[EventType, str]] = {
    EventType.HANDOFF: "Passed to",  # OPR-074
    EventType.BLOCKED: "Needs input",  # OPR-075
    EventType.INCURSION: "Overlapping work",
    EventType.RESUME: "Picked up again",
}
# An INCURSION that did not happen: the guard, or a rule, was in time (B-28).
HELD_BACK: Final = "Held back"
RECEIPT_LABELS: Final[dict[ReceiptKind, str]] = {
    ReceiptKind.SENT: "Sent",
    ReceiptKind.SEEN: "Seen",  # OPR-076
    ReceiptKind.ACCEPTED: "Accepted",  # OPR-077
}
SETTLED: Final = "Settled"  # a request that is no longer needed
LIVENESS_LABELS: Final[dict[Liveness, str]] = {
    Liveness.ACTIVE: "Active",
    Liveness.STALE: "Gone quiet",
    Liveness.EVICTED: "Gone",
}
NOT_HERE: Final = "Not here"
LEFT: Final = "Left"


def label_event(kind: EventType, *, is_held_back: bool = False, is_withdrawn: bool = False) -> str:
    """What people read instead of the type; a withdrawn entry keeps its label, and is marked."""
    label = HELD_BACK if is_held_back else EVENT_LABELS[kind]
    return f"{label} (withdrawn)" if is_withdrawn else label
