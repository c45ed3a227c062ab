"""Checks on what seats say: statements, drafts, questions, answers, the length of a response."""

from __future__ import annotations

from typing import Any

from moot.core.machine import Command
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import discipline, motives, round_clock, votes
from moot.protocols.parliament import votes as amendments
from moot.protocols.parliament.case import (
    AmendmentCommand,
    Breaches,
    DecisionCase,
    ExchangeCase,
    MessageCase,
    ParliamentCase,
    RulingCase,
    next_bill_version,
)
from moot.protocols.parliament.discipline import is_too_early
from moot.protocols.parliament.messages import contents, limits
from moot.protocols.parliament.messages.contents import (
    PrimeMinisterChoice,
    RulingAction,
    SessionStatus,
)
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.messages.shapes import join_path
from moot.protocols.parliament.model import MAX_ROUNDS
from moot.protocols.parliament.motives import choose_drafter

AnswerCase = MessageCase[ask.Submit, contents.Answer]


def over_budget(case: ExchangeCase) -> Breaches:
    """PAR-106; where the reply is stored it is cut instead (C-08)."""
    count, budget = count_budget_sentences(case.content), round_clock.sentence_budget(case.state)
    if case.command.raw is None and count > budget:
        asks = isinstance(case.content, contents.Question)
        where = "content.question" if asks else "content.answer"
        yield f"{count} sentences, the budget of this round is {budget}", where


def count_budget_sentences(content: contents.Content) -> int:
    """The sentences that the budget counts: those of a question, or of an answer as a whole."""
    if isinstance(content, contents.Question):
        return limits.count(content.question)
    if isinstance(content, contents.Answer):
        return limits.count(content.answer) + limits.count(content.concessions)
    return 0


def already_opened(case: MessageCase[ask.Submit, contents.OpeningStatement]) -> Breaches:
    if case.seat is not None and case.seat.opened:
        yield f"{case.seat.id} has made its opening statement", "type"


def uneven_statement(case: MessageCase[ask.Submit, contents.OpeningStatement]) -> Breaches:
    """PAR-022: an approach of 3 to 5 sentences, a principle of one."""
    direction = case.content.direction
    if not 3 <= limits.count(direction.approach) <= 5:
        yield "the approach takes 3 to 5 sentences", "content.direction.approach"
    if limits.count(direction.principle) != 1:
        yield "the principle takes one sentence", "content.direction.principle"


def statements_missing(case: ParliamentCase[ask.CloseStatements]) -> Breaches:
    missing = [
        seat.id for seat in case.state.seats_in_order() if not seat.opened and not seat.expelled
    ]
    if missing:
        yield f"{', '.join(missing)} did not speak yet", None


def not_the_drafter(case: MessageCase[ask.Submit, contents.BillDraft]) -> Breaches:
    if case.seat is not None and case.seat.id != case.state.drafter:
        yield f"{case.state.drafter or 'no seat'} drafts this bill", "from"


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


# Checks on amendments, votes, rulings, the prime minister's decisions and summaries.

MAX_EXTENSION = 12
# A refused vote names so many of the motives that hold it up.
_LOWEST_NAMED = 5


def repeated_amendment(case: MessageCase[ask.Submit, contents.AmendmentContent]) -> Breaches:
    name = case.content.amendment_id
    if name in case.state.amendments:
        free = amendments.next_amendment_id(case.state)
        yield f"{name} was proposed before; {free} is free", "content.amendment_id"


def too_many_amendments(case: MessageCase[ask.Submit, contents.AmendmentContent]) -> Breaches:
    state, seat, most = case.state, case.seat, amendments.MAX_PER_SEAT
    if seat is None:
        return
    pending = sum(amendment.proposed_by == seat.id for amendment in state.pending_amendments())
    if pending >= most:
        yield f"{pending} amendments of {seat.id} are pending", "type"
    elif state.round.proposed.get(seat.id, 0) >= most:
        yield f"{seat.id} has proposed {most} amendments in this round", "type"


def unknown_amendment(case: ParliamentCase[AmendmentCommand]) -> Breaches:
    if case.amendment is None:
        yield f"there is no {case.command.amendment_id}", "amendment_id"


