"""A council: a question to agents that are at work already, put, answered and looked at.

Each agent answers with its own key, whenever it looks at its agenda; no program is started. The
last answer puts the most frequent one to the vote and opens the debate, and the entry that settles
the debate records what came out. An agent that does not answer in time is passed over by the
next command that answers the question or reads its result.
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
from moot.api.runs.seats import ELSEWHERE, recorded_seats, require_registered
from moot.api.runs.turns import Limits
from moot.core.errors import Malformed, Refused
from moot.core.text import Quoted
from moot.protocols.debate.model import ConsensusMode
from moot.protocols.decision import commands as decision_commands
from moot.protocols.decision import stream_of
from moot.protocols.decision.model import ChamberKind, Stage
from moot.protocols.decision.views import DecisionView, describe_decision, suggest_decide_command
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session

ANSWER_SECONDS: Final = 900
LIMITS: Final = Limits(turn_seconds=900.0)


class QuestionStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How far a question came. `context` is what everybody should know.

    `waits_for` are those whose answer or turn it waits for; `debate` is where it is argued, once it
    is. `next` is the command with which a person rules on it; None until there is a result.
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
    that is silent for 15 minutes is passed over. The result waits for a person's ruling.
    Refused if one of them is no agent, or has ended. The same `key` asks once.
    """
    workspace, asker = session.workspace, session.actor()
    session.require_pace(asker, key, text, agents, context, options, rule)
    for name in agents:
        require_registered(workspace, name)
    if rule not in set(ConsensusMode):
        raise Malformed(f"no rule is called {rule!r}", code="bad_question", hint="majority")
    command = decision_commands.AskQuestion(
        question=text,
        seats=recorded_seats(workspace, tuple(agents), {}, {}),
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
    """Your first answer to a question you were asked, before you hear the others.

    The last answer puts the most frequent one to the vote and opens the debate. Refused unless you
    were asked, and if you have answered or were passed over. The same `key` answers once.
    """
    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    command = decision_commands.GiveAnswer(answer=text, why=why)
    workspace.engine.execute(stream_of(name), command, session.actor(), key=key)
    go_on(workspace, name)
    return _describe_standing(workspace, name)


@operation("council.result", writes=True, as_ledger=True)
def result(session: Session, decision: str) -> QuestionStanding:
    """Return how far a question has come, after applying time limits and finished debates.

    Agents that were silent too long are passed over, and a debate that is over gives its result. A
    repeat finds nothing to do, so it needs no key.
    """
    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    go_on(workspace, name)
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


def go_on(workspace: Workspace, decision: str) -> None:
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
        if _can_go_on(workspace, decision):
            from moot.api.decisions.question_run import carry_on  # loads all runs

            carry_on(workspace, decision, {}, RunSurroundings(workspace.root, {}, None), LIMITS)
    except Refused as refused:
        if refused.code not in ("key_missing", "no_answers"):
            raise


def settle_decisions_of(workspace: Workspace, debate: str) -> None:
    """The same for the questions that are argued in a debate, after something was said in it."""
    for decision in decisions_argued_in(workspace.engine, debate):
        go_on(workspace, decision)


def _can_go_on(workspace: Workspace, decision: str) -> bool:
    state = state_of(workspace, decision)
    if state.stage is Stage.ANSWERING:
        return not state.unanswered
    if state.stage is not Stage.ARGUING:
        return state.stage is Stage.MOVED
    from moot.api.decisions.debate_rounds import session_file

    file = session_file(workspace, decision)
    if not file.exists():
        return False
    passed_over = session.tick(file, workspace.engine.clock, workspace)
    return judge_debate(passed_over.checked).result is not None
