"""Facts about presence. Who and when stand on the record itself: its actor, epoch and time.
A field that may be unset is left out of the record then.

Four of them are the events of the v1 envelope (`codec.py` renders them): HandoffSent,
BlockedSent, IncursionNoted and AgentResumed carry their `proto_...` id.
"""

# No postponed annotations: msgspec would compile each of them anew in every hook.

from typing import Literal

from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Event, SignOfLife
from moot.protocols.presence.model import Liveness, ResumeReason, Urgency


class AgentJoined(Event, frozen=True):
    """The actor works here, in this worktree and branch.

    `session_key` is under which the session of a coding tool is found again, `process_key` the
    same for everything below one process of the tool.
    """

    project_root: str
    worktree: str
    branch: str | None
    work: str | None
    session_key: str | None
    process_key: str | None = None


class AgentLeft(Event, frozen=True):
    """The actor has gone; what it held was released before."""

    reason: str


class ScopeReserved(Event, frozen=True):
    """The actor holds `key` from now on; a reservation of the same key by the actor is renewed.

    With `alias` it is that sub-agent of the actor who works there.
    """

    fencing: int
    key: str
    scope: str
    work: str | None
    worktree: str
    branch: str | None
    expires_at: Millis | None
    automatic: bool
    alias: str | UnsetType = UNSET


class ScopeReleased(Event, frozen=True):
    """The actor gave back what it held."""

    fencing: int
    key: str
    scope: str


class ScopeExpired(Event, frozen=True):
    """Its time was over (`ttl`), or its owner was evicted and it was taken over (`evicted`)."""

    fencing: int
    key: str
    scope: str
    owner: str
    owner_epoch: int
    why: Literal["ttl", "evicted"]
    stale_millis: Millis | None = None
    last_sign: SignOfLife | None = None


class ScopeTakenOver(Event, frozen=True):
    """A stale owner lost it to the actor; `last_sign` proves when the owner was last seen."""

    fencing: int
    key: str
    scope: str
    owner: str
    owner_epoch: int
    stale_millis: Millis
    last_sign: SignOfLife | None


class ScopeHandedOver(Event, frozen=True):
    """The lease `was` ended and its scope is `owner`'s under a new number.

    `because` is the id of the accepted HANDOFF, or of the RESUME that picked it up again.
    """

    was: int
    fencing: int
    key: str
    scope: str
    from_owner: str
    owner: str
    owner_epoch: int
    because: str


class HandoffSent(Event, frozen=True):
    """The actor passes work on to `to`; with `scope`, also what it holds there."""

    id: str
    project_root: str
    work: str
    to: str
    to_epoch: int
    scope: str | None
    key: str | None
    subject: str
    summary: str
    next_action: str
    requires_ack: bool


class BlockedSent(Event, frozen=True):
    """The actor cannot go on and needs something from `to`."""

    id: str
    project_root: str
    work: str
    to: str
    to_epoch: int
    scope: str | None
    subject: str
    blocker: str
    requested_action: str
    urgency: Urgency


class IncursionNoted(Event, frozen=True):
    """The actor reached into what `owner` holds; `outcome` says what came of it.

    `alias` and `owner_alias` name the sub-agents that met, where they are known.
    If it was seen, `blob_before` is git's id of the file as `owner` left it, and `blob_after` as
    the actor did; empty where there was no file.
    """

    id: str
    project_root: str
    work: str | None
    owner: str
    owner_epoch: int
    reservation: int
    key: str
    scope: str
    held: str
    kind: Literal["exact", "partial"]
    owner_liveness: Liveness
    last_seen_at: Millis | None
    outcome: Literal["refused", "taken_over", "slipped_past"]
    resolution_hint: str
    alias: str | UnsetType = UNSET
    owner_alias: str | UnsetType = UNSET
    blob_before: str | None = None
    blob_after: str | None = None


class AgentResumed(Event, frozen=True):
    """The actor continues an earlier session of its own name (RESUME).

    `messages` are the events that waited for the earlier holder and now wait for this one;
    `scopes` are the first of the scopes that go over to this one.
    """

    id: str
    project_root: str
    worktree: str
    branch: str | None
    session_key: str | None
    prior_agent: str
    prior_epoch: int
    prior_session_key: str | None
    prior_liveness: Liveness | None
    reason: ResumeReason
    evidence: str
    work: str | None
    bead_ids: tuple[str, ...]
    messages: tuple[str, ...]
    scopes: tuple[str, ...] = ()


class EventSeen(Event, frozen=True):
    """The actor has read the event `id`."""

    id: str


class EventAccepted(Event, frozen=True):
    """The actor takes on what the event `id` passed to it."""

    id: str


class AnswerLapsed(Event, frozen=True):
    """Nobody waits for an acceptance of `id` any more: `ended`, who owed it or asked for it, has
    ended."""

    id: str
    ended: str


class SubAgentBegan(Event, frozen=True):
    """The actor's session has a sub-agent, which works under this alias; the actor signs for it."""

    alias: str
    tool_id: str
    kind: str


class SubAgentSeen(Event, frozen=True):
    """The sub-agent is still at work."""

    alias: str


class SubAgentEnded(Event, frozen=True):
    """The sub-agent is done; what it held is its session's from now on."""

    alias: str
    reason: str


class StaleMinutesSet(Event, frozen=True):
    """From now on the workspace calls agents stale after this time."""

    stale_millis: Millis


class AgentGone(Event, frozen=True):
    """The session of `agent` has ended without a word: its program is gone from its machine.

    `observer` saw it, and `because` says by what; what it held was freed before.
    """

    agent: str
    agent_epoch: int
    observer: str
    because: str


class ScopeFreed(Event, frozen=True):
    """What `owner` held is nobody's: its session is `gone`, or a `person` released it by force."""

    fencing: int
    key: str
    scope: str
    owner: str
    owner_epoch: int
    why: Literal["gone", "person"]
    reason: str


class UsageNoted(Event, frozen=True):
    """What the tools that a run of the actor started say they have used, on `work`.

    Calls of models, their tokens, and money in millionths of a US dollar; `unpriced` are the calls
    whose price nobody named. It is the tools' own word. A run whose tools said nothing has none.
    """

    tools: tuple[str, ...]
    work: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int


# The four that have a v1 envelope.
WITH_ENVELOPE = (HandoffSent, BlockedSent, IncursionNoted, AgentResumed)

EVENTS = (
    AgentJoined,
    AgentLeft,
    ScopeReserved,
    ScopeReleased,
    ScopeExpired,
    ScopeTakenOver,
    ScopeHandedOver,
    HandoffSent,
    BlockedSent,
    IncursionNoted,
    AgentResumed,
    EventSeen,
    EventAccepted,
    SubAgentBegan,
    SubAgentSeen,
    SubAgentEnded,
    StaleMinutesSet,
    AnswerLapsed,
    AgentGone,
    ScopeFreed,
    UsageNoted,
)
