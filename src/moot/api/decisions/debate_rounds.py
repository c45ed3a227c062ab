"""Argue a question in debates: each round is one session with its own file.

If the first round agrees without an objection, the question is settled. Otherwise Moot opens
another session on the same motion, with the strongest objection in its Context; the vote in the
last session counts (DEC-034).
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from moot.agents.outcome import RunEnd
from moot.agents.participant import Participant
from moot.agents.runnable import RunWatcher
from moot.api.debates import session
from moot.api.debates.locked_session import restore_file
from moot.api.debates.outcome import DebateVerdict, judge_debate
from moot.api.debates.session_file import make_title, quote_lines, read_file
from moot.api.decisions.questions import read_text, state_of
from moot.api.decisions.results import (
    ArguedRound,
    check_known_session,
    list_argued_rounds,
    read_recorded_sessions,
)
from moot.api.parliaments.ruling import decisions_argued_in
from moot.api.runs.debate import EarlierRounds, SeatedDebate, record_result, run_seated
from moot.api.runs.rankings import list_cast_votes
from moot.api.runs.turns import FinishedRun, Limits
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.debate.model import (
    ConsensusMode,
    DebateEntry,
    Escalation,
    Rules,
    Stance,
    TurnOrder,
)
from moot.protocols.debate.writer import make_session_text
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import OpenSession
from moot.protocols.decision.model import ChamberKind, DecisionResult, State
from moot.protocols.decision.views import list_answers
from moot.workspace.workspace import Workspace

FOLDER: Final = "decisions"


class ContextSection(NamedTuple):
    """A heading that Moot writes, and a participant's text, which is quoted line by line."""

    heading: str
    text: str


def session_file(workspace: Workspace, decision: str) -> Path:
    """Return where the question is argued now: the recorded path, else one named by its id.

    The debate's own record knows if its file was moved.
    """
    state = state_of(workspace, decision)
    if state.session is None or not state.session.file:
        return new_session_file(workspace, decision, state, 1)
    moved = workspace.engine.state(DEBATE, state.session.id).file if _is_debate(state) else ""
    return workspace.root / (moved or state.session.file)


def new_session_file(workspace: Workspace, decision: str, state: State, number: int) -> Path:
    """Return the path of a new session: `q-7.md`, for the second one `q-7-round-2.md`."""
    name = decision if number == 1 else f"{decision}-round-{number}"
    return workspace.path / FOLDER / f"{name}{'.md' if _is_debate(state) else ''}"


def _is_debate(state: State) -> bool:
    return state.chamber is ChamberKind.DEBATE


def refuse_other_session(decision: str, place: Path) -> Refused:
    """Return the refusal for a file of another session: anyone may put a file there."""
    return Refused(
        "not_its_session",
        f"{place} contains another session than this decision's",
        hint=f"move {shlex.quote(str(place))} away, then run moot ask --resume {decision}",
    )


def compose_context(
    workspace: Workspace, decision: str, state: State, more: tuple[ContextSection, ...] = ()
) -> str:
    """Return the Context: question, material, first answers, and the motion last, all quoted."""
    sections = [ContextSection("Question", state.question)]
    material = read_text(workspace, state.context)
    if material.strip():
        sections.append(ContextSection("Material", material))
    answers = "\n".join(
        f"{first.agent}: {' '.join(first.answer.split())}"
        for first in list_answers(state)
        if first.answer is not None
    )
    sections.append(ContextSection("First answers, given before anyone heard the others", answers))
    sections.extend(more)
    if state.motion is not None:  # AGT-070
        sections.append(ContextSection("Motion: approve or reject this", state.motion.text))
    text = "\n".join(f"### {each.heading}\n\n{quote_lines(each.text)}" for each in sections)
    return f"{text}\nDecision {decision}. Every stance is about the motion."


MAX_QUOTED: Final = 4_000
# Stances against a motion. Without a rejection, a neutral or deferring stance is the objection.
_AGAINST: Final = (Stance.REJECT, Stance.NEUTRAL, Stance.DEFER)


class Objection(NamedTuple):
    """A vote against the motion, its entry, and the round since which the agent objects."""

    vote: DebateVote
    since: int
    entry: DebateEntry

    @property
    def as_section(self) -> ContextSection:
        sure = f"{self.vote.stance.value}, confidence {self.vote.confidence:f}"
        heading = f"The strongest objection in round {self.entry.round}, by {self.entry.author}"
        summary, body = self.entry.field_value("summary"), self.entry.body.strip()
        text = summary if not body else f"{summary}\n\n{body}"
        text = text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"
        return ContextSection(f"{heading} ({sure})", text)


