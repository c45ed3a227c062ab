"""A question argued in a debate: each round is a session of its own, with a file that stays exact.

If the first round agrees and nobody objected, it is over. Otherwise another session is opened on
the same motion, with the strongest objection in its Context; the vote in the last one counts
(DEC-034).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

import msgspec

from moot.agents.outcome import RunEnd
from moot.agents.participant import Participant
from moot.agents.watch import RunWatcher
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.flows.debate import session
from moot.flows.debate.file import read_file
from moot.flows.debate.mending import restore_file
from moot.flows.debate.others_words import make_title
from moot.flows.decisions.debate_result import (
    ArguedRound,
    check_known_session,
    list_argued_rounds,
    read_recorded_sessions,
)
from moot.flows.decisions.objection import (
    Objection,
    find_strongest_objection,
    needs_another_round,
)
from moot.flows.decisions.questions import state_of
from moot.flows.decisions.session_context import (
    ContextSection,
    another_session,
    compose_context,
    new_session_file,
    session_file,
)
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.runs.debate_verdict import judge_debate
from moot.flows.runs.rankings import list_cast_votes
from moot.flows.runs.run_debate import SeatedDebate, record_result, run_seated
from moot.flows.runs.run_seats import FinishedRun, Limits
from moot.flows.runs.runnable_debate import EarlierRounds
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.model import ConsensusMode, Escalation, Rules, TurnOrder
from moot.protocols.debate.writer import make_session_text
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import State
from moot.workspace.workspace import Workspace

THRESHOLDS: Final = {
    ConsensusMode.MAJORITY: "0.01",  # heads are counted; how sure they are stands beside (G-05)
    ConsensusMode.WEIGHTED: "0.7",
    ConsensusMode.UNANIMOUS: "0.7",
}


class PlannedRound(NamedTuple):
    """A session that is about to be opened: its number, its rules and what is told there."""

    number: int
    rules: Rules
    context: str


def argue_in_rounds(
    workspace: Workspace,
    decision: str,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    """Argue until nothing is left to argue, or the run stops; then the result goes on record."""
    finished: FinishedRun | None = None
    while True:
        ran = _run_session(workspace, decision, participants, limits, watch)
        finished = ran if finished is None else _join(finished, ran)
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
    """All sessions so far: those before by the record, the newest as the runner reads it."""
    if state.session is None:
        return []
    before = msgspec.structs.replace(state, session=None)
    newest = check_known_session(read_file(session_file(workspace, decision)))
    return [*read_recorded_sessions(workspace, before), newest]


def _join(before: FinishedRun, after: FinishedRun) -> FinishedRun:
    """Two runs of one question as one: what both cost, and how the later one ended."""
    ended = join_ends(before.ended, after.ended)
    return after._replace(ended=ended, lost=before.lost or after.lost)


def join_ends(before: RunEnd, after: RunEnd) -> RunEnd:
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
            f"{file} is gone, and no record of it is here",
            hint=f"put it back, or begin anew: moot decide {decision} veto --reason TEXT",
        )
    earlier = _earlier_rounds(workspace, state)
    clock = workspace.engine.clock
    cast = list_cast_votes(state) if not earlier.rounds else {}
    debate = SeatedDebate(file, participants, clock, workspace, decision, earlier, cast)
    return run_seated(debate, limits, watch)._replace(lost=lost)


def _earlier_rounds(workspace: Workspace, state: State) -> EarlierRounds:
    """What was argued before this session: scripts and rules go on from there."""
    before = msgspec.structs.replace(state, session=None)
    rounds = list_argued_rounds(read_recorded_sessions(workspace, before))
    counts: dict[str, int] = {}
    positions: dict[str, str] = {}
    for argued in rounds:
        for entry in argued.own_entries:
            counts[entry.author] = counts.get(entry.author, 0) + 1
        positions |= {agent: vote.stance.value for agent, vote in argued.votes.items()}
    most = max(state.rounds, len(rounds) + 1)
    return EarlierRounds(len(rounds), most, counts, positions, state.quorum)


# Opening ------------------------------------------------------------------------------------------


def open_round(workspace: Workspace, decision: str, limits: Limits) -> None:
    """Make the next session's file and record it; a file that a killed run left is the one to use
    (AGT-074)."""
    state = state_of(workspace, decision)
    planned = _plan_round(workspace, decision, state, limits)
    file = new_session_file(workspace, decision, state, len(state.sessions) + 1)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        text = make_session_text(
            _title(state, planned.number),
            planned.context,
            planned.rules,
            str(uuid.uuid4()),
            workspace.engine.clock(),
        )
        session.new(file, text, workspace)
    checked = session.read(file)
    stream = f"debate/{checked.document.session_id}"
    argued_elsewhere = decisions_argued_in(workspace.engine, stream)
    if argued_elsewhere or not _is_just_begun(checked, planned.context, planned.rules):
        raise another_session(decision, file)
    place = file.relative_to(workspace.root).as_posix()
    command = ask.OpenSession(session=stream, file=place)
    workspace.engine.execute(stream_of(decision), command, SYSTEM)


def _title(state: State, number: int) -> str:
    title = make_title(state.question)
    return title if number == 1 else f"{title} (round {number})"


def _plan_round(workspace: Workspace, decision: str, state: State, limits: Limits) -> PlannedRound:
    sessions = _read_sessions(workspace, decision, state)
    rounds = list_argued_rounds(sessions)
    objection = find_strongest_objection(rounds) if rounds else None
    more = _sections(rounds, sessions, objection, state)
    context = compose_context(workspace, decision, state, more)
    return PlannedRound(len(rounds) + 1, _rules(state, limits, objection), context)


def _sections(
    rounds: list[ArguedRound],
    sessions: list[CheckedSession],
    objection: Objection | None,
    state: State,
) -> tuple[ContextSection, ...]:
    """What the round before left open; nothing for the first one."""
    if not rounds:
        return ()
    last = len(rounds)
    verdict = judge_debate(sessions[-1], state.quorum)
    outcome = ContextSection(f"What round {last} came to", verdict.summary)
    vote = "the final vote" if last + 1 == state.rounds else "its vote replaces the one before"
    task = f"Answer the objection, or give way to it. This is round {last + 1}: {vote}."
    task = task if objection is not None else f"This is round {last + 1}: {vote}."
    told = ContextSection("This round", task)
    return (outcome, *((objection.as_section,) if objection is not None else ()), told)


def _rules(state: State, limits: Limits, objection: Objection | None) -> Rules:
    """One round; whoever objected speaks last, after the answers to it (G-20)."""
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
    """What a killed run leaves: this very session without an entry; only how long a turn takes may
    be another."""
    written = checked.document.section_text("Context").strip("\n")
    known = checked.settings.rules
    if known is None or checked.document.entries:
        return False
    same = msgspec.structs.replace(known, turn_timeout=rules.turn_timeout) == rules
    return same and written == context.replace("\r\n", "\n").strip("\n")
