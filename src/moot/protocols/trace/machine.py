"""The automaton of one trace. Its tables are in `lifecycle.py`, its rules in `rules.py`.

A proposal: pending -> approved | conditional | rejected | blocked (rejected and blocked are final)
An intent:  pending -> approved | blocked; then started once, or superseded
A run:      started -> completed | failed
A claim:    issued -> challenged -> superseded | withdrawn; standing claims are bundled at the end
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from moot.core.clock import Millis
from moot.core.findings import Finding, check_all, fill_hints, select_errors
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Draft,
    Drop,
    Due,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    decide_by_findings,
    refusal,
    refuse,
)
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.command_events import DRAFTS
from moot.protocols.trace.evolution import evolve
from moot.protocols.trace.lifecycle import TRANSITIONS, PermissionCase, case_of, trace_actor
from moot.protocols.trace.model import Consent, Intent, Review, Role, Stage, State, number_of_id
from moot.protocols.trace.policy import OnForgery
from moot.protocols.trace.rules import GUARDS, RULES, WORDING_RULES
from moot.protocols.trace.tool_checks import approval_reasons_now

# An agenda reads only what is open, and that is bounded (T-03), however long the trace is.


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
            hint="moot trace recover TRACE (if its process has exited)",
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
    """Return the id for the hint if only one proposal is approved, else the word to fill in."""
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


__all__ = ["ITEM_SPACE", "MACHINE", "TRANSITIONS", "agenda", "decide", "evolve", "index"]


def decide(state: State, command: Command, context: Context) -> Decision:
    """Decide, and put the name of this trace into every hint, so that it can be typed."""
    decision = _decide(state, command, context)
    if not decision.findings:
        return decision
    known = {"TRACE": context.stream.partition("/")[2]}
    return Decision(decision.drafts, fill_hints(decision.findings, known), decision.refused)


def _decide(state: State, command: Command, context: Context) -> Decision:
    """Check who may act and when, then the command's wording, then the rules of the event."""
    if type(command) not in DRAFTS:
        return refusal("E-36", "unknown_command", "a trace knows no such command", "update moot")
    kind, draft_of = DRAFTS[type(command)]
    who = trace_actor(context.actor.as_actor(), context.actor.kind)
    findings = check_all(GUARDS, PermissionCase(state, who, kind))
    findings = findings or check_all(WORDING_RULES[type(command)], Case(state, command, context))
    if select_errors(findings):
        return refuse(findings)
    draft = draft_of(state, command)
    if isinstance(command, ask.ReportForgery):
        return _refuse_forgery(state, command, draft)
    case = case_of(state, draft.event, who)
    return decide_by_findings((*findings, *check_all(RULES[kind], case)), draft)


def _refuse_forgery(state: State, command: ask.ReportForgery, draft: Draft) -> Decision:
    """Refuse the forgery; one in a participant's name also ends the trace (E-21)."""
    finding = Finding(
        rule="TRC-053",
        code="sig_invalid",
        message=f"the signature of {command.kid[:32] or 'nobody'} does not hold",
        where="signature",
        hint="find out who sent it; `moot trace status TRACE` shows what became of the trace",
    )
    bound = any(binding.kid == command.kid for binding in state.roles)
    ends = bound and state.policy.on_invalid_signature is OnForgery.FAIL
    return refuse([finding], draft) if ends else refuse([finding])


def no_timeouts(_state: State, _now: Millis) -> Iterable[Command]:
    """Nothing in a trace times out: a run has its own limit, and only a person aborts."""
    return ()


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Index open traces, their tasks, and which run left which artifact."""
    event, trace = recorded.event, recorded.stream
    if recorded.seq == 0:
        yield Put("open", trace, {})
    if isinstance(event, did.SessionInitialized):
        yield Put("trace.traces", trace, {"task": event.task[:200], "at": recorded.at})
        yield Words("trace.traces", trace, event.task)
    elif isinstance(event, did.ExecutionEnded):
        yield from _artifact_rows(trace, event)
    elif isinstance(event, did.ClaimIssued):
        yield Words("trace.claims", f"{trace} {event.claim_id}", event.text)
    elif isinstance(event, _ENDING_EVENTS):
        yield Drop("open", trace)
        yield Put("trace.ended", trace, {"by": type(event).__name__, "at": recorded.at})
    if type(event) in _ID_FIELDS:
        yield Put(ITEM_SPACE, f"{trace} {getattr(event, _ID_FIELDS[type(event)])}", {})


# Index space: the event that an id such as `i3` names; for a run, its end.
ITEM_SPACE: Final = "trace.items"
_ID_FIELDS: Final[dict[type[Any], str]] = {
    did.ProposalCreated: "proposal_id",
    did.ToolIntentSigned: "intent_id",
    did.ToolExecutionCompleted: "execution_id",
    did.ToolExecutionFailed: "execution_id",
    did.ClaimIssued: "claim_id",
}
_ENDING_EVENTS: Final = (did.VerificationRunCompleted, did.SessionAborted, did.SessionFailed)


def _artifact_rows(trace: str, event: did.ExecutionEnded) -> Iterable[RowChange]:
    artifacts = [
        ("input", event.input_artifact),
        *((output.name, output.sha256) for output in event.outputs),
    ]
    for name, sha256 in artifacts:
        row = {"execution": event.execution_id, "name": name}
        yield Put("trace.artifacts", f"{trace} {sha256}", row)


MACHINE: Machine[State] = Machine(
    name="trace",
    version=1,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=no_timeouts,
    guarded=frozenset({ask.StartExecution, ask.SignFinalStatement, ask.CompleteVerification}),
)
