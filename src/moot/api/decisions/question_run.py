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
from moot.agents.participant import Participant, Spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import RunWatcher
from moot.api.debates.locked_session import FileLoss
from moot.api.decisions.debate_rounds import (
    another_session,
    argue_in_rounds,
    compose_context,
    join_ends,
    open_round,
    session_file,
)
from moot.api.decisions.questions import read_text, state_of
from moot.api.decisions.receipt_content import describe_outcome, summarize_argument
from moot.api.decisions.results import NO_ARGUMENT, Argument
from moot.api.parliaments.ruling import SETTLED, decisions_argued_in
from moot.api.parliaments.session import ParliamentSession, id_in_files
from moot.api.runs.first_answers import RunnableAnswers
from moot.api.runs.parliament import convene_for_question, make_opening
from moot.api.runs.parliament import open_session_of as parliament_of
from moot.api.runs.parliament import run_seated as run_parliament_session
from moot.api.runs.rankings import RunnableRankings
from moot.api.runs.seats import seat_participants
from moot.api.runs.turns import USUAL, FinishedRun, Limits, run_seats
from moot.core.errors import Refused
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
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
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = _choose(state, options, picked)
    if command is None:
        return _describe_open_choice(state, options)
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="motion")
    return None


def _choose(
    state: State, options: tuple[AnswerOption, ...], picked: int | None
) -> ask.SetMotion | None:
    if state.choose and len(options) > 1:
        winner = find_winner(state)
        if winner is not None:
            return ask.SetMotion(text=winner.text, by=winner.by, chosen=state.choose)
        if picked is None:
            return None
        if not 1 <= picked <= len(options):
            raise Refused(
                "unknown_option",
                f"there is no answer {picked}",
                hint=f"a number from 1 to {len(options)}",
            )
        option = options[picked - 1]
        return ask.SetMotion(text=option.text, by=option.by, chosen=PICKED)
    motion = choose_motion(list_answers(state))
    assert motion is not None  # there is an answer
    return ask.SetMotion(text=motion.text, by=motion.by)


def _describe_open_choice(state: State, options: tuple[AnswerOption, ...]) -> str:
    report = report_rankings(state)
    choices = report.choices if report is not None else ()
    sentence = next((each.sentence for each in choices if each.rule == state.choose), "nothing")
    return (
        f"{state.choose} chose {sentence}; pick one of the {len(options)} answers with --motion N"
    )


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


@hold_syncs()
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
