"""The nouns: who is here, what is held, what waits for an answer.

The state has only what is live, plus counters: what has ended is in the ledger. Lists that may be
long are maps in pages of flat structs: a new process, such as a hook, decodes only the pages that
it reads (`core/paged_map.py`).
"""

# No `from __future__ import annotations`: msgspec would compile each annotation in every hook call.

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Final

import msgspec
from immutables import Map

from moot.core.clock import MINUTE, Millis, to_text
from moot.core.errors import Malformed
from moot.core.paged_map import PagedMap

STREAM: Final = "presence"
DEFAULT_STALE_MILLIS: Final[Millis] = 15 * MINUTE
# A work item's id: a bead, an issue, a branch. It is part of index keys, so it holds no blanks.
WORK_ID: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}\Z")


def name_with_alias(name: str, alias: str | None) -> str:
    """Return the name of a sub-agent: amber-otter/2. No agent's name has a slash."""
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
    """A helper that a session's tool started and that still works, under the session's name.

    `alias` is its number there: 2 is shown as amber-otter/2. It has no key: the session signs for
    it. `tool_id` is what the tool calls it, `kind` what the tool says it is for.
    """

    alias: str
    tool_id: str
    kind: str
    since: Millis
    last_at: Millis


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An agent that has acted here: the holder (`epoch`) of a name, where, and when last.

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
        """The name that people read: the owner, or its sub-agent that works there."""
        return name_with_alias(self.owner, self.alias)

    def is_held_by(self, name: str, epoch: int) -> bool:
        """True if that very holder has it: an earlier holder of the same name is someone else."""
        return self.owner == name and self.epoch == epoch

    def has_ended(self, now: Millis) -> bool:
        """True if its time has ended. It may still be in the state until that is recorded."""
        return self.expires_at is not None and self.expires_at <= now


class PresenceMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A HANDOFF or BLOCKED that waits for an acceptance, or an event that may still be marked seen.

    `key` is the comparable form of `scope` (of an INCURSION: of what was held), `seen_by` the
    agents that have marked it. `settled`: what a BLOCKED asked for has happened, or its receiver
    has ended.
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
        """All members, by name. This decodes every page; `find_member` decodes only one."""
        return tuple(self.members_by_name.values())

    @property
    def live(self) -> tuple[Reservation, ...]:
        """All reservations held, by key. This decodes every page."""
        return tuple(self.live_by_key.values())

    @property
    def worktrees(self) -> set[str]:
        """Worktrees of reservations, and of members that have not left. Decodes no page."""
        here = {worktree for worktree, _, left in self.members_by_name.notes() if not left}
        return {str(worktree) for worktree in here | self.held_worktrees if worktree}

    @property
    def held_worktrees(self) -> set[str]:
        """Worktrees that reservations are relative to. Decodes no page."""
        return {str(worktree) for worktree, _ in self.live_by_key.notes()}

    @property
    def branches(self) -> set[str]:
        """Branches of reservations and members. Decodes no page."""
        notes = (*self.members_by_name.notes(), *self.live_by_key.notes())
        return {str(branch) for _, branch, *_left in notes if branch is not None}


# Named resources: `port:3000`, `db:test`, `task:T-9`, `gpu:0`; things that are not files (P-09).
#
# One agent at a time holds one. It overlaps only itself: never a path, not even the whole project,
# and no other resource, however their names begin. A kind has two letters or more, so that `C:/`
# stays a path, and its case does not matter; the rest is compared as it is written.
#
# Its key is its name. A file that is named like a resource has a key that begins with `./`, and is
# typed in the same way.

TASK: Final = "task"
_KIND: Final = r"[A-Za-z][A-Za-z0-9_-]+:"


def is_resource(text: str) -> bool:
    """True if this text, or this key of a reservation, names a resource and not a path."""
    return ":" in text and re.match(_KIND, text) is not None


def key_of_file(path: str) -> str:
    """Return the key of a file that is named from the root, as git names it."""
    return f"./{path}" if is_resource(path) else path


