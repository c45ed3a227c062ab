"""The state machine of one decision.

    new --asked--> answering --motion set--> moved --session opened--> arguing
                       `----------session opened (no first answers)-----^  |  ^
                                                                           |  '-another session
                                                                    result recorded
                                                                           v
                            approved | vetoed | amended  <--a person--  waiting
                                               arguing  <--sent back--    '

A person may decide before there is a result; the record then says so. A vetoed decision names its
successor. A parliament's result can also be sent back: the parliament continues. The table is
`TRANSITIONS`; the rules are in `rules.py`.
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
    fill_from,
    refusal,
    refuse,
)
from moot.core.names import OPERATOR, STREAM
from moot.protocols.decision import PROTOCOL, VOICES
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision.checks import commitment_offered, is_false_opening
from moot.protocols.decision.first_answers import list_unranked
from moot.protocols.decision.model import (
    AnswerRanking,
    ArguedSession,
    CallCost,
    ChamberVerdict,
    DecisionMotion,
    DecisionSeat,
    FirstAnswer,
    JudgedOutcome,
    PersonsRuling,
    SealedAnswer,
    Stage,
    State,
)
from moot.protocols.decision.rankings import needs_pick
from moot.protocols.decision.rules import RULES
from moot.protocols.decision.views import shorten_question, suggest_decide_command

# The state after each event. Total: everything in the ledger happened (DEC-020).

ANSWERED: Final = "answered"
# Endings of replies that were first counted as answered and then turned out to be unusable.
UNUSED_ENDINGS: Final = frozenset({"malformed", "refused", "overtaken"})

# A person may rule at every stage until there is a final ruling.
_RULING_STAGES: Final[dict[type[Event], Stage]] = {
    did.PersonApproved: Stage.APPROVED,
    did.PersonVetoed: Stage.VETOED,
    did.PersonAmended: Stage.AMENDED,
}
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.NEW: {did.QuestionAsked: Stage.ANSWERING},
    Stage.ANSWERING: {
        did.MotionSet: Stage.MOVED,
        did.SessionOpened: Stage.ARGUING,
        **_RULING_STAGES,
    },
    Stage.MOVED: {did.SessionOpened: Stage.ARGUING, **_RULING_STAGES},
    Stage.ARGUING: {did.ResultRecorded: Stage.WAITING, **_RULING_STAGES},
    Stage.WAITING: {did.PersonSentBack: Stage.ARGUING, **_RULING_STAGES},
    Stage.APPROVED: {},
    Stage.VETOED: {},
    Stage.AMENDED: {},
}


def evolve(state: State, recorded: Recorded[Any]) -> State:
    kind = type(recorded.event)
    stage = TRANSITIONS[state.stage].get(kind, state.stage)
    apply = _EVOLVE.get(kind)
    after = apply(state, recorded) if apply is not None else state
    # DEC-022: a receipt counts until something else happens; only then is another one signed.
    if after.receipt is not None and kind is not did.ReceiptMade:
        after = msgspec.structs.replace(after, receipt=None)
    return after if after.stage is stage else msgspec.structs.replace(after, stage=stage)


def _on_question_asked(state: State, recorded: Recorded[did.QuestionAsked]) -> State:
    event = recorded.event
    return msgspec.structs.replace(
        state,
        question=event.question,
        asked_by=recorded.actor.id,
        asked_at=recorded.at,
        context=event.context,
        options=event.options,
        chamber=event.chamber,
        rule=event.rule,
        rounds=event.rounds,
        seats=event.seats,
        supersedes=event.supersedes,
        answer_seconds=event.answer_seconds,
        choose=event.choose,
        is_sealed=event.sealed,
        quorum=event.quorum,
    )


def _on_answer_sealed(state: State, recorded: Recorded[did.AnswerSealed]) -> State:
    event, who = recorded.event, recorded.actor.id
    seal = SealedAnswer(event.commitment, event.prompt)
    return msgspec.structs.replace(state, seals=state.seals.set(who, seal))


def _on_seals_closed(state: State, recorded: Recorded[did.SealsClosed]) -> State:
    return msgspec.structs.replace(state, seals_checkpoint=recorded.event.number)


def _on_opening_refused(state: State, recorded: Recorded[did.OpeningRefused]) -> State:
    who = recorded.actor.id
    seal = state.seals.get(who)
    if seal is None:
        return state
    counted = msgspec.structs.replace(seal, refused=seal.refused + 1)
    return msgspec.structs.replace(state, seals=state.seals.set(who, counted))


def _on_answer_given(state: State, recorded: Recorded[did.AnswerGiven]) -> State:
    event, who = recorded.event, recorded.actor.id
    answer = FirstAnswer(who, event.answer, event.why, event.motives)
    return msgspec.structs.replace(state, answers=state.answers.set(who, answer))


def _on_answer_passed(state: State, recorded: Recorded[did.AnswerPassed]) -> State:
    event = recorded.event
    answer = FirstAnswer(event.agent, None, event.why, failure=event.failure)
    return msgspec.structs.replace(state, answers=state.answers.set(event.agent, answer))


def _on_answers_ranked(state: State, recorded: Recorded[did.AnswersRanked]) -> State:
    event, who = recorded.event, recorded.actor.id
    ranking = AnswerRanking(who, event.ranking, event.votes, event.summary, event.body)
    return msgspec.structs.replace(state, rankings=state.rankings.set(who, ranking))


def _on_ranking_passed(state: State, recorded: Recorded[did.RankingPassed]) -> State:
    event = recorded.event
    ranking = AnswerRanking(event.agent, failure=event.failure or event.why)
    return msgspec.structs.replace(state, rankings=state.rankings.set(event.agent, ranking))


def _on_motion_set(state: State, recorded: Recorded[did.MotionSet]) -> State:
    event = recorded.event
    motion = DecisionMotion(event.text, event.by, event.chosen)
    return msgspec.structs.replace(state, motion=motion)


def _on_session_opened(state: State, recorded: Recorded[did.SessionOpened]) -> State:
    event = recorded.event
    opened = ArguedSession(event.session, event.file)
    return msgspec.structs.replace(state, session=opened, earlier_sessions=state.sessions)


def _on_call_noted(state: State, recorded: Recorded[did.CallNoted]) -> State:
    event = recorded.event
    purse = state.purses.get(event.agent, CallCost()) + event.cost
    count = state.endings.get(event.ending, 0) + 1
    return msgspec.structs.replace(
        state,
        seats=_with_model(state.seats, event),
        purses=state.purses.set(event.agent, purse),
        endings=state.endings.set(event.ending, count),
        turns=state.turns + _turns_added(event),
    )


def _turns_added(event: did.CallNoted) -> int:
    """Count +1 for a reply, and -1 when a later note says that this reply was unusable."""
    if event.ending == ANSWERED:
        return 1
    return -1 if event.ending in UNUSED_ENDINGS and not event.cost.calls else 0


def _with_model(seats: tuple[DecisionSeat, ...], event: did.CallNoted) -> tuple[DecisionSeat, ...]:
    """Fill in the model of this agent's seat: programs name their model with the first answer."""
    if event.model is None or all(seat.model for seat in seats):
        return seats
    return tuple(
        msgspec.structs.replace(seat, model=event.model)
        if seat.agent == event.agent and seat.model is None
        else seat
        for seat in seats
    )


