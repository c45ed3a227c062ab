"""The commands of presence. Paths arrive as typed, the outside world as data.

`project_root` is the absolute root named in v1 events; `worktree` the absolute root that scopes
are relative to (empty: the project root). Times and spans are whole milliseconds.

`sub_agent` is the tool's id of the session's sub-agent that acts, empty for its main agent. Unset
means unknown: then no reservation of the same session conflicts.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Command
from moot.protocols.presence.model import Liveness


class Join(Command, frozen=True):
    """Join: say in which worktree and branch you are, and on what you work."""

    project_root: str
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None
    process_key: str | None = None


class Leave(Command, frozen=True):
    """Leave, and release everything that you hold."""

    reason: str = ""


class ScopesCommand(Command, frozen=True):
    """The fields of `Reserve` and `TakeOver`.

    `automatic` marks what a hook reserves for one edit. With `once`, each overlapping reservation
    gives one INCURSION, however often the agent tries. After `stale_millis` without a sign of life
    an owner counts as stale; None: the workspace's own time.
    """

    scopes: tuple[str, ...]
    project_root: str
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    ttl_minutes: int | None = None
    stale_millis: Millis | None = None
    automatic: bool = False
    once: bool = False
    sub_agent: str | UnsetType = UNSET
    sub_agent_kind: str | UnsetType = UNSET


class Reserve(ScopesCommand, frozen=True):
    """Reserve one or several scopes, all or none; another owner of any liveness refuses it."""


class TakeOver(ScopesCommand, frozen=True):
    """Reserve (`--takeover-stale`) also what stale or evicted owners hold; never the active.

    This is a separate command (OPR-087), because the engine verifies the history before it takes a
    scope from an agent.
    """


class Release(Command, frozen=True):
    """Give back scopes you hold, exactly as reserved; or `all` of them."""

    scopes: tuple[str, ...] = ()
    project_root: str = ""
    worktree: str = ""
    all: bool = False


class SendHandoff(Command, frozen=True):
    """Pass work on. The scope moves when the receiver accepts.

    `to_epoch` is the holder of the receiver's name; None: the one that is here. OPR-063: an
    acceptance is required unless the sender says otherwise.
    """

    to: str
    subject: str
    summary: str
    next_action: str
    work: str
    project_root: str
    worktree: str = ""
    scope: str | None = None
    requires_ack: bool = True
    to_epoch: int | None = None


class SendBlocked(Command, frozen=True):
    """Say that you cannot go on, why, and what you need from whom."""

    to: str
    subject: str
    blocker: str
    requested_action: str
    work: str
    project_root: str
    urgency: str = "medium"
    worktree: str = ""
    scope: str | None = None
    to_epoch: int | None = None


class MarkSeen(Command, frozen=True):
    """Say that you have read an event."""

    id: str


class Accept(Command, frozen=True):
    """Take on what was passed to you. Accepting a HANDOFF moves the sender's exact scope."""

    id: str


class NoteUsage(Command, frozen=True):
    """Record the usage that the tools of a run reported; `moot run` does this at its end."""

    tools: tuple[str, ...]
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int
    work: str | None = None


class LapseAnswer(Command, frozen=True):
    """Stop waiting for an acceptance of `id`: its sender or receiver, `ended`, has ended.

    Only the machine does this.
    """

    id: str
    ended: str


class Withdraw(Command, frozen=True):
    """Withdraw a HANDOFF or BLOCKED that waits, or mark an INCURSION as false. Say why.

    The sender withdraws a HANDOFF or BLOCKED; the holder, never the accused agent, an INCURSION; a
    person, or the system with `evidence`, withdraws both. For an INCURSION too old to be in the
    state, `accused` is that agent according to the index; only a person or the system withdraws
    such a one.
    """

    id: str
    reason: str
    evidence: str = ""
    accused: str | None = None


class Bead(msgspec.Struct, frozen=True):
    """A work item as the beads provider shows it; `owner` is its assignee, else its owner."""

    id: str
    status: str
    owner: str


class Evidence(msgspec.Struct, frozen=True):
    """Facts for an adoption: git's dirty paths and the beads.

    `dirty` is None if there is no git, and `no_git` says why; `beads` and `no_beads` likewise.
    Paths are relative to the worktree's root or absolute, both sides of a rename included.
    """

    dirty: tuple[str, ...] | None = None
    beads: tuple[Bead, ...] | None = None
    no_git: str = ""
    no_beads: str = ""


class Resume(Command, frozen=True):
    """Continue under the name of an earlier session; the key has been rotated for you.

    `scopes` and `work` narrow the question, `running` says that a live `moot run` holds the name.
    """

    evidence: Evidence
    project_root: str
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    scopes: tuple[str, ...] = ()
    session_key: str | None = None
    prior_liveness: Liveness | None = None
    running: bool = False


class NoteIncursion(Command, frozen=True):
    """Record that you changed paths which others hold, past the guard; or, with `was_refused`,
    that you tried to and changed nothing.

    `blob_before` and `blob_after` are git's ids of the one file that is named.
    """

    paths: tuple[str, ...]
    project_root: str
    worktree: str = ""
    work: str | None = None
    stale_millis: Millis | None = None
    once: bool = True
    sub_agent: str | UnsetType = UNSET
    sub_agent_kind: str | UnsetType = UNSET
    blob_before: str | None = None
    blob_after: str | None = None
    was_refused: bool = False


class BeginSubAgent(Command, frozen=True):
    """Say that a sub-agent of your session is at work; repeat it as a sign of life."""

    sub_agent: str
    sub_agent_kind: str | UnsetType = UNSET


class EndSubAgent(Command, frozen=True):
    """Say that a sub-agent of your session is done, or `all` of them; you keep what it held."""

    sub_agent: str = ""
    all: bool = False
    reason: str = ""


class SetStaleMinutes(Command, frozen=True):
    """Set the workspace's own stale time. Only a person or the workspace itself may."""

    stale_millis: Millis


class EndGone(Command, frozen=True):
    """End a session whose program has exited; only the workspace itself may.

    `observer` noticed it, `because` says how. `dirty` are git's uncommitted paths where it worked
    (None: unknown, and `no_git` says why): if any is in its scopes, the session keeps them.
    """

    agent: str
    agent_epoch: int
    observer: str
    because: str
    worktree: str
    dirty: tuple[str, ...] | None = None
    no_git: str = ""


class FreeScopes(Command, frozen=True):
    """Release by force what another agent holds. Only a person at a terminal may.

    Scopes are named exactly as reserved, like in `Release`.
    """

    scopes: tuple[str, ...]
    project_root: str
    reason: str
    worktree: str = ""


class ExpireScopes(Command, frozen=True):
    """Archive reservations whose time is over. Only the machine does this."""


COMMANDS = (
    *(Join, Leave, Reserve, TakeOver, Release, SendHandoff, SendBlocked, MarkSeen, Accept, Resume),
    *(NoteIncursion, BeginSubAgent, EndSubAgent, SetStaleMinutes, LapseAnswer, Withdraw),
    *(EndGone, FreeScopes, ExpireScopes, NoteUsage),
)
