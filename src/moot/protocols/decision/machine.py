"""The automaton of one decision.

    new --asked--> answering --motion set--> moved --session opened--> arguing
                       `----------session opened (no first answers)-----^  |  ^
                                                                           |  '-another session
                                                                    result recorded
                                                                           v
                            approved | vetoed | amended  <--a person--  waiting
                                               arguing  <--sent back--    '

A person may decide before there is a result; the record then says so. A vetoed decision names the
one that supersedes it; what a parliament brought may be vetoed and argued further instead. The
table itself is in `evolution.py`, the rules in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import check_all, fill_hints, select_errors
from moot.core.machine import (
    Case,
    Command,
    Context,
    Decision,
    Draft,
    Drop,
    Due,
    Event,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    accept,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR, STREAM
from moot.protocols.decision import PROTOCOL, VOICES
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision.answer_options import list_unranked
from moot.protocols.decision.checks import commitment_offered, is_false_opening
from moot.protocols.decision.evolution import TRANSITIONS, evolve
from moot.protocols.decision.model import Stage, State
from moot.protocols.decision.ranking_report import needs_pick
from moot.protocols.decision.rules import RULES
from moot.protocols.decision.views import shorten_question, suggest_decide_command

__all__ = ["MACHINE", "TRANSITIONS"]

QUESTIONS: Final = "decision.questions"
# Which decisions a session belongs to; a key is the session, a blank, the decision's stream.
SESSIONS: Final = "decision.sessions"
OUTCOMES: Final = "decision.outcomes"


def decide(state: State, command: Command, context: Context) -> Decision:
    rules = RULES.get(type(command))
    if rules is None:
        return refusal(
            "DEC-001", "unknown_command", "a decision knows no such command", hint="update moot"
        )
    known = {"ID": context.stream.partition("/")[2]}
    findings = fill_hints(check_all(rules, Case(state, command, context)), known)
    if select_errors(findings):
        return refuse(findings, *_left_by_refusal(state, command, context))
    return accept(_EVENT_OF[type(command)](command, context), findings=findings)


def _left_by_refusal(state: State, command: Command, context: Context) -> Iterable[Event]:
    """DEC-038: that somebody tried to open its answer with another text stays on record."""
    if isinstance(command, ask.GiveAnswer) and is_false_opening(state, command, context):
        yield did.OpeningRefused(offered=commitment_offered(command, context))


def _question_asked(command: ask.AskQuestion, _context: Context) -> Draft:
    cited = () if command.context is None else (command.context,)
    event = did.QuestionAsked(
        question=command.question.strip(),
        seats=command.seats,
        chamber=command.chamber,
        rule=command.rule,
        rounds=command.rounds,
        options=command.options,
        context=None if command.context is None else command.context.sha256,
        supersedes=command.supersedes,
        answer_seconds=command.answer_seconds,
        choose=command.choose,
        sealed=command.sealed,
        quorum=command.quorum,
    )
    return Draft(event, cited)


def _answer_given(command: ask.GiveAnswer, _context: Context) -> Event:
    return did.AnswerGiven(
        answer=command.answer.strip(),
        why=command.why,
        motives=command.motives,
        nonce=command.nonce,
    )


def _answer_sealed(command: ask.SealAnswer, _context: Context) -> Draft:
    prompt = command.prompt
    event = did.AnswerSealed(
        commitment=command.commitment, prompt=None if prompt is None else prompt.sha256
    )
    return Draft(event, () if prompt is None else (prompt,))


def _call_noted(command: ask.NoteCall, _context: Context) -> Event:
    return did.CallNoted(
        agent=command.agent,
        what=command.what,
        subject=command.subject,
        ending=command.ending,
        attempt=command.attempt,
        cost=command.cost,
        detail=command.detail,
        model=None if command.model is None else command.model[:200],
    )


def _result_recorded(command: ask.RecordResult, _context: Context) -> Event:
    return did.ResultRecorded(
        result=command.result,
        summary=command.summary,
        score=command.score,
        approvers=command.approvers,
        dissent=command.dissent,
        absent=command.absent,
    )


def _person_amended(command: ask.Amend, context: Context) -> Draft:
    """DEC-015: the text that was decided instead is stored, and cited by its hash."""
    event = did.PersonAmended(
        reason=command.reason, attended=context.actor.attended, text=command.text.sha256
    )
    return Draft(event, (command.text,))


def _outcome_judged(command: ask.JudgeOutcome, context: Context) -> Event:
    return did.OutcomeJudged(
        outcome=command.outcome,
        reason=command.reason,
        attended=context.actor.attended,
        answer=command.answer.strip(),
        forecasts=command.forecasts,
    )


_EVENT_OF: Final[dict[type[Command], Callable[[Any, Context], Event | Draft]]] = {
    ask.AskQuestion: _question_asked,
    ask.SealAnswer: _answer_sealed,
    ask.CloseSeals: lambda command, _: did.SealsClosed(
        note=command.note, number=command.number, index=command.index, path=command.path
    ),
    ask.GiveAnswer: _answer_given,
    ask.PassAnswer: lambda command, _: did.AnswerPassed(
        agent=command.agent, why=command.why, failure=command.failure
    ),
    ask.RankAnswers: lambda command, _: did.AnswersRanked(
        ranking=command.ranking,
        votes=command.votes,
        summary=command.summary,
        body=command.body,
    ),
    ask.PassRanking: lambda command, _: did.RankingPassed(
        agent=command.agent, why=command.why, failure=command.failure
    ),
    ask.SetMotion: lambda command, _: did.MotionSet(
        text=command.text, by=command.by, chosen=command.chosen
    ),
    ask.OpenSession: lambda command, _: did.SessionOpened(
        session=command.session, file=command.file
    ),
    ask.NoteCall: _call_noted,
    ask.EndRun: lambda command, _: did.RunEnded(
        stop=command.stop, turns=command.turns, detail=command.detail
    ),
    ask.RecordResult: _result_recorded,
    ask.Approve: lambda command, context: did.PersonApproved(
        reason=command.reason, attended=context.actor.attended
    ),
    ask.Veto: lambda command, context: did.PersonVetoed(
        reason=command.reason, attended=context.actor.attended
    ),
    ask.Amend: _person_amended,
    ask.SendBack: lambda command, context: did.PersonSentBack(
        reason=command.reason, attended=context.actor.attended
    ),
    ask.NameSuccessor: lambda command, _: did.SuccessorNamed(decision=command.decision),
    ask.MakeReceipt: lambda command, _: Draft(
        did.ReceiptMade(receipt=command.receipt.sha256), (command.receipt,)
    ),
    ask.JudgeOutcome: _outcome_judged,
}


def _outcome_row(event: did.OutcomeJudged, at: Millis) -> dict[str, Any]:
    """What a track record is counted from, so that no history has to be read again."""
    return {
        "outcome": event.outcome,
        "answer": event.answer,
        "at": at,
        "forecasts": [msgspec.to_builtins(each) for each in event.forecasts],
    }


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """First answers that are missing; then, once there is a result, a person's word (DEC-018)."""
    subject = shorten_question(state.question)
    if state.stage is Stage.ANSWERING:
        missing = tuple(_answer_due(state, name, subject) for name in state.unanswered)
        return missing or tuple(_rankings_due(state, subject))
    if state.stage is Stage.WAITING:
        hint = suggest_decide_command("ID", state.result)
        return (Due(who=OPERATOR, what="decide", subject=subject, hint=hint),)
    return ()


