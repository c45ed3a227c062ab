"""The nouns: who is here, what is held, what waits for an answer.

The state holds only what is live, plus counters: what has ended stands in the ledger. Lists that
may be long are sorted tuples of flat structs, so that a process that has just started reads them
from a snapshot without building an index, and finds by bisection (`shelf.py`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import MINUTE, Millis

STREAM: Final = "presence"
DEFAULT_STALE: Final[Millis] = 15 * MINUTE
# A work item's id: a bead, an issue, a branch. It is part of index keys, so it holds no blanks.
WORK: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}\Z")


class Kind(StrEnum):
    """How two scopes lie to each other (section 5.2)."""

    EXACT = "exact"
    PARTIAL = "partial"
    DISJOINT = "disjoint"


class Liveness(StrEnum):
    """Derived from the last sign of life, never stored as an agent's state (section 4.3)."""

    ACTIVE = "active"
    STALE = "stale"
    EVICTED = "evicted"


class Stage(StrEnum):
    """The life of a reservation; every end is an archive state (B-16)."""

    LIVE = "live"
    RELEASED = "released"
    EXPIRED = "expired"
    TAKEN_OVER = "taken_over"
    HANDED_OVER = "handed_over"


class Receipt(StrEnum):
    """How far a message has come (B-27). Accepted implies seen."""

    SENT = "sent"
    SEEN = "seen"
    ACCEPTED = "accepted"


class EventType(StrEnum):
    """The closed set of the v1 envelope."""

    HANDOFF = "HANDOFF"
    BLOCKED = "BLOCKED"
    INCURSION = "INCURSION"
    RESUME = "RESUME"


class Urgency(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ResumeReason(StrEnum):
    """The two conditions of an adoption (section 3.2)."""

    UNCOMMITTED_SCOPE = "uncommitted_scope"
    IN_PROGRESS_OWNERSHIP = "in_progress_ownership"


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who has acted here: the holder (`epoch`) of a name, where, and when last.

    `session_agent_id` and `logical_agent_id` are one field in v1 (3.1); two accessors keep the
    room for a split.
    """

    name: str
    epoch: int
    since: Millis
    last_at: Millis
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None
    left: bool = False

    @property
    def session_agent_id(self) -> str:
        return self.name

    @property
    def logical_agent_id(self) -> str:
        return self.name


class Reservation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A scope held by one holder of a name. `fencing` is its identity and only ever grows.

    `key` is what is compared, `scope` what people read. `hit_by` are the agents whose overlap
    is on record, so that a hook that asks again and again leaves one row.
    """

    key: str
    scope: str
    owner: str
    epoch: int
    fencing: int
    since: Millis
    expires_at: Millis | None = None
    work: str | None = None
    worktree: str = ""
    branch: str | None = None
    automatic: bool = False
    hit_by: tuple[str, ...] = ()

    def held_by(self, name: str, epoch: int) -> bool:
        """An earlier holder of the same name is someone else."""
        return self.owner == name and self.epoch == epoch

    def over(self, now: Millis) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A HANDOFF or BLOCKED that waits, or an event of which a receipt may still come."""

    id: str
    type: EventType
    sender: str | None
    sender_epoch: int
    to: str | None
    to_epoch: int
    at: Millis
    subject: str = ""
    work: str | None = None
    scope: str | None = None
    key: str | None = None
    urgency: Urgency | None = None
    requires_ack: bool = False
    accepted: bool = False
    seen_by: tuple[str, ...] = ()

    def is_for(self, name: str, epoch: int) -> bool:
        return self.to == name and self.to_epoch == epoch


class State(msgspec.Struct, frozen=True):
    """`members` is sorted by name, `live` by key; `next_expiry` is the earliest end of a TTL.

    `pending` are messages that owe an acceptance; `recent` the last few other events, so that a
    late or repeated receipt finds its event. `day` and `day_count` number the v1 ids (B-09).
    """

    members: tuple[Member, ...] = ()
    live: tuple[Reservation, ...] = ()
    fencing: int = 0
    next_expiry: Millis | None = None
    pending: Map[str, Message] = Map()
    recent: tuple[Message, ...] = ()
    day: str = ""
    day_count: int = 0
    stale_millis: Millis = DEFAULT_STALE
