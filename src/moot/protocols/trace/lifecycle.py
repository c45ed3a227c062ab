"""The nine states of a trace and the eight ways between them, as tables.

    initialized --session_initialized--> planning --proposal_created--> reviewing
    reviewing --proposal_reviewed (approved, or on conditions)--> executing
    executing --tool_execution_* (none in flight; one completed, or one given up)--> claiming
    claiming --claim_issued--> auditing
    auditing --verification_run_completed (pass, or with warnings)--> completed; (fail)--> failed
    any --session_failed--> failed          any --session_aborted--> aborted

A trace never moves back: a later proposal or intent has its own state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from moot.core.machine import C, Case, E, Event, KeyClass
from moot.core.names import OPERATOR, SYSTEM
from moot.core.record import Actor
from moot.protocols.trace import events as did
from moot.protocols.trace.model import ENDED, AuditVerdict, Review, Role, RoleBinding, Stage, State

_PROPOSALS = (did.ProposalCreated, did.ProposalReviewed)
_TOOLS = (
    did.ToolIntentSigned,
    did.ToolIntentReviewed,
    did.ToolExecutionStarted,
    did.ToolExecutionCompleted,
    did.ToolExecutionFailed,
)
_CLAIMS = (did.ClaimIssued, did.ClaimChallenged, did.ClaimWithdrawn)
_VERIFYING = (did.VerificationRunStarted, did.VerificationRunCompleted)
_ALWAYS = (did.SessionAborted, did.SessionFailed, did.KeyRotated)

# What may be recorded, by the trace's stage (TRC-017); after its end nothing (TRC-052). More
# proposals (TRC-026), and several intents and runs at a time (TRC-048), are accepted until the end.
ACCEPTED: Final[dict[Stage, frozenset[type[Event]]]] = {
    Stage.INITIALIZED: frozenset({did.SessionInitialized}),
    Stage.PLANNING: frozenset({did.ProposalCreated, *_ALWAYS}),
    Stage.REVIEWING: frozenset({*_PROPOSALS, *_ALWAYS}),
    Stage.EXECUTING: frozenset({*_PROPOSALS, *_TOOLS, *_ALWAYS}),
    Stage.CLAIMING: frozenset({*_PROPOSALS, *_TOOLS, did.ClaimIssued, *_ALWAYS}),
    Stage.AUDITING: frozenset({*_PROPOSALS, *_TOOLS, *_CLAIMS, did.FinalStatementSigned, *_ALWAYS}),
    Stage.COMPLETED: frozenset(),
    Stage.FAILED: frozenset(),
    Stage.ABORTED: frozenset(),
}
# After the final statement only the verification follows (TRC-023).
AFTER_FINAL: Final[frozenset[type[Event]]] = frozenset({*_VERIFYING, *_ALWAYS})

_END: Final[dict[type[Event], Stage]] = {
    did.SessionFailed: Stage.FAILED,  # TRC-015
    did.SessionAborted: Stage.ABORTED,  # TRC-016
}
# The stage after an event whose condition holds (`CONDITIONS`).
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.INITIALIZED: {did.SessionInitialized: Stage.PLANNING, **_END},  # TRC-009
    Stage.PLANNING: {did.ProposalCreated: Stage.REVIEWING, **_END},  # TRC-010
    Stage.REVIEWING: {did.ProposalReviewed: Stage.EXECUTING, **_END},  # TRC-011
    Stage.EXECUTING: {
        did.ToolExecutionCompleted: Stage.CLAIMING,  # TRC-012
        did.ToolExecutionFailed: Stage.CLAIMING,  # TRC-012
        **_END,
    },
    Stage.CLAIMING: {did.ClaimIssued: Stage.AUDITING, **_END},  # TRC-013
    # TRC-014; no other way leads to completed (TRC-018).
    Stage.AUDITING: {did.VerificationRunCompleted: Stage.COMPLETED, **_END},
    Stage.COMPLETED: {},
    Stage.FAILED: {},
    Stage.ABORTED: {},
}


def _is_approved(_state: State, event: did.ProposalReviewed) -> bool:
    """TRC-011: true for an approval; rejected or blocked does not change the stage."""
    return event.status in (Review.APPROVED, Review.CONDITIONAL)


def _nothing_runs(state: State, _event: Event) -> bool:
    """TRC-012, E-08: true if nothing runs, and a run has completed or a step was given up."""
    return not state.running and bool(state.completed or state.exhausted)


CONDITIONS: Final[dict[type[Event], Callable[[State, Any], bool]]] = {
    did.ProposalReviewed: _is_approved,
    did.ToolExecutionCompleted: _nothing_runs,
    did.ToolExecutionFailed: _nothing_runs,
}


def accepted_events(state: State) -> frozenset[type[Event]]:
    """Return what may be recorded now, by the state alone."""
    if state.final is not None and state.stage not in ENDED:
        return AFTER_FINAL
    return ACCEPTED[state.stage]


def next_stage(state: State, event: Event) -> Stage:
    """Return the stage after `event`; `state` is already the state after it."""
    if isinstance(event, did.VerificationRunCompleted) and event.status is AuditVerdict.FAIL:
        return Stage.FAILED if state.stage not in ENDED else state.stage
    to = TRANSITIONS[state.stage].get(type(event))
    if to is None or not CONDITIONS.get(type(event), _always)(state, event):
        return state.stage
    return to


def _always(_state: State, _event: Event) -> bool:
    return True


# Who may record what (E-01), and which roles one agent may not have together (E-03).

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
# No agent judges its own work, whatever the policy says.
NEVER_TOGETHER: Final = ((Role.EXECUTOR, Role.CRITIC), (Role.EXECUTOR, Role.AUDITOR))


class TraceActor(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """Who acts, with what a trace needs of it; `in_charge`: a person or the workspace itself."""

    id: str
    epoch: int
    kid: str
    in_charge: bool
    role: str | None = None


def trace_actor(actor: Actor, kind: KeyClass | None = None) -> TraceActor:
    """Return the actor; without the class of its key, which no record has, its name decides."""
    if kind is None:
        in_charge = actor.id in (SYSTEM, OPERATOR)
    else:
        in_charge = kind in (KeyClass.HUMAN, KeyClass.SYSTEM)
    return TraceActor(actor.id, actor.epoch, actor.kid, in_charge, actor.role)


def explain_wrong_role(state: State, event: type[Event], who: TraceActor) -> str | None:
    """Return why `who` may not record this, or None; `explain_wrong_key` checks the key."""
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
    """Return why this key may not act for the role although the agent's name fits, or None."""
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
    """Yield pairs of roles that one agent, or one key, has although it must not."""
    for place, first in enumerate(roles):
        for second in roles[place + 1 :]:
            same = first.agent == second.agent or first.kid == second.kid
            pair = {first.role, second.role}
            if same and (distinct or any(pair == set(never) for never in NEVER_TOGETHER)):
                yield first, second


# The input of a trace's rules: an event that is about to be recorded, or was recorded long ago.
#
# Rules are about events, not commands, so that an audit of a recorded trace applies the same rules
# as when it was written. Only the wording of a command is checked as a command.

E_co = TypeVar("E_co", bound=Event, covariant=True)

CommandCase: TypeAlias = Case[State, C]


class PermissionCase(msgspec.Struct, frozen=True, gc=False):
    """Who wants to record which kind of event, and the state before it.

    The guards need no more: they are checked before the event itself is made.
    """

    state: State
    who: TraceActor
    kind: type[Event]


class EventCase(PermissionCase, Generic[E_co], frozen=True, gc=False):
    """An event to check. The signature of a check names the kinds of events that it is for."""

    event: E_co


def case_of(state: State, event: E, who: TraceActor) -> EventCase[E]:
    return EventCase(state, who, type(event), event)
