"""A council: a question to agents that are already at work.

Each agent answers with its own key when it reads its agenda; Moot starts no program. The last
answer puts the most frequent one to the vote and opens the debate, and the entry that settles the
debate records the result. If an agent does not answer in time, the next command that answers the
question or reads its result skips that agent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from moot.agents.participant_kinds import RunSurroundings
from moot.api.debates import session
from moot.api.debates.outcome import judge_debate
from moot.api.decisions.questions import (
    decision_id,
    read_text,
    record_question,
    require_question,
    state_of,
    store_text,
)
from moot.api.operation import operation
from moot.api.parliaments.ruling import decisions_argued_in
from moot.api.runs.seats import ELSEWHERE, describe_seats, require_registered
from moot.api.runs.turns import Limits
from moot.core.errors import Malformed, Refused
from moot.core.text import Quoted
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import AskQuestion, GiveAnswer
from moot.protocols.decision.model import ChamberKind, Stage
from moot.protocols.decision.views import DecisionView, describe_decision, suggest_decide_command
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session

ANSWER_SECONDS: Final = 900
TURN_LIMITS: Final = Limits(turn_seconds=900.0)


class QuestionStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a question. `context` is the background that every agent gets.

    `waits_for` are the agents whose answer or turn is due; `debate` is where it is argued.
    `next` is the command with which a person rules on it; None until there is a result.
    """

    decision: DecisionView
    context: Quoted
    options: tuple[Quoted, ...]
    waits_for: tuple[str, ...]
    debate: str | None
    next: str | None


@operation("council.ask", writes=True)
def ask(
    session: Session,
    text: str,
    agents: Sequence[str],
    *,
    context: str = "",
    options: Sequence[str] = (),
    rule: str = "majority",
    rounds: int = 2,
    key: str | None = None,
) -> QuestionStanding:
    """Ask agents that are registered here: first answers, an argument, a vote, as with `ask`.

    The asker may be one of them. They find it in their agenda and answer with `answer`; an agent
    that is silent for 15 minutes is skipped. The result waits for a person's ruling.
    Refused if one of them is not an agent, or has ended. The same `key` asks once.
    """
    workspace, asker = session.workspace, session.actor()
    session.require_pace(asker, key, text, agents, context, options, rule)
    for name in agents:
        require_registered(workspace, name)
    if rule not in set(ConsensusMode):
        raise Malformed(f"{rule!r} is not a rule", code="bad_question", hint="majority")
    command = AskQuestion(
        question=text,
        seats=describe_seats(workspace, tuple(agents), {}, {}),
        rule=rule,
        rounds=rounds,
        options=tuple(options),
        context=store_text(workspace, context) if context.strip() else None,
        answer_seconds=ANSWER_SECONDS,
    )
    if key is None:
        decision = record_question(workspace, command, asker)
    else:
        decision = f"q-{hashlib.sha256(f'{asker} {key}'.encode()).hexdigest()[:12]}"
        workspace.engine.execute(stream_of(decision), command, asker, key=key)
    return _describe_standing(workspace, decision)


@operation("council.answer", writes=True, as_ledger=True)
def answer(
    session: Session, decision: str, text: str, *, why: str = "", key: str | None = None
) -> QuestionStanding:
    """Give your first answer to a question, before you see the other answers.

    The last answer puts the most frequent one to the vote and opens the debate. Refused if you
    were not asked, have answered already or were skipped. The same `key` answers once.
    """
    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    command = GiveAnswer(answer=text, why=why)
    workspace.engine.execute(stream_of(name), command, session.actor(), key=key)
    advance_question(workspace, name)
    return _describe_standing(workspace, name)


@operation("council.result", writes=True, as_ledger=True)
def result(session: Session, decision: str) -> QuestionStanding:
    """Return how far a question has come, after applying time limits and finished debates.

    Agents that were silent too long are skipped, and a finished debate gives its result. A repeat
    finds nothing to do, so it needs no key.
    """
    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    advance_question(workspace, name)
    return _describe_standing(workspace, name)


def _describe_standing(workspace: Workspace, decision: str) -> QuestionStanding:
    state = state_of(workspace, decision)
    debate = None if state.session is None else state.session.id
    streams = [stream_of(decision), *([] if debate is None else [debate])]
    dues = workspace.engine.agenda(streams)
    is_waiting = state.stage is Stage.WAITING
    return QuestionStanding(
        decision=describe_decision(decision, state),
        context=Quoted(read_text(workspace, state.context)),
        options=tuple(map(Quoted, state.options)),
        waits_for=tuple(dict.fromkeys(due.who for _, due in dues)),
        debate=debate,
        next=suggest_decide_command(decision, state.result) if is_waiting else None,
    )


def advance_question(workspace: Workspace, decision: str) -> None:
    """Apply time limits, answers and finished debates to a question; start no participant.

    Only if every seat is played elsewhere: otherwise a run does this. Without the ledger's key
    nothing changes, and the next process that has it continues.
    """
    state = state_of(workspace, decision)
    is_played_here = any(seat.kind != ELSEWHERE for seat in state.seats)
    if state.chamber is not ChamberKind.DEBATE or is_played_here:
        return
    workspace.engine.tick(stream_of(decision))
    try:
        if _can_advance(workspace, decision):
            from moot.api.decisions.question_run import continue_question  # loads all runs

            continue_question(
                workspace, decision, {}, RunSurroundings(workspace.root, {}, None), TURN_LIMITS
            )
    except Refused as refused:
        if refused.code not in ("key_missing", "no_answers"):
            raise


def settle_decisions_of(workspace: Workspace, debate: str) -> None:
    """Advance the questions that are argued in a debate, after a new entry in it."""
    for decision in decisions_argued_in(workspace.engine, debate):
        advance_question(workspace, decision)


def _can_advance(workspace: Workspace, decision: str) -> bool:
    state = state_of(workspace, decision)
    if state.stage is Stage.ANSWERING:
        return not state.unanswered
    if state.stage is not Stage.ARGUING:
        return state.stage is Stage.MOVED
    from moot.api.decisions.debate_rounds import session_file

    file = session_file(workspace, decision)
    if not file.exists():
        return False
    ticked = session.tick(file, workspace.engine.clock, workspace)
    return judge_debate(ticked.checked).result is not None
