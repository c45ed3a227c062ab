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
from moot.agents.runner import Runner
from moot.agents.seats import Room
from moot.agents.spec import Spec
from moot.agents.watch import Watch
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.mending import Lost, mend
from moot.flows.debate.others_words import quoted, title
from moot.flows.decisions.argument import NOTHING, Argued
from moot.flows.decisions.questions import state_of, text_of
from moot.flows.decisions.receipt_content import argued, outcome_of
from moot.flows.parliament.chamber import Room as Session
from moot.flows.parliament.chamber import id_in
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import decisions_of
from moot.flows.runs.first_answers import AnswersDesk
from moot.flows.runs.run_debate import USUAL, Hall, Limits, Ran, run_in
from moot.flows.runs.run_parliament import convene_for, opening
from moot.flows.runs.run_parliament import run_in as run_sitting
from moot.flows.runs.run_parliament import session_of as sitting_of
from moot.flows.runs.run_record import DecisionBooks
from moot.flows.runs.seats import seated
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
    lost: Lost | None = None
    argued: Argued = NOTHING

    @property
    def outcome(self) -> str:
        """What the vote came to, in words for people; nothing if there is no result."""
        return outcome_of(self.state, self.argued)


def go_on(
    workspace: Workspace,
    decision: str,
    specs: Mapping[str, Spec],
    room: Room,
    limits: Limits = USUAL,
    watch: Watch | None = None,
) -> Asked:
    """Everything that is still missing before a person is asked."""
    sitting = seated(specs, room)
    state = state_of(workspace, decision)
    ended: Ended | None = None
    lost: Lost | None = None
    if state.stage is Stage.ANSWERING:
        ended = _first_answers(workspace, decision, sitting, limits, watch)
        if ended.stop is not Stop.SETTLED:
            return Asked(decision, state_of(workspace, decision), None, ended)
        _move(workspace, decision)
    if state_of(workspace, decision).stage is Stage.MOVED:
        _OPEN[state.chamber](workspace, decision, limits)
    file = file_of(workspace, decision)
    state = state_of(workspace, decision)
    if state.stage is Stage.ARGUING or _goes_on(workspace, decision, state):
        ran = _ARGUE[state.chamber](workspace, decision, sitting, limits, watch)
        ended, lost = ran.ended, ran.lost
    state = state_of(workspace, decision)
    return Asked(decision, state, file, ended, lost, argued(workspace, decision, state))


def _goes_on(workspace: Workspace, decision: str, state: State) -> bool:
    """A parliament is argued further after its prime minister's veto."""
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return False
    return sitting_of(workspace, decision, state).state.status not in SETTLED


