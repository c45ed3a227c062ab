"""Plain words for people (sections 1.4 and 6.3). No other code names these things for readers."""

from __future__ import annotations

from typing import Final

from moot.protocols.presence.model import EventType, Liveness, Receipt

EVENTS: Final[dict[EventType, str]] = {
    EventType.HANDOFF: "Passed to",
    EventType.BLOCKED: "Needs input",
    EventType.INCURSION: "Overlapping work",
    EventType.RESUME: "Picked up again",
}
RECEIPTS: Final[dict[Receipt, str]] = {
    Receipt.SENT: "Sent",
    Receipt.SEEN: "Seen",
    Receipt.ACCEPTED: "Accepted",
}
LIVENESS: Final[dict[Liveness, str]] = {
    Liveness.ACTIVE: "Active",
    Liveness.STALE: "Gone quiet",
    Liveness.EVICTED: "Gone",
}
NOT_HERE: Final = "Not here"
LEFT: Final = "Left"
