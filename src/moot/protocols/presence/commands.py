"""What may be asked of presence. Paths arrive as typed, the outside world as data.

`project_root` is the absolute root named in v1 events; `worktree` the absolute root that scopes
are relative to (empty: the project root). Times and spans are whole milliseconds.

`sub_agent` says who of a session acts: the tool's id of one of its sub-agents, or empty for the
session's main agent. Unset: nobody knows, and nothing of the session's own is in its way.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from moot.core.clock import Millis
from moot.core.machine import Command
from moot.protocols.presence.model import Liveness


class Join(Command, frozen=True):
    """Say that you are here: in which worktree and branch, and on what you work."""

    project_root: str
    worktree: str = ""
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None
    process_key: str | None = None


class Leave(Command, frozen=True):
    """Say that you go; everything you hold is released."""

    reason: str = ""


class ScopesCommand(Command, frozen=True):
    """What `Reserve` and `TakeOver` are told.

    `automatic` marks what a hook reserves for one edit. With `once`, each reservation in the way
    gives one INCURSION, however often it is hit. After `stale_millis` without a sign of life the
    requester calls an owner stale; None: as the workspace does.
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

    A command of its own (OPR-087), because before anything is taken from someone the engine
    verifies the history that this rests on.
    """


class Release(Command, frozen=True):
    """Give back scopes you hold, exactly as reserved; or `all` of them."""

    scopes: tuple[str, ...] = ()
    project_root: str = ""
    worktree: str = ""
    all: bool = False


class SendHandoff(Command, frozen=True):
    """Pass work on. The scope moves when the receiver accepts.

    `to_epoch` says which holder of the name is meant; None: the one who is here. OPR-063: an
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
    """Note what the tools of a run say they have used; the run asks it when it ends."""

    tools: tuple[str, ...]
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    unpriced: int
    work: str | None = None


class LapseAnswer(Command, frozen=True):
    """Nobody will accept `id`, or nobody waits for it: `ended` has ended. The machine asks it."""

    id: str
    ended: str


class Withdraw(Command, frozen=True):
    """Take back a HANDOFF or BLOCKED that waits, or mark an INCURSION as false. Say why.

    A HANDOFF or BLOCKED is its sender's to withdraw, an INCURSION its holder's and never the
    agent's that it accuses; a person, or the system with `evidence`, withdraws both. `accused` is
    that agent, as the entry's row says, for an INCURSION too old to be in the state: only a person
    or the system withdraws such a one.
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
    """What was seen outside, for an adoption: git's dirty paths and the beads.

    `dirty` is None where there is no git, and `no_git` says why; `beads` and `no_beads` likewise.
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
    """Put on record that you changed paths which others hold, past the guard; or, `was_refused`,
    that you tried to and nothing was changed.

    `blob_before` and `blob_after` are git's ids of the one file that is named, before and after.
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
    """End a session whose program is gone from its machine; only the workspace itself may.

    `observer` saw it, `because` says by what. `dirty` are git's uncommitted paths where it worked
    (None: not known, and `no_git` says why): with any in its scopes it keeps them.
    """

    agent: str
    agent_epoch: int
    observer: str
    because: str
    worktree: str
    dirty: tuple[str, ...] | None = None
    no_git: str = ""


class FreeScopes(Command, frozen=True):
    """Release what somebody else holds, by force. Only a person at a terminal may; nobody gets it.

    Named exactly as reserved, like in `Release`.
    """

    scopes: tuple[str, ...]
    project_root: str
    reason: str
    worktree: str = ""


class ExpireScopes(Command, frozen=True):
    """Archive reservations whose time is over. The machine asks this itself."""


COMMANDS = (
    Join,
    Leave,
    Reserve,
    TakeOver,
    Release,
    SendHandoff,
    SendBlocked,
    MarkSeen,
    Accept,
    Resume,
    NoteIncursion,
    BeginSubAgent,
    EndSubAgent,
    SetStaleMinutes,
    LapseAnswer,
    Withdraw,
    EndGone,
    FreeScopes,
    ExpireScopes,
    NoteUsage,
)