def read_resource(text: str) -> str:
    """Return the name to compare and to show; Malformed if it could be taken for another."""
    kind, _, name = text.partition(":")
    if not name or name != name.strip():
        raise Malformed(
            f"{text!r} names no {kind.lower()}",
            code="bad_resource",
            hint=f"a resource is written like port:3000; a file of this name is ./{text.strip()}",
        )
    if "*" in name or "?" in name:
        raise Malformed(
            f"{text!r}: a resource is named in full",
            code="unsupported_glob",
            hint="name each resource by itself",
        )
    return f"{kind.lower()}:{name}"


def task_resource(work: str) -> str:
    """Return the resource of a work item: only the agent that holds it works on the item."""
    return read_resource(f"{TASK}:{work}")


# Numbers that are used once: v1 event ids (OPR-051) and the fencing numbers of leases.
#
# A decision may record several events and gets their numbers here, counting on from the state.
# They are unique because decisions are made one after the other, under the write lock.

EVENT_ID: Final = re.compile(r"proto_(\d{8})_(\d{3,})\Z", re.ASCII)


class NextNumbers:
    """The next numbers of one decision."""

    def __init__(self, state: State, now: Millis) -> None:
        today = to_text(now)[:10].replace("-", "")
        # A clock that went back over midnight keeps counting the later day: ids stay unique.
        self._day = max(today, state.day)
        self._count = state.day_count if self._day == state.day else 0
        self._fencing = state.fencing

    def next_event_id(self) -> str:
        self._count += 1
        return f"proto_{self._day}_{self._count:03d}"

    def next_fencing(self) -> int:
        self._fencing += 1
        return self._fencing


def count_event(state: State, event_id: str) -> tuple[str, int]:
    """Return `day` and `day_count` after `event_id` was recorded; they never go back."""
    parts = EVENT_ID.match(event_id)
    if parts is None:
        return state.day, state.day_count
    return max((state.day, state.day_count), (parts[1], int(parts[2])))


# Finding reservations and members by key, without looking at all of them.
#
# Keys are paths with `/`, so everything below a scope is one run: from `scope/` up to `scope0`, as
# `0` follows `/` in ASCII. The keys of named resources are their names; nothing is above or below
# one.


def find_reservation(state: State, key: str) -> Reservation | None:
    """Return the live reservation of exactly this key."""
    return state.live_by_key.get(key)


def find_member(state: State, name: str) -> Member | None:
    """Return the member of this name, whichever holder it is."""
    return state.members_by_name.get(name)


def reservations_above(state: State, key: str) -> Iterator[Reservation]:
    """Yield the reservations of the folders that contain `key`, from the root down."""
    if is_resource(key):
        return
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"))
    leases = (find_reservation(state, folder) for folder in folders if folder != key)
    yield from (lease for lease in leases if lease is not None)


def reservations_below(state: State, key: str) -> tuple[Reservation, ...]:
    """Return the reservations inside `key`, without its own."""
    if is_resource(key):
        return ()
    if not key:
        return tuple(held for held in state.live if held.key and not is_resource(held.key))
    return state.live_by_key.between(f"{key}/", f"{key}0")


def overlapping_reservations(state: State, key: str) -> Iterator[Reservation]:
    """Yield the reservations that overlap `key`: above it, the same, below it."""
    yield from reservations_above(state, key)
    same = find_reservation(state, key)
    if same is not None:
        yield same
    yield from reservations_below(state, key)


def group_by_owner(state: State) -> dict[str, list[Reservation]]:
    """Return what each name holds, in one pass over the whole list."""
    by_owner: dict[str, list[Reservation]] = {}
    for held in state.live_by_key.values():
        by_owner.setdefault(held.owner, []).append(held)
    return by_owner


def reservations_of(state: State, name: str, epoch: int | None = None) -> tuple[Reservation, ...]:
    """Return all that `name` holds (one holder of the name, or any). This reads the whole list."""
    every = state.live_by_key.values()
    return tuple(lease for lease in every if lease.owner == name and epoch in (None, lease.epoch))