def closed_amendment(case: ParliamentCase[AmendmentCommand]) -> Breaches:
    amendment = case.amendment
    if amendment is not None and not amendment.pending:
        yield f"{amendment.amendment_id} is {amendment.status}", "amendment_id"


def not_the_proposer(case: ParliamentCase[ask.Withdraw]) -> Breaches:
    amendment = case.amendment
    if amendment is not None and (case.seat is None or case.seat.id != amendment.proposed_by):
        yield f"{amendment.proposed_by} proposed it", "amendment_id"


def neither_speaker_nor_drafter(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    drafts = case.seat is not None and case.seat.id == case.state.drafter
    if not case.is_system and not drafts:
        yield "", "amendment_id"


def drafter_gone(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    drafter = case.state.seats.get(case.state.drafter or "")
    if drafter is not None and drafter.expelled:
        yield f"{drafter.id} was expelled", "amendment_id"


def opposed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendments.is_opposed(amendment):
        yield f"more are against {amendment.amendment_id} than for it", "amendment_id"


def not_endorsed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is None or amendments.is_opposed(amendment):
        return
    if not amendments.is_carried(amendment, case.state.drafter):
        yield f"{amendment.amendment_id} has not enough support", "amendment_id"


def draft_needed(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    """C-26: what cannot be carried out to the letter, the drafter words."""
    amendment, bill = case.pending_amendment, case.state.bill
    if amendment is None or bill is None or case.command.draft is not None:
        return
    if amendments.apply_amendment(bill, amendment) is None:
        action, section = amendment.action, amendment.target_section
        yield f"this {action} of {section} cannot be carried out to the letter", "draft"


def draft_astray(case: ParliamentCase[ask.Incorporate]) -> Breaches:
    amendment, bill = case.pending_amendment, case.state.bill
    if amendment is not None and bill is not None and case.draft is not None:
        yield from amendments.check_draft(bill, amendment, case.draft)


def not_unclear_yet(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendment.exchanges < amendments.UNCLEAR_AFTER:
        yield f"{amendment.exchanges} exchanges were about it", "amendment_id"


def called_before(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    amendment = case.pending_amendment
    if amendment is not None and amendment.formal:
        yield f"a vote on {amendment.amendment_id} was called", "amendment_id"


def round_not_running(case: ParliamentCase[ask.CallAmendmentVote]) -> Breaches:
    if case.state.status is SessionStatus.DEBATE and not case.state.round.running:
        yield "", None


def already_voted(case: MessageCase[ask.Submit, contents.Vote]) -> Breaches:
    poll = case.state.poll
    if poll is not None and case.seat is not None and case.seat.id in poll.votes:
        yield f"{case.seat.id} has voted", "type"


def ballot_closed(case: MessageCase[ask.Submit, contents.Vote]) -> Breaches:
    if case.state.poll is not None and case.state.poll.closed:
        yield "", "type"


def gate_shut(case: RulingCase) -> Breaches:
    """PAR-035: a vote waits while a motive scores below 3."""
    state = case.state
    if (
        case.content.action is not RulingAction.CALL_VOTE
        or state.status is not SessionStatus.DEBATE
    ):
        return
    if not motives.may_vote(state):
        lowest = motives.list_underserved(state)[:_LOWEST_NAMED]
        low = (f"{score.motive} of {score.seat} ({score.score or '-'})" for score in lowest)
        yield f"below 3: {', '.join(low)}", "content.action"


def voted_before(case: RulingCase) -> Breaches:
    state = case.state
    if (
        case.content.action is not RulingAction.CALL_VOTE
        or state.status is not SessionStatus.DEBATE
    ):
        return
    if state.round.number == 0:
        yield "no round has started", "content.action"
    elif votes.has_voted_this_round(state):
        yield f"round {state.round.number} has had its vote", "content.action"


def unknown_target(case: RulingCase) -> Breaches:
    target = case.content.target
    if target is not None and target not in case.state.seats:
        yield f"{target} is no seat of this session", "content.target"


def silent_target(case: RulingCase) -> Breaches:
    seat, action = case.state.seats.get(case.content.target or ""), case.content.action
    if seat is None or action not in (RulingAction.NEXT_SPEAKER, RulingAction.QUIET):
        return
    if seat.expelled:
        yield f"{seat.id} was expelled", "content.target"
    elif seat.is_quiet and action is RulingAction.NEXT_SPEAKER:
        yield f"{seat.id} is quiet until round {seat.quiet_until_round}", "content.target"


def votes_missing(case: ParliamentCase[Command]) -> Breaches:
    if case.state.poll is not None and not votes.is_ready_to_count(case.state):
        yield f"{', '.join(votes.seats_without_vote(case.state))} did not vote yet", None


def wrong_tally(case: MessageCase[ask.Submit, contents.VoteTally]) -> Breaches:
    """PAR-071: the tally follows from the ballots."""
    poll = case.state.poll
    if poll is None or not votes.is_ready_to_count(case.state):
        return
    due = to_document(votes.count_votes(case.state, poll))
    announced = to_document(case.content)
    for name, value in due.items():
        if announced.get(name) != value and name != "key_objections":
            yield f"the ballots say {value}", f"content.{name}"
    for place, objection in enumerate(case.content.key_objections):
        if objection.sender not in due["no_votes"]:
            where = f"content.key_objections[{place}].from"
            yield f"{objection.sender} did not vote NO", where


def nothing_to_default(case: ParliamentCase[ask.CastDefaultVote]) -> Breaches:
    due = {seat.id for seat in discipline.list_expelled_without_vote(case.state)}
    if case.state.poll is not None and case.command.seat not in due:
        yield f"{case.command.seat} is no expelled seat without a vote", "seat"


def amended_text_missing(case: DecisionCase) -> Breaches:
    amends = case.content.decision is PrimeMinisterChoice.AMEND_AND_APPROVE
    if amends and _brought_draft(case.command) is None:
        yield "", "draft"


def needless_draft(case: DecisionCase) -> Breaches:
    amends = case.content.decision is PrimeMinisterChoice.AMEND_AND_APPROVE
    if not amends and _brought_draft(case.command) is not None:
        yield "", "draft"


def _brought_draft(command: ask.Submit | ask.Decide) -> Any:
    """Return the amended bill as it was handed in; a message alone brings none."""
    return command.draft if isinstance(command, ask.Decide) else None


def bad_extension(case: DecisionCase) -> Breaches:
    more = case.command.extend_rounds if isinstance(case.command, ask.Decide) else 0
    if more == 0:
        return
    if case.content.decision is not PrimeMinisterChoice.VETO:
        yield "only a veto grants further rounds", "extend_rounds"
    elif not 1 <= more <= MAX_EXTENSION or case.state.max_rounds + more > MAX_ROUNDS:
        yield f"{more} is not 1 to {MAX_EXTENSION}, or over {MAX_ROUNDS} in all", "extend_rounds"


def nothing_owed(case: ParliamentCase[ask.GiveOwedRuling]) -> Breaches:
    if not case.state.owed:
        yield "", None


def summary_of_no_round(case: ParliamentCase[ask.Summarize]) -> Breaches:
    summary = case.command.summary
    number = summary.get("round") if isinstance(summary, dict) else None
    this = case.state.round
    ended = this.number if not this.running else this.number - 1
    if isinstance(number, int) and not 1 <= number <= ended:
        yield f"round {number} has not ended", "summary.round"


def summary_length(case: ParliamentCase[ask.Summarize]) -> Breaches:
    """PAR-122: a summary takes 2 or 3 sentences."""
    summary = case.command.summary
    text = summary.get("summary") if isinstance(summary, dict) else None
    if isinstance(text, str) and text.strip() and not 2 <= limits.count(text) <= 3:
        yield "a summary takes 2 or 3 sentences", "summary.summary"


def unknown_unread_seat(case: ParliamentCase[ask.ReportUnreadable]) -> Breaches:
    """Only a seat's own holder, or the clerk, may report that its reply cannot be read."""
    named = case.command.seat
    if case.is_system:
        if named is None or named not in case.state.seats:
            yield f"{named} is no seat of this session", "seat"
    elif case.seat is None or named not in (None, case.seat.id):
        yield "", "seat"
