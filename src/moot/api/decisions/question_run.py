"""Take a question from first answers over a motion and an argument to a result.

Each step is determined from the decision's record, so a run can be interrupted anywhere and
continued: recorded steps are not repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from moot.agents.outcome import RunEnd, StopReason
from moot.agents.participant import Participant, Spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import RunWatcher
from moot.api.debates.locked_session import FileLoss
from moot.api.decisions.debate_rounds import (
    argue_in_rounds,
    compose_context,
    join_run_ends,
    open_round,
    refuse_other_session,
    session_file,
)
from moot.api.decisions.questions import read_text, state_of
from moot.api.decisions.receipt_content import describe_outcome, summarize_argument
from moot.api.decisions.results import NO_ARGUMENT, Argument
from moot.api.parliaments.ruling import SETTLED, decisions_argued_in
from moot.api.parliaments.session import ParliamentSession, id_in_files
from moot.api.runs.first_answers import RunnableAnswers
from moot.api.runs.parliament import convene_for_question, make_opening
from moot.api.runs.parliament import open_session_of as open_session_of
from moot.api.runs.parliament import run_seated as run_parliament_session
from moot.api.runs.rankings import RunnableRankings
from moot.api.runs.seats import seat_participants
from moot.api.runs.turns import DEFAULT_LIMITS, FinishedRun, Limits, run_seats
from moot.core.errors import Refused
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import SetMotion
from moot.protocols.decision.first_answers import (
    AnswerOption,
    choose_motion,
    list_options,
    list_unranked,
)
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.protocols.decision.rankings import find_winner, report_rankings
from moot.protocols.decision.views import list_answers
from moot.store.batched_syncs import hold_syncs
from moot.workspace.workspace import Workspace

PICKED: Final = "picked"


def set_motion(workspace: Workspace, decision: str, picked: int | None = None) -> str | None:
    """Put an answer to the vote, or return why the asker must pick one (DEC-037).

    Without a rule it is the most frequent answer, else the first listed (DEC-008).
    """
    state = state_of(workspace, decision)
    options = list_options(state)
    if not options:  # AGT-072
        raise Refused(
            "no_answers",
            "no participant gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` shows why; ask other participants",
        )
    command = _choose_motion(state, options, picked)
    if command is None:
        return _describe_open_choice(state, options)
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="motion")
    return None


def _choose_motion(
    state: State, options: tuple[AnswerOption, ...], picked: int | None
) -> SetMotion | None:
    if state.choose and len(options) > 1:
        winner = find_winner(state)
        if winner is not None:
            return SetMotion(text=winner.text, by=winner.by, chosen=state.choose)
        if picked is None:
            return None
        if not 1 <= picked <= len(options):
            raise Refused(
                "unknown_option",
                f"there is no answer {picked}",
                hint=f"pick a number from 1 to {len(options)}",
            )
        option = options[picked - 1]
        return SetMotion(text=option.text, by=option.by, chosen=PICKED)
    motion = choose_motion(list_answers(state))
    assert motion is not None  # there is an answer
    return SetMotion(text=motion.text, by=motion.by)


def _describe_open_choice(state: State, options: tuple[AnswerOption, ...]) -> str:
    report = report_rankings(state)
    choices = report.choices if report is not None else ()
    sentence = next((each.sentence for each in choices if each.rule == state.choose), "nothing")
    return (
        f"{state.choose} chose {sentence}; pick one of the {len(options)} answers with --motion N"
    )


class DecisionProgress(NamedTuple):
    """The state of a decision after a run. `ended` is None if no participant had to be asked.

    `lost` is what had happened to `lost_file`, if it was restored.
    """

    state: State
    file: Path | None
    ended: RunEnd | None
    lost: FileLoss | None = None
    lost_file: Path | None = None
    argument: Argument = NO_ARGUMENT

    @property
    def outcome(self) -> str:
        """Return the result of the vote as a sentence; empty if there is none."""
        return describe_outcome(self.state, self.argument)


@hold_syncs()
def continue_question(
    workspace: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    surroundings: RunSurroundings,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
    motion: int | None = None,
) -> DecisionProgress:
    """Do every missing step until a person can rule on the decision (AGT-070, AGT-074).

    `motion` is the number of the picked answer, if the rankings left that open. Records are durable
    before a participant is asked, and when this returns.
    """
    participants = seat_participants(specs, surroundings)
    state = state_of(workspace, decision)
    ended: RunEnd | None = None
    lost: FileLoss | None = None
    if state.stage is Stage.ANSWERING:
        ended = _ask_seats(RunnableAnswers, workspace, decision, participants, limits, watch)
        if ended.stop is StopReason.SETTLED and list_unranked(state_of(workspace, decision)):
            ranked = _ask_seats(RunnableRankings, workspace, decision, participants, limits, watch)
            ended = join_run_ends(ended, ranked)
        if ended.stop is not StopReason.SETTLED:
            return DecisionProgress(state_of(workspace, decision), None, ended)
        open_choice = set_motion(workspace, decision, motion)
        if open_choice is not None:
            ended = msgspec.structs.replace(
                ended, stop=StopReason.WAITING, detail=open_choice, waits_for=(OPERATOR,)
            )
            return DecisionProgress(state_of(workspace, decision), None, ended)
    if state_of(workspace, decision).stage is Stage.MOVED:
        _OPEN_SESSION[state.chamber](workspace, decision, limits)
    state = state_of(workspace, decision)
    argued_in = session_file(workspace, decision)
    if state.stage is Stage.ARGUING or _parliament_is_open(workspace, decision, state):
        session_run = _ARGUE_SESSION[state.chamber](
            workspace, decision, participants, limits, watch
        )
        ended, lost = session_run.ended, session_run.lost
    state = state_of(workspace, decision)
    argument = summarize_argument(workspace, decision, state)
    lost_file = argued_in if lost is not None else None
    file = session_file(workspace, decision)
    return DecisionProgress(state, file, ended, lost, lost_file, argument)


def _parliament_is_open(workspace: Workspace, decision: str, state: State) -> bool:
    """Return whether a parliament must continue after its prime minister's veto (AGT-078)."""
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return False
    return open_session_of(workspace, decision, state).state.status not in SETTLED


