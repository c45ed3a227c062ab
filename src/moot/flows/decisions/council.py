"""A question to agents that are at work already: each answers with its own key, no runner asks.

They find the question in their agenda and answer; the last answer puts the most frequent one to the
vote and opens the debate, and the entry that settles the debate records what came out. Whoever is
silent is passed over when its time is up, which the next act here, or a look at it, brings about.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from moot.agents.participant_kinds import RunSurroundings
from moot.core.errors import Malformed, Refused
from moot.flows.debate import session
from moot.flows.decisions.ask import carry_on
from moot.flows.decisions.questions import record_question, state_of, store_text
from moot.flows.decisions.session_context import session_file
from moot.flows.parliament.ruling import decisions_argued_in
from moot.flows.runs.debate_verdict import judge_debate
from moot.flows.runs.run_seats import Limits
from moot.flows.runs.seats import ELSEWHERE, recorded_seats, require_registered
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.workspace.workspace import Workspace

ANSWER_SECONDS: Final = 900
LIMITS: Final = Limits(turn_seconds=900.0)


def put_to_agents(
    workspace: Workspace,
    asker: str,
    question: str,
    agents: tuple[str, ...],
    *,
    context: str,
    options: tuple[str, ...],
    rule: str,
    rounds: int,
    key: str | None,
) -> str:
    """Put a question on record, signed by whoever asks; gives its id. The same key asks once."""
    for name in agents:
        require_registered(workspace, name)
    if rule not in set(ConsensusMode):
        raise Malformed(f"no rule is called {rule!r}", code="bad_question", hint="majority")
    command = ask.AskQuestion(
        question=question,
        seats=recorded_seats(workspace, agents, {}, {}),
        rule=rule,
        rounds=rounds,
        options=options,
        context=store_text(workspace, context) if context.strip() else None,
        answer_seconds=ANSWER_SECONDS,
    )
    if key is None:
        return record_question(workspace, command, asker)
    decision = f"q-{hashlib.sha256(f'{asker} {key}'.encode()).hexdigest()[:12]}"
    workspace.engine.execute(stream_of(decision), command, asker, key=key)
    return decision


def answer_question(
    workspace: Workspace, agent: str, decision: str, answer: str, why: str, key: str | None
) -> None:
    """Record a first answer; the last one lets the question go on."""
    command = ask.GiveAnswer(answer=answer, why=why)
    workspace.engine.execute(stream_of(decision), command, agent, key=key)


def go_on(workspace: Workspace, decision: str) -> State:
    """Let take effect what others and the time have settled; nobody is asked anything.

    Only where every seat is played elsewhere: else a run does this. Without the machine's key
    nothing moves, and the next one who has it goes on.
    """
    if not _is_council(state_of(workspace, decision)):
        return state_of(workspace, decision)
    workspace.engine.tick(stream_of(decision))
    try:
        if _can_go_on(workspace, decision):
            carry_on(workspace, decision, {}, RunSurroundings(workspace.root, {}, None), LIMITS)
    except Refused as refused:
        if refused.code not in ("key_missing", "no_answers"):
            raise
    return state_of(workspace, decision)


def settle_decisions_of(workspace: Workspace, debate: str) -> None:
    """The same for the questions that are argued in a debate, after something was said in it."""
    for decision in decisions_argued_in(workspace.engine, debate):
        go_on(workspace, decision)


def _is_council(state: State) -> bool:
    played_elsewhere = all(seat.kind == ELSEWHERE for seat in state.seats)
    return state.chamber is ChamberKind.DEBATE and played_elsewhere


def _can_go_on(workspace: Workspace, decision: str) -> bool:
    state = state_of(workspace, decision)
    if state.stage is Stage.ANSWERING:
        return not state.unanswered
    if state.stage is Stage.ARGUING:
        return _is_over(workspace, session_file(workspace, decision))
    return state.stage is Stage.MOVED


def _is_over(workspace: Workspace, file: Path) -> bool:
    """Has the debate ended, after whoever is late was passed over?"""
    if not file.exists():
        return False
    written = session.tick(file, workspace.engine.clock, workspace)
    return judge_debate(written.checked).result is not None
