"""An approved bill becomes work that can be proved: a trace, and the planner's proposal in it.

The trace is opened by the machine; the proposal is signed by the planner, who runs this flow. The
bill's approval replaces nothing: the critic has still to approve the proposal (XPR-03), and
neither runs it nor was alone in wanting it (XPR-08).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from moot.api.bridges import sources
from moot.api.bridges.sources import FlowSource
from moot.api.bridges.steps import StepPlan, TakenStep, list_caused, path_of, state_of, take_step
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
from moot.protocols.parliament import events as did
from moot.protocols.parliament.documents.final_document import last_counted_ballot
from moot.protocols.parliament.model import Bill
from moot.protocols.path.model import MadeThing, PlayedPart, StepTarget
from moot.protocols.trace.commands import CreateProposal
from moot.protocols.trace.events import ProposalCreated
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import Role, number_of_id
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy
from moot.workspace.workspace import Workspace

FLOW = "approval-to-trace"
# XPR-03: who runs it holds what it writes, also where nobody has joined presence.
GUARDED: Final = msgspec.structs.replace(DEFAULT_POLICY, require_reservation=True)


class WorkPlan(NamedTuple):
    """How the work shall be done: who plays which part, with which tools, leaving which evidence.

    With `supersede` the proposal takes the place of the one that stands in that trace (FLO-07).
    """

    parts: dict[Role, str]
    tools: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    policy: Policy = GUARDED
    supersede: str | None = None


def approval_to_trace(workspace: Workspace, named: str, actor: str, work: WorkPlan) -> TakenStep:
    room = sources.parliament(workspace, named)
    _require_no_veto(workspace, room)
    recorded = sources.latest(workspace, room.stream, (did.BillApproved, did.BillAmended))
    _require_person(workspace, recorded)
    bill = room.state.bill
    assert bill is not None  # only a bill is approved
    parts = _parts(workspace, work)
    planner = parts[Role.PLANNER]
    if actor != planner:
        raise Refused(
            "not_the_planner",
            f"the proposal is {planner}'s to sign, and you are {actor}",
            hint=f"let {planner} do it: moot flow {FLOW} ...",
        )
    if not work.tools:
        raise Refused(
            "tools_required", "nobody said which tools this needs", hint="--tool NAME, each once"
        )
    source = sources.source_of(recorded, room.id)
    place = path_in_record(workspace.root, room.folder)
    evidence = (*_conditions(room), *(work.evidence or (bill.sections.solution,)))
    flow_source = FlowSource(source, bill.title, recorded.actor.id, recorded.corr, place)

    def target() -> StepTarget:
        stream = tracing.next_free_stream(workspace)
        if work.supersede is not None:
            stream = tracing.require_trace(workspace, work.supersede)
        return StepTarget(stream, tracing.short_name(stream))

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        made = MadeThing("session", target.stream, 0, target.id)
        if workspace.engine.load(target.stream).seq < 0:
            task = f"{bill.title}\n\n{bill.summary}\n\nBill version {bill.version} of {room.id}."
            opening = tracing.opening_command(workspace, task, parts, work.policy)
            tracing.execute_step(workspace, target.stream, opening, SYSTEM, link)
        command = _proposal(workspace, target, bill, work, evidence)
        return (made, _propose(workspace, target, command, actor, link))

    plan = StepPlan(
        FLOW,
        flow_source,
        actor,
        target,
        make,
        fresh=work.supersede is None,
        named=work.supersede is not None,
        parts=tuple(PlayedPart(str(role), agent) for role, agent in parts.items()),
        approvers=_approvers(workspace, flow_source),
    )
    return take_step(workspace, plan)


def _require_no_veto(workspace: Workspace, room: ParliamentSession) -> None:
    """A person's veto of the decision counts, whatever the session came to (DEC-028)."""
    for decision in decisions_argued_in(workspace.engine, room.stream):
        state = workspace.engine.state(DECISION, stream_of(decision))
        if state.stage is Stage.VETOED and state.word is not None:
            raise Refused(
                "vetoed",
                f"{decision} was vetoed by {state.word.by}: {state.word.reason}",
                hint=f"`moot report {decision}` shows it; a vetoed decision leads to no work",
            )


def _require_person(workspace: Workspace, recorded: Recorded[Any]) -> None:
    """What came with imported files is signed by the clerk: nobody here has approved it."""
    signed = workspace.engine.registry().keys.get(recorded.actor.kid)
    if signed is None or signed.kind is not KeyClass.HUMAN:
        raise Refused(
            "nobody_approved",
            "no person of this workspace signed this approval: it was read from files",
            hint="ask here, and decide it: `moot ask`",
        )


def _parts(workspace: Workspace, work: WorkPlan) -> dict[Role, str]:
    if work.supersede is None:
        return work.parts
    state = workspace.engine.state(TRACE, tracing.require_trace(workspace, work.supersede))
    return {one.role: one.agent for one in state.roles}


def _approvers(workspace: Workspace, found: FlowSource) -> tuple[str, ...]:
    """Who was for it in the debate that led here, if there was one."""
    steps = state_of(workspace, path_of(workspace, FLOW, found)).steps_in_order()
    debates = [step.approvers for step in steps if step.source.protocol == "debate"]
    return debates[-1] if debates else ()


def _conditions(room: ParliamentSession) -> tuple[str, ...]:
    """What the voters asked for when the bill was passed, each once."""
    ballot = last_counted_ballot(room.read_proceedings())
    votes = ballot.votes.values() if ballot is not None else ()
    return tuple(dict.fromkeys(one for vote in votes for one in vote.conditions if one.strip()))


def _proposal(
    workspace: Workspace, target: StepTarget, bill: Bill, work: WorkPlan, evidence: tuple[str, ...]
) -> CreateProposal:
    """FLO-12: the objective is the bill's title; conditions and acceptance are what is expected."""
    state = workspace.engine.state(TRACE, target.stream)
    live = sorted(state.proposals, key=number_of_id)
    return CreateProposal(
        objective=bill.title,
        required_tools=work.tools,
        assumptions=bill.sections.scope.assumptions,
        expected_evidence=evidence,
        supersedes=live[-1] if work.supersede is not None and live else None,
    )


def _propose(
    workspace: Workspace, target: StepTarget, command: CreateProposal, planner: str, link: Link
) -> MadeThing:
    before = list_caused(workspace, [target.stream], link.cause, "trace.proposal_created")
    if before:
        seq, proposal = before[0].seq, before[0].body.data["proposal_id"]
    else:
        outcome = tracing.execute_step(workspace, target.stream, command, planner, link)
        created = outcome.newest(ProposalCreated)
        seq, proposal = created.seq, created.event.proposal_id
    return MadeThing("proposal", target.stream, seq, f"{target.id}/{proposal}")
