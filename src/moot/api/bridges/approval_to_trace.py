"""Turn an approved bill into provable work: a trace, and the planner's proposal in it.

Moot opens the trace; the planner, who runs this flow, signs the proposal. The bill's approval does
not replace the critic's: the critic must still approve the proposal (XPR-03), must not be its
executor, and must not be the only one who approved in the debate (XPR-08).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from moot.api.bridges import sources
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import (
    StepPlan,
    TakenStep,
    list_records_by_cause,
    path_of,
    state_of,
    take_step,
)
from moot.api.debates.record import path_in_record
from moot.api.parliaments.ruling import decisions_argued_in
from moot.api.parliaments.session import ParliamentSession
from moot.api.traces import tracing
from moot.core.errors import Refused
from moot.core.machine import KeyClass, Recorded
from moot.core.names import SYSTEM
from moot.engine.job import Link
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import Stage
from moot.protocols.parliament.documents.final_document import last_counted_ballot
from moot.protocols.parliament.events import BillAmended, BillApproved
from moot.protocols.parliament.model import Bill
from moot.protocols.path.model import MadeThing, PlayedPart, StepTarget
from moot.protocols.trace.commands import CreateProposal
from moot.protocols.trace.events import ProposalCreated
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role, number_of_id
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy
from moot.workspace.workspace import Workspace

FLOW = "approval-to-trace"
# XPR-03: the executor must hold a reservation for what it writes, even if no agent joined presence.
GUARDED_POLICY: Final = msgspec.structs.replace(DEFAULT_POLICY, require_reservation=True)


class WorkPlan(NamedTuple):
    """How the work shall be done: who plays which part, with which tools, leaving which evidence.

    With `supersede` the proposal replaces the current one of that trace (FLO-07).
    """

    parts: dict[Role, str]
    tools: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    policy: Policy = GUARDED_POLICY
    supersede: str | None = None


def approval_to_trace(workspace: Workspace, name: str, actor: str, work: WorkPlan) -> TakenStep:
    parliament = sources.open_parliament(workspace, name)
    _require_no_veto(workspace, parliament)
    recorded = sources.find_latest(workspace, parliament.stream, (BillApproved, BillAmended))
    _require_signed_by_person(workspace, recorded)
    bill = parliament.state.bill
    assert bill is not None  # only a bill is approved
    parts = _resolve_parts(workspace, work)
    planner = parts[Role.PLANNER]
    if actor != planner:
        raise Refused(
            "not_the_planner",
            f"only {planner} may sign the proposal, and you are {actor}",
            hint=f"let {planner} do it: moot flow {FLOW} ...",
        )
    if not work.tools:
        raise Refused(
            "tools_required", "no tool was named for this work", hint="add --tool NAME for each"
        )
    place = path_in_record(workspace.root, parliament.folder)
    evidence = (*_list_conditions(parliament), *(work.evidence or (bill.sections.solution,)))
    flow_source = sources.make_source(recorded, parliament.id, bill.title, place)

    def target() -> StepTarget:
        stream = tracing.next_free_stream(workspace)
        if work.supersede is not None:
            stream = tracing.require_trace(workspace, work.supersede)
        return StepTarget(stream, tracing.short_name(stream))

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        made = MadeThing("session", target.stream, 0, target.id)
        if workspace.engine.load(target.stream).seq < 0:
            version = f"Bill version {bill.version} of {parliament.id}."
            task = f"{bill.title}\n\n{bill.summary}\n\n{version}"
            opening = tracing.opening_command(workspace, task, parts, work.policy)
            tracing.execute_step(workspace, target.stream, opening, SYSTEM, link)
        command = _build_proposal(workspace, target, bill, work, evidence)
        return (made, _record_proposal(workspace, target, command, actor, link))

    plan = StepPlan(
        FLOW,
        flow_source,
        actor,
        target,
        make,
        needs_new_stream=work.supersede is None,
        target_was_named=work.supersede is not None,
        parts=tuple(PlayedPart(str(role), agent) for role, agent in parts.items()),
        approvers=_list_approvers(workspace, flow_source),
    )
    return take_step(workspace, plan)


def _require_no_veto(workspace: Workspace, parliament: ParliamentSession) -> None:
    """Refuse if a person vetoed the decision, whatever the parliament decided (DEC-028)."""
    for decision in decisions_argued_in(workspace.engine, parliament.stream):
        state = workspace.engine.state(DECISION, stream_of(decision))
        if state.stage is Stage.VETOED and state.word is not None:
            raise Refused(
                "vetoed",
                f"{decision} was vetoed by {state.word.by}: {state.word.reason}",
                hint=f"`moot report {decision}` shows it; a vetoed decision leads to no work",
            )


def _require_signed_by_person(workspace: Workspace, recorded: Recorded[Any]) -> None:
    """Refuse an approval that was imported from files: the clerk signed it, no person here did."""
    key = workspace.engine.registry().keys.get(recorded.actor.kid)
    if key is None or key.kind is not KeyClass.HUMAN:
        raise Refused(
            "nobody_approved",
            "no person of this workspace signed this approval: it was read from files",
            hint="ask here, and decide it: `moot ask`",
        )


def _resolve_parts(workspace: Workspace, work: WorkPlan) -> dict[Role, str]:
    if work.supersede is None:
        return work.parts
    state = workspace.engine.state(TRACE, tracing.require_trace(workspace, work.supersede))
    return {binding.role: binding.agent for binding in state.roles}


def _list_approvers(workspace: Workspace, flow_source: FlowSource) -> tuple[str, ...]:
    """Return the agents that approved in the debate that led here, if there was one."""
    steps = state_of(workspace, path_of(workspace, FLOW, flow_source)).steps_in_order()
    debates = [step.approvers for step in steps if step.source.protocol == "debate"]
    return debates[-1] if debates else ()


def _list_conditions(parliament: ParliamentSession) -> tuple[str, ...]:
    """Return the conditions that voters set when the bill passed, without repeats."""
    ballot = last_counted_ballot(parliament.read_proceedings())
    votes = ballot.votes.values() if ballot is not None else ()
    conditions = (condition for vote in votes for condition in vote.conditions)
    return tuple(dict.fromkeys(condition for condition in conditions if condition.strip()))


def _build_proposal(
    workspace: Workspace, target: StepTarget, bill: Bill, work: WorkPlan, evidence: tuple[str, ...]
) -> CreateProposal:
    """Build the proposal: the bill's title is its objective (FLO-12)."""
    state = workspace.engine.state(TRACE, target.stream)
    live = sorted(state.proposals, key=number_of_id)
    return CreateProposal(
        objective=bill.title,
        required_tools=work.tools,
        assumptions=bill.sections.scope.assumptions,
        expected_evidence=evidence,
        supersedes=live[-1] if work.supersede is not None and live else None,
    )


def _record_proposal(
    workspace: Workspace, target: StepTarget, command: CreateProposal, planner: str, link: Link
) -> MadeThing:
    before = list_records_by_cause(workspace, [target.stream], link.cause, "trace.proposal_created")
    if before:
        seq, proposal = before[0].seq, before[0].body.data["proposal_id"]
    else:
        outcome = tracing.execute_step(workspace, target.stream, command, planner, link)
        created = outcome.newest(ProposalCreated)
        seq, proposal = created.seq, created.event.proposal_id
    return MadeThing("proposal", target.stream, seq, f"{target.id}/{proposal}")
