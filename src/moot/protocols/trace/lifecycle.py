"""The nine states of a trace and the eight ways between them, as tables.

    initialized --session_initialized--> planning --proposal_created--> reviewing
    reviewing --proposal_reviewed (approved, or on conditions)--> executing
    executing --tool_execution_* (none in flight; one completed, or one given up)--> claiming
    claiming --claim_issued--> auditing
    auditing --verification_run_completed (pass, or with warnings)--> completed; (fail)--> failed
    any --session_failed--> failed          any --session_aborted--> aborted

A trace never moves back: a later proposal or intent has its own standing, the trace keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moot.core.machine import Event
from moot.protocols.trace import events as did
from moot.protocols.trace.model import ENDED, AuditVerdict, Review, Stage, State

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

# What may be recorded, by where the trace stands (TRC-017); after its end nothing (TRC-052). More
# proposals (TRC-026), and intents and runs beside each other (TRC-048), are accepted until the end.
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
# Where an event leads if its condition holds (`CONDITIONS`).
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
    """TRC-011: rejected or blocked leads nowhere."""
    return event.status in (Review.APPROVED, Review.CONDITIONAL)


def _nothing_runs(state: State, _event: Event) -> bool:
    """TRC-012, E-08: no run under way, and one has completed or one step was given up."""
    return not state.running and bool(state.completed or state.exhausted)


CONDITIONS: Final[dict[type[Event], Callable[[State, Any], bool]]] = {
    did.ProposalReviewed: _is_approved,
    did.ToolExecutionCompleted: _nothing_runs,
    did.ToolExecutionFailed: _nothing_runs,
}


def accepted_events(state: State) -> frozenset[type[Event]]:
    """What may be recorded now, by the state alone."""
    if state.final is not None and state.stage not in ENDED:
        return AFTER_FINAL
    return ACCEPTED[state.stage]


def next_stage(state: State, event: Event) -> Stage:
    """Where the trace stands after `event`; `state` is already what the event made of it."""
    if isinstance(event, did.VerificationRunCompleted) and event.status is AuditVerdict.FAIL:
        return Stage.FAILED if state.stage not in ENDED else state.stage
    to = TRANSITIONS[state.stage].get(type(event))
    if to is None or not CONDITIONS.get(type(event), _always)(state, event):
        return state.stage
    return to


def _always(_state: State, _event: Event) -> bool:
    return True
