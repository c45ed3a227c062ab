"""Ask a question: first answers, a motion, an argument, a result that waits for a person's ruling.

Every step is read off the decision's own record, so that it can be interrupted anywhere and gone
on with: what is recorded is not done again.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from moot.agents.outcome import RunEnd, StopReason
from moot.agents.participant import Participant
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.spec import Spec
from moot.agents.watch import RunWatcher
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.mending import FileLoss, restore_file
from moot.flows.debate.others_words import make_title, quote_lines
from moot.flows.decisions.argument import NO_ARGUMENT, Argument
from moot.flows.decisions.questions import read_text, state_of
from moot.flows.decisions.receipt_content import describe_outcome, summarize_argument
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.parliament.session_ids import id_in_files
from moot.flows.runs.first_answers import RunnableAnswers
from moot.flows.runs.run_debate import SeatedDebate, run_seated
from moot.flows.runs.run_parliament import convene_for_question, make_opening
from moot.flows.runs.run_parliament import open_session_of as parliament_of
from moot.flows.runs.run_parliament import run_seated as run_parliament_session
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.seats import seat_participants
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.debate.model import ConsensusMode, Escalation, Rules, TurnOrder
from moot.protocols.debate.writer import make_session_text
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.protocols.decision.motion import choose_motion
from moot.protocols.decision.views import list_answers
from moot.workspace.workspace import Workspace

FOLDER: Final = "decisions"
THRESHOLDS: Final = {
    ConsensusMode.MAJORITY: "0.01",  # heads are counted; how sure they are stands beside (G-05)
    ConsensusMode.WEIGHTED: "0.7",
    ConsensusMode.UNANIMOUS: "0.7",
}


class DecisionProgress(NamedTuple):
    """How far a decision came. `ended` is None if nobody had to be asked any more.

    `lost` says what had become of its file before, if it had to be put back; `argument` is what
    was said, by the record.
    """

    state: State
    file: Path | None
    ended: RunEnd | None
    lost: FileLoss | None = None
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
) -> DecisionProgress:
    """Do everything that is still missing before a person can rule on it (AGT-070, AGT-074)."""
    participants = seat_participants(specs, room)
    state = state_of(workspace, decision)
    ended: RunEnd | None = None
    lost: FileLoss | None = None
    if state.stage is Stage.ANSWERING:
        ended = _first_answers(workspace, decision, participants, limits, watch)
        if ended.stop is not StopReason.SETTLED:
            return DecisionProgress(state_of(workspace, decision), None, ended)
        _set_motion(workspace, decision)
    if state_of(workspace, decision).stage is Stage.MOVED:
        _OPEN[state.chamber](workspace, decision, limits)
    file = session_file(workspace, decision)
    state = state_of(workspace, decision)
    if state.stage is Stage.ARGUING or _parliament_goes_on(workspace, decision, state):
        ran = _ARGUE[state.chamber](workspace, decision, participants, limits, watch)
        ended, lost = ran.ended, ran.lost
    state = state_of(workspace, decision)
    argument = summarize_argument(workspace, decision, state)
    return DecisionProgress(state, file, ended, lost, argument)


def _parliament_goes_on(workspace: Workspace, decision: str, state: State) -> bool:
    """True if a parliament has to be argued further: its prime minister vetoed the last bill
    (AGT-078)."""
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return False
    return parliament_of(workspace, decision, state).state.status not in SETTLED


def _run_debate(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    file = session_file(workspace, decision)
    opened = state_of(workspace, decision).session
    lost = restore_file(workspace, file, opened.id if opened is not None else None)  # AGT-074
    if not file.exists():
        raise Refused(
            "session_gone",
            f"{file} is gone, and no record of it is here",
            hint=f"put it back, or begin anew: moot decide {decision} veto --reason TEXT",
        )
    debate = SeatedDebate(file, participants, workspace.engine.clock, workspace, decision)
    return run_seated(debate, limits, watch)._replace(lost=lost)


def _run_parliament(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    parliament = parliament_of(workspace, decision, state_of(workspace, decision))
    return run_parliament_session(parliament, decision, participants, limits, watch)


def _first_answers(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> RunEnd:
    state = state_of(workspace, decision)
    runnable = RunnableAnswers(workspace.engine, decision, read_text(workspace, state.context))
    clock = workspace.engine.clock
    return run_seats(runnable, participants, clock, decision, limits, watch).ended


def _set_motion(workspace: Workspace, decision: str) -> None:
    """Put the most frequent answer to the vote, else the first listed."""
    motion = choose_motion(list_answers(state_of(workspace, decision)))
    if motion is None:  # AGT-072
        raise Refused(
            "no_answers",
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = ask.SetMotion(text=motion.text, by=motion.by)
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="motion")


def session_file(workspace: Workspace, decision: str) -> Path:
    """Where it is argued: where the record says, else under the decision's id.

    A debate's own record knows where its file was moved to.
    """
    state = state_of(workspace, decision)
    if state.session is not None and state.session.file:
        moved = workspace.engine.state(DEBATE, state.session.id).file if _in_debate(state) else ""
        return workspace.root / (moved or state.session.file)
    return workspace.path / FOLDER / f"{decision}{'.md' if _in_debate(state) else ''}"


def _in_debate(state: State) -> bool:
    return state.chamber is ChamberKind.DEBATE


def _open_parliament(workspace: Workspace, decision: str, _limits: Limits) -> None:
    """Open a parliament about the motion; one that a killed run left is the one to use."""
    state, folder = state_of(workspace, decision), session_file(workspace, decision)
    known = id_in_files(folder)
    problem = compose_context(workspace, decision, state)
    parliament = ParliamentSession.open_by_id(workspace, folder, known) if known else None
    if parliament is not None and not _is_left_by_killed_run(parliament, problem, state):
        raise _another_session(decision, folder)
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


def _is_just_begun(checked: CheckedSession, context: str, rules: Rules) -> bool:
    """The same of a debate's file; only how long a turn takes may be another."""
    written = checked.document.section_text("Context").strip("\n")
    known = checked.settings.rules
    if known is None or checked.document.entries:
        return False
    same = msgspec.structs.replace(known, turn_timeout=rules.turn_timeout) == rules
    return same and written == context.replace("\r\n", "\n").strip("\n")


