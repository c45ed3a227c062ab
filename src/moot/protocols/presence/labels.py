"""Plain words for people (OPR-005): what every surface calls events, receipts and liveness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.protocols.presence.model import EventType, Liveness, ReceiptKind

EVENT_LABELS: Final[dict[EventType, str]] = {
    EventType.HANDOFF: "Passed to",  # OPR-074
    EventType.BLOCKED: "Needs input",  # OPR-075
    EventType.INCURSION: "Overlapping work",
    EventType.RESUME: "Picked up again",
}
# An INCURSION that did not happen: the guard, or a rule, was in time (B-28).
REFUSED: Final = "Refused"
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


def label_event(kind: EventType, *, is_refused: bool = False, is_withdrawn: bool = False) -> str:
    """Return the label that people read; a withdrawn entry keeps its label, and is marked."""
    label = REFUSED if is_refused else EVENT_LABELS[kind]
    return f"{label} (withdrawn)" if is_withdrawn else label


# The state of a work item: the first of an ordered table that fits.
#
# The facts come from three places: the bead (its status, if there is a beads provider), the agent
# (the state it reports, and its liveness) and what waits for an answer.


class WorkState(StrEnum):
    """The state of a work item, the most urgent first."""

    COMPLETED = "completed"
    STUCK = "stuck"
    DEAD = "dead"
    NEEDS_INPUT = "needs_input"
    EVICTED = "evicted"
    STALE = "stale"
    RETURNED = "returned"
    ACTIVE = "active"
    DECIDING = "deciding"


WORK_STATE_LABELS: Final[dict[WorkState, str]] = {
    WorkState.COMPLETED: "Done",
    WorkState.STUCK: "Stuck",
    WorkState.DEAD: "Stopped",
    WorkState.NEEDS_INPUT: "Needs input",
    WorkState.EVICTED: "Gone",
    WorkState.STALE: "Gone quiet",
    WorkState.RETURNED: "Given back",
    WorkState.ACTIVE: "In progress",
    WorkState.DECIDING: "Not started",
}


class WorkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one work item. `agent_state` is what its agent reports of itself.

    `is_returned`: all of its agents have released what they held, and hold nothing.
    """

    bead_status: str | None = None
    agent_state: str | None = None
    answer_owed: bool = False
    is_returned: bool = False
    liveness: Liveness | None = None
    last_activity: Millis | None = None
    now: Millis
    stale_millis: Millis


def _is_quiet(facts: WorkFacts) -> bool:
    return facts.last_activity is None or facts.now - facts.last_activity > facts.stale_millis


# In order of priority: the first row that fits names the state.
WORK_STATES: Final[tuple[tuple[WorkState, Callable[[WorkFacts], bool]], ...]] = (
    (WorkState.COMPLETED, lambda facts: facts.bead_status == "closed"),
    (WorkState.STUCK, lambda facts: facts.agent_state == "stuck"),
    (WorkState.DEAD, lambda facts: facts.agent_state == "dead"),
    (WorkState.NEEDS_INPUT, lambda facts: facts.bead_status == "blocked" or facts.answer_owed),
    (WorkState.EVICTED, lambda facts: facts.liveness is Liveness.EVICTED),
    (WorkState.STALE, lambda facts: facts.liveness is Liveness.STALE or _is_quiet(facts)),
    (WorkState.RETURNED, lambda facts: facts.is_returned),
    (WorkState.ACTIVE, lambda facts: facts.bead_status == "in_progress"),
    (WorkState.DECIDING, lambda _facts: True),
)


def judge_work(facts: WorkFacts) -> WorkState:
    return next(state for state, fits in WORK_STATES if fits(facts))


class Health(StrEnum):
    """The health of the whole project."""

    CRITICAL = "critical"
    WARNING = "warning"
    OFFLINE = "offline"
    ACTIVE = "active"


def judge_health(alive: Iterable[Liveness]) -> Health:
    """Return the health by the worst liveness of the agents here; offline if there are none."""
    seen = set(alive)
    if not seen:
        return Health.OFFLINE
    if Liveness.EVICTED in seen:
        return Health.CRITICAL
    return Health.WARNING if Liveness.STALE in seen else Health.ACTIVE
