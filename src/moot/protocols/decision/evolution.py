"""The state after each event. Total: whatever stands in the ledger happened (DEC-020)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from moot.core.machine import Event, Recorded
from moot.protocols.decision import events as did
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

ANSWERED: Final = "answered"
# Endings of replies that were counted as answered and then turned out to be of no use.
UNUSED_ENDINGS: Final = frozenset({"malformed", "refused", "overtaken"})

# A person may decide at any stage until one has decided.
_WORDS: Final[dict[type[Event], Stage]] = {
    did.PersonApproved: Stage.APPROVED,
    did.PersonVetoed: Stage.VETOED,
    did.PersonAmended: Stage.AMENDED,
}
TRANSITIONS: Final[dict[Stage, dict[type[Event], Stage]]] = {
    Stage.NEW: {did.QuestionAsked: Stage.ANSWERING},
    Stage.ANSWERING: {did.MotionSet: Stage.MOVED, did.SessionOpened: Stage.ARGUING, **_WORDS},
    Stage.MOVED: {did.SessionOpened: Stage.ARGUING, **_WORDS},
    Stage.ARGUING: {did.ResultRecorded: Stage.WAITING, **_WORDS},
    Stage.WAITING: {did.PersonSentBack: Stage.ARGUING, **_WORDS},
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
    """+1 for a reply; -1 if the next note says that this reply was of no use."""
    if event.ending == ANSWERED:
        return 1
    return -1 if event.ending in UNUSED_ENDINGS and not event.cost.calls else 0


def _with_model(seats: tuple[DecisionSeat, ...], event: did.CallNoted) -> tuple[DecisionSeat, ...]:
    """The seats with the model of this agent, which a program names with its first answer."""
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


def _on_persons_word(state: State, recorded: Recorded[Any]) -> State:
    return msgspec.structs.replace(state, word=_build_word(recorded, _WORDS[type(recorded.event)]))


def _build_word(recorded: Recorded[Any], word: Stage) -> PersonsRuling:
    event, who = recorded.event, recorded.actor.id
    text: str | None = getattr(event, "text", None)
    return PersonsRuling(word, who, event.reason, recorded.at, event.attended, text)


def _on_sent_back(state: State, recorded: Recorded[did.PersonSentBack]) -> State:
    """A vetoed result no longer counts; the parliament argues on towards another."""
    vetoes = (*state.sent_back, _build_word(recorded, Stage.VETOED))
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
    did.PersonApproved: _on_persons_word,
    did.PersonVetoed: _on_persons_word,
    did.PersonAmended: _on_persons_word,
    did.PersonSentBack: _on_sent_back,
    did.SuccessorNamed: _on_successor_named,
    did.ReceiptMade: _on_receipt_made,
    did.OutcomeJudged: _on_outcome_judged,
}