def _another_session(decision: str, place: Path) -> Refused:
    """Anyone may write files: what lies there does not say what a decision is about."""
    return Refused(
        "not_its_session",
        f"{place} holds another session than this decision's",
        hint=f"move {shlex.quote(str(place))} away, then go on: moot ask --resume {decision}",
    )


def _open_debate(workspace: Workspace, decision: str, limits: Limits) -> None:
    """Make the session file and record it; a file that a killed run left is the one to use
    (AGT-074)."""
    state, file = state_of(workspace, decision), session_file(workspace, decision)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rules = _rules(state, limits)
        text = make_session_text(
            make_title(state.question),
            compose_context(workspace, decision, state),
            rules,
            str(uuid.uuid4()),
            workspace.engine.clock(),
        )
        session.new(file, text, workspace)
    checked = session.read(file)
    context = compose_context(workspace, decision, state)
    if not _is_just_begun(checked, context, _rules(state, limits)):
        raise _another_session(decision, file)
    stream = f"debate/{checked.document.session_id}"
    if decisions_argued_in(workspace.engine, stream):
        raise _another_session(decision, file)
    place = file.relative_to(workspace.root).as_posix()
    command = ask.OpenSession(session=stream, file=place)
    workspace.engine.execute(stream_of(decision), command, SYSTEM)


_OPEN: Final = {ChamberKind.DEBATE: _open_debate, ChamberKind.PARLIAMENT: _open_parliament}
_ARGUE: Final = {ChamberKind.DEBATE: _run_debate, ChamberKind.PARLIAMENT: _run_parliament}


def _rules(state: State, limits: Limits) -> Rules:
    mode = ConsensusMode(state.rule)
    return Rules(
        tuple(seat.agent for seat in state.seats),
        turn_order=TurnOrder.ROUND_ROBIN,
        turn_timeout=max(1, min(86_400, round(limits.turn_seconds))),
        consensus_threshold=Decimal(THRESHOLDS[mode]),
        consensus_mode=mode,
        escalation=Escalation.TIMEOUT_SKIP,
        max_rounds=state.rounds,
    )


def compose_context(workspace: Workspace, decision: str, state: State) -> str:
    """What everybody should know, with the motion last; others' words are quoted, line by line."""
    parts = [("Question", state.question)]
    material = read_text(workspace, state.context)
    if material.strip():
        parts.append(("Material", material))
    answers = "\n".join(
        f"{first.agent}: {' '.join(first.answer.split())}"
        for first in list_answers(state)
        if first.answer is not None
    )
    parts.append(("First answers, given before anyone heard the others", answers))
    if state.motion is not None:
        parts.append(("Motion: approve or reject this", state.motion.text))  # AGT-070
    sections = "\n".join(f"### {name}\n\n{quote_lines(text)}" for name, text in parts)
    return f"{sections}\nDecision {decision}. Every stance is about the motion."