def _answer_due(state: State, name: str, subject: str) -> Due:
    """A seat that is played elsewhere answers itself; another one is asked by a run."""
    seat = state.find_seat(name)
    elsewhere = seat is not None and not seat.spec
    return Due(
        who=name,
        what="answer",
        subject=subject,
        since=state.asked_at,
        by=state.answers_by,
        hint="moot council answer ID TEXT" if elsewhere else "moot ask --resume ID",
        command=None
        if state.answers_by is None
        else ask.PassAnswer(agent=name, why="no answer came in time"),
    )


def _rankings_due(state: State, subject: str) -> Iterable[Due]:
    """Rankings that are missing; then, where they leave it open, a person's pick (DEC-037)."""
    for name in list_unranked(state):
        yield Due(who=name, what="ranking", subject=subject, hint="moot ask --resume ID")
    if needs_pick(state):
        hint = "moot ask --resume ID --motion N"
        yield Due(who=OPERATOR, what="pick", subject=subject, hint=hint)


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    event, place = recorded.event, recorded.stream
    if isinstance(event, did.QuestionAsked):
        yield Put("open", place, {})
        row = {"question": event.question[:500], "supersedes": event.supersedes}
        yield Put(QUESTIONS, place, row)
        yield Words(QUESTIONS, place, event.question)  # DEC-018: questions can be found
        for seat in event.seats:
            yield Put(VOICES, seat.agent, {"question": place})  # the newest one it was asked
    elif isinstance(event, did.SessionOpened):
        if STREAM.match(event.session):
            yield Put(SESSIONS, f"{event.session} {place}", {})
    elif isinstance(event, did.PersonApproved | did.PersonVetoed | did.PersonAmended):
        yield Drop("open", place)
    elif isinstance(event, did.OutcomeJudged):
        yield Put(OUTCOMES, place, _outcome_row(event, recorded.at))  # the newest word counts


MACHINE: Machine[State] = Machine(
    name=PROTOCOL,
    version=8,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=lambda _state, _now: (),
    guarded=frozenset(ask.PERSONS),
)