def _on_run_ended(state: State, recorded: Recorded[did.RunEnded]) -> State:
    return msgspec.structs.replace(state, runs=state.runs + 1, stopped=recorded.event.stop)


def _on_result_recorded(state: State, recorded: Recorded[did.ResultRecorded]) -> State:
    event = recorded.event
    verdict = ChamberVerdict(
        event.result, event.summary, event.score, event.approvers, event.dissent, event.absent
    )
    return msgspec.structs.replace(state, verdict=verdict)


def _on_ruling(state: State, recorded: Recorded[Any]) -> State:
    ruling = _build_ruling(recorded, _RULING_STAGES[type(recorded.event)])
    return msgspec.structs.replace(state, word=ruling)


def _build_ruling(recorded: Recorded[Any], word: Stage) -> PersonsRuling:
    event, who = recorded.event, recorded.actor.id
    text: str | None = getattr(event, "text", None)
    return PersonsRuling(word, who, event.reason, recorded.at, event.attended, text)


def _on_sent_back(state: State, recorded: Recorded[did.PersonSentBack]) -> State:
    """Drop the vetoed result: the parliament continues and votes again."""
    vetoes = (*state.sent_back, _build_ruling(recorded, Stage.VETOED))
    return msgspec.structs.replace(state, sent_back=vetoes, verdict=None)