def _run_parliament(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    parliament = open_session_of(workspace, decision, state_of(workspace, decision))
    return run_parliament_session(parliament, decision, participants, limits, watch)


def _ask_seats(
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
    """Open a parliament about the motion, or reuse the one of a killed run."""
    state, folder = state_of(workspace, decision), session_file(workspace, decision)
    parliament_id = id_in_files(folder)
    problem = compose_context(workspace, decision, state)
    parliament = (
        ParliamentSession.open_by_id(workspace, folder, parliament_id) if parliament_id else None
    )
    if parliament is not None and not _is_left_by_killed_run(parliament, problem, state):
        raise refuse_other_session(decision, folder)
    parliament = parliament or convene_for_question(workspace, folder, problem, state)
    workspace.engine.execute(stream_of(decision), make_opening(parliament), SYSTEM)


def _is_left_by_killed_run(parliament: ParliamentSession, problem: str, state: State) -> bool:
    """Return whether a killed run convened it here for this decision, without a message yet
    (AGT-074)."""
    found, names = parliament.state, {seat.agent for seat in state.seats}
    is_untouched = found.next_message_id == 1 and not found.imported and found.outcome is None
    is_same = found.problem_statement == problem and set(found.holders) == names
    return (
        is_untouched
        and is_same
        and not decisions_argued_in(parliament.workspace.engine, parliament.stream)
    )


_OPEN_SESSION: Final = {ChamberKind.DEBATE: open_round, ChamberKind.PARLIAMENT: _open_parliament}
_ARGUE_SESSION: Final = {
    ChamberKind.DEBATE: argue_in_rounds,
    ChamberKind.PARLIAMENT: _run_parliament,
}
