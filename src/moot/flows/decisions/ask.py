"""Ask a question: first answers, a motion, an argument, a result that waits for a person's ruling.

Every step is read off the decision's own record, so that it can be interrupted anywhere and gone
on with: what is recorded is not done again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from moot.agents.outcome import RunEnd, StopReason
from moot.agents.participant import Participant
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.core.names import OPERATOR, SYSTEM
from moot.flows.debate.mending import FileLoss
from moot.flows.decisions.argument import NO_ARGUMENT, Argument
from moot.flows.decisions.chosen_motion import set_motion
from moot.flows.decisions.debate_rounds import argue_in_rounds, join_ends, open_round
from moot.flows.decisions.questions import read_text, state_of
from moot.flows.decisions.receipt_content import describe_outcome, summarize_argument
from moot.flows.decisions.session_context import another_session, compose_context, session_file
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.parliament.session_ids import id_in_files
from moot.flows.runs.first_answers import RunnableAnswers
from moot.flows.runs.rankings import RunnableRankings
from moot.flows.runs.run_parliament import convene_for_question, make_opening
from moot.flows.runs.run_parliament import open_session_of as parliament_of
from moot.flows.runs.run_parliament import run_seated as run_parliament_session
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.seats import seat_participants
from moot.protocols.decision import stream_of
from moot.protocols.decision.answer_options import list_unranked
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.store.held_syncs import hold_syncs
from moot.workspace.workspace import Workspace


class DecisionProgress(NamedTuple):
    """How far a decision came. `ended` is None if nobody had to be asked any more.

    `lost` says what had become of `lost_file` before, if it had to be put back; `argument` is what
    was said, by the record.
    """

    state: State
    file: Path | None
    ended: RunEnd | None
    lost: FileLoss | None = None
    lost_file: Path | None = None
    argument: Argument = NO_ARGUMENT

    @property
    def outcome(self) -> str:
        """What the vote came to, in words for people; nothing if there is no result."""
        return describe_outcome(self.state, self.argument)


def carry_on(
    workspace: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
    motion: int | None = None,
) -> DecisionProgress:
    """Do everything that is still missing before a person can rule on it (AGT-070, AGT-074).

    `motion` is the number of the answer that was picked where the rankings leave it open. What is
    recorded is durable before anybody is asked anything, and when this returns.
    """
    with hold_syncs():
        return _carry_on(workspace, decision, specs, room, limits, watch, motion)


def _carry_on(
    workspace: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits,
    watch: RunWatcher | None,
    motion: int | None,
) -> DecisionProgress:
    participants = seat_participants(specs, room)
    state = state_of(workspace, decision)
    ended: RunEnd | None = None
    lost: FileLoss | None = None
    if state.stage is Stage.ANSWERING:
        ended = _collect(RunnableAnswers, workspace, decision, participants, limits, watch)
        if ended.stop is StopReason.SETTLED and list_unranked(state_of(workspace, decision)):
            ranked = _collect(RunnableRankings, workspace, decision, participants, limits, watch)
            ended = join_ends(ended, ranked)
        if ended.stop is not StopReason.SETTLED:
            return DecisionProgress(state_of(workspace, decision), None, ended)
        left_open = set_motion(workspace, decision, motion)
        if left_open is not None:
            ended = msgspec.structs.replace(
                ended, stop=StopReason.WAITING, detail=left_open, waits_for=(OPERATOR,)
            )
            return DecisionProgress(state_of(workspace, decision), None, ended)
    if state_of(workspace, decision).stage is Stage.MOVED:
        _OPEN[state.chamber](workspace, decision, limits)
    state = state_of(workspace, decision)
    argued_in = session_file(workspace, decision)
    if state.stage is Stage.ARGUING or _parliament_goes_on(workspace, decision, state):
        ran = _ARGUE[state.chamber](workspace, decision, participants, limits, watch)
        ended, lost = ran.ended, ran.lost
    state = state_of(workspace, decision)
    argument = summarize_argument(workspace, decision, state)
    lost_file = argued_in if lost is not None else None
    file = session_file(workspace, decision)
    return DecisionProgress(state, file, ended, lost, lost_file, argument)


def _parliament_goes_on(workspace: Workspace, decision: str, state: State) -> bool:
    """True if a parliament has to be argued further: its prime minister vetoed the last bill
    (AGT-078)."""
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return False
    return parliament_of(workspace, decision, state).state.status not in SETTLED


def _run_parliament(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    parliament = parliament_of(workspace, decision, state_of(workspace, decision))
    return run_parliament_session(parliament, decision, participants, limits, watch)


def _collect(
    make_runnable: type[RunnableAnswers | RunnableRankings],
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> RunEnd:
    state = state_of(workspace, decision)
    runnable = make_runnable(workspace, decision, read_text(workspace, state.context))
    clock = workspace.engine.clock
    return run_seats(runnable, participants, clock, decision, limits, watch).ended


def _open_parliament(workspace: Workspace, decision: str, _limits: Limits) -> None:
    """Open a parliament about the motion; one that a killed run left is the one to use."""
    state, folder = state_of(workspace, decision), session_file(workspace, decision)
    known = id_in_files(folder)
    problem = compose_context(workspace, decision, state)
    parliament = ParliamentSession.open_by_id(workspace, folder, known) if known else None
    if parliament is not None and not _is_left_by_killed_run(parliament, problem, state):
        raise another_session(decision, folder)
    parliament = parliament or convene_for_question(workspace, folder, problem, state)
    workspace.engine.execute(stream_of(decision), make_opening(parliament), SYSTEM)


def _is_left_by_killed_run(parliament: ParliamentSession, problem: str, state: State) -> bool:
    """What a killed run leaves: convened here, about this very decision, and nothing said yet
    (AGT-074)."""
    found, names = parliament.state, {seat.agent for seat in state.seats}
    untouched = found.next_message_id == 1 and not found.imported and found.outcome is None
    same = found.problem_statement == problem and set(found.holders) == names
    return (
        untouched
        and same
        and not decisions_argued_in(parliament.workspace.engine, parliament.stream)
    )


_OPEN: Final = {ChamberKind.DEBATE: open_round, ChamberKind.PARLIAMENT: _open_parliament}
_ARGUE: Final = {ChamberKind.DEBATE: argue_in_rounds, ChamberKind.PARLIAMENT: _run_parliament}
