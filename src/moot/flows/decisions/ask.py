"""Ask a question: first answers, a motion, an argument, a result that waits for a person's word.

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

from moot.agents.outcome import Ended, Stop
from moot.agents.participant import Participant
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.mending import FileLoss, restore_file
from moot.flows.debate.others_words import make_title, quote_lines
from moot.flows.decisions.argument import NOTHING, Argued
from moot.flows.decisions.questions import state_of, text_of
from moot.flows.decisions.receipt_content import argued, outcome_of
from moot.flows.parliament.parliament_session import ParliamentSession as Session
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.parliament.session_ids import id_in_files
from moot.flows.runs.first_answers import AnswersDesk
from moot.flows.runs.run_debate import SeatedDebate, run_seated
from moot.flows.runs.run_parliament import convene_for_question, make_opening
from moot.flows.runs.run_parliament import open_session_of as sitting_of
from moot.flows.runs.run_parliament import run_seated as run_sitting
from moot.flows.runs.run_seats import USUAL, FinishedRun, Limits, run_seats
from moot.flows.runs.seats import seat_participants
from moot.protocols.debate.checker import CheckedSession
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
    ConsensusMode.MAJORITY: "0.501",
    ConsensusMode.WEIGHTED: "0.7",
    ConsensusMode.UNANIMOUS: "0.7",
}


class Asked(NamedTuple):
    """How far it came. `lost`: what had become of its file before, if it had to be put back.
    `argued`: what was said, by the record."""

    decision: str
    state: State
    file: Path | None
    ended: Ended | None
    lost: FileLoss | None = None
    argued: Argued = NOTHING

    @property
    def outcome(self) -> str:
        """What the vote came to, in words for people; nothing if there is no result."""
        return outcome_of(self.state, self.argued)


def go_on(
    space: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Asked:
    """Everything that is still missing before a person is asked."""
    sitting = seat_participants(specs, room)
    state = state_of(space, decision)
    ended: Ended | None = None
    lost: FileLoss | None = None
    if state.stage is Stage.ANSWERING:
        ended = _first_answers(space, decision, sitting, limits, watch)
        if ended.stop is not Stop.SETTLED:
            return Asked(decision, state_of(space, decision), None, ended)
        _move(space, decision)
    if state_of(space, decision).stage is Stage.MOVED:
        _OPEN[state.chamber](space, decision, limits)
    file = file_of(space, decision)
    state = state_of(space, decision)
    if state.stage is Stage.ARGUING or _goes_on(space, decision, state):
        ran = _ARGUE[state.chamber](space, decision, sitting, limits, watch)
        ended, lost = ran.ended, ran.lost
    state = state_of(space, decision)
    return Asked(decision, state, file, ended, lost, argued(space, decision, state))


def _goes_on(space: Workspace, decision: str, state: State) -> bool:
    """A parliament is argued further after its prime minister's veto."""
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return False
    return sitting_of(space, decision, state).state.status not in SETTLED