def _on_successor_named(state: State, recorded: Recorded[did.SuccessorNamed]) -> State:
    return msgspec.structs.replace(state, superseded_by=recorded.event.decision)


def _on_receipt_made(state: State, recorded: Recorded[did.ReceiptMade]) -> State:
    return msgspec.structs.replace(state, receipt=recorded.event.receipt)


def _on_outcome_judged(state: State, recorded: Recorded[did.OutcomeJudged]) -> State:
    event = recorded.event
    judged = JudgedOutcome(
        event.outcome,
        recorded.actor.id,
        event.reason,
        recorded.at,
        event.attended,
        event.answer,
    )
    first = state.first_outcome or judged
    return msgspec.structs.replace(state, first_outcome=first, outcome=judged)


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    did.QuestionAsked: _on_question_asked,
    did.AnswerSealed: _on_answer_sealed,
    did.SealsClosed: _on_seals_closed,
    did.OpeningRefused: _on_opening_refused,
    did.AnswerGiven: _on_answer_given,
    did.AnswerPassed: _on_answer_passed,
    did.AnswersRanked: _on_answers_ranked,
    did.RankingPassed: _on_ranking_passed,
    did.MotionSet: _on_motion_set,
    did.SessionOpened: _on_session_opened,
    did.CallNoted: _on_call_noted,
    did.RunEnded: _on_run_ended,
    did.ResultRecorded: _on_result_recorded,
    did.PersonApproved: _on_ruling,
    did.PersonVetoed: _on_ruling,
    did.PersonAmended: _on_ruling,
    did.PersonSentBack: _on_sent_back,
    did.SuccessorNamed: _on_successor_named,
    did.ReceiptMade: _on_receipt_made,
    did.OutcomeJudged: _on_outcome_judged,
}


__all__ = ["MACHINE", "TRANSITIONS"]

QUESTIONS: Final = "decision.questions"
# Which decisions a session belongs to; a key is the session, a blank, the decision's stream.
SESSIONS: Final = "decision.sessions"
OUTCOMES: Final = "decision.outcomes"


def decide(state: State, command: Command, context: Context) -> Decision:
    rules = RULES.get(type(command))
    if rules is None:
        return refusal(
            "DEC-001", "unknown_command", "a decision has no such command", hint="update moot"
        )
    known = {"ID": context.stream.partition("/")[2]}
    findings = fill_hints(check_all(rules, Case(state, command, context)), known)
    if select_errors(findings):
        return refuse(findings, *_events_of_refusal(state, command, context))
    return accept(_EVENT_OF[type(command)](command, context), findings=findings)


def _events_of_refusal(state: State, command: Command, context: Context) -> Iterable[Event]:
    """DEC-038: record the attempt to open a sealed answer with another text."""
    if isinstance(command, ask.GiveAnswer) and is_false_opening(state, command, context):
        yield did.OpeningRefused(offered=commitment_offered(command, context))


def _question_asked(command: ask.AskQuestion, _context: Context) -> Draft:
    cited = () if command.context is None else (command.context,)
    event = fill_from(
        did.QuestionAsked,
        command,
        question=command.question.strip(),
        context=None if command.context is None else command.context.sha256,
    )
    return Draft(event, cited)


def _answer_sealed(command: ask.SealAnswer, _context: Context) -> Draft:
    prompt = command.prompt
    event = did.AnswerSealed(
        commitment=command.commitment, prompt=None if prompt is None else prompt.sha256
    )
    return Draft(event, () if prompt is None else (prompt,))


def _person_amended(command: ask.Amend, context: Context) -> Draft:
    """DEC-015: store the amended text, and cite it by its hash."""
    event = did.PersonAmended(
        reason=command.reason, attended=context.actor.attended, text=command.text.sha256
    )
    return Draft(event, (command.text,))