def _debated(
    workspace: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> Ran:
    books, file = DecisionBooks(workspace.engine, decision), file_of(workspace, decision)
    opened = state_of(workspace, decision).session
    lost = mend(workspace, file, opened.id if opened is not None else None)
    if not file.exists():
        raise Refused(
            "session_gone",
            f"{file} is gone, and no record of it is here",
            hint=f"put it back, or begin anew: moot decide {decision} veto --reason TEXT",
        )
    hall = Hall(file, sitting, workspace.engine.clock, workspace, books)
    return run_in(hall, decision, limits, watch)._replace(lost=lost)


def _sat(
    workspace: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> Ran:
    held = sitting_of(workspace, decision, state_of(workspace, decision))
    return run_sitting(held, decision, sitting, limits, watch)


def _first_answers(
    workspace: Workspace,
    decision: str,
    sitting: Mapping[str, Participant],
    limits: Limits,
    watch: Watch | None,
) -> Ended:
    state = state_of(workspace, decision)
    desk = AnswersDesk(workspace.engine, decision, text_of(workspace, state.context))
    return Runner(
        desk,
        sitting,
        workspace.engine.clock,
        budget=limits.budget,
        turn_seconds=limits.turn_seconds,
        watch=watch,
    ).run()


def _move(workspace: Workspace, decision: str) -> None:
    """The most frequent answer is put to the vote, else the first listed."""
    motion = choose_motion(list_answers(state_of(workspace, decision)))
    if motion is None:
        raise Refused(
            "no_answers",
            "nobody gave a first answer, so there is nothing to vote on",
            hint=f"`moot ledger log {stream_of(decision)}` says why; ask again with others",
        )
    command = ask.SetMotion(text=motion.text, by=motion.by)
    workspace.engine.execute(stream_of(decision), command, SYSTEM, key="motion")


def file_of(workspace: Workspace, decision: str) -> Path:
    """Where it is argued: where the record says, else under the decision's id.

    A debate's own record knows where its file was moved to.
    """
    state = state_of(workspace, decision)
    if state.session is not None and state.session.file:
        moved = workspace.engine.state(state.session.id).file if _debates(state) else ""
        return workspace.root / (moved or state.session.file)
    return workspace.path / FOLDER / f"{decision}{'.md' if _debates(state) else ''}"


def _debates(state: State) -> bool:
    return state.chamber is ChamberKind.DEBATE


def _convene(workspace: Workspace, decision: str, _limits: Limits) -> None:
    """A parliament about the motion; one that a killed run left is the one to use."""
    state, folder = state_of(workspace, decision), file_of(workspace, decision)
    known = id_in(folder)
    problem = context_of(workspace, decision, state)
    held = Session.known(workspace, folder, known) if known else None
    if held is not None and not _left_by_us(held, problem, state):
        raise _not_ours(decision, folder)
    held = held or convene_for(workspace, folder, problem, state)
    workspace.engine.execute(stream_of(decision), opening(held), SYSTEM)


def _left_by_us(held: Session, problem: str, state: State) -> bool:
    """What a killed run leaves: convened here, about this very decision, and nothing said yet."""
    sat, names = held.state, {seat.agent for seat in state.seats}
    untouched = sat.next_message_id == 1 and not sat.imported and sat.outcome is None
    same = sat.problem_statement == problem and set(sat.holders) == names
    return untouched and same and not decisions_of(held.space, held.stream)


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


def _sit(workspace: Workspace, decision: str, limits: Limits) -> None:
    """Make the session file and say so; a file that a killed run left is the one to use."""
    state, file = state_of(workspace, decision), file_of(workspace, decision)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rules = _rules(state, limits)
        text = make_session_text(
            title(state.question),
            context_of(workspace, decision, state),
            rules,
            str(uuid.uuid4()),
            workspace.engine.clock(),
        )
        session.new(file, text, workspace)
    left = session.read(file)
    if not _is_begun(left, context_of(workspace, decision, state), _rules(state, limits)):
        raise _not_ours(decision, file)
    made = left.document.session_id
    if decisions_of(workspace, f"debate/{made}"):
        raise _not_ours(decision, file)
    place = file.relative_to(workspace.root).as_posix()
    command = ask.OpenSession(session=f"debate/{made}", file=place)
    workspace.engine.execute(stream_of(decision), command, SYSTEM)


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


def context_of(workspace: Workspace, decision: str, state: State) -> str:
    """What everybody should know, with the motion last; others' words are quoted, line by line."""
    parts = [("Question", state.question)]
    material = text_of(workspace, state.context)
    if material.strip():
        parts.append(("Material", material))
    given = [(one.agent, one.answer) for one in list_answers(state) if one.answer is not None]
    answers = "\n".join(f"{agent}: {' '.join(answer.split())}" for agent, answer in given)
    parts.append(("First answers, given before anyone heard the others", answers))
    if state.motion is not None:
        parts.append(("Motion: approve or reject this", state.motion.text))
    told = "\n".join(f"### {name}\n\n{quoted(text)}" for name, text in parts)
    return f"{told}\nDecision {decision}. Every stance is about the motion."
