"""The checks behind the rules of a session: each yields what is wrong, and where.

A check sees the command in its moment (`Asked`) and nothing else. Places are JSON paths of the
message, or fields of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from moot.parliament import amendments, clock, discipline, motives, sentences, votes
from moot.parliament import contents as said
from moot.parliament.asked import Asked, next_version
from moot.parliament.concessions import too_early
from moot.parliament.drafter import choose
from moot.parliament.messages import as_document
from moot.parliament.model import MAX_ROUNDS, Amendment
from moot.parliament.phases import (
    COMMANDS,
    DECISIONS,
    IN_A_ROUND,
    MESSAGES,
    RULED_IN_A_ROUND,
    RULINGS,
    listed,
)
from moot.parliament.shapes import join
from moot.parliament.words import RulingAction, Status, Word

Breaches = Iterator[tuple[str, str | None]]
Check = Callable[[Asked], Breaches]

MAX_EXTENSION = 12


# Who asks.


def not_convened(asked: Asked) -> Breaches:
    if asked.state.status is None:
        yield "", None


def not_system(asked: Asked) -> Breaches:
    if not asked.is_system:
        yield "", None


def not_the_speaker(asked: Asked) -> Breaches:
    if not asked.is_system:
        yield "", "from"


def not_a_person(asked: Asked) -> Breaches:
    if not asked.is_human:
        yield "", "from"


def neither_speaker_nor_person(asked: Asked) -> Breaches:
    if not asked.is_system and not asked.is_human:
        yield "", None


def not_seated(asked: Asked) -> Breaches:
    if asked.seat is None:
        yield f"{asked.context.actor.id} has no seat in this session", "from"


def foreign_sender(asked: Asked) -> Breaches:
    seat, response = asked.seat, asked.response
    if seat is not None and response is not None and response.sender != seat.id:
        yield f"this comes from {seat.id}, not from {response.sender}", "from"


def is_expelled(asked: Asked) -> Breaches:
    if asked.seat is not None and asked.seat.expelled:
        yield f"{asked.seat.id} was expelled", "from"


def is_quiet(asked: Asked) -> Breaches:
    """C-10: what a quiet seat may not send, a motion beside an answer included."""
    seat, response = asked.seat, asked.response
    if seat is None or response is None or not seat.is_quiet:
        return
    if response.type in discipline.SILENCED:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "from"
    elif response.motion is not None:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "motion"


# When.


def wrong_phase(asked: Asked) -> Breaches:
    """C-22: everything has its status."""
    status = asked.state.status
    fits = COMMANDS.get(type(asked.command))
    if status is not None and fits is not None and status not in fits:
        yield f"this belongs to {listed(fits)}; the session is in {status}", None


def wrong_moment(asked: Asked) -> Breaches:
    response, status = asked.response, asked.state.status
    if response is None or status is None:
        return
    fits = MESSAGES.get(response.type, ())
    if status not in fits:
        yield f"{response.type} belongs to {listed(fits)}; the session is in {status}", "type"
    elif response.type in IN_A_ROUND and not asked.state.round.running:
        yield f"{response.type} needs a running round", "type"


def wrong_ruling_moment(asked: Asked) -> Breaches:
    state, action = asked.state, asked.said.action
    fits, where = RULINGS[action], "content.action"
    if state.status is None:
        return
    if state.status not in fits:
        yield f"{action} belongs to {listed(fits)}; the session is in {state.status}", where
    elif action in RULED_IN_A_ROUND and not state.round.running:
        yield f"{action} needs a running round", where
    elif action is RulingAction.ROUND_START and state.round.running:
        yield f"round {state.round.number} is still running", where


def wrong_decision_moment(asked: Asked) -> Breaches:
    status, fits = asked.state.status, DECISIONS[asked.said.decision]
    if status is not None and status not in fits:
        where = "content.decision"
        yield f"{asked.said.decision} belongs to {listed(fits)}; the session is in {status}", where


# The clock.


def over_the_cap(asked: Asked) -> Breaches:
    state = asked.state
    if state.round.running and clock.asked_out(state):
        yield f"round {state.round.number} has {clock.cap(state)} exchanges, all asked", "type"


def after_the_cap(asked: Asked) -> Breaches:
    state = asked.state
    if clock.ran_out(state):
        yield f"all {clock.cap(state)} exchanges of round {state.round.number} took place", "type"


def ruling_after_the_cap(asked: Asked) -> Breaches:
    if clock.ran_out(asked.state) and asked.said.action not in clock.AFTER_THE_CAP:
        yield f"{asked.said.action} must wait", "content.action"


def no_round_left(asked: Asked) -> Breaches:
    state = asked.state
    if asked.said.action is RulingAction.ROUND_START and clock.last_round(state):
        yield f"round {state.round.number} of {state.max_rounds} was the last", "content.action"


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


# Opening statements and drafts.


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


# Questions and answers.


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


# Amendments.


def repeated_amendment(asked: Asked) -> Breaches:
    name = asked.said.amendment_id
    if name in asked.state.amendments:
        yield f"{name} was proposed before", "content.amendment_id"


def unknown_amendment(asked: Asked) -> Breaches:
    if asked.amendment is None:
        yield f"there is no {asked.command.amendment_id}", "amendment_id"


def closed_amendment(asked: Asked) -> Breaches:
    amendment = asked.amendment
    if amendment is not None and not amendment.pending:
        yield f"{amendment.amendment_id} is {amendment.status}", "amendment_id"


def _pending(asked: Asked) -> Amendment | None:
    return asked.amendment if asked.amendment is not None and asked.amendment.pending else None


def not_the_proposer(asked: Asked) -> Breaches:
    amendment = asked.amendment
    if amendment is not None and (asked.seat is None or asked.seat.id != amendment.proposed_by):
        yield f"{amendment.proposed_by} proposed it", "amendment_id"


def neither_speaker_nor_drafter(asked: Asked) -> Breaches:
    drafts = asked.seat is not None and asked.seat.id == asked.state.drafter
    if not asked.is_system and not drafts:
        yield "", "amendment_id"


def drafter_gone(asked: Asked) -> Breaches:
    drafter = asked.state.seats.get(asked.state.drafter or "")
    if drafter is not None and drafter.expelled:
        yield f"{drafter.id} was expelled", "amendment_id"


def opposed(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendments.opposed(amendment):
        yield f"more are against {amendment.amendment_id} than for it", "amendment_id"


def not_endorsed(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is None or amendments.opposed(amendment):
        return
    if not amendments.carried(amendment, asked.state.drafter):
        yield f"{amendment.amendment_id} has not enough support", "amendment_id"


def draft_needed(asked: Asked) -> Breaches:
    """C-26: what cannot be carried out to the letter, the drafter words."""
    amendment, bill = _pending(asked), asked.state.bill
    if amendment is None or bill is None or asked.command.draft is not None:
        return
    if amendments.carried_out(bill, amendment) is None:
        action, section = amendment.action, amendment.target_section
        yield f"this {action} of {section} cannot be carried out to the letter", "draft"


def draft_astray(asked: Asked) -> Breaches:
    amendment, bill = _pending(asked), asked.state.bill
    if amendment is not None and bill is not None and asked.draft is not None:
        yield from amendments.draft_breaches(bill, amendment, asked.draft)


def not_unclear_yet(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendment.exchanges < amendments.UNCLEAR_AFTER:
        yield f"{amendment.exchanges} exchanges were about it", "amendment_id"


def called_before(asked: Asked) -> Breaches:
    amendment = _pending(asked)
    if amendment is not None and amendment.formal:
        yield f"a vote on {amendment.amendment_id} was called", "amendment_id"


def round_not_running(asked: Asked) -> Breaches:
    if asked.state.status is Status.DEBATE and not asked.state.round.running:
        yield "", None


# Votes.


def already_voted(asked: Asked) -> Breaches:
    poll = asked.state.poll
    if poll is not None and asked.seat is not None and asked.seat.id in poll.votes:
        yield f"{asked.seat.id} has voted", "type"


def ballot_closed(asked: Asked) -> Breaches:
    if asked.state.poll is not None and asked.state.poll.closed:
        yield "", "type"


def gate_shut(asked: Asked) -> Breaches:
    """PAR-035."""
    state = asked.state
    if asked.said.action is not RulingAction.CALL_VOTE or state.status is not Status.DEBATE:
        return
    if not motives.may_vote(state):
        low = (f"{one.motive} of {one.seat} ({one.score or '-'})" for one in _low(asked))
        yield f"below 3: {', '.join(low)}", "content.action"


def _low(asked: Asked) -> list[motives.Underserved]:
    return motives.underserved(asked.state)[:5]


def voted_before(asked: Asked) -> Breaches:
    state = asked.state
    if asked.said.action is not RulingAction.CALL_VOTE or state.status is not Status.DEBATE:
        return
    if state.round.number == 0:
        yield "no round has started", "content.action"
    elif votes.voted_this_round(state):
        yield f"round {state.round.number} has had its vote", "content.action"


def unknown_target(asked: Asked) -> Breaches:
    target = asked.said.target
    if target is not None and target not in asked.state.seats:
        yield f"{target} is no seat of this session", "content.target"


def silent_target(asked: Asked) -> Breaches:
    seat, action = asked.state.seats.get(asked.said.target or ""), asked.said.action
    if seat is None or action not in (RulingAction.NEXT_SPEAKER, RulingAction.QUIET):
        return
    if seat.expelled:
        yield f"{seat.id} was expelled", "content.target"
    elif seat.is_quiet and action is RulingAction.NEXT_SPEAKER:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "content.target"


def votes_missing(asked: Asked) -> Breaches:
    if asked.state.poll is not None and not votes.ready(asked.state):
        yield f"{', '.join(votes.missing(asked.state))} did not vote yet", None


def wrong_tally(asked: Asked) -> Breaches:
    """PAR-071: the tally follows from the ballots."""
    poll = asked.state.poll
    if poll is None or not votes.ready(asked.state):
        return
    due = as_document(votes.tally(asked.state, poll))
    given = as_document(asked.said)
    for name, value in due.items():
        if given.get(name) != value and name != "key_objections":
            yield f"the ballots say {value}", f"content.{name}"


def nothing_to_default(asked: Asked) -> Breaches:
    due = {seat.id for seat in discipline.expelled_to_vote(asked.state)}
    if asked.state.poll is not None and asked.command.seat not in due:
        yield f"{asked.command.seat} is no expelled seat without a vote", "seat"


# The prime minister.


def amended_text_missing(asked: Asked) -> Breaches:
    amends = asked.said.decision is Word.AMEND_AND_APPROVE
    if amends and getattr(asked.command, "draft", None) is None:
        yield "", "draft"


def needless_draft(asked: Asked) -> Breaches:
    amends = asked.said.decision is Word.AMEND_AND_APPROVE
    if not amends and getattr(asked.command, "draft", None) is not None:
        yield "", "draft"


def bad_extension(asked: Asked) -> Breaches:
    more = getattr(asked.command, "extend_rounds", 0)
    if more == 0:
        return
    if asked.said.decision is not Word.VETO:
        yield "only a veto grants further rounds", "extend_rounds"
    elif not 1 <= more <= MAX_EXTENSION or asked.state.max_rounds + more > MAX_ROUNDS:
        yield f"{more} is not 1 to {MAX_EXTENSION}, or over {MAX_ROUNDS} in all", "extend_rounds"


def nothing_owed(asked: Asked) -> Breaches:
    if not asked.state.owed:
        yield "", None


def summary_of_no_round(asked: Asked) -> Breaches:
    summary = asked.command.summary
    number = summary.get("round") if isinstance(summary, dict) else None
    this = asked.state.round
    ended = this.number if not this.running else this.number - 1
    if isinstance(number, int) and not 1 <= number <= ended:
        yield f"round {number} has not ended", "summary.round"


def summary_length(asked: Asked) -> Breaches:
    """PAR-122."""
    summary = asked.command.summary
    text = summary.get("summary") if isinstance(summary, dict) else None
    if isinstance(text, str) and text.strip() and not 2 <= sentences.count(text) <= 3:
        yield "a summary takes 2 or 3 sentences", "summary.summary"


def unknown_unread_seat(asked: Asked) -> Breaches:
    """Only a seat's own holder, or the clerk, says that its reply cannot be read."""
    named = asked.command.seat
    if asked.is_system:
        if named is None or named not in asked.state.seats:
            yield f"{named} is no seat of this session", "seat"
    elif asked.seat is None or named not in (None, asked.seat.id):
        yield "", "seat"
