"""Checks on what seats say: statements, drafts, questions, answers, the length of a response."""

from __future__ import annotations

from moot.protocols.parliament import clock
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.case import (
    Breaches,
    ExchangeCase,
    MessageCase,
    ParliamentCase,
    next_bill_version,
)
from moot.protocols.parliament.concessions import is_too_early
from moot.protocols.parliament.drafter import choose_drafter
from moot.protocols.parliament.messages import contents, sentences
from moot.protocols.parliament.messages.shapes import join_path
from moot.protocols.parliament.messages.words import SessionStatus

AnswerCase = MessageCase[ask.Submit, contents.Answer]


def over_budget(case: ExchangeCase) -> Breaches:
    """PAR-106; where the reply is stored it is cut instead (C-08)."""
    count, budget = count_budget_sentences(case.content), clock.sentence_budget(case.state)
    if case.command.raw is None and count > budget:
        asks = isinstance(case.content, contents.Question)
        where = "content.question" if asks else "content.answer"
        yield f"{count} sentences, the budget of this round is {budget}", where


def count_budget_sentences(content: contents.Content) -> int:
    """The sentences that the budget counts: those of a question, or of an answer as a whole."""
    if isinstance(content, contents.Question):
        return sentences.count(content.question)
    if isinstance(content, contents.Answer):
        return sentences.count(content.answer) + sentences.count(content.concessions)
    return 0


def already_opened(case: MessageCase[ask.Submit, contents.OpeningStatement]) -> Breaches:
    if case.seat is not None and case.seat.opened:
        yield f"{case.seat.id} has made its opening statement", "type"


def uneven_statement(case: MessageCase[ask.Submit, contents.OpeningStatement]) -> Breaches:
    """PAR-022: an approach of 3 to 5 sentences, a principle of one."""
    direction = case.content.direction
    if not 3 <= sentences.count(direction.approach) <= 5:
        yield "the approach takes 3 to 5 sentences", "content.direction.approach"
    if sentences.count(direction.principle) != 1:
        yield "the principle takes one sentence", "content.direction.principle"


def statements_missing(case: ParliamentCase[ask.CloseStatements]) -> Breaches:
    missing = [
        seat.id for seat in case.state.seats_in_order() if not seat.opened and not seat.expelled
    ]
    if missing:
        yield f"{', '.join(missing)} did not speak yet", None


def not_the_drafter(case: MessageCase[ask.Submit, contents.BillDraft]) -> Breaches:
    if case.seat is not None and case.seat.id != case.state.drafter:
        yield f"{case.state.drafter or 'nobody'} drafts this bill", "from"


def wrong_version(case: MessageCase[ask.Submit, contents.BillDraft]) -> Breaches:
    due = next_bill_version(case.state)
    if case.content.bill_version != due:
        yield f"the next version is {due}, not {case.content.bill_version}", "content.bill_version"


def wrong_draft_version(
    case: ParliamentCase[ask.Incorporate | ask.Submit | ask.Decide],
) -> Breaches:
    due = next_bill_version(case.state)
    if case.draft is not None and case.draft.bill_version != due:
        yield f"the next version is {due}, not {case.draft.bill_version}", "draft.bill_version"


def drafter_in_office(case: ParliamentCase[ask.ChooseDrafter]) -> Breaches:
    """A second choice is only for a drafter who was expelled."""
    state = case.state
    if state.status in (SessionStatus.DRAFTING, SessionStatus.DEBATE) and state.drafter is not None:
        drafter = state.seats.get(state.drafter)
        if drafter is not None and not drafter.expelled:
            yield f"{state.drafter} drafts the bill", "seat"


def unfit_drafter(case: ParliamentCase[ask.ChooseDrafter]) -> Breaches:
    named = case.command.seat
    if named is None:
        if case.state.status is not None and choose_drafter(case.state) is None:
            yield "everyone was expelled", "seat"
        return
    seat = case.state.seats.get(named)
    if seat is None:
        yield f"{named} is no seat of this session", "seat"
    elif seat.expelled:
        yield f"{named} was expelled", "seat"


def someone_left(case: ParliamentCase[ask.EndUndrafted]) -> Breaches:
    able = [seat.id for seat in case.state.seats_in_order() if not seat.expelled]
    if able:
        yield f"{', '.join(able)} can draft", None


def unknown_receiver(case: MessageCase[ask.Submit, contents.Question]) -> Breaches:
    to = case.response.to
    if to is not None and to not in case.state.seats:
        yield f"{to} is no seat of this session", "to"


def silent_receiver(case: MessageCase[ask.Submit, contents.Question]) -> Breaches:
    to = case.state.seats.get(case.response.to or "")
    if to is not None and to.expelled:
        yield f"{to.id} was expelled", "to"
    elif to is not None and to.is_quiet:
        yield f"{to.id} is quiet until round {to.quiet_until_round}", "to"


def not_an_open_question(case: AnswerCase) -> Breaches:
    this, reply = case.state.round, case.response.in_reply_to
    if reply is None or reply in this.questions or not this.running:
        return
    if reply in this.answered:
        yield f"{reply} was answered", "in_reply_to"
    else:
        yield f"{reply} is no open question of this round", "in_reply_to"


def not_asked(case: AnswerCase) -> Breaches:
    response = case.response
    question = case.state.round.questions.get(response.in_reply_to or "")
    if question is None:
        return
    if question.asked != response.sender:
        yield f"{question.id} was put to {question.asked}", "in_reply_to"
    elif question.asker != response.to:
        yield f"{question.id} was asked by {question.asker}", "to"


def foreign_motives(case: MessageCase[ask.Submit, contents.Answer | contents.Vote]) -> Breaches:
    """PAR-032: one scores one's own motives."""
    if case.seat is None:
        return
    for motive in case.content.motive_scores:
        if motive not in case.seat.motives:
            where = join_path("content.motive_scores", motive)
            yield f"{motive!r} is no motive of {case.seat.id}", where


def conceded_early(case: AnswerCase) -> Breaches:
    stance, number = case.content.stance, case.state.round.number
    if is_too_early(stance, number):
        yield f"{stance} comes too early in round {number}", "content.stance"


def unknown_position(case: AnswerCase) -> Breaches:
    position = case.content.amendment_position
    if position is None:
        return
    amendment, where = case.state.amendments.get(position.amendment_id), _POSITION
    if amendment is None:
        yield f"there is no {position.amendment_id}", where
    elif not amendment.pending:
        yield f"{position.amendment_id} is {amendment.status}", where


_POSITION = "content.amendment_position.amendment_id"