def _debated(
    space: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> FinishedRun:
    file = file_of(space, decision)
    opened = state_of(space, decision).session
    lost = restore_file(space, file, opened.id if opened is not None else None)
    if not file.exists():
        raise Refused(
            "session_gone",
            f"{file} is gone, and no record of it is here",
            hint=f"put it back, or begin anew: moot decide {decision} veto --reason TEXT",
        )
    debate = SeatedDebate(file, sitting, space.engine.clock, space, decision)
    return run_seated(debate, limits, watch)._replace(lost=lost)


def _sat(
    space: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> FinishedRun:
    held = sitting_of(space, decision, state_of(space, decision))
    return run_sitting(held, decision, sitting, limits, watch)


def _first_answers(
    space: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> Ended:
    state = state_of(space, decision)
    runnable = AnswersDesk(space.engine, decision, text_of(space, state.context))
    return run_seats(runnable, sitting, space.engine.clock, decision, limits, watch).ended


def _move(space: Workspace, decision: str) -> None:
    """The most frequent answer is put to the vote, else the first listed."""
    motion = choose_motion(list_answers(state_of(space, decision)))
    if motion is None:
        raise Refused(
            "no_answers",
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = ask.SetMotion(text=motion.text, by=motion.by)
    space.engine.execute(stream_of(decision), command, SYSTEM, key="motion")


def file_of(space: Workspace, decision: str) -> Path:
    """Where it is argued: where the record says, else under the decision's id.

    A debate's own record knows where its file was moved to.
    """
    state = state_of(space, decision)
    if state.session is not None and state.session.file:
        moved = space.engine.state(state.session.id).file if _debates(state) else ""
        return space.root / (moved or state.session.file)
    return space.path / FOLDER / f"{decision}{'.md' if _debates(state) else ''}"


def _debates(state: State) -> bool:
    return state.chamber is ChamberKind.DEBATE


def _convene(space: Workspace, decision: str, _limits: Limits) -> None:
    """A parliament about the motion; one that a killed run left is the one to use."""
    state, folder = state_of(space, decision), file_of(space, decision)
    known = id_in_files(folder)
    problem = context_of(space, decision, state)
    held = Session.open_by_id(space, folder, known) if known else None
    if held is not None and not _left_by_us(held, problem, state):
        raise _not_ours(decision, folder)
    held = held or convene_for_question(space, folder, problem, state)
    space.engine.execute(stream_of(decision), make_opening(held), SYSTEM)


def _left_by_us(held: Session, problem: str, state: State) -> bool:
    """What a killed run leaves: convened here, about this very decision, and nothing said yet."""
    sat, names = held.state, {seat.agent for seat in state.seats}
    untouched = sat.next_message_id == 1 and not sat.imported and sat.outcome is None
    same = sat.problem_statement == problem and set(sat.holders) == names
    return untouched and same and not decisions_argued_in(held.workspace.engine, held.stream)


def _is_begun(left: CheckedSession, context: str, rules: Rules) -> bool:
    """The same of a debate's file; only how long a turn takes may be another."""
    said = left.document.section_text("Context").strip("\n")
    known = left.settings.rules
    if known is None or left.document.entries:
        return False
    same = msgspec.structs.replace(known, turn_timeout=rules.turn_timeout) == rules
    return same and said == context.replace("\r\n", "\n").strip("\n")


def _not_ours(decision: str, place: Path) -> Refused:
    """Files lie where anyone may write: they do not say what a decision is about."""
    return Refused(
        "not_its_session",
        f"{place} holds another session than this decision's",
        hint=f"move {shlex.quote(str(place))} away, then go on: moot ask --resume {decision}",
    )


def _sit(space: Workspace, decision: str, limits: Limits) -> None:
    """Make the session file and say so; a file that a killed run left is the one to use."""
    state, file = state_of(space, decision), file_of(space, decision)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rules = _rules(state, limits)
        text = make_session_text(
            make_title(state.question),
            context_of(space, decision, state),
            rules,
            str(uuid.uuid4()),
            space.engine.clock(),
        )
        session.new(file, text, space)
    left = session.read(file)
    if not _is_begun(left, context_of(space, decision, state), _rules(state, limits)):
        raise _not_ours(decision, file)
    made = left.document.session_id
    if decisions_argued_in(space.engine, f"debate/{made}"):
        raise _not_ours(decision, file)
    place = file.relative_to(space.root).as_posix()
    command = ask.OpenSession(session=f"debate/{made}", file=place)
    space.engine.execute(stream_of(decision), command, SYSTEM)


_OPEN: Final = {ChamberKind.DEBATE: _sit, ChamberKind.PARLIAMENT: _convene}
_ARGUE: Final = {ChamberKind.DEBATE: _debated, ChamberKind.PARLIAMENT: _sat}


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


def context_of(space: Workspace, decision: str, state: State) -> str:
    """What everybody should know, with the motion last; others' words are quoted, line by line."""
    parts = [("Question", state.question)]
    material = text_of(space, state.context)
    if material.strip():
        parts.append(("Material", material))
    given = [(one.agent, one.answer) for one in list_answers(state) if one.answer is not None]
    answers = "\n".join(f"{agent}: {' '.join(answer.split())}" for agent, answer in given)
    parts.append(("First answers, given before anyone heard the others", answers))
    if state.motion is not None:
        parts.append(("Motion: approve or reject this", state.motion.text))
    told = "\n".join(f"### {name}\n\n{quote_lines(text)}" for name, text in parts)
    return f"{told}\nDecision {decision}. Every stance is about the motion."