def needs_another_round(
    rounds: Sequence[ArguedRound], verdict: DebateVerdict, max_rounds: int
) -> bool:
    """Return whether the motion failed or met an objection, and another round may change that.

    From the third round on one is held only if a stance changed in the last one (G-20).
    """
    if verdict.result in (None, DecisionResult.CLOSED) or len(rounds) >= max_rounds:
        return False
    if verdict.result is DecisionResult.CARRIED and not verdict.objectors:
        return False
    return len(rounds) < 2 or _stances(rounds[-2]) != _stances(rounds[-1])


def _stances(argued: ArguedRound) -> dict[str, Stance]:
    return {agent: vote.stance for agent, vote in argued.votes.items()}


def find_strongest_objection(rounds: Sequence[ArguedRound]) -> Objection | None:
    """Return the surest reject of the last round, else the oldest doubt; None if all approve.

    No model judges this. Among equally sure rejects it is the oldest one.
    """
    objections = list(_list_objections(rounds))
    rejects = [each for each in objections if each.vote.stance is Stance.REJECT]
    if rejects:
        return min(rejects, key=lambda each: (-each.vote.confidence, each.since))
    return min(objections, key=lambda each: each.since, default=None)


def _list_objections(rounds: Sequence[ArguedRound]) -> Iterator[Objection]:
    """Yield everyone who did not approve in the last round, in the order they spoke."""
    last = rounds[-1]
    for agent, entry in last.latest_entries.items():
        vote = last.votes.get(agent)
        if vote is not None and vote.stance in _AGAINST:
            yield Objection(vote, _objects_since(rounds, agent, vote.stance), entry)


def _objects_since(rounds: Sequence[ArguedRound], agent: str, stance: Stance) -> int:
    """Return the first of the consecutive rounds in which this agent had the same stance."""
    since = rounds[-1].number
    for argued in reversed(rounds):
        vote = argued.votes.get(agent)
        if vote is None or vote.stance is not stance:
            break
        since = argued.number
    return since


THRESHOLDS: Final = {
    ConsensusMode.MAJORITY: "0.01",  # counts heads; confidence is shown only (G-05)
    ConsensusMode.WEIGHTED: "0.7",
    ConsensusMode.UNANIMOUS: "0.7",
}