def _as_asked(kind: type[Event]) -> Callable[[Any, Context], Event]:
    return lambda command, _context: fill_from(kind, command)


def _by_person(kind: type[Event]) -> Callable[[Any, Context], Event]:
    return lambda command, context: fill_from(kind, command, attended=context.actor.attended)


_EVENT_OF: Final[dict[type[Command], Callable[[Any, Context], Event | Draft]]] = {
    ask.AskQuestion: _question_asked,
    ask.SealAnswer: _answer_sealed,
    ask.CloseSeals: _as_asked(did.SealsClosed),
    ask.GiveAnswer: lambda command, _: fill_from(
        did.AnswerGiven, command, answer=command.answer.strip()
    ),
    ask.PassAnswer: _as_asked(did.AnswerPassed),
    ask.RankAnswers: _as_asked(did.AnswersRanked),
    ask.PassRanking: _as_asked(did.RankingPassed),
    ask.SetMotion: _as_asked(did.MotionSet),
    ask.OpenSession: _as_asked(did.SessionOpened),
    ask.NoteCall: lambda command, _: fill_from(
        did.CallNoted, command, model=None if command.model is None else command.model[:200]
    ),
    ask.EndRun: _as_asked(did.RunEnded),
    ask.RecordResult: _as_asked(did.ResultRecorded),
    ask.Approve: _by_person(did.PersonApproved),
    ask.Veto: _by_person(did.PersonVetoed),
    ask.Amend: _person_amended,
    ask.SendBack: _by_person(did.PersonSentBack),
    ask.NameSuccessor: _as_asked(did.SuccessorNamed),
    ask.MakeReceipt: lambda command, _: Draft(
        did.ReceiptMade(receipt=command.receipt.sha256), (command.receipt,)
    ),
    ask.JudgeOutcome: lambda command, context: fill_from(
        did.OutcomeJudged,
        command,
        attended=context.actor.attended,
        answer=command.answer.strip(),
    ),
}


def _outcome_row(event: did.OutcomeJudged, at: Millis) -> dict[str, Any]:
    """Return the row that track records are counted from, so that nothing replays the stream."""
    return {
        "outcome": event.outcome,
        "answer": event.answer,
        "at": at,
        "forecasts": [msgspec.to_builtins(each) for each in event.forecasts],
    }


def agenda(state: State, _now: Millis) -> tuple[Due, ...]:
    """List missing first answers and rankings; once there is a result, the ruling (DEC-018)."""
    subject = shorten_question(state.question)
    if state.stage is Stage.ANSWERING:
        missing = tuple(_answer_due(state, name, subject) for name in state.unanswered)
        return missing or tuple(_rankings_due(state, subject))
    if state.stage is Stage.WAITING:
        hint = suggest_decide_command("ID", state.result)
        return (Due(who=OPERATOR, what="decide", subject=subject, hint=hint),)
    return ()


def _answer_due(state: State, name: str, subject: str) -> Due:
    """List a missing answer. A seat without a program answers itself; a run asks the others."""
    seat = state.find_seat(name)
    answers_itself = seat is not None and not seat.spec
    return Due(
        who=name,
        what="answer",
        subject=subject,
        since=state.asked_at,
        by=state.answers_by,
        hint="moot council answer ID TEXT" if answers_itself else "moot ask --resume ID",
        command=None
        if state.answers_by is None
        else ask.PassAnswer(agent=name, why="no answer came in time"),
    )


def _rankings_due(state: State, subject: str) -> Iterable[Due]:
    """List missing rankings; if they end in a tie, the pick that a person must make (DEC-037)."""
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
            # The newest question that this agent was asked.
            yield Put(VOICES, seat.agent, {"question": place})
    elif isinstance(event, did.SessionOpened):
        if STREAM.match(event.session):
            yield Put(SESSIONS, f"{event.session} {place}", {})
    elif isinstance(event, did.PersonApproved | did.PersonVetoed | did.PersonAmended):
        yield Drop("open", place)
    elif isinstance(event, did.OutcomeJudged):
        yield Put(OUTCOMES, place, _outcome_row(event, recorded.at))  # the newest judgement counts


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
