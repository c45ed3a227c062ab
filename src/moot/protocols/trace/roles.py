"""Who may record what (E-01), and which parts one agent may not play together (E-03)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.machine import Event, KeyClass
from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import Actor
from moot.protocols.trace import events as did
from moot.protocols.trace.model import Role, RoleBinding, State

# Which role records which kind of event. None: a person, or the workspace itself.
ROLE_OF_EVENT: Final[dict[type[Event], Role | None]] = {
    did.SessionInitialized: None,
    did.ProposalCreated: Role.PLANNER,  # TRC-002
    did.ProposalReviewed: Role.CRITIC,  # TRC-005
    did.ToolIntentSigned: Role.EXECUTOR,  # TRC-003
    did.ToolIntentReviewed: Role.CRITIC,  # TRC-005, TRC-006
    did.ToolExecutionStarted: Role.EXECUTOR,  # TRC-003
    did.ToolExecutionCompleted: Role.EXECUTOR,  # TRC-003
    did.ToolExecutionFailed: Role.EXECUTOR,  # TRC-003
    did.ClaimIssued: Role.EXECUTOR,  # TRC-004
    did.ClaimChallenged: Role.CRITIC,  # TRC-006
    did.ClaimWithdrawn: Role.EXECUTOR,
    did.FinalStatementSigned: Role.EXECUTOR,
    did.VerificationRunStarted: Role.AUDITOR,  # TRC-007
    did.VerificationRunCompleted: Role.AUDITOR,  # TRC-007, TRC-045
    did.SessionAborted: None,  # TRC-016
    did.SessionFailed: None,
    did.KeyRotated: None,
}
# Nobody judges their own work, whatever the policy says.
NEVER_TOGETHER: Final = ((Role.EXECUTOR, Role.CRITIC), (Role.EXECUTOR, Role.AUDITOR))


class TraceActor(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """Who acts, as far as a trace asks; `in_charge` for a person or the workspace itself."""

    id: str
    epoch: int
    kid: str
    in_charge: bool
    role: str | None = None


def trace_actor(actor: Actor, kind: KeyClass | None = None) -> TraceActor:
    """`kind` is the class of the key; without it (a record alone does not say) the name decides."""
    if kind is None:
        in_charge = actor.id in (SYSTEM, OPERATOR)
    else:
        in_charge = kind in (KeyClass.HUMAN, KeyClass.SYSTEM)
    return TraceActor(actor.id, actor.epoch, actor.kid, in_charge, actor.role)


def explain_wrong_role(state: State, event: type[Event], who: TraceActor) -> str | None:
    """Why `who` may not record this, or None. Which key was used is `explain_wrong_key`'s
    question."""
    role = ROLE_OF_EVENT[event]
    if event is did.KeyRotated:  # also for the old key itself: a row of `rules.py` says when
        return None
    if role is None:
        return None if who.in_charge else "only a person or the workspace itself may do this"
    bound = state.binding_of(role)
    if bound is None:
        return f"nobody is the {role} here"
    if who.id != bound.agent:
        return f"only the {role}, {bound.agent}, may do this"
    if who.role is not None and who.role != role:
        return f"this is for the {role}, not for the {who.role}"
    return None


def explain_wrong_key(state: State, event: type[Event], who: TraceActor) -> str | None:
    """Why this key may not act for the role although the agent's name fits, or None."""
    role = ROLE_OF_EVENT[event]
    bound = state.binding_of(role) if role is not None else None
    if bound is None or who.id != bound.agent:
        return None
    if (who.epoch, who.kid) == (bound.epoch, bound.kid):
        return None
    return f"{who.id} is the {role} under another key ({bound.kid[:8]}, not {who.kid[:8]})"


def find_clashing_roles(
    roles: tuple[RoleBinding, ...], distinct: bool
) -> Iterator[tuple[RoleBinding, RoleBinding]]:
    """Pairs of roles that one agent, or one key, plays although it must not."""
    for place, first in enumerate(roles):
        for second in roles[place + 1 :]:
            same = first.agent == second.agent or first.kid == second.kid
            pair = {first.role, second.role}
            if same and (distinct or any(pair == set(never) for never in NEVER_TOGETHER)):
                yield first, second
