"""What a debate agreed on, or could not, goes to a parliament with the same agents.

A thin, provisional or faulty result goes nowhere (XPR-04). Nobody's position becomes a vote: seats
get seeds of their statements, and leans are only shown. A deadlock goes on because a person asks
(FLO-06).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.agents.quoting import AuthorTrust
from moot.core.errors import Refused
from moot.core.findings import select_errors
from moot.engine.agents import find_agent
from moot.engine.job import Link
from moot.flows.bridges import seeds, sources
from moot.flows.bridges.identities import pascal
from moot.flows.bridges.liveness import require_present
from moot.flows.bridges.plans import ParliamentPlan
from moot.flows.bridges.sources import FlowSource
from moot.flows.bridges.steps import StepPlan, TakenStep, require_undamaged, take_step
from moot.flows.debate.locked_session import LockedSession, lock_session
from moot.flows.debate.record import recorded_path
from moot.flows.debate.trust import trust_in
from moot.flows.parliament.convening import SeatRequest as SeatPlan
from moot.flows.parliament.convening import convene, make_folder, next_free_id
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.session_ids import stream_of as parliament_stream
from moot.protocols.debate import events as did
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import list_entries
from moot.protocols.debate.views import require_course, view_consensus
from moot.protocols.path.model import MadeThing, ResultStanding, StepTarget
from moot.workspace.workspace import Workspace

FOLDER: Final = "paths"
CONSENSUS, DEADLOCK = "consensus-to-parliament", "deadlock-to-parliament"


def to_parliament(
    workspace: Workspace,
    flow: str,
    named: str,
    asked_by: str,
    wanted: ParliamentPlan,
    note: str = "",
) -> TakenStep:
    begun, file = sources.debate(workspace, named, did.SessionBegan)
    require_undamaged(workspace, flow, begun, asked_by)
    with lock_session(
        file, workspace.engine.clock, workspace
    ) as held:  # what stands there is on record first
        checked, unsigned = held.checked, _unsigned(held)
    flow_source, _ = _source(workspace, named, checked)
    agents = require_course(checked).rules.agents
    for name in agents:
        find_agent(workspace.engine, name)
    if not wanted.even_if_gone:
        require_present(workspace, agents)
    approvers = view_consensus(checked).approvers
    problem = _problem(checked, flow_source.source.id, asked_by, note)

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        folder = workspace.root / target.file
        room = ParliamentSession(workspace, folder, target.id)
        if room.state.status is None:
            plans, issues = _seats(checked, wanted.issues)
            room = convene(
                workspace, folder, problem, issues, plans, wanted.rounds, target.id, link
            )
        make_folder(folder)
        room.files.write()
        seats = {seat.agent: seat.id for seat in room.state.seats_in_order()}
        texts = seeds.write_seeds(folder, checked, seats)
        session_made = MadeThing("session", target.stream, 0, target.id)
        return (
            session_made,
            *(MadeThing("seed", target.stream, 0, f"{target.id}/{t}") for t in texts),
        )

    plan = StepPlan(
        flow,
        flow_source,
        asked_by,
        lambda: _target(workspace, wanted.folder),
        make,
        file=recorded_path(workspace, wanted.folder) if wanted.folder is not None else "",
        standing=standing(checked, unsigned),
        approvers=approvers,
    )
    return take_step(workspace, plan)


def standing(checked: CheckedSession, unsigned: tuple[str, ...] = ()) -> ResultStanding:
    """XPR-04: how sure the debate's result is."""
    result = view_consensus(checked)
    return ResultStanding(
        reached=result.reached,
        thin=any(finding.code == "thin_quorum" for finding in result.findings),
        provisional=result.provisional or not require_course(checked).phase.has_ended,
        errors=len(select_errors(checked.findings)),
        unsigned=unsigned,
    )


def _unsigned(held: LockedSession) -> tuple[str, ...]:
    """XPR-05: whose words stand in the file without that one's signature on record."""
    trust = trust_in(held.reading, held.record)
    entries = list_entries(require_course(held.checked).rounds)
    return tuple(dict.fromkeys(one.author for one in entries if trust(one) is AuthorTrust.UNSIGNED))


def _source(workspace: Workspace, named: str, checked: CheckedSession) -> tuple[FlowSource, Path]:
    """The event that ended the debate; a debate that goes on leads nowhere yet."""
    try:
        return sources.debate(workspace, named, did.SessionEnded)
    except Refused:
        raise Refused(
            "not_settled",
            f"this debate is {require_course(checked).phase.value}",
            hint="`moot debate status FILE` says who must speak",
        ) from None


def _problem(checked: CheckedSession, session_id: str, asked_by: str, note: str) -> str:
    """FLO-12: the name of the session and its context, and where they come from."""
    document = checked.document
    parts = [document.name, document.section_text("Context").strip()]
    leaning = ", ".join(f"{name} {word}" for name, word in seeds.leans(checked).items())
    parts.append(f"From debate {session_id}, taken up by system, asked by {asked_by}.")
    parts.append(f"Leaning before this session (nobody has voted): {leaning}.")
    if note.strip():
        parts.append(f"The operator's guidance: {' '.join(note.split())}")
    return "\n\n".join(part for part in parts if part)


def _seats(
    checked: CheckedSession, named: tuple[str, ...]
) -> tuple[tuple[SeatPlan, ...], tuple[str, ...]]:
    """Agents become representatives of what they argued for; issues named besides go round."""
    stands_for = {agent: [motive] for agent, motive in seeds.motives(checked).items()}
    own = tuple(motive for motives in stands_for.values() for motive in motives)
    names = list(stands_for)
    for place, issue in enumerate(named):
        stands_for[names[place % len(names)]].append(issue)
    plans = tuple(
        SeatPlan(f"Rep. {pascal(agent)}", tuple(motives), agent)
        for agent, motives in stands_for.items()
    )
    return plans, named or own


def _target(workspace: Workspace, folder: Path | None) -> StepTarget:
    parliament_id = next_free_id(workspace)
    place = folder or workspace.path / FOLDER / parliament_id
    return StepTarget(
        parliament_stream(parliament_id), parliament_id, recorded_path(workspace, place)
    )
