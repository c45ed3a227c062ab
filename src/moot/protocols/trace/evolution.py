"""The state after an event. Total: what is in the ledger has happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from moot.core.machine import Event, Recorded
from moot.protocols.trace import events as did
from moot.protocols.trace import model
from moot.protocols.trace.lifecycle import next_stage
from moot.protocols.trace.model import (
    Claim,
    Execution,
    FailingStep,
    Intent,
    Proposal,
    Review,
    RoleBinding,
    State,
    VerificationRun,
    number_of_id,
)
from moot.protocols.trace.tool_checks import step_of

# How much of an objective the state keeps, to be shown; the event has all of it.
OBJECTIVE_LENGTH: Final = 200


def evolve(state: State, recorded: Recorded[Any]) -> State:
    event = recorded.event
    after = _EVOLVE[type(event)](state, recorded)
    return replace(
        after,
        stage=next_stage(after, event),
        head=recorded.hash.hex(),
        events=state.events + 1,
        last_at=recorded.at,
    )


def _on_opened(state: State, recorded: Recorded[did.SessionInitialized]) -> State:
    event = recorded.event
    return replace(
        state,
        task=event.task,
        task_sha256=event.task_sha256,
        policy=event.policy,
        roles=event.roles,
        since=recorded.at,
    )


def _on_proposed(state: State, recorded: Recorded[did.ProposalCreated]) -> State:
    event = recorded.event
    objective = event.objective[:OBJECTIVE_LENGTH]
    proposal = Proposal(event.proposal_id, objective, event.required_tools, recorded.at)
    if event.supersedes is not None and event.supersedes in state.proposals:
        state = _without_proposal(state, event.supersedes)
    return replace(
        state,
        proposals=state.proposals.set(proposal.id, proposal),
        proposal_count=max(state.proposal_count, number_of_id(proposal.id)),
    )


def _without_proposal(state: State, name: str) -> State:
    """Remove a proposal, its open intents and its failed attempts."""
    intents, failing = state.intents, state.failing
    for intent in [intent for intent in intents.values() if intent.proposal == name]:
        intents = intents.delete(intent.id)
    for step in [step for step in failing if step.partition(" ")[0] == name]:
        failing = failing.delete(step)
    return replace(state, proposals=state.proposals.delete(name), intents=intents, failing=failing)


def _on_reviewed(state: State, recorded: Recorded[did.ProposalReviewed]) -> State:
    event = recorded.event
    known = state.proposals.get(event.proposal_id)
    if known is None or known.review is Review.REJECTED:
        return state
    return replace(
        state, proposals=state.proposals.set(known.id, replace(known, review=event.status))
    )


def _on_intended(state: State, recorded: Recorded[did.ToolIntentSigned]) -> State:
    event = recorded.event
    intent = Intent(
        event.intent_id,
        event.proposal_id,
        event.tool,
        event.risk_class,
        event.input_hash,
        step_of(state, event),
        recorded.at,
        event.writes,
        event.needs,
    )
    intents = state.intents
    if event.supersedes is not None and event.supersedes in intents:
        intents = intents.delete(event.supersedes)
    return replace(
        state,
        intents=intents.set(intent.id, intent),
        intent_count=max(state.intent_count, number_of_id(intent.id)),
    )


def _on_consented(state: State, recorded: Recorded[did.ToolIntentReviewed]) -> State:
    event = recorded.event
    known = state.intents.get(event.intent_id)
    if known is None:
        return state
    return replace(state, intents=state.intents.set(known.id, replace(known, consent=event.status)))


def _on_started(state: State, recorded: Recorded[did.ToolExecutionStarted]) -> State:
    event = recorded.event
    intent = state.intents.get(event.intent_id)
    run = Execution(
        event.execution_id,
        event.intent_id,
        intent.proposal if intent is not None else "",
        intent.tool if intent is not None else "",
        intent.step if intent is not None else "",
        event.input_artifact,
        recorded.at,
    )
    intents = state.intents.delete(intent.id) if intent is not None else state.intents
    return replace(
        state,
        intents=intents,
        running=state.running.set(run.id, run),
        execution_count=max(state.execution_count, number_of_id(run.id)),
    )


def _on_completed(state: State, recorded: Recorded[did.ToolExecutionCompleted]) -> State:
    run = state.running.get(recorded.event.execution_id)
    if run is None:
        return state
    failing = state.failing.delete(run.step) if run.step in state.failing else state.failing
    return replace(
        _with_run_ended(state, run, recorded.event), failing=failing, completed=state.completed + 1
    )


def _on_failed(state: State, recorded: Recorded[did.ToolExecutionFailed]) -> State:
    run = state.running.get(recorded.event.execution_id)
    if run is None:
        return state
    known = state.failing.get(run.step)
    failing = FailingStep((known.failed if known is not None else 0) + 1, run.intent)
    return replace(
        _with_run_ended(state, run, recorded.event),
        failing=state.failing.set(run.step, failing),
        failures=state.failures + 1,
        exhausted=state.exhausted + (failing.failed == state.policy.max_attempts),
    )


def _with_run_ended(state: State, run: Execution, event: did.ExecutionEnded) -> State:
    left = dict.fromkeys((run.input_artifact, *(output.sha256 for output in event.outputs)))
    return replace(
        state,
        running=state.running.delete(run.id),
        shelf=model.add_artifacts(state.shelf, left),
    )


def _on_claimed(state: State, recorded: Recorded[did.ClaimIssued]) -> State:
    event = recorded.event
    claim = Claim(
        event.claim_id, recorded.hash.hex(), recorded.at, flagged=bool(event.artifact_missing)
    )
    claims = state.claims
    if event.supersedes is not None and event.supersedes in claims:
        claims = claims.delete(event.supersedes)
    return replace(
        state,
        claims=claims.set(claim.id, claim),
        claim_count=max(state.claim_count, number_of_id(claim.id)),
    )


def _on_challenged(state: State, recorded: Recorded[did.ClaimChallenged]) -> State:
    known = state.claims.get(recorded.event.claim_id)
    if known is None:
        return state
    return replace(
        state, claims=state.claims.set(known.id, replace(known, challenged_at=recorded.at))
    )


def _on_withdrawn(state: State, recorded: Recorded[did.ClaimWithdrawn]) -> State:
    name = recorded.event.claim_id
    return replace(state, claims=state.claims.delete(name)) if name in state.claims else state


def _on_final(state: State, recorded: Recorded[did.FinalStatementSigned]) -> State:
    return replace(state, final=state.final or recorded.hash.hex())


def _on_verifying(state: State, recorded: Recorded[did.VerificationRunStarted]) -> State:
    event = recorded.event
    run = VerificationRun(event.run_id, event.head, event.events, event.profile, recorded.at)
    return replace(state, run=run, run_count=max(state.run_count, number_of_id(run.id)))


def _on_verified(state: State, recorded: Recorded[did.VerificationRunCompleted]) -> State:
    event = recorded.event
    because = "verification_failed" if event.status == "fail" else state.because
    return replace(
        state,
        run=None,
        verdict=event.status,
        report=event.report_artifact,
        because=state.because if state.ended else because,
    )


def _on_aborted(state: State, recorded: Recorded[did.SessionAborted]) -> State:
    return state if state.ended else replace(state, because=recorded.event.reason)


def _on_session_failed(state: State, recorded: Recorded[did.SessionFailed]) -> State:
    return state if state.ended else replace(state, because=recorded.event.code)


def _on_rotated(state: State, recorded: Recorded[did.KeyRotated]) -> State:
    event = recorded.event
    fresh = RoleBinding(event.role, event.agent, event.epoch, event.new_kid)
    roles = tuple(fresh if binding.role is event.role else binding for binding in state.roles)
    return replace(state, roles=roles)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.SessionInitialized: _on_opened,
    did.ProposalCreated: _on_proposed,
    did.ProposalReviewed: _on_reviewed,
    did.ToolIntentSigned: _on_intended,
    did.ToolIntentReviewed: _on_consented,
    did.ToolExecutionStarted: _on_started,
    did.ToolExecutionCompleted: _on_completed,
    did.ToolExecutionFailed: _on_failed,
    did.ClaimIssued: _on_claimed,
    did.ClaimChallenged: _on_challenged,
    did.ClaimWithdrawn: _on_withdrawn,
    did.FinalStatementSigned: _on_final,
    did.VerificationRunStarted: _on_verifying,
    did.VerificationRunCompleted: _on_verified,
    did.SessionAborted: _on_aborted,
    did.SessionFailed: _on_session_failed,
    did.KeyRotated: _on_rotated,
}
