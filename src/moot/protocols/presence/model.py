"""The nouns: who is here, what is held, what waits for an answer.

The state holds only what is live, plus counters: what has ended stands in the ledger. What may be
long are maps in pages of flat structs. A process that has just started, such as a hook, decodes
only the pages that it looks into (`sorted_index.py`).
"""

# No postponed annotations: msgspec would compile each of them anew in every hook.

import re
from enum import StrEnum
from typing import ClassVar, Final

import msgspec
from immutables import Map

from moot.core.clock import MINUTE, Millis
from moot.core.paged_map import PagedMap

STREAM: Final = "presence"
DEFAULT_STALE_MILLIS: Final[Millis] = 15 * MINUTE
# A work item's id: a bead, an issue, a branch. It is part of index keys, so it holds no blanks.
WORK_ID: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}\Z")


def name_with_alias(name: str, alias: str | None) -> str:
    """How a sub-agent is called: amber-otter/2. No agent's name holds a slash."""
    return f"{name}/{alias}" if alias else name


class Kind(StrEnum):
    """How two scopes relate to each other (section 5.2)."""

    EXACT = "exact"
    PARTIAL = "partial"
    DISJOINT = "disjoint"


class Liveness(StrEnum):
    """Derived from the last sign of life, never stored as an agent's state (OPR-029)."""

    ACTIVE = "active"
    STALE = "stale"
    EVICTED = "evicted"


class Stage(StrEnum):
    """The life of a reservation. All but `live` are ends, under which it is archived (B-16)."""

    LIVE = "live"
    RELEASED = "released"
    EXPIRED = "expired"
    TAKEN_OVER = "taken_over"
    HANDED_OVER = "handed_over"


class ReceiptKind(StrEnum):
    """How far a message has come with its receiver (B-27). Accepted implies seen."""

    SENT = "sent"
    SEEN = "seen"
    ACCEPTED = "accepted"


class EventType(StrEnum):
    """The four event types of the v1 envelope; there are no others (OPR-053)."""

    HANDOFF = "HANDOFF"
    BLOCKED = "BLOCKED"
    INCURSION = "INCURSION"
    RESUME = "RESUME"


class Urgency(StrEnum):
    """Of a BLOCKED (OPR-065)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ResumeReason(StrEnum):
    """Which of the two conditions allowed an adoption (section 3.2)."""

    UNCOMMITTED_SCOPE = "uncommitted_scope"
    IN_PROGRESS_OWNERSHIP = "in_progress_ownership"


class SubAgent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A helper that a session's tool started and that still works, under the session's own name.

    `alias` is its number there: 2 is shown as amber-otter/2. It has no key: the session signs for
    it. `tool_id` is what the tool calls it, `kind` what the tool says it is for.
    """

    alias: str
    tool_id: str
    kind: str
    since: Millis
    last_at: Millis


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who has acted here: the holder (`epoch`) of a name, where, and when last.

    OPR-008: `session_agent_id` and `logical_agent_id` are one field in v1; two accessors leave room
    for a split. `sub_agents` are those that have not ended, `sub_agent_count` is the highest number
    that one of them ever had. `gave_back`: it released something and has reserved nothing since.
    """

    NOTED_FIELDS: ClassVar = ("worktree", "branch", "left")

    name: str
    epoch: int
    since: Millis
    last_at: Millis
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None
    left: bool = False
    sub_agents: tuple[SubAgent, ...] = ()
    sub_agent_count: int = 0
    gave_back: bool = False

    @property
    def session_agent_id(self) -> str:
        return self.name

    @property
    def logical_agent_id(self) -> str:
        return self.name


class Reservation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A scope held by one holder of a name: a lease.

    `fencing` is its number: each new lease has a higher one, so an old lease cannot be mistaken for
    a newer one of the same scope. `key` is what is compared, `scope` what people read. `hit_by` are
    the agents whose overlap is on record, so that a hook that asks again leaves no second event.
    `alias` says which sub-agent of the owner works there; empty: the owner's session itself.
    """

    NOTED_FIELDS: ClassVar = ("worktree", "branch")
    LISTED_FIELD: ClassVar = "owner"

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
    alias: str = ""

    @property
    def holder(self) -> str:
        """Who works there, as people read it: the owner, or one of its sub-agents."""
        return name_with_alias(self.owner, self.alias)

    def is_held_by(self, name: str, epoch: int) -> bool:
        """True if that very holder has it: an earlier holder of the same name is someone else."""
        return self.owner == name and self.epoch == epoch

    def has_ended(self, now: Millis) -> bool:
        """True if its time has ended. It may still stand in the state until that is recorded."""
        return self.expires_at is not None and self.expires_at <= now


class PresenceMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A HANDOFF or BLOCKED that waits for an acceptance, or an event that may still be marked seen.

    `key` is the comparable form of `scope` (of an INCURSION: of what was held), `seen_by` the
    agents that have marked it. `settled`: what a BLOCKED asked for has come about, or nobody is
    left who could do it.
    """

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
    withdrawn: bool = False
    settled: bool = False

    def is_for(self, name: str, epoch: int) -> bool:
        return self.to == name and self.to_epoch == epoch

    @property
    def parties(self) -> tuple[str | None, str | None]:
        """Who sent it, and to whom."""
        return self.sender, self.to


class State(msgspec.Struct, frozen=True):
    """What is live now: who is here, and the reservations held.

    `fencing` is the highest lease number given; `next_expiry` the earliest time at which a lease
    ends. `pending` are, by id, the messages that owe an acceptance; `recent` the last few other
    events, so that a late or repeated receipt finds its event. `day` and `day_count` number the v1
    ids (B-09).
    """

    members_by_name: PagedMap[Member] = PagedMap()
    live_by_key: PagedMap[Reservation] = PagedMap()
    fencing: int = 0
    next_expiry: Millis | None = None
    pending: Map[str, PresenceMessage] = Map()
    recent: tuple[PresenceMessage, ...] = ()
    day: str = ""
    day_count: int = 0
    stale_millis: Millis = DEFAULT_STALE_MILLIS

    @property
    def members(self) -> tuple[Member, ...]:
        """All of them by name. This decodes every page: whoever wants one looks it up."""
        return tuple(self.members_by_name.values())

    @property
    def live(self) -> tuple[Reservation, ...]:
        """All reservations held, by key. This decodes every page."""
        return tuple(self.live_by_key.values())

    @property
    def worktrees(self) -> set[str]:
        """Where something is held, or somebody is who has not left; no page is decoded for it."""
        here = {worktree for worktree, _, left in self.members_by_name.notes() if not left}
        return {str(worktree) for worktree in here | self.held_worktrees if worktree}

    @property
    def held_worktrees(self) -> set[str]:
        """From where reservations are counted."""
        return {str(worktree) for worktree, _ in self.live_by_key.notes()}

    @property
    def branches(self) -> set[str]:
        """On which something is held, or somebody has worked; no page is decoded for it."""
        notes = (*self.members_by_name.notes(), *self.live_by_key.notes())
        return {str(branch) for _, branch, *_left in notes if branch is not None}
