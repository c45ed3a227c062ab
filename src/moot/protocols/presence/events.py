"""The events of presence. The record itself has who and when: its actor, epoch and time.
A field that is unset is not in the record.

Four of them have a v1 envelope (`codec.py` writes it): HandoffSent, BlockedSent, IncursionNoted
and AgentResumed have a `proto_...` id.
"""

# No `from __future__ import annotations`: msgspec would compile each annotation in every hook call.

from typing import Literal

from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Event, SignOfLife
from moot.protocols.presence.model import Liveness, ResumeReason, Urgency


class AgentJoined(Event, frozen=True):
    """The actor works here, in this worktree and branch.

    `session_key` identifies the session of a coding tool, `process_key` a process of the tool with
    everything below it.
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

    With `alias`, that sub-agent of the actor works there.
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
    """The actor cannot go on and needs something from `to`. `key` is the comparable form of
    `scope`."""

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
    key: str | UnsetType = UNSET


class IncursionNoted(Event, frozen=True):
    """The actor's claim or change overlaps what `owner` holds; `outcome` says what happened.

    `alias` and `owner_alias` name the sub-agents, if known. `blob_before` and `blob_after` are
    git's ids of the file before and after the actor's change, if known; empty if there was no file.
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
    """`id` no longer waits for an acceptance: `ended`, who owed it or asked for it, has ended."""

    id: str
    ended: str


class RequestSettled(Event, frozen=True):
    """The BLOCKED `id` no longer waits for an acceptance: its receiver holds no part of the scope.
    `why` says how that ended, `holder` is the agent that got the scope, if any."""

    id: str
    why: Literal["released", "expired", "taken_over", "handed_over"]
    holder: str | None


class EventWithdrawn(Event, frozen=True):
    """The entry `id` is withdrawn and stays on record; `reason` says why.

    An INCURSION is withdrawn because it is false, a HANDOFF or BLOCKED because it is no longer
    needed. `by` is the actor's capacity: its sender, the holder that an INCURSION is addressed to,
    a person, or the system, which cites its `evidence`.
    """

    id: str
    by: Literal["sender", "holder", "person", "system"]
    reason: str
    evidence: str


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
    """The program of `agent` has exited without leaving.

    `observer` noticed it, and `because` says how; the events before this one freed its scopes.
    """

    agent: str
    agent_epoch: int
    observer: str
    because: str


class ScopeFreed(Event, frozen=True):
    """The scope of `owner` is free: its program has exited (`gone`), or a `person` released it."""

    fencing: int
    key: str
    scope: str
    owner: str
    owner_epoch: int
    why: Literal["gone", "person"]
    reason: str


class UsageNoted(Event, frozen=True):
    """The usage that the tools of the actor's run reported, on `work`.

    Calls of models, their tokens, and money in millionths of a US dollar; `unpriced` counts calls
    without a price. Nothing proves these numbers. A run without reports has no such event.
    """

    tools: tuple[str, ...]
    work: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int


LEASE_ENDS = (ScopeReleased, ScopeExpired, ScopeTakenOver, ScopeHandedOver, ScopeFreed)
WITH_ENVELOPE = (HandoffSent, BlockedSent, IncursionNoted, AgentResumed)

EVENTS = (
    *(AgentJoined, AgentLeft, ScopeReserved, ScopeReleased, ScopeExpired, ScopeTakenOver),
    *(ScopeHandedOver, *WITH_ENVELOPE, EventSeen, EventAccepted, SubAgentBegan, SubAgentSeen),
    *(SubAgentEnded, StaleMinutesSet, AnswerLapsed, RequestSettled, EventWithdrawn, AgentGone),
    *(ScopeFreed, UsageNoted),
)
