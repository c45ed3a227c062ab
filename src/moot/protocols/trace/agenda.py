"""What waits in a trace, and for whom.

Only what is open is read, and that is bounded (T-03): an agenda costs the same however long the
trace is.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.clock import Millis
from moot.core.machine import Due
from moot.protocols.trace.model import Consent, Intent, Review, Role, Stage, State, number_of_id
from moot.protocols.trace.tool_checks import approval_reasons_now


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    if state.ended or not state.roles:
        return ()
    if state.final is not None:
        return tuple(_verification_dues(state))
    return (*_proposal_dues(state), *_run_dues(state), *_intent_dues(state), *_claim_dues(state))


def agent_in_role(state: State, role: Role) -> str:
    held = state.binding_of(role)
    return held.agent if held is not None else ""


def _verification_dues(state: State) -> Iterator[Due]:
    run = state.run
    yield Due(
        who=agent_in_role(state, Role.AUDITOR),
        what="verify" if run is None else "complete the verification",
        subject=state.task[:120] if run is None else run.id,
        since=state.last_at if run is None else run.since,
        hint="moot trace audit TRACE",
    )


def _proposal_dues(state: State) -> Iterator[Due]:
    if not state.proposals or _are_all_rejected(state):
        yield Due(
            who=agent_in_role(state, Role.PLANNER),
            what="propose",
            subject=state.task[:120],
            since=state.since,
            hint="moot trace propose TRACE --objective T --tool NAME",
        )
    for proposal in sorted(
        state.proposals.values(), key=lambda proposal: number_of_id(proposal.id)
    ):
        if proposal.review is Review.PENDING:
            yield Due(
                who=agent_in_role(state, Role.CRITIC),
                what="review a proposal",
                subject=f"{proposal.id}: {proposal.objective[:120]}",
                since=proposal.since,
                hint=f"moot trace review TRACE {proposal.id} --verdict V --rationale T",
            )
        elif proposal.review is Review.BLOCKED:
            yield Due(
                who=agent_in_role(state, Role.PLANNER),
                what="revise a blocked proposal",
                subject=f"{proposal.id}: {proposal.objective[:120]}",
                since=proposal.since,
                hint=f"moot trace propose TRACE --supersedes {proposal.id} "
                "--objective T --tool NAME",
            )


def _are_all_rejected(state: State) -> bool:
    return all(proposal.review is Review.REJECTED for proposal in state.proposals.values())


def _run_dues(state: State) -> Iterator[Due]:
    for run in sorted(state.running.values(), key=lambda run: number_of_id(run.id)):
        yield Due(
            who=agent_in_role(state, Role.EXECUTOR),
            what="a run is under way",
            subject=f"{run.id}: {run.tool} for {run.intent}",
            since=run.since,
            hint="moot trace recover TRACE (if its process is gone)",
        )


def _intent_dues(state: State) -> Iterator[Due]:
    for intent in sorted(state.intents.values(), key=lambda intent: number_of_id(intent.id)):
        yield _intent_due(state, intent)


def _intent_due(state: State, intent: Intent) -> Due:
    subject = f"{intent.id}: {intent.tool} ({intent.risk})"
    if intent.consent is Consent.BLOCKED:
        return Due(
            who=agent_in_role(state, Role.EXECUTOR),
            what="revise a blocked intent",
            subject=subject,
            since=intent.since,
            hint=f"moot trace intend TRACE {intent.proposal} --supersedes {intent.id} ...",
        )
    if intent.consent is Consent.PENDING and approval_reasons_now(state, intent):
        return Due(
            who=agent_in_role(state, Role.CRITIC),
            what="review an intent",
            subject=subject,
            since=intent.since,
            hint=f"moot trace review-intent TRACE {intent.id} --verdict V --rationale T",
        )
    return Due(
        who=agent_in_role(state, Role.EXECUTOR),
        what="run an intent",
        subject=subject,
        since=intent.since,
        hint=f"moot trace exec TRACE {intent.id}",
    )


def _only_approved_proposal(state: State) -> str:
    """The id for the hint if only one proposal is approved, else the word to fill in."""
    approved = (Review.APPROVED, Review.CONDITIONAL)
    ids = [proposal.id for proposal in state.proposals.values() if proposal.review in approved]
    return ids[0] if len(ids) == 1 else "PROPOSAL"


def _claim_dues(state: State) -> Iterator[Due]:
    executor, ground = agent_in_role(state, Role.EXECUTOR), _only_approved_proposal(state)
    for claim in state.challenged_claims():
        yield Due(
            who=executor,
            what="answer a challenge",
            subject=claim.id,
            since=claim.challenged_at,
            hint=f"moot trace claim TRACE --supersedes {claim.id} ... (or withdraw it)",
        )
    if state.running or state.intents:
        return
    if state.stage is Stage.EXECUTING:
        yield Due(
            who=executor,
            what="say what you will run",
            since=state.last_at,
            hint=f"moot trace intend TRACE {ground} --tool N --risk R --why T -- COMMAND",
        )
    elif state.stage is Stage.CLAIMING or (state.stage is Stage.AUDITING and not state.claims):
        yield Due(
            who=executor,
            what="claim what was found",
            since=state.last_at,
            hint="moot trace claim TRACE --text T --confidence C --evidence SHA256",
        )
    elif state.stage is Stage.AUDITING and not state.challenged_claims():
        yield Due(
            who=executor,
            what="finish with a final statement",
            since=state.last_at,
            hint="moot trace finalize TRACE --statement T",
        )
