"""Plain words for people (OPR-005): what every surface calls events, receipts and liveness."""

from __future__ import annotations

from typing import Final

from moot.protocols.presence.model import EventType, Liveness, Receipt

EVENTS: Final[dict[EventType, str]] = {
    EventType.HANDOFF: "Passed to",  # OPR-074
    EventType.BLOCKED: "Needs input",  # OPR-075
    EventType.INCURSION: "Overlapping work",
    EventType.RESUME: "Picked up again",
}
RECEIPTS: Final[dict[Receipt, str]] = {
    Receipt.SENT: "Sent",
    Receipt.SEEN: "Seen",  # OPR-076
    Receipt.ACCEPTED: "Accepted",  # OPR-077
}
LIVENESS: Final[dict[Liveness, str]] = {
    Liveness.ACTIVE: "Active",
    Liveness.STALE: "Gone quiet",
    Liveness.EVICTED: "Gone",
}
NOT_HERE: Final = "Not here"
LEFT: Final = "Left"