def argue_in_rounds(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    """Hold rounds until the question is settled or the run stops; then record the result."""
    finished: FinishedRun | None = None
    while True:
        session_run = _run_session(workspace, decision, participants, limits, watch)
        if finished is not None:  # two runs of one question count as one
            ended = join_run_ends(finished.ended, session_run.ended)
            session_run = session_run._replace(ended=ended, lost=finished.lost or session_run.lost)
        finished = session_run
        state = state_of(workspace, decision)
        sessions = _read_sessions(workspace, decision, state)
        verdict = judge_debate(sessions[-1], state.quorum)
        if verdict.result is None:
            return finished
        if not needs_another_round(list_argued_rounds(sessions), verdict, state.rounds):
            record_result(workspace, decision, sessions[-1])
            return finished
        open_round(workspace, decision, limits)


def _read_sessions(workspace: Workspace, decision: str, state: State) -> list[CheckedSession]:
    """Return all sessions so far: earlier ones from the record, the newest from its file."""
    if state.session is None:
        return []
    before = msgspec.structs.replace(state, session=None)
    newest = check_known_session(read_file(session_file(workspace, decision)))
    return [*read_recorded_sessions(workspace, before), newest]


def join_run_ends(before: RunEnd, after: RunEnd) -> RunEnd:
    """Return the end of the later run, with the turns and cost of both."""
    return msgspec.structs.replace(
        after, turns=before.turns + after.turns, cost=before.cost + after.cost
    )


def _run_session(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    file, state = session_file(workspace, decision), state_of(workspace, decision)
    opened = state.session
    lost = restore_file(workspace, file, opened.id if opened is not None else None)  # AGT-074
    if not file.exists():
        raise Refused(
            "session_gone",
            f"{file} is missing, and it is not recorded here",
            hint=f"restore it, or start over: moot decide {decision} veto --reason TEXT",
        )
    earlier = _earlier_rounds(workspace, state)
    clock = workspace.engine.clock
    cast = list_cast_votes(state) if not earlier.rounds else {}
    debate = SeatedDebate(file, participants, clock, workspace, decision, earlier, cast)
    return run_seated(debate, limits, watch)._replace(lost=lost)


def _earlier_rounds(workspace: Workspace, state: State) -> EarlierRounds:
    """Return what was argued before this session; scripts and rules continue from there."""
    before = msgspec.structs.replace(state, session=None)
    rounds = list_argued_rounds(read_recorded_sessions(workspace, before))
    counts: dict[str, int] = {}
    positions: dict[str, str] = {}
    for argued in rounds:
        for entry in argued.own_entries:
            counts[entry.author] = counts.get(entry.author, 0) + 1
        positions |= {agent: vote.stance.value for agent, vote in argued.votes.items()}
    max_rounds = max(state.rounds, len(rounds) + 1)
    return EarlierRounds(len(rounds), max_rounds, counts, positions, state.quorum)


def open_round(workspace: Workspace, decision: str, limits: Limits) -> None:
    """Create the next session's file and record it; reuse a file of a killed run (AGT-074)."""
    state = state_of(workspace, decision)
    sessions = _read_sessions(workspace, decision, state)
    rounds = list_argued_rounds(sessions)
    objection = find_strongest_objection(rounds) if rounds else None
    more = _describe_last_round(rounds, sessions, objection, state)
    context = compose_context(workspace, decision, state, more)
    rules = _make_rules(state, limits, objection)
    file = new_session_file(workspace, decision, state, len(state.sessions) + 1)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        title = make_title(state.question) + (f" (round {len(rounds) + 1})" if rounds else "")
        now = workspace.engine.clock()
        text = make_session_text(title, context, rules, str(uuid.uuid4()), now)
        session.new(file, text, workspace)
    checked = session.read(file)
    stream = f"debate/{checked.document.session_id}"
    argued_elsewhere = decisions_argued_in(workspace.engine, stream)
    if argued_elsewhere or not _is_just_begun(checked, context, rules):
        raise refuse_other_session(decision, file)
    place = file.relative_to(workspace.root).as_posix()
    command = OpenSession(session=stream, file=place)
    workspace.engine.execute(stream_of(decision), command, SYSTEM)


def _describe_last_round(
    rounds: list[ArguedRound],
    sessions: list[CheckedSession],
    objection: Objection | None,
    state: State,
) -> tuple[ContextSection, ...]:
    """Return the result, objection and task after the last round; nothing for the first round."""
    if not rounds:
        return ()
    last = len(rounds)
    verdict = judge_debate(sessions[-1], state.quorum)
    outcome = ContextSection(f"What round {last} came to", verdict.summary)
    vote = "the final vote" if last + 1 == state.rounds else "its vote replaces the one before"
    task = f"Answer the objection, or give way to it. This is round {last + 1}: {vote}."
    task = task if objection is not None else f"This is round {last + 1}: {vote}."
    task_section = ContextSection("This round", task)
    return (outcome, *((objection.as_section,) if objection is not None else ()), task_section)


def _make_rules(state: State, limits: Limits, objection: Objection | None) -> Rules:
    """Return the rules of one round; the objector speaks last, after the answers (G-20)."""
    mode = ConsensusMode(state.rule)
    names = [seat.agent for seat in state.seats]
    if objection is not None:
        names.sort(key=lambda name: name == objection.entry.author)
    return Rules(
        tuple(names),
        turn_order=TurnOrder.ROUND_ROBIN,
        turn_timeout=max(1, min(86_400, round(limits.turn_seconds))),
        consensus_threshold=Decimal(THRESHOLDS[mode]),
        consensus_mode=mode,
        escalation=Escalation.TIMEOUT_SKIP,
        max_rounds=1,
    )


def _is_just_begun(checked: CheckedSession, context: str, rules: Rules) -> bool:
    """Return whether this is the session that a killed run left: the same context and rules
    (but for the turn's timeout), and no entry."""
    written = checked.document.section_text("Context").strip("\n")
    known = checked.settings.rules
    if known is None or checked.document.entries:
        return False
    same = msgspec.structs.replace(known, turn_timeout=rules.turn_timeout) == rules
    return same and written == context.replace("\r\n", "\n").strip("\n")
