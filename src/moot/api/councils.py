"""A council: a question to agents that are at work already, put, answered and looked at.

Each agent answers with its own key, whenever it looks at its agenda; no program is started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.quoted import Quoted
from moot.protocols.decision.views import DecisionView

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.workspace.workspace import Workspace


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

    Whoever asks may be one of them. They find it in their agenda and answer with `answer`; whoever
    is silent for a quarter of an hour is passed over. What comes out waits for a person's ruling.
    Refused if one of them is no agent, or has ended. The same `key` asks once.
    """
    from moot.flows.decisions.council import put_to_agents

    workspace, asker = session.workspace, session.actor()
    session.require_pace(asker, key, text, agents, context, options, rule)
    decision = put_to_agents(
        workspace,
        asker,
        text,
        tuple(agents),
        context=context,
        options=tuple(options),
        rule=rule,
        rounds=rounds,
        key=key,
    )
    return _describe_standing(workspace, decision)


@operation("council.answer", writes=True, as_ledger=True)
def answer(
    session: Session, decision: str, text: str, *, why: str = "", key: str | None = None
) -> QuestionStanding:
    """Your first answer to a question you were asked, before you hear the others.

    The last answer puts the most frequent one to the vote and opens the debate. Refused unless you
    were asked, and if you have answered or were passed over. The same `key` answers once.
    """
    from moot.flows.decisions.council import answer_question, go_on
    from moot.flows.decisions.questions import decision_id, require_question

    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    answer_question(workspace, session.actor(), name, text, why, key)
    go_on(workspace, name)
    return _describe_standing(workspace, name)


@operation("council.result", writes=True, as_ledger=True)
def result(session: Session, decision: str) -> QuestionStanding:
    """Where a question stands, after what others and the time have settled has taken effect.

    Whoever was silent too long is passed over, and a debate that is over gives its result; a repeat
    finds nothing to do, so it needs no key.
    """
    from moot.flows.decisions.council import go_on
    from moot.flows.decisions.questions import decision_id, require_question

    workspace, name = session.workspace, decision_id(decision)
    require_question(workspace, name)
    go_on(workspace, name)
    return _describe_standing(workspace, name)


def _describe_standing(workspace: Workspace, decision: str) -> QuestionStanding:
    from moot.flows.decisions.questions import read_text, state_of
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.model import Stage
    from moot.protocols.decision.views import describe_decision, suggest_decide_command

    state = state_of(workspace, decision)
    debate = None if state.session is None else state.session.id
    streams = [stream_of(decision), *([] if debate is None else [debate])]
    dues = workspace.engine.agenda(streams)
    return QuestionStanding(
        decision=describe_decision(decision, state),
        context=Quoted(read_text(workspace, state.context)),
        options=tuple(map(Quoted, state.options)),
        waits_for=tuple(dict.fromkeys(due.who for _, due in dues)),
        debate=debate,
        next=suggest_decide_command(decision, state.result)
        if state.stage is Stage.WAITING
        else None,
    )
