"""What seats say: statements, drafts, questions, answers, and the length of a response."""

from __future__ import annotations

from typing import Any

from moot.protocols.parliament import clock
from moot.protocols.parliament.admission import Breaches
from moot.protocols.parliament.asked import Asked, next_version
from moot.protocols.parliament.concessions import too_early
from moot.protocols.parliament.drafter import choose
from moot.protocols.parliament.messages import contents as said
from moot.protocols.parliament.messages import sentences
from moot.protocols.parliament.messages.shapes import join
from moot.protocols.parliament.messages.words import Status


def over_budget(asked: Asked) -> Breaches:
    """PAR-106; where the reply is stored it is cut instead (C-08)."""
    if asked.command.raw is None and spoken(asked.said) > clock.budget(asked.state):
        most, where = clock.budget(asked.state), _TEXT[type(asked.said)]
        yield f"{spoken(asked.said)} sentences, the budget of this round is {most}", where


_TEXT: dict[type[Any], str] = {said.Question: "content.question", said.Answer: "content.answer"}


def spoken(content: Any) -> int:
    """The sentences of a response."""
    if isinstance(content, said.Question):
        return sentences.count(content.question)
    if isinstance(content, said.Answer):
        return sentences.count(content.answer) + sentences.count(content.concessions)
    return 0


def already_opened(asked: Asked) -> Breaches:
    if asked.seat is not None and asked.seat.opened:
        yield f"{asked.seat.id} has made its opening statement", "type"


def uneven_statement(asked: Asked) -> Breaches:
    """PAR-022."""
    direction = asked.said.direction
    if not 3 <= sentences.count(direction.approach) <= 5:
        yield "the approach takes 3 to 5 sentences", "content.direction.approach"
    if sentences.count(direction.principle) != 1:
        yield "the principle takes one sentence", "content.direction.principle"


def statements_missing(asked: Asked) -> Breaches:
    missing = [seat.id for seat in asked.state.in_order() if not seat.opened and not seat.expelled]
    if missing:
        yield f"{', '.join(missing)} did not speak yet", None


def not_the_drafter(asked: Asked) -> Breaches:
    if asked.seat is not None and asked.seat.id != asked.state.drafter:
        yield f"{asked.state.drafter or 'nobody'} drafts this bill", "from"


def wrong_version(asked: Asked) -> Breaches:
    due = next_version(asked.state)
    if asked.said.bill_version != due:
        yield f"the next version is {due}, not {asked.said.bill_version}", "content.bill_version"


def wrong_draft_version(asked: Asked) -> Breaches:
    due = next_version(asked.state)
    if asked.draft is not None and asked.draft.bill_version != due:
        yield f"the next version is {due}, not {asked.draft.bill_version}", "draft.bill_version"


def drafter_in_office(asked: Asked) -> Breaches:
    """A second choice is only for a drafter who was expelled."""
    state = asked.state
    if state.status in (Status.DRAFTING, Status.DEBATE) and state.drafter is not None:
        drafter = state.seats.get(state.drafter)
        if drafter is not None and not drafter.expelled:
            yield f"{state.drafter} drafts the bill", "seat"


def unfit_drafter(asked: Asked) -> Breaches:
    named = asked.command.seat
    if named is None:
        if asked.state.status is not None and choose(asked.state) is None:
            yield "everyone was expelled", "seat"
        return
    seat = asked.state.seats.get(named)
    if seat is None:
        yield f"{named} is no seat of this session", "seat"
    elif seat.expelled:
        yield f"{named} was expelled", "seat"


def someone_left(asked: Asked) -> Breaches:
    able = [seat.id for seat in asked.state.in_order() if not seat.expelled]
    if able:
        yield f"{', '.join(able)} can draft", None


def unknown_receiver(asked: Asked) -> Breaches:
    to = asked.response.to if asked.response is not None else None
    if to is not None and to not in asked.state.seats:
        yield f"{to} is no seat of this session", "to"


def silent_receiver(asked: Asked) -> Breaches:
    to = asked.state.seats.get((asked.response and asked.response.to) or "")
    if to is not None and to.expelled:
        yield f"{to.id} was expelled", "to"
    elif to is not None and to.is_quiet:
        yield f"{to.id} is quiet until round {to.quiet_until_round}", "to"


def not_an_open_question(asked: Asked) -> Breaches:
    this, reply = asked.state.round, asked.response.in_reply_to if asked.response else None
    if reply is None or reply in this.questions or not this.running:
        return
    if reply in this.answered:
        yield f"{reply} was answered", "in_reply_to"
    else:
        yield f"{reply} is no open question of this round", "in_reply_to"


def not_asked(asked: Asked) -> Breaches:
    response = asked.response
    question = asked.state.round.questions.get((response and response.in_reply_to) or "")
    if response is None or question is None:
        return
    if question.asked != response.sender:
        yield f"{question.id} was put to {question.asked}", "in_reply_to"
    elif question.asker != response.to:
        yield f"{question.id} was asked by {question.asker}", "to"


def foreign_motives(asked: Asked) -> Breaches:
    """PAR-032: one scores one's own motives."""
    if asked.seat is None:
        return
    for motive in asked.said.motive_scores:
        if motive not in asked.seat.motives:
            where = join("content.motive_scores", motive)
            yield f"{motive!r} is no motive of {asked.seat.id}", where


def conceded_early(asked: Asked) -> Breaches:
    stance, number = asked.said.stance, asked.state.round.number
    if too_early(stance, number):
        yield f"{stance} comes too early in round {number}", "content.stance"


def unknown_position(asked: Asked) -> Breaches:
    position = asked.said.amendment_position
    if position is None:
        return
    amendment, where = asked.state.amendments.get(position.amendment_id), _POSITION
    if amendment is None:
        yield f"there is no {position.amendment_id}", where
    elif not amendment.pending:
        yield f"{position.amendment_id} is {amendment.status}", where


_POSITION = "content.amendment_position.amendment_id"
